"""Repairs of a whole session: offers for its findings, and fixes of its requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from workbench import limits
from workbench.contracts import Finding, Repair
from workbench.edits.repairs import _search
from workbench.edits.repairs._search import Families, FixResult, RepairSearch
from workbench.lazy_dataclass import dataclass, replace
from workbench.rules import Inspector
from workbench.wire import Exchange, HttpRequest, HttpResponse, Origin
from workbench.wire.session import MemorySession, Session

NOTE = "edited: request repaired, verified against the contract only"
UNANSWERED = "; the refusal of the original request is removed"


@dataclass(frozen=True, slots=True)
class ExchangeFix:
    """Repairs of one exchange. ``fixed.repairs`` is empty if nothing could be repaired."""

    index: int
    fixed: FixResult


def with_repairs(
    families: Families, inspector: Inspector, findings: Sequence[Finding], budget: int = limits.MAX_CHECK_TRIALS
) -> tuple[Finding, ...]:
    """The findings of an inspection with their repairs, as far as the budget lasts.

    Args:
        findings: in order of their exchanges.
        budget: most proposals checked, fewer if requests are large (``limits.MAX_CHECK_BYTES``).
    """
    all_findings: list[Finding] = []
    steps = 0
    for index, group in groupby(findings, key=lambda f: f.exchange):
        own = list(group)
        if steps < limits.MAX_CHECK_BYTES and budget > 0 and any(map(_search.is_repairable, own)):
            size = max(1, len(inspector.detail(index).decoded.request_text))
            search = RepairSearch(families, inspector, index, budget=min(budget, max(4, _remaining(steps) // size)))
            most = search.budget
            own = [replace(f, repairs=_best_repairs(search, f)) if _search.is_repairable(f) else f for f in own]
            budget -= most - search.budget
            steps += (most - search.budget) * size
        all_findings += own
    return tuple(all_findings)


def _remaining(steps: int) -> int:
    return limits.MAX_CHECK_BYTES - steps


def _best_repairs(search: RepairSearch, finding: Finding) -> tuple[Repair, ...]:
    """The best repairs of a finding; stops after the first few that leave nothing broken."""
    found = []
    for candidate in search.offers(finding):
        found.append(candidate)
        if sum(t.repair.verified for t in found) >= limits.MAX_REPAIRS_OFFERED:
            break
    return tuple(islice((t.repair for t in _search.best(found)), limits.MAX_REPAIRS_OFFERED))


def repair_session(
    families: Families, inspector: Inspector, session: Session
) -> tuple[MemorySession, list[ExchangeFix]]:
    """The session with repaired requests, and what was done. Every exchange is inspected.

    The refusal of a repaired request is removed: it is about another request. Other responses stay, since the
    conversation continues from them.
    """
    inspector.run()
    fixes = list(_fixes(families, inspector))
    requests = {d.index: d.fixed.request for d in fixes if d.fixed.repairs}
    exchanges = []
    for index in range(len(session)):
        exchange = session.exchange(index)
        exchanges.append(_with_request(exchange, requests[index]) if index in requests else exchange)
    about = dict(session.about)
    if requests:
        about["made"] = "; ".join(
            filter(None, (about.get("made", ""), f"{len(requests)} request{'s' * (len(requests) > 1)} repaired"))
        )
    return MemorySession(session.name, tuple(exchanges), session.damage, about=about), fixes


def _fixes(families: Families, inspector: Inspector) -> Iterator[ExchangeFix]:
    for row in list(inspector.rows):
        if any(map(_search.is_repairable, row.findings)):
            first = RepairSearch(families, inspector, row.index)
            yield ExchangeFix(row.index, _search.fix(first, _next_search(families, inspector, row.index)))


def _next_search(families: Families, inspector: Inspector, index: int) -> _search.NextSearch:
    return lambda last, budget: RepairSearch(families, inspector, index, last.request, budget, last.answer_findings)


def _with_request(exchange: Exchange, request: HttpRequest) -> Exchange:
    refused = exchange.response is not None and 400 <= exchange.response.status < 500
    response: HttpResponse | None = None if refused else exchange.response
    note = "; ".join(filter(None, (exchange.note, NOTE + (UNANSWERED if refused else ""))))
    origin = exchange.origin if exchange.origin is Origin.RECONSTRUCTED else Origin.EDITED  # rules are lenient there
    return replace(exchange, request=request, response=response, note=note, origin=origin)
