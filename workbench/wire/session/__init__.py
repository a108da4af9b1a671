"""Sessions: exchanges in order, in memory or in one file (SQLite, or JSON Lines as text).

In: exchanges to write, or the path of a session file. Out: ``Session``, whatever holds it. ``store`` opens, saves and
verifies files; ``writer`` appends to a recording; damage is listed and the rest opens. It may import what ``wire`` may.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from workbench.ir import NOTHING
from workbench.wire.exchange import Exchange, Summary, summarize

__all__ = ["MemorySession", "Session", "exchanges_of"]


class Session(Protocol):
    """What the rest of the program knows of a session, whatever holds it.

    ``name`` is shown to people; ``damage`` lists what could not be read, one line each ("" never).
    ``about`` is what its maker says of it, by keyword: ``story`` in one line, ``source``, ``made`` (how it came to be),
    ``urls`` (where a client reaches the recorder that writes it).
    ``is_live``: a living process was writing it when it was opened or last refreshed.
    """

    name: str
    damage: tuple[str, ...]
    about: Mapping[str, str]
    is_live: bool

    @property
    def id(self) -> str:
        """Written in its file when it was begun or imported; empty string if absent (``identity.session_id``)."""
        ...

    def __len__(self) -> int: ...

    def summaries(self) -> Sequence[Summary]:
        """The list, without reading a body."""
        ...

    def exchange(self, index: int) -> Exchange:
        """One exchange with its bodies. Raises IndexError, SessionFormatError."""
        ...

    def refresh(self) -> frozenset[int]:
        """Look at the file again: indices of exchanges that are new or have changed since. None ever goes away."""
        ...

    def close(self) -> None: ...


@dataclass(slots=True)
class MemorySession:
    """A session held in memory: what importers make."""

    name: str
    exchanges: tuple[Exchange, ...]
    damage: tuple[str, ...] = ()
    format: str = ""
    about: Mapping[str, str] = NOTHING
    is_live: bool = False
    id: str = ""
    _summaries: tuple[Summary, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.exchanges)

    def summaries(self) -> Sequence[Summary]:
        if not self._summaries:
            self._summaries = tuple(summarize(n, e) for n, e in enumerate(self.exchanges))
        return self._summaries

    def exchange(self, index: int) -> Exchange:
        return self.exchanges[index]

    def refresh(self) -> frozenset[int]:
        """Nothing changes in memory."""
        return frozenset()

    def close(self) -> None:
        """Nothing to close."""


def exchanges_of(session: Session) -> Iterator[Exchange]:
    """Every exchange in order, one at a time."""
    return (session.exchange(n) for n in range(len(session)))
