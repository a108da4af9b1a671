"""Finds the tested requests and their broken forms: given, before an edit, or with a planted fault.

Plants one contract violation in a correct request, for tests without a broken form.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from workbench.contracts import Finding, Severity, Verdict
from workbench.edits import text_of, with_body
from workbench.edits.planted_faults import FAULTS, MOST_WAYS, HealthyRequest
from workbench.errors import LocalProtocolError
from workbench.formats.exporters import ExportSelection
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import REQUEST
from workbench.rules import Inspector
from workbench.wire import Exchange, HttpRequest, HttpResponse, writer_like

MOST_TESTED = 50
"""Limit of requests tested in one folder; of more, the last one of each conversation is tested."""


@dataclass(frozen=True, slots=True)
class RequestPair:
    """A fixed request and its broken form.

    Attributes:
        index: of the selected exchange, from zero.
        label, protocol: contract it is tested against, and its protocol.
        inspector: of the session that contains its history.
        place: index in that session.
        answer, refusal: recorded responses to the fixed and to the broken form.
    """

    index: int
    fixed: HttpRequest
    broken: HttpRequest
    label: str
    protocol: str
    inspector: Inspector
    place: int
    answer: HttpResponse | None = None
    refusal: HttpResponse | None = None


@dataclass(slots=True)
class RequestPairs:
    """The tested pairs, at least one; ``how`` states where the broken form comes from."""

    pairs: list[RequestPair]
    how: str
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def pairs_of(selection: ExportSelection) -> RequestPairs:
    """Pairs of the exchanges of a selection. Raises LocalProtocolError, SessionFormatError."""
    testable, left_out = _testable(selection)
    if not testable:
        raise LocalProtocolError(
            left_out[0] if left_out else "the selection contains no requests", hint="only requests can be tested"
        )
    found = (
        _pairs_with_file(testable, selection.broken)
        if selection.broken
        else _pairs_before_edits(testable, selection.made_of) or _pairs_with_planted_fault(testable)
    )
    if len(found.pairs) > MOST_TESTED:
        last = {pair.inspector.rows[pair.place].conversation: pair for pair in found.pairs}
        found.notes += (f"{len(last)} of {len(found.pairs)} requests are tested: the last of each conversation",)
        found.pairs = [pair for pair in found.pairs if pair in last.values()]
    found.left_out = tuple(left_out)
    return found


def _testable(selection: ExportSelection) -> tuple[list[RequestPair], list[str]]:
    """Testable requests, and the reasons why others are not."""
    pairs, left_out = list[RequestPair](), list[str]()
    for index in selection.indices:
        detail = selection.inspector.detail(index)
        request, row = detail.decoded.exchange.request, detail.row
        if request is None or not row.protocol or not row.provider:
            left_out.append(f"exchange {index + 1}: not a request to a model")
        elif detail.decoded.request is None:
            left_out.append(f"exchange {index + 1}: its request cannot be read")
        else:
            answer = detail.decoded.exchange.response
            pair = RequestPair(
                index, request, request, row.provider, row.protocol, selection.inspector, index, answer, answer
            )
            pairs.append(pair)
    return pairs, left_out


def _pairs_with_file(request_pairs: list[RequestPair], broken: ExportSelection) -> RequestPairs:
    """Pair each request with its counterpart in another file; identical ones are not tested."""
    pairs = list[RequestPair]()
    name = broken.session.name
    for pair in request_pairs:
        index = _counterpart(pair, broken, is_only=len(request_pairs) == 1)
        exchange = broken.session.exchange(index) if index is not None else None
        other = exchange.request if exchange else None
        if exchange is None or other is None or index is None:
            continue
        fixed, was = _complete(pair.fixed, other), _complete(other, pair.fixed)
        if text_of(fixed) != text_of(was) or fixed.headers != was.headers or fixed.url != was.url:
            new = replace(pair, fixed=fixed, broken=was, refusal=exchange.response)
            is_short = len(pair.inspector.session) == 1 and len(broken.session) > 1
            pairs.append(_pair_in(new, broken.inspector, index) if is_short else new)
    if not pairs:
        raise LocalProtocolError(
            f"no request differs from its counterpart in {name}",
            hint="choose one with --exchange, or leave out --broken",
        )
    return RequestPairs(pairs, f"as recorded in {name}")


def _counterpart(pair: RequestPair, broken: ExportSelection, *, is_only: bool) -> int | None:
    """The exchange of another file that was fixed into this one.

    In files of equal length the exchange with the same id, else with the same number; for a single request the one with
    the fault.
    """
    summaries, own = broken.session.summaries(), pair.inspector.session.summaries()
    named = [s.index for s in summaries if s.id == own[pair.index].id]
    if len(summaries) == len(own):
        return named[0] if len(named) == 1 else pair.index
    if is_only and (len(own) == 1 or not named):
        rows = [broken.inspector.detail(index).row for index in broken.indices]
        faulty = [row.index for row in rows if any(_is_fault(finding) for finding in row.findings)]
        return broken.indices[0] if len(rows) == 1 else faulty[-1] if faulty else None
    return named[0] if named else None


def _is_fault(finding: Finding) -> bool:
    return finding.side == REQUEST and finding.severity is not Severity.INFO


def _complete(request: HttpRequest, other: HttpRequest) -> HttpRequest:
    """A bare body with the URL and headers of another request."""
    return with_body(other, text_of(request)) if not request.url and not request.headers.items else request


def _pair_in(pair: RequestPair, inspector: Inspector, index: int) -> RequestPair:
    """The pair in another session that has its history."""
    row = inspector.detail(index).row
    return replace(pair, inspector=inspector, place=index, label=row.provider or pair.label)


def _pairs_before_edits(request_pairs: list[RequestPair], made_of: tuple[Exchange, ...]) -> RequestPairs | None:
    """Pairs of requests that were edited from a worse one; None if there are none."""
    pairs, edits = list[RequestPair](), 1
    for pair in request_pairs:
        above = [(pair.index, exchange) for exchange in made_of] or list(_ancestors(pair.inspector, pair.index))
        if found := _before_the_edits(pair, above):
            pairs.append(found)
            edits = max(edits, _edits_since(found, above))
    how = "as recorded before the edit" if edits == 1 else f"as recorded before the {edits} edits"
    return RequestPairs(pairs, how) if pairs else None


def _before_the_edits(pair: RequestPair, above: list[tuple[int, Exchange]]) -> RequestPair | None:
    """Pair with the earliest ancestor that is refused, else with the earliest that has a finding.

    Args:
        above: the ancestors, nearest first; the last one is as recorded.
    """
    inspector, suspicious = pair.inspector, None
    if not above:
        return None
    root = above[-1][0]
    for _, exchange in reversed(above):
        request = exchange.request
        if request is None or request == pair.fixed:
            continue
        answer = exchange.response
        candidate = replace(pair, broken=request, place=root, refusal=answer)
        trial = inspector.trial(root, request, provider=pair.label, protocol=pair.protocol, response=answer)
        verdict = trial.judgement.verdict
        if verdict is Verdict.REFUSES:
            return candidate
        if verdict is Verdict.SUSPICIOUS:
            suspicious = suspicious or candidate
    return suspicious


def _edits_since(pair: RequestPair, above: list[tuple[int, Exchange]]) -> int:
    """Number of edits from the broken to the fixed request of a pair; a request that is only sent is no edit."""
    bodies = [text_of(request) for request in (pair.fixed, *(e.request for _, e in above)) if request]
    way = bodies[: bodies.index(text_of(pair.broken)) + 1]
    return sum(before != after for after, before in pairwise(way))


def _ancestors(inspector: Inspector, index: int) -> Iterator[tuple[int, Exchange]]:
    """Ancestors of an edited exchange, nearest first."""
    by_id = {summary.id: summary.index for summary in inspector.session.summaries()}
    seen, exchange = {index}, inspector.session.exchange(index)
    while exchange.parent in by_id:
        index = by_id[exchange.parent]
        if index in seen:
            return
        seen.add(index)
        exchange = inspector.session.exchange(index)
        yield index, exchange


def _pairs_with_planted_fault(request_pairs: list[RequestPair]) -> RequestPairs:
    """All pairs, with a fault planted in the last request that allows one."""
    found = (
        (n, plant(request_pairs[n].inspector, request_pairs[n].index)) for n in reversed(range(len(request_pairs)))
    )
    n, planted = next(((n, each) for n, each in found if each), (len(request_pairs) - 1, None))
    planted = planted or cut_body(request_pairs[n].inspector, request_pairs[n].index)
    pairs = [*request_pairs]
    pairs[n] = replace(pairs[n], broken=planted.request, refusal=None)
    return RequestPairs(pairs, f"planted: {planted.fault}")


_NEVER = "text contains an API key"
"""Faults never planted: no export contains anything like a key."""

_CUT = "the body is truncated"


class PlantedRequest(NamedTuple):
    """A request with a planted fault, and the fault's name."""

    fault: str
    request: HttpRequest


def plant(inspector: Inspector, index: int) -> PlantedRequest | None:
    """Plant the first fault that the contract refuses, else the first that a rule warns of; None if there is none.

    Raises:
        IndexError: the session has no such exchange.
    """
    suspicious: PlantedRequest | None = None
    for planted in _faults(inspector, index):
        verdict = inspector.trial(index, planted.request).judgement.verdict
        if verdict is Verdict.REFUSES:
            return planted
        if verdict is Verdict.SUSPICIOUS:
            suspicious = suspicious or planted
    return suspicious


def cut_body(inspector: Inspector, index: int) -> PlantedRequest:
    """Keep half of the body, which no provider can read. Raises as ``plant``."""
    decoded = inspector.detail(index).decoded
    assert decoded.exchange.request is not None
    text = decoded.request_text
    return PlantedRequest(_CUT, with_body(decoded.exchange.request, text[: len(text) // 2]))


def _faults(inspector: Inspector, index: int) -> Iterator[PlantedRequest]:
    detail = inspector.detail(index)
    owed = frozenset(entry.message for entry in detail.ledger.entries if entry.owed and entry.message is not None)
    healthy, request = HealthyRequest(detail.decoded, owed), detail.decoded.exchange.request
    assert request is not None
    write = writer_like(detail.decoded.request_text)
    for fault in FAULTS:
        if fault.name != _NEVER and fault.needs(detail.contract):
            for planted in islice(fault.plant(healthy), MOST_WAYS):
                yield PlantedRequest(fault.name, with_body(request, write(planted.body)))
