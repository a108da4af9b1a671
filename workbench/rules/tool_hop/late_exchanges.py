"""Exchanges whose position is behind that of others that began after them.

Each recorder of a session writes when it can: that of a tool server may have the file later than that of the model, or
earlier. What a model called, and what it was told, is known by time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf

from workbench.undo_log import Journal
from workbench.wire import TOOL_HOP, ExchangeKind, Summary

_NEAR = 256
"""Exchanges before a new one that may have overtaken it."""


class LateExchanges:
    """Finds the exchanges of one side that began before one of the other side, and were written after it.

    Args:
        journal: takes back what was returned for exchanges that are inspected again.
        summaries: function that returns the summaries of the session's exchanges.
        of_tools: the exchanges with tool servers; else those with models.
    """

    def __init__(self, journal: Journal, summaries: Callable[[], Sequence[Summary]], *, of_tools: bool) -> None:
        self._journal, self._summaries, self._of_tools = journal, summaries, of_tools
        self._queues: dict[str, list[tuple[float, int]]] = {}
        self._passed: dict[str, int] = {}
        self._known = 0

    def before(self, index: int, began: float | None) -> Iterator[int]:
        """Indices behind an exchange of what began before it; each once."""
        self._queue()
        for writer, queue in self._queues.items() if began is not None else ():
            at = self._passed.get(writer, 0)
            while at < len(queue) and queue[at][0] < (began or 0.0):
                at += 1
                self._journal.put(self._passed, writer, at)
                start, found = queue[at - 1]
                if found > index and self._is_at(found, start):
                    yield found

    def _is_at(self, index: int, start: float) -> bool:
        """The exchange that was queued is still there: a session that is followed may have others in its place."""
        rows = self._summaries()
        return index < len(rows) and rows[index].started_at == start

    def _queue(self) -> None:
        """Queue the exchanges that have come, by who wrote them: each writes in the order of time."""
        rows = self._summaries()
        for row in rows[self._known :]:
            if row.started_at is not None and is_of_tools(row) == self._of_tools:
                writer = row.url.split("/", 3)[2] if "//" in row.url else row.hop
                self._queues.setdefault(writer, []).append((row.started_at, row.index))
        self._known = len(rows)


def overtaken_row(rows: Sequence[Summary], first: int) -> int:
    """Index of the first request to a model that began after an exchange with a tool server behind it; -1 for none.

    Args:
        first: index of the first exchange that is new; those far before it are not looked at.
    """
    began = min(
        (row.started_at for row in rows[first:] if is_of_tools(row) and row.started_at is not None), default=inf
    )
    found = -1
    for row in reversed(rows[max(0, first - _NEAR) : first]):
        if not is_of_tools(row):
            if (row.started_at or 0.0) <= began:
                break
            found = row.index
    return found


def is_of_tools(row: Summary) -> bool:
    """An exchange with a tool server, by what its recorder said of it."""
    return row.kind is ExchangeKind.MCP or row.hop == TOOL_HOP
