"""Findings that hold in request after request: each is made once, and carried by the requests that repeat its message.

A request continues another one: its first messages, its tools and its parameters are the same. What a check finds about
one of those messages is then the same too, if it depends on nothing but the message, its neighbours, and what is beside
the messages. Such a check is marked with ``of_messages``. It is asked about the last turns alone; what was found before
is in a ``FindingLog``, of which each row of the timeline holds a beginning (``CarriedFindings``).

Findings are logged when two turns of the model are behind them: a fault at the end of a request may be none when the
conversation continues. Where anything else differs that they may depend on (the provider refused, another request came
in between, a call was answered late, a duty ended), all is found again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from itertools import chain, islice
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

from workbench.contracts import Finding, Severity, WireOrder
from workbench.fingerprint import ANSWERING
from workbench.ir import Carrier, Message
from workbench.protocols import REQUEST, HistoryPrefix
from workbench.rules._acceptance import accepted_by, is_answered, may_be_accepted, says_refused
from workbench.rules._failure_place import is_about_the_request, refusal_of, was_judged
from workbench.rules._nodes import message_number
from workbench.rules._reasoning import loop_start
from workbench.terms import Scope
from workbench.wire import State

if TYPE_CHECKING:
    from workbench.rules.context import RuleContext

Check: TypeAlias = Callable[["RuleContext"], Iterable[Finding]]

BEHIND = 2
"""Turns of the model that are behind a message when what was found about it is kept."""

_REPEATED = WireOrder(0, "", (0, 0), "", "", 0)
"""Mark of a finding of which nothing but the message is to be found out yet."""


def of_messages(check: Check) -> Check:
    """Declare that what a check finds about a message of the request holds while requests repeat it.

    It reads the message, those of the same turn and of the turn behind it, the lines and entries of the chain that
    begin there, the contract, and the fields beside the messages. It may find things in the answer too.
    """

    @wraps(check)
    def look_at_recent(case: RuleContext) -> Iterator[Finding]:
        is_marked = case.carried is not None
        for finding in check(case.recent):
            yield replace(finding, order=_REPEATED) if is_marked and finding.side == REQUEST else finding

    return look_at_recent


def in_order(case: RuleContext, findings: Iterable[Finding]) -> list[Finding]:
    """The findings of an exchange in the order of the wire, each with its place in it if they are carried."""
    found = sorted(findings, key=lambda f: (f.severity.rank, f.side, f.span or (0, 0), f.pointer, f.rule))
    return [_with_place(case, finding) for finding in found] if case.carried else found


def _with_place(case: RuleContext, finding: Finding) -> Finding:
    number = message_number(case.decoded, REQUEST, finding.pointer) if finding.order else None
    order = WireOrder(
        finding.severity.rank, finding.side, finding.span or (0, 0), finding.pointer, finding.rule, number
    )
    return replace(finding, order=order)


def in_wire(finding: Finding) -> tuple[object, ...]:
    """Key of the order of an exchange. What no check found but a review of all findings comes last."""
    return finding.severity.rank, finding.order is None, finding.order[:5] if finding.order else ()


class FindingLog:
    """Findings about the messages of a history, in the order of these. It grows.

    Attributes:
        findings: as they are in the last exchange that found them itself.
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._messages: list[int] = []
        self._likes: defaultdict[Hashable, list[int]] = defaultdict(list)

    def add(self, findings: Iterable[tuple[int, Finding]]) -> None:
        """Append findings about messages behind all those before."""
        for message, finding in findings:
            self._likes[likeness(finding)].append(len(self.findings))
            self.findings.append(finding)
            self._messages.append(message)

    def before(self, message: int) -> int:
        """Number of findings about messages before one."""
        return bisect_left(self._messages, message)

    def first(self, count: int) -> FindingLog:
        """Another log that begins with the first findings of this one."""
        other = FindingLog()
        other.add(zip(self._messages[:count], self.findings, strict=False))
        return other

    def count_like(self, finding: Finding, count: int) -> int:
        """How many of the first findings have the cause of a finding."""
        return bisect_left(self._likes.get(likeness(finding), ()), count)


def likeness(finding: Finding) -> Hashable:
    """Equal for findings of one cause that weigh the same."""
    return finding.cause, finding.rule, finding.counts_as or finding.severity


class CarriedFindings(Sequence[Finding]):
    """The findings of an exchange: those made for it, and the first ones of a log.

    Attributes:
        made: found in this exchange itself.
        log: of the history that its request continues.
        size: number of findings of the log that hold.
    """

    __slots__ = ("exchange", "log", "made", "size")

    def __init__(self, exchange: int, made: Sequence[Finding], log: FindingLog, size: int) -> None:
        self.exchange = exchange
        self.made = tuple(made)
        self.log, self.size = log, size

    def of_log(self) -> Iterator[Finding]:
        """Those of the log, as findings of this exchange."""
        return (_in_exchange(finding, self.exchange) for finding in islice(self.log.findings, self.size))

    def with_made(self, made: Iterable[Finding]) -> CarriedFindings:
        """The same with other findings made for this exchange."""
        return CarriedFindings(self.exchange, tuple(made), self.log, self.size)

    def _all(self) -> list[Finding]:
        return sorted((*self.of_log(), *self.made), key=in_wire)

    def __len__(self) -> int:
        return self.size + len(self.made)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self._all()[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash((self.exchange, len(self)))

    def __repr__(self) -> str:
        return repr(tuple(self))


def _in_exchange(finding: Finding, exchange: int) -> Finding:
    """The same fault in a later exchange, which is accepted as the earlier one was."""
    against = finding.contradicts
    if against is not None and against.exchange == finding.exchange:
        return replace(finding, exchange=exchange, contradicts=replace(against, exchange=exchange))
    return replace(finding, exchange=exchange)


def made_for(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Those of the findings of an exchange that were made for it."""
    return findings.made if isinstance(findings, CarriedFindings) else findings


def without(findings: Sequence[Finding], rule: str) -> Sequence[Finding]:
    """The findings of an exchange without those of a rule that were made for it; the very same if there are none."""
    made = made_for(findings)
    left = tuple(finding for finding in made if finding.rule != rule)
    return findings if len(left) == len(made) else with_made(findings, left)


def with_made(findings: Sequence[Finding], made: tuple[Finding, ...]) -> Sequence[Finding]:
    """The findings of an exchange with others made for it."""
    return findings.with_made(made) if isinstance(findings, CarriedFindings) else made


def with_more(findings: Sequence[Finding], more: Iterable[Finding]) -> Sequence[Finding]:
    """The findings of an exchange, and others made for it."""
    return with_made(findings, (*made_for(findings), *more))


class FindingsOfRows(Sequence[Finding]):
    """The findings of all exchanges of a session, in order of these."""

    def __init__(self, rows: Iterable[Sequence[Finding]]) -> None:
        self.rows = tuple(rows)

    def __len__(self) -> int:
        return sum(map(len, self.rows))

    def __iter__(self) -> Iterator[Finding]:
        return chain.from_iterable(self.rows)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return tuple(self)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))


class _Point(NamedTuple):
    """``needs``: messages of a request for which what is known of the first ``settled`` holds: ``logged`` findings."""

    needs: int
    settled: int
    logged: int


class _LogInUse:
    """A log, and from which requests on its findings hold.

    Attributes:
        changes, seen: of the ledger, and how many of them were looked at.
    """

    def __init__(self, log: FindingLog, points: list[_Point]) -> None:
        self.log, self.points = log, points
        self.changes: list[int] | None = None
        self.seen = 0

    def point(self, length: int) -> _Point:
        """Where a request with so many messages begins."""
        return self.points[bisect_right(self.points, length, key=lambda point: point.needs) - 1]

    def first(self, point: _Point) -> _LogInUse:
        """The beginning of it, to continue it in another way."""
        earlier = [each for each in self.points if each.needs <= point.needs and each.settled < point.settled]
        other = _LogInUse(self.log.first(point.logged), [*(earlier or [_NOTHING]), point])
        other.changes, other.seen = self.changes, self.seen
        return other


_NOTHING = _Point(0, 0, 0)

MOST_KINDS = 4
"""Kinds of requests of which findings are kept in one conversation: it changes its parameters now and then."""


class LaneFindings:
    """A fold over a history: what the exchanges of a conversation found about its messages.

    Attributes:
        last: the last exchange whose request had these messages; -1 if there was none.
        shown: number of messages that it had.
        known: by what findings depend on beside the messages.
    """

    def __init__(self, lane: int) -> None:
        self.lane = lane
        self.last, self.shown = -1, 0
        self.known: dict[Hashable, _LogInUse] = {}

    def read(self, messages: Sequence[Message]) -> None:
        """Nothing: exchanges tell what they found."""

    def fork(self, length: int) -> LaneFindings:
        other = LaneFindings(self.lane)
        other.last, other.shown = self.last, min(self.shown, length)
        other.known = {key: known.first(known.point(length)) for key, known in self.known.items()}
        return other

    def keep(self, key: Hashable, known: _LogInUse) -> None:
        """Keep it as the latest."""
        self.known.pop(key, None)
        self.known[key] = known
        while len(self.known) > MOST_KINDS:
            del self.known[next(iter(self.known))]


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
    """What an exchange takes from those before it, and gives to those behind it.

    Args:
        lane: of the history of its request.
        is_final: nothing of it will be taken back.
        is_plain: tells whether nothing is found about a request that depends on all that is found about it.

    Attributes:
        start: number of the first messages about which all is known.
    """

    def __init__(self, lane: LaneFindings, is_plain: Callable[[RuleContext], bool], *, is_final: bool) -> None:
        self.start = 0
        self._lane, self._is_plain, self._is_final = lane, is_plain, is_final
        self._point, self._shown = _NOTHING, 0
        self._known: _LogInUse | None = None
        self._key: Hashable = None

    def begin(self, case: RuleContext) -> None:
        """Find out how far everything is known."""
        self._key = _key(case) if self._is_plain(case) else None
        if self._key is None:
            return
        known, length = self._lane.known.get(self._key), len(case.decoded.messages(REQUEST))
        if known is None or not case.earlier.exchanges or self._lane.last != case.earlier.exchanges[-1]:
            self._known = _LogInUse(FindingLog(), [_NOTHING])
            return
        self._shown = self._lane.shown
        point = known.point(length)
        is_paired_again = case.closure.settled < point.settled
        end = 0 if is_paired_again else min(point.settled, _first_change(case, known))
        if end < point.settled:
            point = _Point(length, int(end), known.log.before(int(end)))
            known = known.first(point)
        self._known, self._point, self.start = known, point, point.settled

    def finish(self, case: RuleContext, found: Sequence[Finding]) -> Sequence[Finding]:
        """The findings of the exchange, with what was known; what holds for later ones is kept."""
        known, count, length = self._known, self._point.logged, len(case.decoded.messages(REQUEST))
        if self._is_final:
            if known is not None and self._key is not None:
                if count == len(known.log.findings):
                    self._log(case, known, found)
                known.changes = case.ledger.changes
                known.seen = len(known.changes or ())
                self._lane.keep(self._key, known)
            self._lane.last, self._lane.shown = case.decoded.index, length
        return CarriedFindings(case.decoded.index, found, known.log, count) if known and count else tuple(found)

    def _log(self, case: RuleContext, known: _LogInUse, found: Iterable[Finding]) -> None:
        placed = [(f.order.message, f) for f in found if f.order and f.order.message is not None]
        new = sorted(((n, f) for n, f in placed if n >= self.start), key=itemgetter(0))
        fresh = (n for n, f in new if not _is_settled(case, f))
        end = _last_settled(case, self.start, min(self._shown, case.closure.settled, next(fresh, self._shown)))
        if end > known.points[-1].settled:
            known.log.add((n, f) for n, f in new if n < end)
            length = len(case.decoded.messages(REQUEST))
            known.points.append(_Point(length, end, len(known.log.findings)))


def with_known(case: RuleContext, is_plain: Callable[[RuleContext], bool], *, is_final: bool) -> RuleContext:
    """The case of a recorded exchange, with what is known of the history of its request.

    Args:
        is_plain, is_final: as for ``KnownFindings``.
    """
    lane = lane_of(case)
    return replace(case, carried=KnownFindings(lane, is_plain, is_final=is_final) if lane else None)


def _last_settled(case: RuleContext, start: int, end: int) -> int:
    """The latest beginning of a turn of the model, up to a message, with some of its turns behind it."""
    messages, turns = case.decoded.messages(REQUEST), 0
    for n in range(len(messages) - 1, start, -1):
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


def lane_of(case: RuleContext) -> LaneFindings | None:
    """What is known of the history of a request; None if the request does not have it for itself."""
    messages, request = case.decoded.messages(REQUEST), case.request
    if not isinstance(messages, HistoryPrefix) or request is None or request.previous_id:
        return None
    return messages.fold(LaneFindings, case.earlier.id)


def _key(case: RuleContext) -> Hashable:
    """Everything that findings about messages depend on beside these; None if they depend on more."""
    fields, outcome = case.known_fields, _outcome(case)
    if fields is None or outcome is None:
        return None
    reasoning = case.contract.reasoning
    is_by_loop = Carrier.THOUGHT_SIGNATURE in reasoning.carriers and reasoning.scope is Scope.TOOL_LOOP
    return _Same(fields), outcome, loop_start(case) if is_by_loop else None


def _outcome(case: RuleContext) -> Hashable:
    """What became of the request, as far as findings are reviewed by it; None if that tells of one request alone."""
    exchange, answer, accepted = case.decoded.exchange, case.response, case.accepted
    if exchange.state is State.OPEN or _is_refused(case):
        return None
    if case.hops.hop or case.hops.outer or case.hops.inner:
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
