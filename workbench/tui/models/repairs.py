"""Lines about repairs: below a finding, and in the header of the repairs screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.views import Line, Span, line, size, wrap

if TYPE_CHECKING:
    from workbench.contracts import Repair
    from workbench.diff import Difference
    from workbench.wire import HttpRequest

LOOKING = "searching for a repair …"
"""Shown in place of repairs until they are known."""

LABEL = 10
"""Columns of the label before the lines of a finding."""


class RepairOffer(NamedTuple):
    """A repair as it is shown.

    Attributes:
        repair: its title and edits.
        request: the repaired request, and ``body`` its body.
        difference: difference from the original request.
        contract: label of the contract that verified it.
        headers: changes of headers, one line each.
    """

    repair: Repair
    request: HttpRequest
    body: bytes
    difference: Difference
    contract: str
    headers: tuple[str, ...] = ()


def repair_body(repairs: Sequence[Repair] | str, width: int) -> list[Line]:
    """Best repair of a finding. ``repairs``: at least one, or the reason why they are not known."""
    from workbench.edits.repairs import CHECKED

    if isinstance(repairs, str):
        return labelled_lines("repair", repairs, width, "muted")
    best, more = repairs[0], len(repairs) - 1
    made = labelled_lines("repair", best.title, width, "ok" if best.verified else "warning", most=2)
    others = f"f: show this{f' and {more} other fix' + 'es' * (more > 1) if more else ''} · {CHECKED}"
    return made + [line(Span("", "", LABEL), *text) for text in wrap(others, width - LABEL, "muted")]


def labelled_lines(label: str, text: str, width: int, style: str = "", most: int = 1000) -> list[Line]:
    """A wrapped text with a label before its first line."""
    told = wrap(text, width - LABEL, style, most=most)
    return [line(Span("" if n else f"  {label}", "muted", LABEL), *words) for n, words in enumerate(told)]


def title(offered: RepairOffer, number: int, of: int, width: int) -> list[Line]:
    """Number and title of a repair, its effect, and how it was verified."""
    from workbench.edits.repairs import CHECKED

    found, is_whole = offered.difference, offered.repair.verified
    lengths = f" · {size(len(found.before))} → {size(len(found.after))}"
    told = Span(" ✓ no other finding", "ok") if is_whole else Span(" ! other findings remain", "warning")
    first = line(Span(f" Repair {number + 1} of {of} ·", "accent"), told, Span(lengths, "muted"))
    named = wrap(offered.repair.title, max(20, width - 2), "strong", indent=1)
    proof = line(Span(f" {CHECKED}: {offered.contract}", "muted"))
    return [first, named[0] if named else (), proof]
