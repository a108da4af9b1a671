"""The request as the repairs would have it: what should go through."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.edits import repairs
from workbench.trials.whatif._subject import Subject, Variant


def repaired(subject: Subject) -> Iterable[Variant]:
    """With every repair that its contract needs."""
    fixed = repairs.fix(subject.inspector, subject.index, subject.http)
    if fixed.repairs:
        titles = "; ".join(repair.title for repair in fixed.repairs)
        yield Variant("repair=done", titles, fixed.request)
    else:
        why = "nothing is broken" if not fixed.remaining else "no repair of what is broken holds"
        yield Variant("repair=done", "repaired", why_not=why)


VARIANTS = (repaired,)
