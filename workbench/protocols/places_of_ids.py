"""The messages of a history by the ids of the calls and results in them."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

from workbench.ir import Message
from workbench.protocols.history import HistoryPrefix


class IdPlaces:
    """A fold over a history: indices of the messages with calls of an id, and with results of one."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._calls: defaultdict[str | None, list[int]] = defaultdict(list)
        self._results: defaultdict[str | None, list[int]] = defaultdict(list)
        self._noted: list[tuple[defaultdict[str | None, list[int]], str | None]] = []  # of each note, where it is
        self._count = 0

    def read(self, messages: Sequence[Message]) -> None:
        for n in range(self._count, len(messages)):
            noted = [(self._calls, call.id) for _, call in messages[n].tool_calls()]
            noted += [(self._results, result.tool_call_id) for _, result in messages[n].tool_results()]
            for table, name in noted:
                table[name].append(n)
            self._noted += noted
        self._count = len(messages)

    def fork(self, length: int) -> IdPlaces:
        """The first notes, which are taken over: the history that is left is read again on the next use."""
        other = IdPlaces()
        other._calls, other._results, other._noted = self._calls, self._results, self._noted
        other._count = min(self._count, length)
        self._forget()
        while other._noted and other._noted[-1][0][other._noted[-1][1]][-1] >= length:
            table, name = other._noted.pop()
            table[name].pop()
            if not table[name]:
                del table[name]
        return other

    def with_call(self, call_id: str, length: int) -> Sequence[int]:
        """Those of the first messages that have a call of an id."""
        return _before(self._calls.get(call_id, ()), length)

    def with_result(self, call_id: str, length: int) -> Sequence[int]:
        """Those of the first messages that have a result that names an id."""
        return _before(self._results.get(call_id, ()), length)


def _before(places: Sequence[int], length: int) -> Sequence[int]:
    return places[: bisect_left(places, length)]


def id_places(messages: tuple[Message, ...]) -> IdPlaces:
    """The messages of a request by their ids."""
    if isinstance(messages, HistoryPrefix):
        return messages.fold(IdPlaces)
    found = IdPlaces()
    found.read(messages)
    return found
