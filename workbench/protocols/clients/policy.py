"""Policies: how one client joins the blocks of a stream, written after its own source and run here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from workbench.protocols.clients.buffers import BuiltAnswer, ClientError, DataBlock, PartBuffer, Stop


class Policy(Protocol):
    """One client. Its docstring names package, version, file and function it was written after."""

    name: str
    """``"openai-python"``: what people read."""

    package: str
    """``"openai 3.52.0"``: what its source was read from."""

    def feed(self, chunk: DataBlock) -> bool:
        """Take one block; True when the client stops reading. Raises Stop where the client raises."""
        ...

    def finish(self) -> None:
        """The stream has ended. Raises Stop where the client raises only now."""
        ...

    def messages(self) -> Sequence[Sequence[PartBuffer]]:
        """Parts built so far, for each choice."""
        ...

    def notes(self) -> tuple[str, ...]:
        """Notes on behaviour that the parts do not show."""
        ...


def run(policy: Policy, chunks: Sequence[DataBlock]) -> BuiltAnswer:
    """Feed a policy every block, as long as it reads."""
    stopped = None
    event: int | None = None
    try:
        for chunk in chunks:
            event = chunk.event
            if policy.feed(chunk):
                break
        event = None
        policy.finish()
    except Stop as stop:
        stopped = ClientError(event if stop.event is None else stop.event, stop.kind, stop.words)
    held = tuple(tuple(part for part in parts if not part.is_empty) for parts in policy.messages())
    return BuiltAnswer(held, stopped, policy.notes())
