"""Repairs: the smallest edits that make a request legal under a contract.

In: a finding in its session (``Fault``). Out: ``Proposal`` values, each tried first: with it the finding is gone and
nothing new is broken. The contract judges that; no provider was asked. Nothing is invented: reasoning and signatures
are sent back as they came in this session, or left out. It may import what ``edits`` may.

One file per family. A family module has ``REPAIRS``: slug of a rule → the functions that propose repairs of its
findings ("" for findings of every rule). Files that begin with an underscore are shared code. A third party adds a
family by an entry point in ``workbench.repairs``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from workbench import limits, plugins
from workbench.contracts import Finding, Repair
from workbench.edits import SetHeader
from workbench.edits.fault import Fault
from workbench.edits.proposal import Loss, Proposal
from workbench.edits.repairs import _search, _session
from workbench.edits.repairs._search import Families, Fixed, Propose, Search, Tried, is_repairable
from workbench.edits.repairs._session import Done
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import HttpRequest
from workbench.wire.session import MemorySession, Session

__all__ = [
    "CHECKED",
    "Done",
    "Fault",
    "Fixed",
    "Loss",
    "Proposal",
    "SetHeader",
    "Tried",
    "families",
    "fix",
    "is_repairable",
    "offer",
    "repaired",
    "tried",
    "with_repairs",
]

CHECKED = "re-checked against the contract, not against the provider"
"""What is said of every repair that is shown."""


@cache
def families() -> Families:
    """Slug of a rule → everything that proposes repairs of it, built-in and third-party."""
    found: defaultdict[str, list[Propose]] = defaultdict(list)
    for name in plugins.names(__name__):
        for slug, proposals in plugins.load(__name__, name).REPAIRS.items():
            found[slug] += proposals
    return {slug: tuple(proposals) for slug, proposals in found.items()}


def offer(
    inspector: Inspector, index: int, finding: Finding, budget: int = limits.MAX_REPAIR_TRIALS
) -> tuple[Repair, ...]:
    """The repairs of a finding on a request, the best first.

    Args:
        inspector: of the session; exchanges up to ``index`` are inspected first.
        budget: how many proposals may be tried.

    Raises:
        IndexError: the session has no such exchange.
        SessionFormatError: it cannot be read.
    """
    return tuple(t.repair for t in tried(inspector, index, finding, budget))


def tried(
    inspector: Inspector,
    index: int,
    finding: Finding,
    budget: int = limits.MAX_REPAIR_TRIALS,
    *,
    request: HttpRequest | None = None,
    provider: str = "",
) -> tuple[Tried, ...]:
    """As ``offer``, with the repaired requests and what the rules say of them.

    Args:
        request: in the place of the one that was sent, which the finding is of; None for that one.
        provider: label of the contract the finding was made under, "" for the one of the exchange.
    """
    if not is_repairable(finding):
        return ()
    search = Search(families(), inspector, index, request, budget, provider=provider)
    return tuple(_search.best(search.offers(finding)))


def fix(inspector: Inspector, index: int, request: HttpRequest | None = None) -> Fixed:
    """Repair a request until its contract accepts it, as far as that goes. Raises as ``offer``.

    Args:
        request: in the place of the one that was sent; None for that one.
    """
    return _search.fix(
        Search(families(), inspector, index, request),
        lambda made, budget: Search(families(), inspector, index, made.request, budget, made.told),
    )


def with_repairs(inspector: Inspector, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings of a whole inspection, in its order, with the repairs they offer: the first ones where many do."""
    return _session.with_repairs(families(), inspector, findings)


def repaired(inspector: Inspector, session: Session) -> tuple[MemorySession, list[Done]]:
    """A session with every request repaired as far as that goes, and what was done to each that was broken.

    A refusal that answered a request that was repaired is left out; other answers stay.
    """
    return _session.repaired(families(), inspector, session)
