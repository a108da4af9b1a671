"""Repairs of a finding with the changes that each makes, for the session and for the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.diff import compare
from workbench.edits import repairs, text_of
from workbench.errors import WorkbenchError
from workbench.tui.models.findings import RepairOffer

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.edits.repairs import CheckedRepair
    from workbench.rules import Inspector
    from workbench.wire import HttpRequest


def offered_repairs(
    inspector: Inspector, finding: Finding, request: HttpRequest | None = None, provider: str = ""
) -> tuple[RepairOffer, ...]:
    """Repairs of a finding with the changes that each makes.

    Args:
        request: edited request of the finding; None for the recorded one.
        provider: label of the contract of the finding; empty for that of the exchange.
    """
    try:
        checked = repairs.checked_repairs(inspector, finding.exchange, finding, request=request, provider=provider)
    except WorkbenchError:
        return ()
    before = text_of(request) if request else inspector.detail(finding.exchange).decoded.request_text
    return tuple(
        RepairOffer(
            t.repair,
            t.request,
            t.trial.decoded.request_text,
            compare(before, t.trial.decoded.request_text),
            t.trial.contract.label,
            _headers(t),
            tuple(dict.fromkeys(found.rule for found in (*t.breaks, *t.answer_findings))),
        )
        for t in checked
    )


def _headers(checked_repair: CheckedRepair) -> tuple[str, ...]:
    """Changes of headers by a repair, as lines."""
    found = (e for e in checked_repair.repair.edits if e.pointer.startswith("/headers/"))
    return tuple(f"{e.pointer.removeprefix('/headers/')}: {e.old} → {e.new or '(removed)'}" for e in found)
