"""Lines of the home screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.lines import Line, Span, line, wrap
from workbench.tui.models import findings
from workbench.tui.models.verdict import gaps, verdict
from workbench.tui.models.words import SEVERITY_GLYPH, count

if TYPE_CHECKING:
    from workbench.inspection import Inspection

NAME_WIDTH = 34
_VERDICT_WIDTH = 28
_ROOMY = 110

WELCOME: tuple[Line, ...] = (
    line(Span(" Workbench", "accent strong"), Span("   see where a chain of tool calls breaks")),
    line(Span(" replay · no key · tools are never executed", "ok")),
)


class Story(NamedTuple):
    """What a session shows: its verdict and first break in words.

    Attributes:
        severity: of the first break; None where there is none, or nothing is known yet.
        verdict: a few words.
        text: the first break in a sentence, or why there is nothing to say.
        facts: exchanges, protocol, provider, model.
        is_clean: everything was judged, and nothing is broken.
    """

    severity: str | None
    verdict: str
    text: str
    facts: str = ""
    is_clean: bool = False


def tell(inspection: Inspection) -> Story:
    """The story of an inspected session."""
    number = findings.first_break(inspection.findings)
    models = dict.fromkeys(r.model for r in inspection.rows if r.model)
    contracts = dict.fromkeys(r.provider for r in inspection.rows if r.provider)
    facts = " · ".join((count(len(inspection.rows), "exchange"), *contracts, *models))
    if number is None:
        is_clean = not gaps(inspection.rows, inspection.damage)
        words = "no breaks" if is_clean else "not all was judged"
        return Story(None, words, verdict(inspection.rows, inspection.damage), facts, is_clean)
    finding = inspection.findings[number]
    return Story(finding.severity, finding.rule, f"exchange {finding.exchange + 1}: {finding.message}", facts)


HINTS: tuple[Line, ...] = (
    line(Span(" Your own traffic", "strong")),
    line(Span("  o", "accent strong", 23), "open a file: session, HAR, cassette, body, event stream"),
    line(Span("  workbench open FILE", "accent", 23), "the same from the shell"),
    line(Span("  workbench check FILE", "accent", 23), "the findings as text or JSON, for scripts and CI"),
    line(Span("  workbench explain", "accent", 23), "which rule a pasted error text belongs to"),
)


def story_line(path: Path, story: Story | None, width: int) -> Line:
    """A session in one line."""
    name = Span(path.stem, "strong", NAME_WIDTH)
    if story is None:
        return line(name, Span(" … inspecting", "muted"))
    if story.severity is None:
        sign, style = ("✓", "ok") if story.is_clean else ("?", "warning")
        return line(name, Span(f" {sign} {story.verdict}", style))
    verdict = Span(f" {SEVERITY_GLYPH[story.severity]} {story.verdict}", story.severity, _VERDICT_WIDTH)
    return line(name, verdict, Span(story.text, "muted")) if width >= _ROOMY else line(name, verdict)


def story_body(story: Story | None, width: int) -> list[Line]:
    """The story in full."""
    if story is None:
        return []
    facts = wrap(story.facts, width, "muted", indent=2) if story.facts else []
    return [*wrap(story.text, width, indent=2), *facts]


def nothing(folder: Path, width: int) -> list[Line]:
    """Why the list is empty."""
    return wrap(f"press o to open a file; there are no example sessions in {folder}", width, "muted")
