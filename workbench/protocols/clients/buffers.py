"""Policies of clients, and their buffers while a response streams: parts made of pieces, each piece with its event.

Every policy builds these, and so does our own reading, so that two can be compared piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple
from workbench.wire import SseEvent, dumps, loads

NAIVE = "naive loop"
"""The client that joins what comes by its position, as code without a library does: it says nothing of the stream."""


class DataBlock(NamedTuple):
    """One block that holds data.

    Attributes:
        event: number of the block.
        name: of its ``event`` field.
        value: its data parsed; None with ``is_json`` False where it does not parse.
    """

    event: int
    name: str | None
    value: JsonValue
    is_json: bool
    data: bytes


def chunks(events: Iterable[SseEvent]) -> tuple[DataBlock, ...]:
    """Every block with data. A last block without its blank line is none: every usual client drops it."""
    return tuple(_chunk(e) for e in events if e.data and e.terminated)


def _chunk(event: SseEvent) -> DataBlock:
    data = event.data or b""
    try:
        return DataBlock(event.number, event.name, loads(data), True, data)
    except WireError:
        return DataBlock(event.number, event.name, None, False, data)


TEXT, REASONING, CALL = "text", "reasoning", "call"
MADE_UP = "(invented by the client)"
"""Stands for an id that a client invents where the wire has none."""


class Stop(Exception):
    """A client raises here and its caller gets no message.

    Args:
        kind: name of the error it raises.
        words: what it raises it for.
        event: where, if that is another event than the one it was fed last.
    """

    def __init__(self, kind: str, words: str, event: int | None = None) -> None:
        super().__init__(words)
        self.kind = kind
        self.words = words
        self.event = event


class ClientError(NamedTuple):
    """An error that a client raises: the number of the event; None for the end of the stream."""

    event: int | None
    kind: str
    words: str


class EventText(NamedTuple):
    """Characters, and the event that carried them."""

    event: int
    text: str


class PartBuffer:
    """One part. ``value`` is set where a client holds arguments as a parsed value and no longer as text."""

    __slots__ = ("kind", "name", "strings", "value")

    def __init__(self, kind: str, name: str = "") -> None:
        self.kind = kind
        self.name = name  # the field it travels in, where one message has several of a kind
        self.strings: dict[str, list[EventText]] = {}
        self.value: tuple[JsonValue] | None = None

    def add(self, field: str, text: str, event: int) -> None:
        """Append to a string."""
        self.strings.setdefault(field, []).append(EventText(event, text))

    def put(self, field: str, text: str, event: int) -> None:
        """Replace a string."""
        self.strings[field] = [EventText(event, text)]

    def text(self, field: str) -> str | None:
        """The string so far; None where none of it came."""
        pieces = self.strings.get(field)
        return None if pieces is None else "".join(p.text for p in pieces)

    @property
    def is_empty(self) -> bool:
        """True for a part without content: clients differ in whether they keep it, and it has no visible effect."""
        return self.kind != CALL and not any(self.text(field) for field in self.strings)

    def says(self) -> dict[str, JsonValue]:
        """Values that two clients have to agree on, by field."""
        if self.kind == CALL:
            return {"id": self.text("id"), "name": self.text("name"), "arguments": self.arguments()}
        fields: dict[str, JsonValue] = {"text": self.text("text") or ""}
        if self.kind == REASONING:
            fields |= {"signature": self.text("signature") or "", "data": self.text("data") or ""}
        return fields

    def arguments(self) -> str:
        """Arguments as one text, however they are held; a value is written without spaces."""
        if self.value is None:
            return self.text("arguments") or "{}"  # no arguments, for every client
        return dumps(self.value[0]).decode("utf-8", "replace")

    def settle(self) -> None:
        """Hold arguments as the value they parse to, where they do."""
        try:
            self.value = (loads(self.text("arguments") or ""),)
        except WireError:
            return

    def events(self, field: str) -> list[int]:
        """The events that carried a field, in order."""
        return [p.event for p in self.strings.get(field, ()) if p.text]


@dataclass(frozen=True, slots=True)
class BuiltAnswer:
    """The response that a client has built at the end.

    Attributes:
        messages: one for each choice, its parts in order: reasoning, text and calls; empty parts are left out.
        stopped: where the client raised; then its caller never saw the message.
        notes: what the client did that the parts do not show.
    """

    messages: tuple[tuple[PartBuffer, ...], ...]
    stopped: ClientError | None = None
    notes: tuple[str, ...] = ()


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
    messages = tuple(tuple(part for part in parts if not part.is_empty) for parts in policy.messages())
    return BuiltAnswer(messages, stopped, policy.notes())
