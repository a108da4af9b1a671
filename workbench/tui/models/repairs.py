"""Lines about repairs: under a finding, and at the head of their own screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.lines import Line, Span, line, wrap
from workbench.tui.models.words import size

if TYPE_CHECKING:
    from workbench.differences import Difference
    from workbench.rules import Repair

LABEL = 10
"""Columns of what stands before the lines of a finding."""


class Offered(NamedTuple):
    """A repair as it is shown.

    Attributes:
        repair: its title and edits.
        body: the repaired request.
        difference: from the request as it was to that.
        contract: label of the contract it was re-checked against.
        headers: what it changes of the headers, one line each.
    """

    repair: Repair
    body: bytes
    difference: Difference
    contract: str
    headers: tuple[str, ...] = ()


def repair_body(repairs: Sequence[Repair] | None, width: int) -> list[Line]:
    """What can be done about a finding. ``repairs``: at least one; None while they are looked for."""
    from workbench.repairs import CHECKED

    if repairs is None:
        return [line(Span("  repair", "muted", LABEL), Span("looking for one …", "muted"))]
    made: list[Line] = []
    best, more = repairs[0], len(repairs) - 1
    for row, text in enumerate(wrap(best.title, width - LABEL, "ok" if best.verified else "warning", most=2)):
        made.append(line(Span("" if row else "  repair", "muted", LABEL), *text))
    others = f"f shows it{f' and {more} more' if more else ''} · {CHECKED}"
    return made + [line(Span("", "", LABEL), *text) for text in wrap(others, width - LABEL, "muted")]


def title(offered: Offered, number: int, of: int, width: int) -> list[Line]:
    """Which repair it is, what it changes, and who was asked."""
    from workbench.repairs import CHECKED

    found, is_whole = offered.difference, offered.repair.verified
    lengths = f" · {size(len(found.before))} → {size(len(found.after))}"
    told = Span(" ✓ nothing else is broken", "ok") if is_whole else Span(" ! more is broken beside it", "warning")
    first = line(Span(f" Repair {number + 1} of {of} ·", "accent"), told, Span(lengths, "muted"))
    named = wrap(offered.repair.title, max(20, width - 2), "strong", indent=1)
    proof = line(Span(f" {CHECKED}: {offered.contract}", "muted"))
    return [first, named[0] if named else (), proof]
