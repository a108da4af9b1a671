"""Repairs of a whole session: offered for its findings, and done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice

from workbench import limits
from workbench.contracts import Finding, Repair
from workbench.edits.repairs import _search
from workbench.edits.repairs._search import Families, Fixed, Search
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Exchange, HttpRequest, HttpResponse, Origin
from workbench.wire.session import MemorySession, Session

NOTE = "edited: its request was repaired, and re-checked against the contract, not against the provider"
UNANSWERED = "; the refusal that answered the request before is left out"


@dataclass(frozen=True, slots=True)
class Done:
    """What was done to one exchange. ``fixed.repairs`` is empty where nothing could be repaired."""

    index: int
    fixed: Fixed


def with_repairs(
    families: Families, inspector: Inspector, findings: Sequence[Finding], budget: int = limits.MAX_CHECK_TRIALS
) -> tuple[Finding, ...]:
    """The findings of an inspection with the repairs they offer, as far as the budget lasts.

    Args:
        findings: in order of their exchanges.
        budget: proposals tried, fewer where requests are large (``limits.MAX_CHECK_BYTES``).
    """
    made: list[Finding] = []
    spent = 0
    for index, group in groupby(findings, key=lambda f: f.exchange):
        own = list(group)
        if spent < limits.MAX_CHECK_BYTES and budget > 0 and any(map(_search.is_repairable, own)):
            size = max(1, len(inspector.detail(index).decoded.request_text))
            search = Search(families, inspector, index, budget=min(budget, max(4, _left(spent) // size)))
            most = search.budget
            own = [replace(f, repairs=_offered(search, f)) if _search.is_repairable(f) else f for f in own]
            budget -= most - search.budget
            spent += (most - search.budget) * size
        made += own
    return tuple(made)


def _left(spent: int) -> int:
    return limits.MAX_CHECK_BYTES - spent


def _offered(search: Search, finding: Finding) -> tuple[Repair, ...]:
    """The best repairs of a finding: of those that leave nothing broken the first few are enough."""
    found = []
    for tried in search.offers(finding):
        found.append(tried)
        if sum(t.repair.verified for t in found) >= limits.MAX_REPAIRS_OFFERED:
            break
    return tuple(islice((t.repair for t in _search.best(found)), limits.MAX_REPAIRS_OFFERED))


def repaired(families: Families, inspector: Inspector, session: Session) -> tuple[MemorySession, list[Done]]:
    """The session with repaired requests, and what was done. Every exchange is inspected.

    A refusal that answered the request before is left out: it speaks of another request. Other answers stay, since
    the conversation goes on from them.
    """
    inspector.run()
    done = list(_fixes(families, inspector))
    requests = {d.index: d.fixed.request for d in done if d.fixed.repairs}
    exchanges = []
    for index in range(len(session)):
        exchange = session.exchange(index)
        exchanges.append(_edited(exchange, requests[index]) if index in requests else exchange)
    about = dict(session.about)
    if requests:
        about["made"] = "; ".join(
            filter(None, (about.get("made", ""), f"{len(requests)} request{'s' * (len(requests) > 1)} repaired"))
        )
    return MemorySession(session.name, tuple(exchanges), session.damage, about=about), done


def _fixes(families: Families, inspector: Inspector) -> Iterator[Done]:
    for row in list(inspector.rows):
        if any(map(_search.is_repairable, row.findings)):
            first = Search(families, inspector, row.index)
            yield Done(row.index, _search.fix(first, _again(families, inspector, row.index)))


def _again(families: Families, inspector: Inspector, index: int) -> _search.Again:
    return lambda made, budget: Search(families, inspector, index, made.request, budget, made.told)


def _edited(exchange: Exchange, request: HttpRequest) -> Exchange:
    refused = exchange.response is not None and 400 <= exchange.response.status < 500
    response: HttpResponse | None = None if refused else exchange.response
    note = "; ".join(filter(None, (exchange.note, NOTE + (UNANSWERED if refused else ""))))
    origin = exchange.origin if exchange.origin is Origin.RECONSTRUCTED else Origin.EDITED  # rules are lenient there
    return replace(exchange, request=request, response=response, note=note, origin=origin)
