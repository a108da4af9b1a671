"""The tab line and the footer."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.tui.keys import Key
from workbench.tui.lines import Line, Span
from workbench.tui.safetext import cells

PANES: tuple[tuple[str, str], ...] = (
    ("exchanges", "Exchanges"),
    ("wire", "Wire"),
    ("ir", "IR"),
    ("reasoning", "Reasoning"),
    ("closure", "Closure"),
    ("findings", "Findings"),
)
"""Id and name of every pane, in the order of their digits."""


TOO_SMALL: tuple[Line, ...] = (
    (),
    (Span(" Workbench needs 60 columns and 15 lines.", "strong"),),
    (Span(" Make the window larger; q leaves."),),
)
"""What stands in place of a screen for which there is no room."""


def tab_line(focused: str, seen: Sequence[str]) -> Line:
    """Every pane with its digit; the focused one stands out, the others that are seen are named in full strength."""
    spans: list[Span] = [Span(" ")]
    for digit, (name, words) in enumerate(PANES, 1):
        if name == focused:
            spans.append(Span(f"[{digit} {words}]", "tab"))
        else:
            spans.append(Span(f" {digit} {words} ", "" if name in seen else "muted"))
    return tuple(spans)


def key_line(hints: Sequence[Key], width: int, before: str = "") -> Line:
    """As many hints as fit whole, the most important ones, in the order of their table."""
    kept: list[Key] = []
    used = 1 + cells(before)
    for key in sorted((k for k in hints if k.rank), key=lambda k: k.rank):
        used += len(key.show) + len(key.word) + 3
        if used > width:
            break
        kept.append(key)
    spans = [Span(" "), Span(before, "strong")]
    for key in (k for k in hints if k in kept):
        spans += [Span(key.show, "accent strong"), Span(f" {key.word}  ")]
    return tuple(spans)
