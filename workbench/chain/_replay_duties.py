"""Turns that have to send their reasoning, and the end of this duty."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import groupby

from workbench.chain.received_answers import ReceivedAnswer, ReceivedAnswers, join_items
from workbench.fingerprint import ANSWERING
from workbench.ir import Carrier, Message, ModelRequest, NodeRef, Reasoning, ToolResultIR
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.protocols import fact
from workbench.terms import ReasoningTerms, Scope


class ReplayDuty(NamedTuple):
    """True if a turn has to send its reasoning, and the reason in words."""

    is_owed: bool
    why: str


@dataclass(slots=True)
class Loop:
    """Tool loop: the turns after one user message, up to the next.

    Attributes:
        signed_in: index of the first message that has reasoning with a signature or opaque data.
        reasoned_in: number of the first turn that has reasoning, or whose response had some.
        first: number of its first turn.
    """

    signed_in: int | None = None
    reasoned_in: int | None = None
    first: int = 0

    @property
    def has_reasoning(self) -> bool:
        return self.reasoned_in is not None


@dataclass(slots=True)
class LedgerTurn:
    """Neighbouring assistant messages of a history.

    Attributes:
        message: index of the message with the calls, else of the first.
        first: index of its first message.
        last: index of its last message.
        sent, refs: reasoning that it has, and where.
        came: reasoning of the responses that it repeats; None if no response is known.
        exchange: index of the exchange that received it.
        positions: positions of these responses among those received.
        ended_by: index of the user message that ended its tool loop, None while it is open.
        is_signed: some of its reasoning has a signature or opaque data.
        loop: the tool loop it belongs to.
    """

    number: int
    message: int
    first: int
    last: int = -1
    sent: list[Reasoning] = field(default_factory=list)
    refs: list[NodeRef] = field(default_factory=list)
    came: list[Reasoning] | None = None
    exchange: int | None = None
    positions: set[int] = field(default_factory=set)
    call_ids: list[str] = field(default_factory=list)
    has_calls: bool = False
    is_signed: bool = False
    ended_by: int | None = None
    loop: Loop = field(default_factory=Loop)


def turns(request: ModelRequest, received: ReceivedAnswers) -> Turns:
    """The assistant turns of a request, matched with what was received."""
    places = [n for n, m in enumerate(request.messages) if m.role in ANSWERING]
    users = [n for n, m in enumerate(request.messages) if is_question(m)]
    found = Turns()
    for n, position in zip(places, _positions(request, places, received), strict=True):
        found.add(n, position, request.messages, users, received)
    return found


def is_question(message: Message) -> bool:
    """True if a user message has content other than results."""
    return message.role == "user" and fact(message, _is_said)


class Turns:
    """Turns of a history, to which assistant messages are added in order.

    Attributes:
        all: the turns.
        message_by_answer: position of a response with reasoning → number of turns that repeat it.
        loops: number of questions before a tool loop → the loop.
    """

    def __init__(self) -> None:
        self.all: list[LedgerTurn] = []
        self.message_by_answer: Counter[int] = Counter()
        self.loops: defaultdict[int, Loop] = defaultdict(Loop)
        self._last = -2

    def add(
        self,
        place: int,
        position: int | None,
        messages: Sequence[Message],
        users: Sequence[int],
        received: ReceivedAnswers,
    ) -> None:
        """Add an assistant message.

        Args:
            place: its index.
            position: position of the response that it repeats, among those received.
            messages: messages of the request.
            users: indices of the questions.
            received: the responses.
        """
        if place != self._last + 1:
            self.all.append(LedgerTurn(len(self.all), place, place))
        turn, self._last = self.all[-1], place
        turn.last = place
        _add_message(turn, place, messages[place])
        if position is not None and position not in turn.positions:
            _add_answer(turn, position, received)
            if received.answers[position].blocks:
                self.message_by_answer[position] += 1
        turn.ended_by = end_of_loop(place, users, messages)
        number = bisect_right(users, place)
        if number not in self.loops:
            self.loops[number].first = turn.number
        _join(turn, self.loops[number])

    def drop(self, number: int) -> int:
        """Remove a turn and all later ones; the number of turns at the beginning that are unchanged."""
        place = self.all[number - 1].last + 1 if number else 0
        for position in (position for turn in self.all[number:] for position in turn.positions):
            self.message_by_answer[position] -= 1
            if self.message_by_answer[position] <= 0:
                del self.message_by_answer[position]
        del self.all[number:]
        self._last = self.all[-1].last if self.all else -2
        self.loops = defaultdict(Loop, {key: loop for key, loop in self.loops.items() if loop.first < number})
        loop = self.all[-1].loop if self.all else None
        if loop and loop.signed_in is not None and loop.signed_in >= place:
            loop.signed_in = None
        if loop and loop.reasoned_in is not None and loop.reasoned_in >= number:
            loop.reasoned_in = None
            return loop.first
        return number

    def end_again(self, users: Sequence[int], messages: Sequence[Message]) -> int:
        """Find again where open loops end; the number of turns at the beginning that are unchanged."""
        start = same = len(self.all)
        while start and self.all[start - 1].ended_by is None:
            start -= 1
        for turn in self.all[start:]:
            turn.ended_by = end_of_loop(turn.last, users, messages)
            if turn.ended_by is not None:
                same = min(same, turn.number)
        return same

    def open_again(self, place: int) -> int:
        """Forget the ends of loops from a message on; the number of turns at the beginning that are unchanged."""
        same = len(self.all)
        for turn in reversed(self.all):
            if turn.ended_by is not None and turn.ended_by < place:
                break
            same = same if turn.ended_by is None else turn.number
            turn.ended_by = None
        return same


def _positions(request: ModelRequest, places: Sequence[int], received: ReceivedAnswers) -> list[int | None]:
    """For each assistant message the answer it shows; items that are together show one."""
    if not request.itemized:
        return received.match([fact(request.messages[n], ReceivedAnswer) for n in places])
    runs = [[*group] for _, group in groupby(places, key=lambda n: n - bisect_left(places, n))]
    answers = received.match([ReceivedAnswer(join_items([request.messages[n] for n in run])) for run in runs])
    return [position for run, position in zip(runs, answers, strict=True) for _ in run]


def _add_message(turn: LedgerTurn, index: int, message: Message) -> None:
    has_calls, ids, blocks = fact(message, _said_in)
    if has_calls and not turn.has_calls:
        turn.has_calls, turn.message = True, index
    turn.call_ids += ids
    for part, block in blocks:
        turn.sent.append(block)
        turn.is_signed |= bool(block.signature or block.data)
        turn.refs.append(NodeRef("request", index, part))


def _said_in(message: Message) -> tuple[bool, list[str], list[tuple[int, Reasoning]]]:
    """True if it has calls, their ids, and its reasoning with its parts."""
    calls = [call for _, call in message.tool_calls()]
    return bool(calls), [call.id for call in calls if call.id], [*message.reasoning()]


def _add_answer(turn: LedgerTurn, position: int, received: ReceivedAnswers) -> None:
    answer = received.answers[position]
    turn.positions.add(position)
    if not turn.came:
        turn.came, turn.exchange = [], answer.exchange
    turn.came += answer.blocks


def _is_said(message: Message) -> bool:
    """True if the message contains more than tool results."""
    return any(not isinstance(p, ToolResultIR) for p in message.parts)


def _has_results(message: Message) -> bool:
    return any(True for _ in message.tool_results())


def end_of_loop(last: int, users: Sequence[int], messages: Sequence[Message]) -> int | None:
    """The user message that ends the loop of a turn; a message that also answers its calls does not."""
    at = bisect_right(users, last)
    if at < len(users) and users[at] == last + 1 and fact(messages[last + 1], _has_results):
        at += 1
    return users[at] if at < len(users) else None


def _join(turn: LedgerTurn, loop: Loop) -> None:
    turn.loop = loop
    if loop.reasoned_in is None and (turn.sent or turn.came):
        loop.reasoned_in = turn.number
    if loop.signed_in is None and turn.is_signed:
        loop.signed_in = turn.message


def replay_duty(turn: LedgerTurn, thinking: str | None, terms: ReasoningTerms) -> ReplayDuty:
    """Duty of a turn to send its reasoning in this request."""
    return (
        _duty_when_not_required(thinking, terms)
        or _never_there(turn, thinking, terms)
        or (ReplayDuty(True, "required for every turn") if terms.scope is Scope.ALWAYS else None)
        or (None if turn.has_calls else ReplayDuty(False, "not required: the turn called no tool"))
        or (
            ReplayDuty(True, "required for every turn with tool calls, in all later requests")
            if terms.scope is Scope.TOOL_TURNS
            else None
        )
        or (None if turn.ended_by is None else ReplayDuty(False, f"ended by the user message {turn.ended_by + 1}"))
        or ReplayDuty(True, "the tool loop is still open")
    )


def _duty_when_not_required(thinking: str | None, terms: ReasoningTerms) -> ReplayDuty | None:
    if terms.is_asked(thinking):
        return None
    return ReplayDuty(
        False, "the provider does not require reasoning" if terms.scope is Scope.NEVER else "thinking is off"
    )


def _never_there(turn: LedgerTurn, thinking: str | None, terms: ReasoningTerms) -> ReplayDuty | None:
    """Reasoning that was never received cannot be sent back; if that is not certain, the terms decide."""
    if turn.sent or turn.came:
        return None
    is_certain = terms.required_when in ("", thinking)
    if turn.came is not None:
        # thinking switched on in an open loop: the provider wants what the loop began without
        if terms.required_when and is_certain and not turn.loop.has_reasoning:
            return None
        return ReplayDuty(False, f"the response (exchange {(turn.exchange or 0) + 1}) contained no reasoning")
    if not is_certain or terms.scope is Scope.ALWAYS:
        return ReplayDuty(False, "no reasoning of this turn is known")
    signed = turn.loop.signed_in
    is_each_signed = Carrier.THOUGHT_SIGNATURE in terms.carriers
    if signed is not None and signed < turn.message and not is_each_signed:
        return ReplayDuty(False, f"message {signed + 1} contains the signed reasoning of this tool loop")
    return None
