"""What is tried where no proposal holds alone: two of them together, then a conversation that ends earlier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench import limits
from workbench.contracts import Finding, Severity
from workbench.edits import Change, SetHeader, edited
from workbench.edits.fault import Fault
from workbench.edits.json_changes import between
from workbench.edits.proposal import Proposal
from workbench.edits.repairs._history import cut_back
from workbench.errors import WorkbenchError
from workbench.wire.jsontext import loads

if TYPE_CHECKING:
    from workbench.edits.repairs._search import Search


def pairs(search: Search, first: Proposal, finding: Finding) -> Iterator[Proposal]:
    """A proposal that ends a finding and uncovers others, with one that ends those: the second knows the first's text.

    Args:
        search: of the request before both.
        first: what ends the finding.
        finding: nothing else is asked for again.
    """
    middle = search.after(first)
    known = {(f.rule, f.pointer) for f in search.broken}
    for uncovered in middle.broken if middle else ():
        if middle is None or (uncovered.rule, uncovered.pointer) in known or uncovered.rule == finding.rule:
            continue
        for second in middle.proposals(uncovered):
            changes = _joined(search, middle, first, second)
            if changes:
                title = f"{first.title}, and {second.title}"
                yield Proposal(title, changes, max(first.loss, second.loss))


def _joined(search: Search, middle: Search, first: Proposal, second: Proposal) -> tuple[Change, ...]:
    """Both proposals as changes to the request before them; () where the second does not fit."""
    try:
        made = edited(middle.request, middle.text, second.changes)
        inside = between(loads(search.text), loads(made.body.raw))
    except WorkbenchError:
        return ()
    headers = {c.name.lower(): c for c in (*first.changes, *second.changes) if isinstance(c, SetHeader)}
    return (*headers.values(), *inside)


def earlier_ends(fault: Fault) -> Iterator[Proposal]:
    """The conversation, cut back turn by turn from the damage on, the longest first; only for what breaks it."""
    if fault.number is None or fault.finding.severity is not Severity.ERROR:
        return
    seen = set[str]()
    for start in range(fault.number, 0, -1):
        for end in cut_back(fault, start):
            if end.title not in seen:
                seen.add(end.title)
                yield end
        if len(seen) >= limits.MAX_REPAIR_ENDS:
            return
