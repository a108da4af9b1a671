"""Calls of a growing history that nothing later can change, so that only the last turns are paired for each request.

A history is cut before a turn with calls. A result belongs to a call of the turn before it or to the nearest call with
its id, so what is before the cut is settled, unless a result after it has an id that occurs only before it. Such a
history is paired again as a whole.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from math import inf

from workbench.chain._call_lines import CallLine, first_ref, lines_of
from workbench.chain._pairing import (
    REQUEST,
    RESPONSE,
    CallNode,
    History,
    PairingTerms,
    PairingTurn,
    pairing_terms,
    read,
)
from workbench.ir import Message, NodeRef
from workbench.named_tuple import NamedTuple
from workbench.protocols import HistoryPrefix
from workbench.terms import ClosureTerms


class _Lines(NamedTuple):
    """Lines in wire order, and those of them that are not simply closed."""

    all: list[CallLine]
    flawed: list[CallLine]

    def add(self, more: Iterable[CallLine]) -> None:
        for line in more:
            self.all.append(line)
            if line.is_flawed:
                self.flawed.append(line)


class _SettledPoint(NamedTuple):
    """A point before which everything is settled.

    Attributes:
        needs: number of messages that a request has at least for this to hold: the turn behind the cut has ended.
        start: index of the first message behind it.
        lines: the first ``total`` of them, ``flawed`` of them with flaws, are those before it.
    """

    needs: int
    start: int
    lines: _Lines
    total: int
    flawed: int


class _LatestPairs:
    """A fold over a history: its last calls and results, as they were paired for the latest request.

    Contracts that pair alike, and judge what is paired in other ways, share them.
    """

    def __init__(self, terms: PairingTerms) -> None:
        self.terms = terms
        self._found: tuple[int, int, Sequence[Message], History] | None = None

    def read(self, messages: Sequence[Message]) -> None:
        """Do nothing: a request is paired when a contract needs it."""

    def fork(self, length: int) -> _LatestPairs:
        return _LatestPairs(self.terms)

    def pair(self, start: int, messages: HistoryPrefix, answer: Sequence[Message]) -> History:
        """Calls and results of a request from a message on, and of its answer."""
        last = self._found
        if last is None or last[:2] != (start, len(messages)) or last[2] is not answer:
            sides = ((REQUEST, messages[start:]), (RESPONSE, answer))
            last = self._found = start, len(messages), answer, read(sides, self.terms, start=start)
        return last[3]


class SettledCalls:
    """A fold over a history: the lines of its calls up to the last cut. ``itemized``: messages are items."""

    def __init__(self, terms: ClosureTerms, itemized: bool) -> None:
        self.terms, self.itemized = terms, itemized
        self._pairing = pairing_terms(terms, itemized=itemized)
        self._cuts = [_SettledPoint(0, 0, _Lines([], []), 0, 0)]
        self._ids: dict[str, NodeRef] = {}
        self._orphan_ids: dict[str, NodeRef] = {}
        self._server_ids: dict[str, NodeRef] = {}

    def read(self, messages: Sequence[Message]) -> None:
        """Do nothing: a cut is made when a request needs it."""

    def fork(self, length: int) -> SettledCalls:
        other = SettledCalls(self.terms, self.itemized)
        other._cuts = [cut for cut in self._cuts if cut.needs <= length]
        last = other._cuts[-1]
        lines = _Lines(last.lines.all[: last.total], last.lines.flawed[: last.flawed])
        other._cuts[-1] = last._replace(lines=lines)  # both histories go on with lines of their own
        is_latest = len(other._cuts) == len(self._cuts)
        for name in ("_ids", "_orphan_ids", "_server_ids"):
            ids: dict[str, NodeRef] = getattr(self, name)
            copied = dict(ids) if is_latest else {id_: ref for id_, ref in ids.items() if ref.message < last.start}
            setattr(other, name, copied)
        return other

    def lines(
        self, messages: HistoryPrefix, answer: Sequence[Message], *, is_continued: bool
    ) -> tuple[tuple[CallLine, ...], tuple[CallLine, ...], int]:
        """All lines of a request and its answer, those of them that are not simply closed, and the settled messages."""
        number = next(n for n in range(len(self._cuts) - 1, -1, -1) if self._cuts[n].needs <= len(messages))
        cut, is_latest = self._cuts[number], number == len(self._cuts) - 1
        history = self._history(cut.start, messages, answer)
        if cut.start and self._is_disturbed(history, cut.start):
            cut = _SettledPoint(0, 0, _Lines([], []), 0, 0)
            history = self._history(0, messages, answer)
        found = lines_of(history, self.terms)
        settled, flawed = cut.lines.all[: cut.total], cut.lines.flawed[: cut.flawed]
        if is_latest and is_continued:
            self._settle(history, found, cut)
        first = first_ref(found[0]) if found else None
        end = first.message if first and first.side == REQUEST else len(messages)
        return (*settled, *found), (*flawed, *[line for line in found if line.is_flawed]), end

    def _history(self, start: int, messages: HistoryPrefix, answer: Sequence[Message]) -> History:
        history = messages.fold(_LatestPairs, self._pairing).pair(start, messages, answer)
        for call in history.calls if self.terms.unique_ids == "request" else ():
            first = self._ids.get(call.call.id or "")
            if first is not None and first.message < start:
                call.twin = CallNode(first, call.call, call.turn)
        return history

    def _is_disturbed(self, history: History, start: int) -> bool:
        """Something behind the cut has the id of something before it, and may belong to it."""
        first = {call.call.id: call.ref for call in reversed(history.calls) if call.call.id}
        if self._orphan_ids and any(_is_settled_place(self._orphan_ids.get(name), start) for name in first):
            return True
        for result in history.results:
            name = result.result.tool_call_id
            is_known = bool(name) and _is_settled_place(self._ids.get(name or ""), start)
            if is_known and not (name in first and _is_before(first[name], result.ref)):
                return True
        ids = {*(call.id or "" for _, call in history.server_calls), *history.server_results}
        return bool(ids) and any(_is_settled_place(self._server_ids.get(name), start) for name in ids)

    def _settle(self, history: History, found: Sequence[CallLine], cut: _SettledPoint) -> None:
        """Make a cut wherever one is possible: a request that changes its last messages needs an earlier one."""
        places = [place for place in reversed(_cuts(history)) if place[0] > cut.start]
        if not places:
            return
        if cut.start == 0 and cut.total == 0 and len(self._cuts) > 1:
            cut = cut._replace(lines=_Lines([], []))
        lines, added = cut.lines, iter(found)
        ahead = next(added, None)
        for place, needs in places:
            behind = NodeRef(REQUEST, place, 0)
            while ahead and first_ref(ahead) < behind:
                lines.add((ahead,))
                ahead = next(added, None)
            self._cuts.append(_SettledPoint(needs, place, lines, len(lines.all), len(lines.flawed)))
        self._note_ids(history, places[-1][0])

    def _note_ids(self, history: History, place: int) -> None:
        """Note where the ids before a message occur first."""
        for call in history.calls:
            if call.call.id and call.ref < (REQUEST, place):
                self._ids.setdefault(call.call.id, call.ref)
        for result in history.results:
            if result.result.tool_call_id and result.ref < (REQUEST, place):
                known = self._ids if result.call and not result.is_by_position else self._orphan_ids
                known.setdefault(result.result.tool_call_id, result.ref)
        for name, ref in _server_refs(history):
            if ref < (REQUEST, place):
                self._server_ids.setdefault(name, ref)


def _is_settled_place(place: NodeRef | None, start: int) -> bool:
    """A place is before the messages from a first one on."""
    return place is not None and place.message < start


def _is_before(call: NodeRef, result: NodeRef) -> bool:
    return call.side == result.side and call < result


def _server_refs(history: History) -> Iterator[tuple[str, NodeRef]]:
    yield from ((call.id or "", ref) for ref, call in history.server_calls)
    yield from ((name, ref) for name, refs in history.server_results.items() for ref in refs)


def _cuts(history: History) -> Sequence[tuple[int, int]]:
    """First message of each turn that a cut may be made before, and the messages a request needs; the last turn first.

    The turn has no results, another turn of the request follows it, and no pair lies on both sides. It has calls, or
    no call before it waits for a result, to which one behind it would belong by its place.
    """
    if history.cuts is None:
        history.cuts = [*_find_cuts(history)]
    return history.cuts


def _find_cuts(history: History) -> Iterator[tuple[int, int]]:
    turns = [turn for turn in history.turns if turn.side == REQUEST]
    with_results = {result.turn.number for result in history.results}
    waiting = _last_waiting(turns)
    divided = _runs_of_pairs(history)
    for turn, following in zip(reversed(turns[1:-1]), reversed(turns[2:]), strict=True):
        before = bisect_left(divided, (turn.first,)) - 1
        is_within = before >= 0 and turn.first <= divided[before][1]
        is_apart = bool(turn.calls) or turn.number not in waiting
        if is_apart and turn.number not in with_results and not is_within:
            yield turn.first, following.first + 1


def _last_waiting(turns: Sequence[PairingTurn]) -> set[int]:
    """Numbers of the turns before which the last turn with calls has one without a result."""
    found, is_waiting = set[int](), False
    for turn in turns:
        if is_waiting:
            found.add(turn.number)
        if turn.calls:
            is_waiting = not all([call.results for call in turn.calls])
    return found


def _runs_of_pairs(history: History) -> list[tuple[float, float]]:
    """(first, last) message of every run that a cut would divide: a call, its results and all between, joined."""
    runs = [_run(call.ref, [result.ref for result in call.results]) for call in history.calls]
    runs += [_run(ref, history.server_results.get(call.id or "", ())) for ref, call in history.server_calls]
    joined: list[tuple[float, float]] = []
    for first, last in sorted([run for run in runs if run[0] < run[1]]):
        if joined and first < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def _run(call: NodeRef, results: Sequence[NodeRef]) -> tuple[float, float]:
    """First and last message of a call and its results; those of the answer come after all of the request."""
    places = [ref.message if ref.side == REQUEST else inf for ref in (call, *results)]
    return min(places), max(places)
