"""Findings that hold in request after request: each is made once, and carried by the requests that repeat its message.

If a request continues another one, its first messages, its tools and its parameters are the same. Then a check finds
the same about one of those messages, if it depends only on the message, its neighbours, and the fields next to the
messages. Such a check is marked with ``of_messages``. It runs only on the last turns; earlier findings are in a
``FindingLog``, of which each row of the inspection has a beginning (``CarriedFindings``). Checks marked with
``reads_fields`` do not run again: their findings come first in the log.

A finding is logged when two turns of the model follow its message: a fault at the end of a request may be none when the
conversation continues. If anything else differs that findings may depend on (the provider refused, another request came
in between, a call was answered late, a duty ended), everything is checked again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import wraps
from itertools import islice
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

from workbench.contracts import BESIDE, Basis, Finding, Severity, WireOrder
from workbench.fingerprint import ANSWERING
from workbench.fronts import late
from workbench.ir import Carrier, Message, ModelRequest
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, HistoryPrefix
from workbench.rules._shared.acceptance import accepted_by, is_answered, may_be_accepted, says_refused
from workbench.rules._shared.carried_findings import CarriedFindings, FindingLog, Growth
from workbench.rules._shared.nodes import message_number
from workbench.rules._shared.reasoning import loop_start
from workbench.terms import Scope
from workbench.wire import ListOutline, State

if TYPE_CHECKING:
    from workbench.rules._shared.context import RuleContext

is_about_the_request, refusal_of, was_judged = late(
    "workbench.rules._shared.failure_place", "is_about_the_request", "refusal_of", "was_judged"
)

Check: TypeAlias = Callable[["RuleContext"], Iterable[Finding]]

BEHIND = 2
"""Number of turns of the model that follow a message when its findings are logged."""

_REPEATED = WireOrder(0, "", (0, 0), "", "", 0)
"""Mark of a finding for which only the message is still to be determined."""


OF_FIELDS = WireOrder(0, "", (0, 0), "", "", BESIDE)
"""Mark of a finding about fields next to the messages."""


def of_messages(check: Check) -> Check:
    """Declare that the findings of a check about a message of the request hold while requests repeat it.

    The check reads the message, those of the same turn and of the turn after it, the lines and entries of the chain
    that begin there, the contract, and the fields next to the messages. It may have findings on the response, too.
    """

    @wraps(check)
    def look_at_recent(case: RuleContext) -> Iterable[Finding]:
        found = check(case.chain.get("recent", case))  # as ``recent``
        return found if case.carried is None else [*map(_mark_repeated, found)]

    return look_at_recent


def _mark_repeated(finding: Finding) -> Finding:
    return replace(finding, order=_REPEATED) if finding.side == REQUEST else finding


def in_order(case: RuleContext, findings: Iterable[Finding]) -> list[Finding]:
    """The findings of an exchange in the order of the wire, each with its place in it if they are carried."""
    found = sorted(findings, key=lambda f: (f.severity.rank, f.side, f.span or (0, 0), f.pointer, f.rule))
    return [_with_place(case, finding) for finding in found] if case.carried else found


def _with_place(case: RuleContext, finding: Finding) -> Finding:
    number = finding.order.message if finding.order else None
    if finding.order is _REPEATED:
        number = message_number(case.decoded, REQUEST, finding.pointer)
    order = WireOrder(
        finding.severity.rank, finding.side, finding.span or (0, 0), finding.pointer, finding.rule, number
    )
    return replace(finding, order=order)


class _Point(NamedTuple):
    """``needs``: messages of a request for which what is known of the first ``settled`` holds: ``logged`` findings."""

    needs: int
    settled: int
    logged: int


class _LogInUse:
    """A log, and from which requests on its findings hold.

    Attributes:
        changes, seen: of the ledger, and how many of them were looked at.
        fields: outline of the request about whose fields the first findings are; None if there are no such findings.
    """

    def __init__(self, log: FindingLog, points: list[_Point], fields: ListOutline | None = None) -> None:
        self.log, self.points, self.fields = log, points, fields
        self.changes: list[int] | None = None
        self.seen = 0

    def point(self, length: int) -> _Point:
        """Where a request with so many messages begins."""
        return self.points[bisect_right(self.points, (length, inf)) - 1]  # as of their ``needs`` alone

    def first(self, point: _Point) -> _LogInUse:
        """The beginning of it, to continue it in another way."""
        earlier = [each for each in self.points if each.needs <= point.needs and each.settled < point.settled]
        other = _LogInUse(
            self.log.first(point.logged), [*(earlier or [_NOTHING]), point], self.fields if point.logged else None
        )
        other.changes, other.seen = self.changes, self.seen
        return other


_NOTHING = _Point(0, 0, 0)

MOST_KINDS = 4
"""Number of kinds of requests for which findings of a conversation are kept: its parameters change now and then."""

MOST_LANES = 16
"""Number of conversations of one history for which findings are kept: retries and branches."""


class LaneFindings:
    """Findings of the exchanges of a conversation about the messages of a history.

    Attributes:
        last: the last exchange whose request had these messages; -1 if there was none.
        shown: number of messages that it had.
        known: findings, by what they depend on in addition to the messages.
    """

    def __init__(self) -> None:
        self.last, self.length = -1, 0
        self.known: dict[Hashable, _LogInUse] = {}

    def fork(self, length: int) -> LaneFindings:
        """The same for the first messages alone."""
        other = LaneFindings()
        other.last, other.length = self.last, min(self.length, length)
        other.known = {key: known.first(known.point(length)) for key, known in self.known.items()}
        return other

    def keep(self, key: Hashable, known: _LogInUse) -> None:
        """Keep it as the latest."""
        self.known.pop(key, None)
        self.known[key] = known
        while len(self.known) > MOST_KINDS:
            del self.known[next(iter(self.known))]


class _Lanes:
    """A fold over a history: what was found about its messages, by the conversations that have it."""

    def __init__(self) -> None:
        self._lanes: dict[int, LaneFindings] = {}

    def read(self, messages: Sequence[Message]) -> None:
        """Nothing: exchanges tell what they found."""

    def fork(self, length: int) -> _Lanes:
        other = _Lanes()
        other._lanes = {number: lane.fork(length) for number, lane in self._lanes.items()}
        return other

    def lane(self, number: int) -> LaneFindings:
        """That of a conversation, which is kept as the latest."""
        found = self._lanes[number] = self._lanes.pop(number) if number in self._lanes else LaneFindings()
        while len(self._lanes) > MOST_LANES:
            del self._lanes[next(iter(self._lanes))]
        return found


class _Same:
    """A key that is equal to that of the very same object."""

    __slots__ = ("it",)

    def __init__(self, it: object) -> None:
        self.it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.it is self.it

    def __hash__(self) -> int:
        return id(self.it)


class KnownFindings:
    """Findings that an exchange takes over from earlier exchanges, and passes on to later ones.

    Args:
        lane: findings on the history of its request.
        is_final: the exchange will not be inspected again.
        is_plain: function that is true if no finding on the request depends on all its other findings.

    Attributes:
        start: number of first messages whose findings are all known.
        has_fields: findings on the fields next to the messages are known, too.
    """

    def __init__(self, lane: LaneFindings, is_plain: Callable[[RuleContext], bool], *, is_final: bool) -> None:
        self.start, self.has_fields = 0, False
        self._growth: Growth | None = None
        self._lane, self._is_plain, self._is_final = lane, is_plain, is_final
        self._point, self._length = _NOTHING, 0
        self._known: _LogInUse | None = None
        self._key: Hashable = None

    def begin(self, case: RuleContext) -> None:
        """Determine up to which message all findings are known."""
        self._key = _key(case) if self._is_plain(case) else None
        if self._key is None:
            return
        known, length = self._lane.known.get(self._key), len(case.messages)
        if known is None or not case.earlier.exchanges or self._lane.last != case.earlier.exchanges[-1]:
            self._known = _LogInUse(FindingLog(), [_NOTHING])
            return
        self._length = self._lane.length
        point = known.point(length)
        is_paired_again = case.closure.settled < point.settled
        end = 0 if is_paired_again else min(point.settled, _first_change(case, known))
        if end < point.settled:
            point = _Point(length, int(end), known.log.before(int(end)))
            known = known.first(point)
        self._known, self._point, self.start = known, point, point.settled
        self._growth = _growth(known.fields, case) if point.logged else None
        if known.fields and point.logged and self._growth is None:  # the same fields, written otherwise
            self._known, self._point, self.start = _LogInUse(FindingLog(), [_NOTHING]), _NOTHING, 0
        self.has_fields = self._growth is not None

    def finish(self, case: RuleContext, found: Sequence[Finding]) -> Sequence[Finding]:
        """The findings of the exchange, including the known ones; those that hold for later exchanges are kept."""
        known, count, length = self._known, self._point.logged, len(case.messages)
        if self._is_final:
            if known is not None and self._key is not None:
                if count == len(known.log.findings):
                    self._log(case, known, found)
                known.changes = case.ledger.changes
                known.seen = len(known.changes or ())
                self._lane.keep(self._key, known)
            self._lane.last, self._lane.length = case.decoded.index, length
        index = case.decoded.index
        return CarriedFindings(index, found, known.log, count, self._growth) if known and count else tuple(found)

    def _log(self, case: RuleContext, known: _LogInUse, found: Iterable[Finding]) -> None:
        by_message = [(f.order.message, f) for f in found if f.order and f.order.message is not None]
        new = sorted(((n, f) for n, f in by_message if n >= self.start), key=itemgetter(0))
        fresh = (n for n, f in new if not _is_settled(case, f))
        end = _last_settled(case, self.start, min(self._length, case.closure.settled, next(fresh, self._length)))
        if end > known.points[-1].settled:
            if not known.points[-1].settled and not known.log.findings:
                known.fields = self._log_fields(case, known.log, [f for n, f in by_message if n == BESIDE])
            known.log.add((n, f) for n, f in new if n < end)
            length = len(case.messages)
            known.points.append(_Point(length, end, len(known.log.findings)))

    def _log_fields(self, case: RuleContext, log: FindingLog, found: Sequence[Finding]) -> ListOutline | None:
        """Keep findings on what is beside the messages, if each holds as long as that is the same."""
        reading = case.decoded.request_reading
        if reading is None or not all(_is_settled(case, f) and _is_of_fields_alone(f) for f in found):
            return None
        log.add((BESIDE, finding) for finding in found)
        return reading.outline if found else None


def _growth(fields: ListOutline | None, case: RuleContext) -> Growth | None:
    """How much the list of messages grew since a request; None if something else in its text is different."""
    reading = case.decoded.request_reading
    if fields is None or reading is None:
        return None
    now = reading.outline
    is_same = (now.before, now.tail, now.list.start) == (fields.before, fields.tail, fields.list.start)
    return Growth(fields.end, now.end - fields.end) if is_same else None


def _is_of_fields_alone(finding: Finding) -> bool:
    """Neither a line of the text nor what is found elsewhere decides about it."""
    return "line" not in finding.values and finding.basis is not Basis.COMMON


def _last_settled(case: RuleContext, start: int, end: int) -> int:
    """The latest beginning of a turn of the model, up to a message, with some of its turns behind it."""
    messages, turns = case.messages, 0
    for n in range(len(messages) - 1, start, -1) if end > start else ():
        if messages[n].role in ANSWERING and messages[n - 1].role not in ANSWERING:
            turns += 1
            if turns >= BEHIND and n <= end:
                return n
    return start


def _first_change(case: RuleContext, known: _LogInUse) -> float:
    """The first message of which the ledger says something else than before."""
    changes = case.ledger.changes
    if changes is None or changes is not known.changes:
        return 0
    return min(islice(changes, known.seen, None), default=inf)


def lane_of(request: ModelRequest | None, conversation: int) -> LaneFindings | None:
    """Findings of a conversation on the history of a request; None if the request does not own its history."""
    if request is None or request.previous_id or not isinstance(request.messages, HistoryPrefix):
        return None
    return request.messages.fold(_Lanes).lane(conversation)


def _key(case: RuleContext) -> Hashable:
    """Everything that findings about messages depend on beside these; None if they depend on more."""
    fields, outcome = case.known_fields, _outcome(case)
    if fields is None or outcome is None:
        return None
    reasoning = case.contract.reasoning
    is_by_loop = Carrier.THOUGHT_SIGNATURE in reasoning.carriers and reasoning.scope is Scope.TOOL_LOOP
    return _Same(fields), outcome, loop_start(case) if is_by_loop else None, case.rule_prefixes


def _outcome(case: RuleContext) -> Hashable:
    """What became of the request, as far as findings are reviewed by it; None if that tells of one request alone."""
    exchange, answer, accepted = case.decoded.exchange, case.response, case.accepted
    if exchange.state is State.OPEN or _is_refused(case):
        return None
    hops = case.hops
    if hops.hop or not (hops.is_alone or (hops.outer is None and hops.inner is None)):
        return None
    witness = accepted_by(case.decoded) if case.is_recorded else ""
    if witness and accepted is None:
        return None
    is_unanswered = not witness and may_be_accepted(case)
    return witness, case.status, is_unanswered, accepted is None, case.is_recorded, is_answered(answer)


def _is_refused(case: RuleContext) -> bool:
    """The answer is an error that may be about what the request says."""
    error = case.response.error if case.response else None
    if error is None:
        return False
    is_about_it = is_about_the_request(refusal_of(error, case.decoded), case.status)
    return is_about_it or was_judged(error, case.decoded) or case.is_refused


def _is_settled(case: RuleContext, finding: Finding) -> bool:
    """It is as later exchanges have it: its beginning is known, and so is whether it was accepted before."""
    if finding.origin is None or finding.origin.exchange >= finding.exchange:
        return False
    is_decided = finding.severity is not Severity.ERROR or not says_refused(finding)
    return is_decided or case.accepted is None or not may_be_accepted(case)
