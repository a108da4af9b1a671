"""Sessions: exchanges in order, in memory or in one file (SQLite, or JSON Lines as text).

In: exchanges to write, or the path of a session file. Out: ``Session``, for any storage. ``store`` opens, saves and
verifies files; ``writer`` appends to a recording; damage is listed and the rest opens. It may import what ``wire`` may.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from workbench.fronts import lazy
from workbench.ir import NOTHING
from workbench.lazy_dataclass import dataclass, field
from workbench.wire.exchange import Exchange, Summary, summarize

if TYPE_CHECKING:
    from workbench.wire.session import store, text, writers
    from workbench.wire.session.file_replacement import ReplacingSession
    from workbench.wire.session.identity import file_name, former_ids, session_id
    from workbench.wire.session.recognition import MAGIC, open_recording
    from workbench.wire.session.sqlite import SqliteSession, beginning
    from workbench.wire.session.store import open_session
    from workbench.wire.session.write_ahead_log import is_written
    from workbench.wire.session.writer import SessionWriter
    from workbench.wire.session.writers import exists
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "MAGIC",
    "MemorySession",
    "ReplacingSession",
    "Session",
    "SessionWriter",
    "SqliteSession",
    "beginning",
    "exchanges_of",
    "exists",
    "file_name",
    "former_ids",
    "is_last",
    "is_written",
    "open_recording",
    "open_session",
    "session_id",
    "store",
    "text",
    "writers",
]


class Session(Protocol):
    """Interface of a session, for any storage.

    ``name`` is shown to people; ``damage`` lists unreadable parts, one line each (never empty strings).
    ``about`` is metadata of its maker: ``story`` in one line, ``source``, ``made`` (its origin), ``urls`` (addresses of
    the recorder that writes it).
    ``is_live``: a running process was writing it when it was opened or last refreshed.
    """

    name: str
    damage: tuple[str, ...]
    about: Mapping[str, str]
    is_live: bool

    @property
    def id(self) -> str:
        """Id in its file, written when it was started or imported; empty string if absent (``identity.session_id``)."""
        ...

    def __len__(self) -> int: ...

    def summaries(self) -> Sequence[Summary]:
        """List rows, without reading a body."""
        ...

    def exchange(self, index: int) -> Exchange:
        """One exchange with its bodies. Raises IndexError, SessionFormatError."""
        ...

    def refresh(self) -> frozenset[int]:
        """Read changes of the file; return indices of new and changed exchanges. None is ever removed."""
        ...

    def close(self) -> None: ...


@dataclass(slots=True)
class MemorySession:
    """A session in memory, as importers create it."""

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
        """Return an empty set: memory does not change."""
        return frozenset()

    def close(self) -> None:
        """Do nothing."""


def is_last(session: Session, index: int) -> bool:
    """No exchange will come after this one, as memory does not change: nothing need be kept for later ones."""
    return type(session) is MemorySession and index == len(session) - 1


def exchanges_of(session: Session) -> Iterator[Exchange]:
    """Yield every exchange in order."""
    return (session.exchange(n) for n in range(len(session)))
