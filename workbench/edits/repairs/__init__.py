"""Repairs: the smallest edits that make a request legal under a contract.

In: a finding in its session (``Fault``). Out: ``Repair`` values, each checked first: with it the finding disappears and
nothing new breaks. The contract decides that; no provider is asked. Nothing is invented: reasoning and signatures are
sent back as recorded in this session, or removed. It may import what ``edits`` may.

One file per family. A family module has ``REPAIRS``: slug of a rule → the functions that propose repairs of its
findings ("" for findings of every rule). Files that begin with an underscore are shared code. A third party adds a
family by an entry point in ``workbench.repairs``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from workbench import limits, plugins
from workbench.contracts import Finding, Repair
from workbench.edits import SetHeader
from workbench.edits.fault import Fault
from workbench.edits.proposal import Proposal, RepairCost
from workbench.edits.repairs import _search, _session
from workbench.edits.repairs._search import CheckedRepair, Families, FixResult, Proposer, RepairSearch, is_repairable
from workbench.edits.repairs._session import ExchangeFix
from workbench.fronts import lazy
from workbench.rules import Inspector
from workbench.wire import HttpRequest
from workbench.wire.session import MemorySession, Session

if TYPE_CHECKING:
    from workbench.edits.repairs._recorded_reasoning import restore_reasoning
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "CHECKED",
    "CheckedRepair",
    "ExchangeFix",
    "Fault",
    "FixResult",
    "Proposal",
    "RepairCost",
    "SetHeader",
    "checked_repairs",
    "families",
    "fix",
    "is_repairable",
    "offer",
    "repair_session",
    "restore_reasoning",
    "verification",
    "with_repairs",
]


CHECKED = "verified against the contract only"
"""Note shown with every repair that leaves no finding."""


def verification(repair: Repair) -> str:
    """The result of the check of a repair, in words for people."""
    return CHECKED if repair.verified else "repairs only this finding; other findings remain"


@cache
def families() -> Families:
    """Slug of a rule → all functions that propose repairs of it, built-in and third-party."""
    found: defaultdict[str, list[Proposer]] = defaultdict(list)
    for name in plugins.names(__name__):
        for slug, proposals in plugins.load(__name__, name).REPAIRS.items():
            found[slug] += proposals
    return {slug: tuple(proposals) for slug, proposals in found.items()}


def offer(
    inspector: Inspector, index: int, finding: Finding, budget: int = limits.MAX_REPAIR_TRIALS
) -> tuple[Repair, ...]:
    """Repairs of a finding on a request, the best first.

    Args:
        inspector: of the session; exchanges up to ``index`` are inspected first.
        budget: most proposals that are checked.

    Raises:
        IndexError: the session has no such exchange.
        SessionFormatError: the session cannot be read.
    """
    return tuple(t.repair for t in checked_repairs(inspector, index, finding, budget))


def checked_repairs(
    inspector: Inspector,
    index: int,
    finding: Finding,
    budget: int = limits.MAX_REPAIR_TRIALS,
    *,
    request: HttpRequest | None = None,
    provider: str = "",
) -> tuple[CheckedRepair, ...]:
    """Repairs of a finding as ``offer`` returns them, with the repaired requests and their findings.

    Args:
        request: an edited request that has the finding; None for the request of the exchange.
        provider: label of the contract that reported the finding; empty for the contract of the exchange.
    """
    if not is_repairable(finding):
        return ()
    search = RepairSearch(families(), inspector, index, request, budget, provider=provider)
    return tuple(_search.best(search.offers(finding)))


def fix(inspector: Inspector, index: int, request: HttpRequest | None = None) -> FixResult:
    """Repair a request until its contract accepts it, as far as possible. Raises as ``offer``.

    Args:
        request: in place of the one that was sent; None for that one.
    """
    return _search.fix(
        RepairSearch(families(), inspector, index, request),
        lambda last, budget: RepairSearch(families(), inspector, index, last.request, budget, last.answer_findings),
    )


def with_repairs(inspector: Inspector, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings of a whole inspection, in order, with their repairs, as far as the budget lasts."""
    return _session.with_repairs(families(), inspector, findings)


def repair_session(inspector: Inspector, session: Session) -> tuple[MemorySession, list[ExchangeFix]]:
    """A session with every request repaired as far as possible, and what was done to each broken one.

    The refusal of a repaired request is removed; other responses stay.
    """
    return _session.repair_session(families(), inspector, session)
