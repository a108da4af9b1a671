"""Pair calls with results: by id with the nearest turn, and by position if a result has no id.

``_call_lines.py`` decides what is wrong with a pair.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from workbench.fingerprint import ANSWERING
from workbench.ir import Message, NodeRef, Part, Reasoning, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.terms import ClosureTerms, Placement

REQUEST, RESPONSE, REMEMBERED = "request", "response", "remembered"


@dataclass(slots=True, eq=False)
class PairingTurn:
    """Messages that count as one: neighbours of one role if the terms say so, else a single message.

    Attributes:
        first: index of its first message.
        other: its first part that is no result.
        is_empty: it has no parts.
    """

    number: int
    side: str
    role: str
    first: int
    other: NodeRef | None = None
    is_empty: bool = True
    calls: list[CallNode] = field(default_factory=list)

    @property
    def is_only_results(self) -> bool:
        return self.other is None and not self.is_empty


@dataclass(slots=True, eq=False)
class CallNode:
    """A call, the results found for it, an earlier call of the same id, the result that fits by position alone."""

    ref: NodeRef
    call: ToolCallIR
    turn: PairingTurn
    results: list[ResultNode] = field(default_factory=list)
    twin: CallNode | None = None
    mismatch: ResultNode | None = None


@dataclass(slots=True, eq=False)
class ResultNode:
    """A result with the call that was found for it.

    Attributes:
        after: the nearest turn with calls that is not later than the result.
        before: first part of another kind that is before it in its turn.
        is_early: it is before its call.
    """

    ref: NodeRef
    result: ToolResultIR
    turn: PairingTurn
    after: PairingTurn | None
    before: NodeRef | None
    call: CallNode | None = None
    stands_for: CallNode | None = None
    is_by_position: bool = False
    is_early: bool = False

    def answer(self, call: CallNode) -> None:
        """Add this result to the results of a call."""
        self.call = call
        call.results.append(self)


@dataclass(slots=True)
class History:
    """Turns, calls and results of a request and its response, in wire order.

    Attributes:
        joins_neighbours: neighbours of one role are one turn.
        joins_items: neighbouring items of the model are one turn.
        calls_last: such a turn ends with its calls; an item after them begins another.
        server_calls: calls that the provider runs itself, and no client answers.
        server_results: id → results of these calls.
        cuts: where it may be cut (``_settled_calls``), once that was found out.
    """

    joins_neighbours: bool
    joins_items: bool = False
    calls_last: bool = False
    turns: list[PairingTurn] = field(default_factory=list)
    calls: list[CallNode] = field(default_factory=list)
    results: list[ResultNode] = field(default_factory=list)
    server_calls: list[tuple[NodeRef, ToolCallIR]] = field(default_factory=list)
    server_results: dict[str, list[NodeRef]] = field(default_factory=dict)
    last_calls: PairingTurn | None = None
    cuts: Sequence[tuple[int, int]] | None = None

    def add(self, side: str, index: int, message: Message) -> None:
        """Append a message."""
        turn = self._turn(side, index, message)
        for number, part in enumerate(message.parts):
            if not (isinstance(part, Reasoning) and _is_proof_of_result(message.parts, number)):
                self._add_part(turn, NodeRef(side, index, number), part)

    def _turn(self, side: str, index: int, message: Message) -> PairingTurn:
        last, role = self.turns[-1] if self.turns else None, message.role
        joins = self.joins_neighbours or (self.joins_items and role in ANSWERING)
        if last and self.calls_last and last.calls and not any(message.tool_calls()):
            joins = False
        if last and joins and (last.side, last.role) == (side, role):
            return last
        self.turns.append(PairingTurn(len(self.turns), side, role, index))
        return self.turns[-1]

    def _add_part(self, turn: PairingTurn, ref: NodeRef, part: Part) -> None:
        turn.is_empty = False
        if isinstance(part, ToolResultIR) and not part.is_server:
            self.results.append(ResultNode(ref, part, turn, self.last_calls, turn.other))
            return
        turn.other = turn.other or ref
        if isinstance(part, ToolResultIR):
            self.server_results.setdefault(part.tool_call_id or "", []).append(ref)
        elif isinstance(part, ToolCallIR) and part.is_server:
            self.server_calls.append((ref, part))
        elif isinstance(part, ToolCallIR):
            turn.calls.append(CallNode(ref, part, turn))
            self.calls.append(turn.calls[-1])
            self.last_calls = turn

    def orphans(self) -> list[ResultNode]:
        """Results without a call."""
        return [r for r in self.results if r.call is None]


class PairingTerms(NamedTuple):
    """Terms that decide how calls and results are paired: the same terms pair a history in the same way.

    Attributes:
        joins_neighbours, joins_items, calls_last: as of a ``History``.
        unique_ids: as of ``ClosureTerms``.
    """

    joins_neighbours: bool
    joins_items: bool
    calls_last: bool
    unique_ids: str


def pairing_terms(terms: ClosureTerms, *, itemized: bool) -> PairingTerms:
    """Terms of pairing.

    Args:
        terms: which messages are one turn, and how far ids have to be unique.
        itemized: messages are items.
    """
    joins_neighbours = terms.placement is Placement.NEXT_MESSAGE
    return PairingTerms(joins_neighbours, itemized, itemized and terms.calls_last, terms.unique_ids)


def read(sides: Iterable[tuple[str, Iterable[Message]]], terms: PairingTerms, *, start: int = 0) -> History:
    """The history of (side, messages) groups, with calls and results paired.

    Args:
        sides: the groups, in wire order.
        terms: which messages are one turn, and how far ids have to be unique.
        start: index of the first message of the request, if those before it are left out.
    """
    history = History(terms.joins_neighbours, joins_items=terms.joins_items, calls_last=terms.calls_last)
    for side, messages in sides:
        for index, message in enumerate(messages, start if side == REQUEST else 0):
            history.add(side, index, message)
    _mark_repeated_ids(history.calls, terms.unique_ids)
    _pair_by_id(history)
    leftovers: defaultdict[int, list[ResultNode]] = defaultdict(list)
    for result in history.orphans():
        if result.after is not None:
            leftovers[result.after.number].append(result)
    for number, results in leftovers.items():
        _pair_by_position(history.turns[number].calls, [r for r in results if not r.result.tool_call_id])
        identified = [r for r in results if r.result.tool_call_id]
        _pair_with_unidentified(history.turns[number].calls, identified)
        _link_mismatches(history.turns[number].calls, [r for r in identified if r.call is None])
    return history


def _mark_repeated_ids(calls: Iterable[CallNode], scope: str) -> None:
    first: dict[tuple[str, int], CallNode] = {}
    for node in calls:
        if node.call.id and scope != "none":
            earlier = first.setdefault((node.call.id, node.turn.number if scope == "turn" else -1), node)
            node.twin = earlier if earlier is not node else None


def _pair_by_id(history: History) -> None:
    """Ids may be used again in a later turn, so a result belongs to the nearest turn before it that has its id."""
    by_id: defaultdict[str, list[CallNode]] = defaultdict(list)
    for call in history.calls:
        by_id[call.call.id or ""].append(call)
    seen = dict.fromkeys(by_id, 0)  # how many calls of an id stand before the result at hand
    nearest = dict.fromkeys(by_id, 0)  # the next of them to be answered
    for result in history.results:
        key = result.result.tool_call_id
        if not key or key not in by_id:
            continue
        calls, count = by_id[key], seen[key]
        while count < len(calls) and _precedes(calls[count].ref, result.ref):
            if count == 0 or calls[count].turn is not calls[count - 1].turn:
                nearest[key] = count
            count += 1
        seen[key] = count
        if count:
            result.answer(calls[min(nearest[key], count - 1)])
            nearest[key] += 1
    for result in history.orphans():
        later = by_id.get(result.result.tool_call_id or "", ()) if result.result.tool_call_id else ()
        if later and later[0].ref.side == REQUEST and not later[0].results:
            result.is_early = True
            result.answer(later[0])


_SIDES = (REMEMBERED, REQUEST, RESPONSE)


def _is_proof_of_result(parts: Sequence[Part], number: int) -> bool:
    """A signature on a result, read as a part of its own: both are one node of the body, so it is not before it."""
    proof = parts[number]
    if not isinstance(proof, Reasoning) or number + 1 == len(parts):
        return False
    result = parts[number + 1]
    return isinstance(result, ToolResultIR) and proof.source.pointer == result.source.pointer


def _precedes(one: NodeRef, other: NodeRef) -> bool:
    if one.side == other.side:
        return one < other
    return _SIDES.index(one.side) < _SIDES.index(other.side)


def _pair_by_position(calls: list[CallNode], results: list[ResultNode]) -> None:
    """Pair results without an id where that is unambiguous: the names tell, or there are as many calls as results."""
    unanswered = [c for c in calls if not c.results]
    pairs = _pairs_by_name(unanswered, results)
    for candidates in ([c for c in unanswered if not c.call.id], unanswered):
        if len(pairs) < len(results) == len(candidates):
            pairs = list(zip(candidates, results, strict=True))
    for call, result in pairs:
        result.is_by_position = True
        result.answer(call)


def _pair_with_unidentified(calls: list[CallNode], results: list[ResultNode]) -> None:
    """A call that came without an id is answered by the result of its name, whatever id the client gave that."""
    for call, result in _pairs_by_name([c for c in calls if not c.results and not c.call.id], results):
        result.is_by_position = True
        result.answer(call)


def _pairs_by_name(calls: list[CallNode], results: list[ResultNode]) -> list[tuple[CallNode, ResultNode]]:
    """Pair by name if equally many calls and results have it; by order if the protocol has no names of calls."""
    called, answered = Counter(c.call.name for c in calls), Counter(r.result.name for r in results)
    nameless = not any(c.call.id for c in calls)
    return [
        (call, result)
        for name, count in answered.items()
        if name and (called[name] == count or (nameless and called[name] > count))
        for call, result in zip(
            (c for c in calls if c.call.name == name), (r for r in results if r.result.name == name), strict=False
        )
    ]


def _link_mismatches(calls: list[CallNode], results: list[ResultNode]) -> None:
    """Link results with unknown ids to as many open calls by position: they name other ids."""
    unanswered = [c for c in calls if not c.results]
    if len(unanswered) == len(results):
        for call, result in zip(unanswered, results, strict=True):
            call.mismatch, result.stands_for = result, call
