"""Builds the content of an exported test: fixed requests, their broken forms, and their histories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from workbench import replay
from workbench.contracts import Finding, Severity
from workbench.edits import text_of
from workbench.errors import FaultyRequest, LocalProtocolError, WireError
from workbench.formats.exporters import ExportSelection
from workbench.formats.exporters._secret_removal import knowing
from workbench.formats.exporters.as_pytest._pairs import RequestPair, pairs_of
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import REQUEST
from workbench.protocols.common import read_error
from workbench.replay import Turn
from workbench.rules import Inspector
from workbench.simulator import Simulator
from workbench.wire import CONNECTION, Exchange, Headers, HttpRequest, HttpResponse, Origin, State, loads
from workbench.wire.session import MemorySession, Session

_OPEN = "the request has pending calls: the test does not require their results"

Side = TypeVar("Side", HttpRequest, HttpResponse)

MOST_BEFORE = 16 * 1024 * 1024
"""Limit of history bytes; of more, the newest part is kept."""


@dataclass(frozen=True, slots=True)
class RequestUnderTest:
    """A tested request.

    Attributes:
        number: in the transcript, from one.
        index: in its source session, from zero.
        provider, protocol: contract it is tested against, and its protocol.
    """

    number: int
    index: int
    provider: str
    protocol: str


@dataclass(frozen=True, slots=True)
class ExpectedRefusal:
    """Expected refusal of the broken request.

    Attributes:
        status: of the simulator's response.
        finding: the fault that the simulator names; None if the bytes cannot be read.
        says: the provider's words; empty if it accepts the request.
        others: further faults of the broken request, which the fixed one does not have.
    """

    status: int
    finding: Finding | None
    says: str
    others: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All faults, one of each rule and place, the one that the simulator names first."""
        every = (self.finding, *self.others) if self.finding else self.others
        seen = dict[tuple[str, str], Finding]()
        for fault in every:
            seen.setdefault((fault.rule, fault.pointer), fault)
        return tuple(seen.values())


@dataclass(frozen=True, slots=True)
class ExportCase:
    """Content of an exported folder.

    Attributes:
        name: of the session.
        fixed, broken: transcripts; they differ only in the tested requests.
        places: the tested requests, at least one.
        worst: the one that ``refused`` is about.
        how: origin of the broken form, in words.
        notes: differences from what was sent.
        left_out: selected exchanges that are not tested.
        is_open: the fixed request has open calls, and no rule objects.
    """

    name: str
    fixed: tuple[Exchange, ...]
    broken: tuple[Exchange, ...]
    places: tuple[RequestUnderTest, ...]
    worst: RequestUnderTest
    refused: ExpectedRefusal
    how: str
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    is_open: bool = False

    @property
    def rules(self) -> tuple[str, ...]:
        """Rules that must find nothing, in addition to all errors."""
        return tuple(dict.fromkeys(finding.rule for finding in self.refused.findings))

    def texts(self) -> tuple[bytes, bytes]:
        """Bodies of the broken and the fixed request."""
        at = self.worst.number - 1
        broken, fixed = self.broken[at].request, self.fixed[at].request
        assert broken and fixed
        return text_of(broken), text_of(fixed)


def case_of(selection: ExportSelection) -> ExportCase:
    """Build the case of a selection.

    Raises:
        LocalProtocolError: nothing to test, the fixed request is refused, or the broken one has no fault.
        SessionFormatError: an exchange cannot be read.
    """
    found = pairs_of(selection)
    fixed, broken, numbers = _transcripts(found.pairs)
    fixed, broken, notes = _safe(fixed, broken)
    turns = [_turn(fixed, number, pair) for number, pair in numbers.items()]
    places = tuple(
        RequestUnderTest(turn.number, pair.index, turn.provider, turn.protocol)
        for turn, pair in zip(turns, numbers.values(), strict=True)
    )
    for turn, place in zip(turns, places, strict=True):
        _demand_accepted(turn, place)
    judged = (
        (place, _expected_refusal(turn, replay.turn(broken, turn.number, turn.provider, turn.protocol)))
        for turn, place in zip(turns, places, strict=True)
        if fixed[turn.number - 1] != broken[turn.number - 1]
    )
    worst, refused = next(((place, refused) for place, refused in judged if refused), (None, None))
    if worst is None or refused is None:
        raise LocalProtocolError(
            f"the broken request has no fault ({found.how})",
            hint="a test of this request could never fail: give a file with a refused request (--broken FILE)",
        )
    is_open = any(turn.unanswered for turn in turns)
    all_notes = (*found.notes, *notes, *([_OPEN] if is_open else []))
    return ExportCase(
        selection.session.name, fixed, broken, places, worst, refused, found.how, all_notes, found.left_out, is_open
    )


def _turn(exchanges: Sequence[Exchange], number: int, pair: RequestPair) -> Turn:
    """A request under its contract, named without its variant if the request itself determines it."""
    turn = replay.turn(exchanges, number, pair.label.partition(":")[0], pair.protocol)
    if turn.trial.contract.label == pair.label:
        return turn
    return replay.turn(exchanges, number, pair.label, pair.protocol)


def _demand_accepted(turn: Turn, place: RequestUnderTest) -> None:
    """Raise FaultyRequest if the simulator refuses the request, or a rule finds an error in it."""
    served = turn.send(Simulator(place.provider, known=turn.before)).served
    hint = "repair it first: workbench check FILE --fix -o FIXED, then export FIXED --broken FILE"
    if served.is_refused:
        reason = f"{served.finding.rule} at {served.finding.pointer or '/'}" if served.finding else served.note
        raise FaultyRequest(f"exchange {place.index + 1} is refused by {place.provider}: {reason}", hint=hint)
    if errors := turn.findings():
        raise FaultyRequest(f"exchange {place.index + 1} has an error: {errors[0]}", hint=hint)


def _expected_refusal(fixed: Turn, broken: Turn) -> ExpectedRefusal | None:
    """Expected refusal of the broken request; None if the contract cannot tell both apart."""
    reply = broken.send(Simulator(broken.provider, known=broken.before))
    new = _new_faults(fixed, broken)
    if reply.served.is_refused:
        first = reply.served.finding
        says = (first.refusal if first else "") or _message(reply.body())
    elif new:
        first, says = new[0], ""
    else:
        return None
    return ExpectedRefusal(reply.status, first, says, tuple(fault for fault in new if fault != first))


def _new_faults(fixed: Turn, broken: Turn) -> list[Finding]:
    """Errors and warnings of the broken request by rules that find nothing in the fixed one, the worst first."""
    old_rules = {finding.rule for finding in fixed.trial.findings}
    new = [f for f in broken.trial.findings if f.side == REQUEST and f.rule not in old_rules]
    return sorted((f for f in new if f.severity is not Severity.INFO), key=lambda f: f.severity.rank)


def _message(body: bytes) -> str:
    try:
        error = read_error(loads(body))
    except WireError:
        return ""
    return error.message if error else ""


def _transcripts(
    pairs: Sequence[RequestPair],
) -> tuple[tuple[Exchange, ...], tuple[Exchange, ...], dict[int, RequestPair]]:
    """Histories with the fixed and with the broken requests; number → tested request."""
    session = pairs[0].inspector.session
    tested = {pair.place: pair for pair in pairs}
    indices = sorted({*tested, *(index for pair in pairs for index in _indices_before(pair))})
    fixed, broken, numbers = list[Exchange](), list[Exchange](), dict[int, RequestPair]()
    for number, index in enumerate(_newest(session, indices, min(tested)), 1):
        exchange = _plain(session.exchange(index))
        pair = tested.get(index)
        if pair is None:
            fixed.append(exchange)
            broken.append(exchange)
            continue
        fixed.append(replace(exchange, request=pair.fixed, response=pair.answer, state=State.COMPLETE))
        broken.append(replace(exchange, request=pair.broken, response=pair.refusal, state=State.COMPLETE))
        numbers[number] = pair
    return tuple(fixed), tuple(broken), numbers


def _indices_before(pair: RequestPair) -> Sequence[int]:
    """Indices of the exchanges before a request in its conversation."""
    case = pair.inspector.trial(pair.place, pair.fixed, provider=pair.label, protocol=pair.protocol).case
    return case.earlier.exchanges


def _newest(session: Session, indices: Sequence[int], tested: int) -> list[int]:
    """The newest exchanges that fit, with all tested ones and those between them."""
    summaries, room, newest = session.summaries(), MOST_BEFORE, list[int]()
    for index in reversed(indices):
        room -= summaries[index].request_bytes + summaries[index].response_bytes
        if index < tested and room < 0:
            break
        newest.append(index)
    return newest[::-1]


def _plain(exchange: Exchange) -> Exchange:
    """An exchange without client, notes and importer metadata, except for the mark of added framing and a WebSocket."""
    meta = {name: value for name, value in exchange.meta.items() if name in ("framing", CONNECTION)}
    return replace(exchange, meta=meta, client="", note="", parent=None, branch="", damage=(), origin=Origin.IMPORTED)


def _safe(
    fixed: tuple[Exchange, ...], broken: tuple[Exchange, ...]
) -> tuple[tuple[Exchange, ...], tuple[Exchange, ...], tuple[str, ...]]:
    """Both transcripts without secrets: secret headers are removed, secrets in bodies replaced."""
    every = MemorySession("all", (*fixed, *broken))
    redactor = knowing(ExportSelection(Inspector(every), tuple(range(len(every)))))
    safe = [redactor.exchange(exchange) for exchange in every.exchanges]
    places = {
        f"exchange {n % len(fixed) + 1} of the transcript: a secret in the body is replaced by a stand-in"
        for n, exchange in enumerate(safe)
        for side in (exchange.request, exchange.response)
        if side and any(mark.where == "body" for mark in side.redactions)
    }
    shown = tuple(_without_secrets(exchange) for exchange in safe)
    return shown[: len(fixed)], shown[len(fixed) :], tuple(sorted(places))


def _without_secrets(exchange: Exchange) -> Exchange:
    """The exchange without the headers that contained a secret."""
    request, response = exchange.request, exchange.response
    return replace(exchange, request=request and _harmless(request), response=response and _harmless(response))


def _harmless(side: Side) -> Side:
    marked = {mark.where for mark in side.redactions}
    headers = Headers(tuple((name, value) for name, value in side.headers if f"header:{name}" not in marked))
    marks = tuple(mark for mark in side.redactions if not mark.where.startswith("header:"))
    return replace(side, headers=headers, redactions=marks)
