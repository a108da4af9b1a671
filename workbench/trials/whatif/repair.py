"""The request with all repairs applied."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.edits import repairs
from workbench.edits.variants import RequestVariant, VariedRequest


def repair_request(subject: VariedRequest) -> Iterable[RequestVariant]:
    """Apply every repair that its contract requires."""
    fixed = repairs.fix(subject.inspector, subject.index, subject.http)
    if fixed.repairs:
        titles = "; ".join(repair.title for repair in fixed.repairs)
        yield RequestVariant("repair=done", titles, fixed.request)
    else:
        why = "the request has no fault to repair" if not fixed.remaining else "no known repair passes the check"
        yield RequestVariant("repair=done", "repaired", why_not=why)


VARIANTS = (repair_request,)
