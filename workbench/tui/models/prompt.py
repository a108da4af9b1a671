"""Lines of the prompts below the panes: suggestions, and messages about the typed text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.safetext import cells
from workbench.views import Line, Span, line

if TYPE_CHECKING:
    from workbench.errors import FilterError
    from workbench.filters import Suggestion

CURSOR_SIGN = "▸ "
"""Sign of the chosen suggestion."""

LEFT = 2
"""Columns before the text typed: the sign of the prompt."""


def suggestion_lines(suggestions: Sequence[Suggestion], current: int, room: int) -> list[Line]:
    """Suggestions that fit into the room, the chosen one among them."""
    room -= len(suggestions) > room
    first = max(0, min(current - room // 2, len(suggestions) - room))
    visible = suggestions[first : first + room]
    width = min(36, max((cells(s.text) for s in visible), default=0))
    lines = []
    for number, suggestion in enumerate(visible, first):
        lines.append(
            line(
                Span(CURSOR_SIGN if number == current else "  ", "accent"),
                Span(suggestion.text, "strong" if number == current else "", width + 2),
                Span(suggestion.says, "muted"),
            )
        )
    if len(suggestions) > len(visible):
        lines.append(line(Span(f"  {current + 1} of {len(suggestions)} ↓", "muted")))
    return lines


def is_chosen(of: Line) -> bool:
    """True for the line of the chosen suggestion, which is shown in full."""
    return bool(of) and of[0].text == CURSOR_SIGN


def error_lines(error: FilterError, typed: str, scrolled: int, in_force: str) -> list[Line]:
    """Error below the characters that cause it, and the filter that stays active."""
    start = max(0, LEFT + cells(typed[: error.start]) - scrolled)
    length = max(1, cells(typed[error.start : error.end]))
    says = f"{error.what}; {error.hint}" if error.hint else error.what
    stays = f"active filter: {in_force}" if in_force else "no filter is applied"
    marks = line(Span(" " * start), Span("^" * length, "error strong"), Span(f"  {stays}", "muted"))
    return [marks, line(Span(f"✗ {says}", "error"))]
