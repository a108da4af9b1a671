"""Lines of a story: one for each item, and its full text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy_dataclass import replace
from workbench.safetext import cells, clip, visible
from workbench.views.lines import Line, Span, behind, line, wrap
from workbench.views.parts import preview
from workbench.views.words import SEVERITY_GLYPH, duration

if TYPE_CHECKING:
    from workbench.views.story_items import Story, StoryItem

CLOCK = 9
"""Columns for the time of an exchange."""

ROOMY = 64
"""Columns from which a line has room for the time of its exchange."""

MOST_LINES = 400
"""Lines of a full text."""

_LOOK = {
    "conversation": ("", "strong"),
    "earlier": ("", "muted"),
    "history": ("!", "warning"),
    "message": ("›", "role"),
    "reasoning": ("∴", "reasoning"),
    "text": (" ", ""),
    "call": ("◆", "call"),
    "tool-hop": ("→", "info"),
    "result": ("◇", "result"),
    "attempts": ("", "warning"),
    "error": ("✗", "error"),
    "part": ("▣", "info"),
    "others": ("", "muted"),
    "other": ("·", "muted"),
}
"""Kind → sign and style."""


def story_digits(story: Story) -> int:
    """Columns for the numbers of exchanges."""
    return len(str(max((item.exchange for item in story.items), default=0) + 1))


def story_line(item: StoryItem, width: int, digits: int, *, is_open: bool | None = None, is_told: bool = False) -> Line:
    """One item.

    Args:
        is_open: the items below are visible; None if there are none.
        is_told: the full text follows below; then the line has none, or its first row if the line has no label.
    """
    first, _ = _first_row(item, width, digits) if is_told else ("", "")
    first_item = replace(item, text=first) if first else item
    words = _words(first_item, has_text=not is_told)
    head = line(*_margin(item, width, digits), *_fold(is_open), *words)
    return _with_facts(head, _facts(item), width)


def _first_row(item: StoryItem, width: int, digits: int) -> tuple[str, str]:
    """The first row of a text and the others, for an item whose line has no label and has room; else ("", the text)."""
    first, _, others = item.text.partition("\n")
    room = width - _indent(item, width, digits) - 4 - cells(visible(_facts(item))) - 2
    is_bare = item.kind in ("result", "text") and not item.is_failed
    return (first, others) if is_bare and first and cells(visible(first)) <= room else ("", item.text)


def _with_facts(head: Line, facts: str, width: int) -> Line:
    """A line with facts at its right end; the text is cut for them, but keeps half of the width."""
    if not facts:
        return head
    if width < ROOMY:
        facts = clip(facts.rpartition(" · ")[2], width // 3)
    facts = clip(facts, max(8, width // 2 - 2))
    gap = width - _columns(head) - cells(visible(facts))
    end = line(Span(facts, "muted"))
    return (*head, Span(" " * gap), *end) if gap >= 2 else behind(head, end, width)


def story_body(item: StoryItem, width: int, digits: int) -> list[Line]:
    """The full text of an item below its line; empty if the line has all of it."""
    indent = _indent(item, width, digits) + 4
    head = line(*_margin(item, width, digits), *_fold(None), *_words(item))
    facts = _facts(item)
    room = width - cells(visible(facts)) - (2 if facts else 0)
    if "\n" not in item.text and len(item.text) < width and _columns(head) <= room:
        return []
    _, text = _first_row(item, width, digits)
    return wrap(text.rstrip("\n"), width, indent=min(indent, width // 2), most=MOST_LINES) if text.strip() else []


def _columns(head: Line) -> int:
    """Columns that a line takes."""
    return sum(abs(span.width) or cells(visible(span.text)) for span in head)


def _margin(item: StoryItem, width: int, digits: int) -> Line:
    """Number and time of the exchange, at its first item, and the depth."""
    number = Span(str(item.exchange + 1) if item.is_first else "", "muted", -digits)
    clock = line(Span(f"{_clock(item.at)} " if item.is_first else "", "muted", -CLOCK)) if width >= ROOMY else ()
    return line(number, *clock, Span("  " * item.depth))


def _indent(item: StoryItem, width: int, digits: int) -> int:
    return digits + (CLOCK if width >= ROOMY else 0) + 2 * item.depth


def _clock(seconds: float | None) -> str:
    """Minutes and seconds: ``0:01.2``, ``1:02:03``; ``-0:00.2`` before the first request."""
    if seconds is None:
        return ""
    if seconds < 0:
        return f"-{_clock(-seconds)}"
    minutes, rest = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes:.0f}:{rest:04.1f}"
    return f"{minutes // 60:.0f}:{minutes % 60:02.0f}:{rest:02.0f}"


def _fold(is_open: bool | None) -> Line:
    return line(Span("  " if is_open is None else "⊟ " if is_open else "⊞ ", "accent"))


def _words(item: StoryItem, *, has_text: bool = True) -> Line:
    sign, style = _LOOK.get(item.kind, ("", ""))
    if item.kind == "finding":
        sign, style = SEVERITY_GLYPH.get(item.severity, "!"), item.severity
    elif item.is_failed:
        sign, style = "✗", "error"
    mark = line(Span(f"{sign} ", style)) if sign else ()
    label = _label(item, style)
    return line(*mark, *label, *(() if label and not has_text else _text(item, style)))


def _label(item: StoryItem, style: str) -> Line:
    match item.kind:
        case "conversation":
            sign = SEVERITY_GLYPH.get(item.severity, "")
            mark = line(Span(f"{sign} ", item.severity)) if sign else ()
            return line(*mark, Span(f"{item.label}  ", "role"))
        case "reasoning":
            return line(Span("reasoning  ", style))
        case "result":
            return line(Span("failed  ", "error")) if item.is_failed else ()
        case "text":
            return ()
        case "history":
            return line(Span(f"{item.label}  ", style))
        case "call":
            return line(Span(f"{item.label}  ", "strong"))
    return line(Span(f"{item.label}  ", style)) if item.label else ()


def _text(item: StoryItem, style: str) -> Line:
    if item.kind == "earlier":
        return line(Span(f"earlier: {item.text}", style))
    if item.kind in ("reasoning", "result", "tool-hop"):
        return (
            preview(item.text, "muted") if item.text else line(Span("empty" if item.kind == "result" else "", "muted"))
        )
    return preview(item.text, style if item.kind in ("error", "attempts", "finding", "others") else "")


def _facts(item: StoryItem) -> str:
    """Facts at the end of a line."""
    seconds = duration(item.seconds)
    waited = f"after {seconds}" if seconds and item.kind == "result" else seconds
    return " · ".join(filter(None, (item.note, waited)))
