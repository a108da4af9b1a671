"""Outcomes of requests to tool servers that no tool result contains yet, by what a result may be known by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from heapq import merge

from workbench.protocols.mcp import ToolOutcome, argument_key, tool_key
from workbench.undo_log import Journal

Key = tuple[str, bytes]
"""The id of a call (without more), or a tool with its arguments, or without any."""

_ALL: Key = ("", b"all")


class WaitingOutcomes:
    """Outcomes in the order of their exchanges, and those of one id, of one tool, or of it with the same arguments.

    Args:
        journal: takes back what was learned of exchanges that are inspected again.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._tables: dict[Key, dict[int, ToolOutcome]] = {_ALL: {}}
        self._keys: dict[int, tuple[Key, ...]] = {}  # by exchange
        self._unordered: set[Key] = set()  # tables whose order a change that was taken back has broken

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, exchange: int) -> bool:
        return exchange in self._keys

    def __iter__(self) -> Iterator[ToolOutcome]:
        return iter(self._table(_ALL).values())

    def from_last(self) -> Iterator[ToolOutcome]:
        """The last one first."""
        return reversed(self._table(_ALL).values())

    def put(self, outcome: ToolOutcome) -> None:
        """Add an outcome, of an exchange that has none here."""
        self._insert(outcome)
        self._journal.note(partial(self._remove, outcome.exchange))

    def pop(self, exchange: int) -> ToolOutcome | None:
        """Remove the outcome of an exchange; it is in its old place again if that is taken back."""
        found = self._remove(exchange)
        if found is not None:
            self._journal.note(partial(self._insert, found))
        return found

    def of_id(self, call_id: str) -> ToolOutcome | None:
        """The last one whose client states this id of the model's call."""
        return next(reversed(self._table((call_id, b"id")).values()), None)

    def of_tools(self, tools: Iterable[str], arguments: bytes = b"") -> Iterator[ToolOutcome]:
        """Those of any of these tools, with these arguments if any are given, without an id, the last one first."""
        tables = (self._table((tool, arguments or b"tool")) for tool in tools)
        found = [reversed(table.values()) for table in tables if table]
        return found[0] if len(found) == 1 else merge(*found, key=_exchange_of, reverse=True)

    def _table(self, key: Key) -> dict[int, ToolOutcome]:
        if key in self._unordered:
            self._unordered.discard(key)
            self._tables[key] = dict(sorted(self._tables.get(key, {}).items()))
        return self._tables.get(key, {})

    def _insert(self, outcome: ToolOutcome) -> None:
        self._keys[outcome.exchange] = keys = _keys_of(outcome)
        for key in keys:
            table = self._tables.setdefault(key, {})
            if table and next(reversed(table)) > outcome.exchange:
                self._unordered.add(key)
            table[outcome.exchange] = outcome

    def _remove(self, exchange: int) -> ToolOutcome | None:
        found = None
        for key in self._keys.pop(exchange, ()):
            found = self._tables[key].pop(exchange)
            if not self._tables[key] and key != _ALL:
                del self._tables[key]
        return found


def _exchange_of(outcome: ToolOutcome) -> int:
    return outcome.exchange


def _keys_of(outcome: ToolOutcome) -> tuple[Key, ...]:
    if outcome.call_id:
        return (_ALL, (outcome.call_id, b"id"))
    tool = tool_key(outcome.tool)
    return (_ALL, (tool, b"tool"), (tool, argument_key(outcome.arguments)))
