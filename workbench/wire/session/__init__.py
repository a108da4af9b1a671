"""Sessions: exchanges in order, in memory or in one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from workbench.wire.exchange import Exchange, Summary, summarize


class Session(Protocol):
    """What the rest of the program knows of a session, whatever holds it.

    ``name`` is shown to people; ``damage`` lists what could not be read, one line each ("" never).
    """

    name: str
    damage: tuple[str, ...]

    def __len__(self) -> int: ...

    def summaries(self) -> Sequence[Summary]:
        """The list, without reading a body."""
        ...

    def exchange(self, index: int) -> Exchange:
        """One exchange with its bodies. Raises IndexError, SessionFormatError."""
        ...

    def close(self) -> None: ...


@dataclass(slots=True)
class MemorySession:
    """A session held in memory: what importers make."""

    name: str
    exchanges: tuple[Exchange, ...]
    damage: tuple[str, ...] = ()
    format: str = ""
    _summaries: tuple[Summary, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.exchanges)

    def summaries(self) -> Sequence[Summary]:
        if not self._summaries:
            self._summaries = tuple(summarize(n, e) for n, e in enumerate(self.exchanges))
        return self._summaries

    def exchange(self, index: int) -> Exchange:
        return self.exchanges[index]

    def close(self) -> None:
        """Nothing to close."""


def exchanges_of(session: Session) -> Iterator[Exchange]:
    """Every exchange in order, one at a time."""
    return (session.exchange(n) for n in range(len(session)))
