"""Lines of closure: every call with its results, every result without a call, and what is wrong with each.

This module decides whether a call is closed; ``_pairing.py`` decides which result belongs to which call. Both know
roles, ids and positions, and no protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from workbench.chain._pairing import REMEMBERED, REQUEST, RESPONSE, CallNode, History, ResultNode
from workbench.ir import NodeRef
from workbench.lazy_dataclass import dataclass
from workbench.terms import ClosureTerms, Placement


class CallState(StrEnum):
    """State of a call, or the fault of a result."""

    CLOSED = "closed"
    PENDING = "pending"  # still open at the end: the client has yet to run it
    MISSING = "missing"  # the conversation went on without its result
    MISPLACED = "misplaced"  # answered, but not where the protocol wants it
    OUT_OF_ORDER = "out-of-order"  # the result stands before its call
    DUPLICATE = "duplicate"  # more than one result, or the id is used by two calls
    ORPHAN = "orphan"  # a result without a call


class Flaw(StrEnum):
    """One thing that is wrong with a line: what a rule asks for."""

    NOT_ADJACENT = "not-adjacent"  # something stands between the calls and the result
    RESULT_NOT_FIRST = "result-not-first"  # other content stands before or between the results
    CALL_ROLE = "call-role"  # the call is in a message of the wrong role
    RESULT_ROLE = "result-role"  # a result is in a message of the wrong role
    DUPLICATE_ID = "duplicate-id"  # an earlier call has the same id
    DUPLICATE_RESULT = "duplicate-result"  # more than one result
    ID_MISMATCH = "id-mismatch"  # call and result fit by position, but the ids differ
    BY_POSITION = "by-position"  # the tool result names no id and was paired by its place


@dataclass(frozen=True, slots=True)
class CallLine:
    """One call with its results, or one result without a call.

    Attributes:
        id, name: as sent.
        call: None for an orphan.
        results: every result that names this id.
        state: its worst state.
        note: in words, for people ("answered by message 4, message 3 is between the call and its result").
        flaws: what is wrong, as values of ``Flaw``; there can be several, and ``state`` follows from the worst.
        between: index of the first request message that is between the calls and their result.
        before: first part that is before or between the results of its turn, although results have to come first; None
            if there is none.
        twin: the earlier call with the same id (``Flaw.DUPLICATE_ID``).
        stands_for: of an orphan, the unanswered call that it answers by its position (``Flaw.ID_MISMATCH``).
        is_remembered: the call is in a response that only the server has: ``call`` is None, but it is no orphan.
        is_server: the provider runs the call itself, and no client answers it: closed, or pending without a result.
    """

    id: str | None
    name: str | None
    call: NodeRef | None
    results: tuple[NodeRef, ...]
    state: CallState
    note: str = ""
    flaws: tuple[Flaw, ...] = ()
    between: int | None = None
    before: NodeRef | None = None
    twin: NodeRef | None = None
    stands_for: NodeRef | None = None
    is_remembered: bool = False
    is_server: bool = False

    @property
    def remark(self) -> str:
        """The note without its first words where they only name the messages of the results."""
        return self.note if self.is_server or not self.results else self.note.partition(", ")[2]

    @property
    def is_flawed(self) -> bool:
        """True if the call is not closed or has a flaw; pairing by position is not a flaw."""
        if self.state is not CallState.CLOSED:
            return True
        return bool(self.flaws) and any(flaw is not Flaw.BY_POSITION for flaw in self.flaws)


def lines_of(history: History, terms: ClosureTerms, *, is_held: bool = False) -> list[CallLine]:
    """The line of every call and of every result without a call, in wire order.

    Args:
        history: with calls and results paired.
        terms: where results have to be.
        is_held: calls may be in earlier responses that only the server has.
    """
    judge = _Judge(history, terms, is_held=is_held)
    lines = [judge.call(c) for c in history.calls] + [judge.orphan(r) for r in history.orphans()]
    lines += _server_lines(history)
    return sorted(lines, key=first_ref) if len(lines) > 1 else lines


def _server_lines(history: History) -> Iterator[CallLine]:
    """The calls that the provider runs. Their results are beside them, or in its next answer when it paused."""
    for ref, call in history.server_calls:
        if ref.side != REMEMBERED:
            results = tuple(history.server_results.get(call.id or "", ()))
            state = CallState.CLOSED if results else CallState.PENDING
            note = "run by the provider" if results else "run by the provider, result not in this request"
            yield CallLine(call.id, call.name, ref, results, state, note, is_server=True)


def first_ref(line: CallLine) -> NodeRef:
    """Place of the call, or of the result that has none."""
    first = line.call or (line.results[0] if line.results else None)
    return first or NodeRef("", 0, 0)


class _Judge:
    """Describes each pair of call and result under the terms of a contract."""

    def __init__(self, history: History, terms: ClosureTerms, *, is_held: bool) -> None:
        self.turns = history.turns
        self.terms = terms
        self.is_held = is_held
        self.last = max([t.number for t in history.turns if t.side == REQUEST], default=-1)
        # number of the first turn from each turn on that holds more than results
        self.next_other = [len(self.turns)] * (len(self.turns) + 1)
        for turn in reversed(self.turns):
            other = self.next_other[turn.number + 1]
            is_only_results = turn.other is None and not turn.is_empty
            self.next_other[turn.number] = other if is_only_results else turn.number

    def call(self, node: CallNode) -> CallLine:
        """The line of a call."""
        if self._is_answered_next(node):
            refs = (node.results[0].ref,)
            note = f"answered by message {refs[0].message + 1}"
            return CallLine(node.call.id, node.call.name, node.ref, refs, CallState.CLOSED, note)
        remembered = node.ref.side == REMEMBERED
        between = None if remembered else self._between(node)
        before = None if remembered else self._before(node)
        flaws = tuple(self._flaws(node, between, before))
        return CallLine(
            id=node.call.id,
            name=node.call.name,
            call=None if remembered else node.ref,
            results=tuple(r.ref for r in node.results),
            state=self._state(node, flaws),
            note=self._note(node, flaws, between, before),
            flaws=flaws,
            between=between,
            before=before,
            twin=node.twin.ref if node.twin and node.twin.ref.side != REMEMBERED else None,
            is_remembered=remembered,
        )

    def _is_answered_next(self, node: CallNode) -> bool:
        """True for nearly every call: it has one result, by id, in the next turn, and no flaw."""
        if len(node.results) != 1 or node.twin or node.mismatch or node.ref.side != REQUEST:
            return False
        (result,), terms = node.results, self.terms
        return (
            result.turn.number == node.turn.number + 1
            and not (result.is_early or result.is_by_position or (result.before and terms.results_first))
            and terms.call_role in ("", node.turn.role)
            and terms.result_role in ("", result.turn.role)
        )

    def orphan(self, node: ResultNode) -> CallLine:
        """The line of a result without a call."""
        other = node.stands_for
        stands_for = other.ref if other and other.ref.side != REMEMBERED else None
        flaws = ((Flaw.ID_MISMATCH,) if stands_for else ()) + (
            (Flaw.RESULT_ROLE,) if self._has_wrong_role(node) else ()
        )
        if self.is_held:
            note = "answers a call from an earlier response that only the server stores"
        elif not node.result.tool_call_id:
            note = "has no call id, and its position does not show which call it answers"
        elif other and not stands_for:
            note = f"by position, this result answers the call with id {other.call.id!r:.80} of the previous response"
        elif stands_for:
            note = (
                f"by position, this result answers the call in message {stands_for.message + 1}, which has a "
                "different id"
            )
        else:
            note = "no earlier call has this id"
        return CallLine(
            id=node.result.tool_call_id,
            name=node.result.name,
            call=None,
            results=(node.ref,),
            state=CallState.CLOSED if self.is_held else CallState.ORPHAN,
            note=note,
            flaws=flaws,
            stands_for=stands_for,
            is_remembered=self.is_held,
        )

    def _has_wrong_role(self, node: ResultNode) -> bool:
        return bool(self.terms.result_role) and node.turn.role != self.terms.result_role

    def _flaws(self, node: CallNode, between: int | None, before: NodeRef | None) -> Iterator[Flaw]:
        if self.terms.call_role and node.turn.role != self.terms.call_role:
            yield Flaw.CALL_ROLE
        if any(self._has_wrong_role(r) for r in node.results):
            yield Flaw.RESULT_ROLE
        if node.twin:
            yield Flaw.DUPLICATE_ID
        if len(node.results) > 1:
            yield Flaw.DUPLICATE_RESULT
        if node.mismatch:
            yield Flaw.ID_MISMATCH
        if any(r.is_by_position for r in node.results):
            yield Flaw.BY_POSITION
        if between is not None:
            yield Flaw.NOT_ADJACENT
        if before is not None:
            yield Flaw.RESULT_NOT_FIRST

    def _between(self, node: CallNode) -> int | None:
        """First message that is between a call and its result, under the terms."""
        if not node.results or node.results[0].is_early or self.terms.placement is Placement.ANYWHERE:
            return None
        turn, result = node.turn.number, node.results[0].turn.number
        other = self.next_other[turn + 1]
        if self.terms.placement is Placement.CONTIGUOUS:
            return self.turns[other].first if other < result else None
        if result <= turn + 1:
            return None
        return self.turns[other if other < result else turn + 1].first

    def _before(self, node: CallNode) -> NodeRef | None:
        """First part that is before the result in its turn, where results come first."""
        if not self.terms.results_first:
            return None
        return next((r.before for r in node.results if r.before and r.turn is not node.turn), None)

    def _state(self, node: CallNode, flaws: tuple[Flaw, ...]) -> CallState:
        if Flaw.DUPLICATE_ID in flaws or Flaw.DUPLICATE_RESULT in flaws:
            return CallState.DUPLICATE
        if not node.results:
            return CallState.PENDING if self._is_open(node) else CallState.MISSING
        if node.results[0].is_early:
            return CallState.OUT_OF_ORDER
        misplaced = {Flaw.CALL_ROLE, Flaw.RESULT_ROLE, Flaw.NOT_ADJACENT, Flaw.RESULT_NOT_FIRST}
        return CallState.MISPLACED if misplaced & set(flaws) else CallState.CLOSED

    def _is_open(self, node: CallNode) -> bool:
        return node.ref.side == RESPONSE or (node.ref.side == REQUEST and node.turn.number == self.last)

    def _note(self, node: CallNode, flaws: tuple[Flaw, ...], between: int | None, before: NodeRef | None) -> str:
        notes = [self._answer_note(node)]
        if between is not None:
            notes.append(f"message {between + 1} is between the call and its result")
        if before is not None:
            notes.append(f"message {before.message + 1} has other content before the result")
        if node.twin:
            notes.append(f"{_where(node.twin.ref)} has the same id")
        notes += [_NOTES[f] for f in flaws if f in _NOTES]
        return ", ".join(notes)

    def _answer_note(self, node: CallNode) -> str:
        if node.results:
            messages = dict.fromkeys(str(r.ref.message + 1) for r in node.results)
            return f"answered by message {' and '.join(messages)}"
        if self._is_open(node):
            is_new = node.ref.side == RESPONSE
            return "the response ends with this call" if is_new else "the request ends with this call"
        if node.ref.side == REMEMBERED:
            return "call from a response that the server stores; this request does not answer it"
        return f"message {self.turns[node.turn.number + 1].first + 1} follows, but does not contain the tool result"


_NOTES = {
    Flaw.CALL_ROLE: "a message of this role must not contain tool calls",
    Flaw.RESULT_ROLE: "a message of that role must not contain tool results",
    Flaw.DUPLICATE_RESULT: "more than one result",
    Flaw.ID_MISMATCH: "the tool result at this position names a different call id",
    Flaw.BY_POSITION: "paired by position: the call or the result has no id",
}


def _where(ref: NodeRef) -> str:
    return f"part {ref.part + 1} of message {ref.message + 1}"
