"""Audit of a gateway: what it changes in legal but unusual requests and responses, as a score card.

In: how to start or reach a gateway. Out: the damage in each case. The cases go through the gateway to the audit's own
upstream; no provider is contacted. ``cases`` has the requests and responses, ``upstream`` and ``client`` are the two
ends; ``run`` drives them, ``verdicts`` judges one case, ``card`` sums up. It may import what ``recorder`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.recorder.audit import card, run
    from workbench.recorder.audit.card import CardEntry, CardRow, ScoreCard
    from workbench.recorder.audit.client import GatewayURL, read_base
    from workbench.recorder.audit.run import AuditPlan, AuditResult
    from workbench.recorder.audit.upstream import AuditUpstream
    from workbench.recorder.audit.verdicts import CaseDamage, CaseVerdict
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "AuditPlan",
    "AuditResult",
    "AuditUpstream",
    "CardEntry",
    "CardRow",
    "CaseDamage",
    "CaseVerdict",
    "GatewayURL",
    "ScoreCard",
    "card",
    "read_base",
    "run",
]
