"""Lines of the findings pane, and navigation between breaks.

Lines about repairs: below a finding, and in the header of the repairs screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.contracts import refusal_words, split_evidence
from workbench.protocols import RESPONSE
from workbench.safetext import clip, visible
from workbench.tui.models.signs import PROVISIONAL
from workbench.tui.models.tabs import ROOMY
from workbench.views import (
    SEVERITY_GLYPH,
    Line,
    Span,
    byte_range,
    count,
    event_range,
    hang,
    line,
    link_addresses,
    origin_words,
    size,
    wrap,
)

if TYPE_CHECKING:
    from workbench.contracts import Finding, Repair
    from workbench.diff import Difference
    from workbench.wire import HttpRequest


def finding_line(finding: Finding, *, is_open: bool, is_provisional: bool = False, is_narrow: bool = False) -> Line:
    """A finding in one line, with its message; with its place instead if the message is shown below.

    Args:
        is_narrow: the sign alone shows the severity.
    """
    style = finding.severity.value
    rest = Span(where(finding), "muted") if is_open else Span(finding.message)
    return line(
        Span(f"{SEVERITY_GLYPH[finding.severity]} ", f"{style} strong"),
        Span("" if is_narrow else finding.severity, f"{style} strong", 0 if is_narrow else 8),
        Span(f"{finding.rule}  ", "strong"),
        Span(f"{finding.side} {exchange_range(finding)}  ", "accent"),
        Span(f"{PROVISIONAL}  " if is_provisional else "", "warning"),
        rest,
    )


def exchange_range(finding: Finding) -> str:
    """Number of the exchange of a finding, ``3``; ``3–9`` if later exchanges carry it."""
    first = f"{finding.exchange + 1:,}"
    return first if finding.last in (None, finding.exchange) else f"{first}–{(finding.last or 0) + 1:,}"


def finding_body(
    finding: Finding, width: int, repairs: Sequence[Repair] | str | None = None, *, is_answered: bool = True
) -> list[Line]:
    """Message, response of the provider, repairs, origin, evidence, and source of a finding.

    Args:
        repairs: the repairs, or the reason why they are not known; None for those that the finding has.
        is_answered: a response was recorded; else the refusal is only expected.
    """
    evidence, refusal = split_evidence(finding)[0], refusal_words(finding)
    lines = wrap(finding.message, width, "strong", indent=2)
    if is_answered:
        lines += labelled_lines("response", refusal, width, "error")
    offers = finding.repairs if repairs is None else repairs
    if offers:
        lines += repair_body(offers, width)
    elif finding.side == RESPONSE and is_break(finding):
        lines += labelled_lines("repair", f"none: the response is at fault · {_what_to_do(finding)}", width, "muted")
    lines += _decision(finding, width)
    for label, text, style in (
        ("began", origin_words(finding), "accent"),
        ("seen", evidence, ""),
        ("expected", "" if is_answered else refusal, "error"),
        ("source", finding.source, "muted"),
    ):
        lines += labelled_lines(label, text, width, style, has_links=label == "source")
    return lines


def _what_to_do(finding: Finding) -> str:
    """What the page of the rule advises."""
    from workbench.contracts import pages

    return pages.page(finding.rule).fix if finding.rule in pages.slugs() else "see the rule's page"


def _decision(finding: Finding, width: int) -> list[Line]:
    """Keys that decide between the suspected places of a refusal that no rule explains."""
    from workbench.rules import suspects_of

    ways = "V: send it without each suspected place (T: to the real provider) · M: minimise it"
    return labelled_lines("decide", ways, width, "accent") if suspects_of(finding) else []


def origin_of(finding: Finding, findings: Sequence[Finding]) -> int | None:
    """Number of the finding at the origin of another one; None if there is none."""
    origin = finding.origin
    wanted = (finding.rule, origin.exchange, origin.side, origin.pointer) if origin else None
    return next((n for n, f in enumerate(findings) if place_of(f) == wanted), None)


def number_of(finding: Finding | None, findings: Sequence[Finding]) -> int | None:
    """Number of a finding; if it has changed since, of the first of the same rule and place."""
    places = [n for n, f in enumerate(findings) if place_of(f) == place_of(finding)] if finding else []
    return next((n for n in places if findings[n] == finding), places[0] if places else None)


def place_of(finding: Finding) -> tuple[str, int, str, str]:
    """Rule, exchange, side and pointer."""
    return finding.rule, finding.exchange, finding.side, finding.pointer


def where(finding: Finding) -> str:
    """Pointer, bytes and events of a finding."""
    spans = byte_range((finding.span,) if finding.span else ())
    return " · ".join(s for s in (finding.pointer or "the whole body", spans, event_range(finding.events)) if s)


def tally(findings: Sequence[Finding]) -> str:
    """``2 errors, 1 warning``."""
    numbers = [(sum(f.severity == word for f in findings), word) for word in SEVERITY_GLYPH]
    return ", ".join(f"{n} info" if word == "info" else count(n, word) for n, word in numbers if n)


def is_break(finding: Finding) -> bool:
    """True for an error or warning."""
    return finding.severity != "info"


def worst(findings: Sequence[Finding]) -> str:
    """Severity of the breaks that the keys go through: errors, or warnings if there are no errors."""
    return "error" if any(f.severity == "error" for f in findings) else "warning"


def next_of(severity: str, findings: Sequence[Finding], current: int | None, exchange: int, step: int) -> int | None:
    """The finding after (``step`` 1) or before (-1) the current one; of another severity, after or before an exchange.

    Args:
        severity: severity of the finding to go to.
        findings: findings of the session, those of one severity in its order.
        current: number of the current finding; None if there is none.
        exchange: index of the current exchange.
        step: 1 or -1.
    """
    at = current if current is not None and findings[current].severity == severity else None

    def is_beyond(number: int) -> bool:
        if at is not None:
            return number > at if step > 0 else number < at
        return (findings[number].exchange >= exchange) is (step > 0)

    beyond = [n for n, finding in enumerate(findings) if finding.severity == severity and is_beyond(n)]
    if not beyond:
        return None
    return beyond[0] if step > 0 else beyond[-1]


def first_break(findings: Sequence[Finding]) -> int | None:
    """Finding to open a session at: the first error, else the first warning."""
    ranked = [(f.severity.rank, n) for n, f in enumerate(findings) if is_break(f)]
    return min(ranked)[1] if ranked else None


LOOKING = "searching for a repair …"
"""Shown in place of repairs until they are known."""

HANG = 4
"""Columns before the further lines of a text with a label, in a narrow list."""

LABEL = 12
"""Columns of the label before the lines of a finding."""


class RepairOffer(NamedTuple):
    """A repair as it is shown.

    Attributes:
        repair: its title and edits.
        request: the repaired request, and ``body`` its body.
        difference: difference from the original request.
        contract: label of the contract that verified it.
        headers: changes of headers, one line each.
        remaining: rules of the findings that remain after it.
    """

    repair: Repair
    request: HttpRequest
    body: bytes
    difference: Difference
    contract: str
    headers: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()


def repair_body(repairs: Sequence[Repair] | str, width: int) -> list[Line]:
    """Best repair of a finding. ``repairs``: at least one, or the reason why they are not known."""
    from workbench.edits.repairs import verification

    if isinstance(repairs, str):
        return labelled_lines("repair", repairs, width, "muted")
    best, more = repairs[0], len(repairs) - 1
    lines = labelled_lines("repair", best.title, width, "ok" if best.verified else "warning", most=2)
    others = f" and {count(more, 'other')}" if more else ""
    indent = LABEL if width >= ROOMY else HANG
    return lines + wrap(f"f: show it{others} · {verification(best)}", width, "muted", indent=indent)


def labelled_lines(
    label: str, text: str, width: int, style: str = "", most: int = 1000, *, has_links: bool = False
) -> list[Line]:
    """A wrapped text with a label before its first line; ``has_links`` for texts of our own.

    Its further lines begin below the first, in a narrow list below the label.
    """
    if width < ROOMY and text:
        (begun, *_), *more = wrap(f"{label}  {text}", width - HANG, style, most=most)
        first = line(Span(f"  {label}", "muted"), begun._replace(text=begun.text[len(label) :]))
        return [first, *(line(Span("", "", HANG), *words) for words in more)]
    lines = wrap(text, width - LABEL, style, most=most)
    lines = link_addresses(lines, text) if has_links else lines
    return [line(Span("" if n else f"  {label}", "muted", LABEL), *words) for n, words in enumerate(lines)]


def finding_title(finding: Finding) -> list[Line]:
    """The finding that is repaired: rule and place, and the sentence about it."""
    return [
        line(
            Span(f" {SEVERITY_GLYPH[finding.severity]} ", finding.severity.value),
            Span(finding.rule, "strong"),
            Span(f"  {finding.side} {exchange_range(finding)}  {where(finding)}", "muted"),
        ),
        line(Span(f"   {finding.message}")),
    ]


def title(repair_offer: RepairOffer, number: int, of: int, rule: str = "") -> list[Line]:
    """Number of a repair, its effect, and how it was verified; with the rule of the finding if that is not above."""
    found = repair_offer.difference
    lengths = f" · {size(len(found.before))} → {size(len(found.after))}"
    which = f" Repair {number + 1} of {of} ·{f' {rule} ·' if rule else ''}"
    return [
        line(
            Span(which, "strong"),
            *effect(repair_offer),
            Span(lengths, "muted"),
        ),
        line(Span(f" {_check(repair_offer)}", "muted")),
    ]


def _check(repair_offer: RepairOffer) -> str:
    if repair_offer.repair.verified:
        return f"verified against contract {repair_offer.contract} · not by the provider"
    return f"repairs this finding under contract {repair_offer.contract} · other findings of the request remain"


def title_without(finding: Finding) -> list[Line]:
    """Header while the repairs of a finding are looked up."""
    return [
        line(Span(f" Repairs of {finding.rule} ·", "strong"), Span(f" {LOOKING}", "muted")),
        line(Span(f" {finding.side} {exchange_range(finding)}  {where(finding)}", "muted")),
    ]


def effect(repair_offer: RepairOffer) -> Line:
    """Whether other findings remain after a repair, and which."""
    if repair_offer.repair.verified:
        return line(Span(" ✓ no other finding", "ok"))
    first, *others = repair_offer.remaining or ("other findings",)
    rest = f" and {count(len(others), 'other rule')}" if others else ""
    verb = "remains" if repair_offer.remaining and not others else "remain"
    return line(Span(f" ! {first}{rest} {verb}", "warning"))


MOST_OFFERS = 6
"""Repairs listed at once; the list moves with the shown one."""


def offer_lines(repair_offers: Sequence[RepairOffer], current: int, width: int) -> list[Line]:
    """The repairs of a finding, one a line, the shown one marked and whole."""
    first = max(0, min(current - MOST_OFFERS // 2, len(repair_offers) - MOST_OFFERS))
    lines = []
    for number, each in enumerate(repair_offers[first : first + MOST_OFFERS], first):
        is_shown = number == current
        sign, name = effect(each)[0], visible(each.repair.title)
        of = line(
            Span(" ▸" if is_shown else "  ", "accent"),
            Span(f"{number + 1} ", "accent"),
            Span(sign.text[1:2], sign.style, 2),
            Span(name if is_shown else clip(name, max(8, width - 8)), "strong" if is_shown else ""),
        )
        lines += hang(of, width - 1, most=2) if is_shown else [of]
    return lines
