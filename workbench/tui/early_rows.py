"""Rows of a large session before the pass has reached them: refused exchanges, and those of an earlier run."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.wire import State

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.library import FileKey, VerdictStore
    from workbench.rules import InspectedExchange, Inspector
    from workbench.wire import Summary
    from workbench.wire.session import Session

AHEAD = 100
"""Exchanges that the pass inspects in about a second: what is nearer waits for it."""

SECONDS = 1.0
"""Time for refused exchanges; in a session with hundreds of them the pass must not wait for all."""


def suspects(summaries: Sequence[Summary]) -> list[int]:
    """Exchanges that failed according to the list, in order: refused requests, other client errors, broken streams."""
    ranked = ((_rank(summary), summary.index) for summary in summaries)
    return [index for rank, index in sorted(each for each in ranked if each[0] is not None)]


def _rank(summary: Summary) -> int | None:
    if summary.status in (400, 422):  # the request itself is at fault
        return 0
    if summary.status is not None and 400 <= summary.status < 500:
        return 1
    return 2 if summary.state in (State.ABORTED, State.INCOMPLETE) else None


def first_to_open(summaries: Sequence[Summary]) -> int | None:
    """Exchange of a large session that is opened before anything is inspected; None for a small session."""
    return next(iter(suspects(summaries)), 0) if len(summaries) > AHEAD else None


class ProvisionalPass:
    """Inspects suspects one by one.

    Args:
        inspected_exchanges: all rows, where they are known from an earlier run: no suspect is left then.

    Attributes:
        rows: their rows, by index.
    """

    def __init__(self, summaries: Sequence[Summary], inspected_exchanges: Sequence[InspectedExchange] = ()) -> None:
        self._waiting = deque(index for index in suspects(summaries) if index >= AHEAD and not inspected_exchanges)
        self._until: float | None = None
        self.rows: dict[int, InspectedExchange] = {row.index: row for row in inspected_exchanges}

    def is_next(self, beyond: int) -> bool:
        """True if a suspect has at least this index, and time is left."""
        while self._waiting and self._waiting[0] < beyond:
            self._waiting.popleft()
        return bool(self._waiting) and (self._until is None or time.monotonic() < self._until)

    def next(self) -> int:
        """Take the next suspect; the first one starts the clock."""
        self._until = self._until or time.monotonic() + SECONDS
        return self._waiting.popleft()

    def inspect(self, inspector: Inspector, index: int) -> None:
        """Inspect a suspect by itself."""
        from workbench.rules import judge_alone

        self.rows[index] = judge_alone(inspector, index)


class KeptRows:
    """Rows of a large session file that was inspected before. They are shown until the pass has reached them."""

    def __init__(self, session: Session, provider: str | None, protocol: str | None) -> None:
        self._path: Path | None = getattr(session, "path", None)
        self._options = ("rows", provider, protocol)
        self._store: VerdictStore | None = None
        self._key: FileKey | None = None

    def find(self, session: Session) -> Sequence[InspectedExchange]:
        """The rows as they were found when the file was the same; none if they are not kept."""
        if self._path is None or session.is_live or len(session) <= AHEAD:
            return ()
        from workbench.library import VerdictStore

        self._store = VerdictStore(self._options)
        self._key = self._store.key(str(self._path), is_found=False)
        found = self._store.find_rows(self._key, session.summaries()) if self._key else ()
        self._key = None if found else self._key
        return found

    def keep(self, inspector: Inspector) -> None:
        """Keep the rows of an inspected session for the next time, unless they were known."""
        if self._store and self._key and self._path and not inspector.session.is_live:
            self._store.add_rows(str(self._path), self._key, inspector.rows, inspector.session.summaries())
            self._store.save()
        self._key = None
