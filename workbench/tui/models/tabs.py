"""The tab line and the footer."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.safetext import cells
from workbench.tui import session_panes
from workbench.tui.keys import Key
from workbench.views import Line, Span

Panes = tuple[tuple[str, str], ...]
"""Id and name of each pane of a screen, in the order of their digits."""

PANES: Panes = tuple((row.id, row.title) for row in session_panes.PANES)
"""Those of the session screen."""


GAP = "  "
"""Between two hints of the footer."""

WAYS_OUT = ("back", "cancel", "quit", "help")
"""Words of the keys that leave a screen or explain it: the footer always has room for them."""

ROOMY = 60
"""Columns of a list that has room for a name, a verdict and a reason in each row."""

TALL = 32
"""Rows of a window from which on it has the class ``-tall``."""

LEAST_LETTERS, FEW_LETTERS = 2, 4
"""Letters of a name that is cut, at least; those of the focused one, at least."""

ENOUGH = 1000
"""Columns that hold the names of all panes."""

TOO_SMALL: tuple[Line, ...] = (
    (),
    (Span(" Workbench needs a window of", "strong"),),
    (Span(" 40 columns and 15 lines.", "strong"),),
    (Span(" Make the window larger · ctrl+q: quit."),),
)
"""Text shown if the window is too small for the screen."""


def tab_line(
    focused: str, seen: Sequence[str], *, is_zoomed: bool = False, panes: Panes = PANES, width: int = ENOUGH
) -> Line:
    """Every pane with its digit: the focused one highlighted, others in normal colour, hidden ones muted."""
    spans: list[Span] = [Span(" ")]
    for name, words in _tabs(focused, panes, width):
        if name == focused:
            spans.append(Span(f"[{words[1:-1]}]", "tab"))
        else:
            spans.append(Span(words, "" if name in seen else "muted"))
    return (*spans, Span(" zoom", "accent strong")) if is_zoomed else tuple(spans)


def tab_at(column: int, panes: Panes = PANES, focused: str = "", width: int = ENOUGH) -> str | None:
    """The pane whose tab is at a column of ``tab_line``; None if there is none."""
    end = 1
    for name, words in _tabs(focused, panes, width):
        start, end = end, end + len(words)
        if start <= column < end:
            return name
    return None


def _tabs(focused: str, panes: Panes, width: int) -> list[tuple[str, str]]:
    """Id and text of each tab; where there is no room for all names, all are cut alike, the focused one last."""
    longest = max(len(words) for _, words in panes)
    for letters in (*range(longest, LEAST_LETTERS - 1, -1), 0):
        tabs = _cut_tabs(focused, panes, letters)
        if 1 + sum(len(words) for _, words in tabs) <= width:
            break
    return tabs


def _cut_tabs(focused: str, panes: Panes, letters: int) -> list[tuple[str, str]]:
    """The tabs with so many letters of each name; with few, also with less space between them."""
    tabs = list[tuple[str, str]]()
    for digit, (name, words) in enumerate(panes, 1):
        before = " " if letters > FEW_LETTERS or (tabs and tabs[-1][0] == focused) else ""
        if name == focused:
            tabs.append((name, f" {digit} {words[: max(letters, FEW_LETTERS)]} "))
        else:
            tabs.append((name, f"{before}{digit} {words[:letters]}".rstrip() + " "))
    return tabs


def key_line(hints: Sequence[Key], width: int, before: str = "") -> Line:
    """Hints that fit completely, chosen by rank, in the order of their table."""
    spans = [Span(" "), Span(before, "strong")]
    for key in _hints_that_fit(hints, width, before):
        spans += [Span(key.show, "accent strong"), Span(f" {key.word}"), Span(GAP)]
    return tuple(spans[:-1]) if spans[-1] == Span(GAP) else tuple(spans)


def key_at(column: int, hints: Sequence[Key], width: int, before: str = "") -> Key | None:
    """The hint at a column of ``key_line``; None if there is none."""
    end = 1 + cells(before)
    for key in _hints_that_fit(hints, width, before):
        start, end = end, end + _size(key)
        if start <= column < end - 2:
            return key
    return None


def _hints_that_fit(hints: Sequence[Key], width: int, before: str) -> list[Key]:
    fitting: set[Key] = set()
    used = 1 + cells(before)
    for key in sorted((k for k in hints if k.rank and k.keys), key=lambda k: (k.word not in WAYS_OUT, k.rank)):
        if used + _size(key) - len(GAP) <= width:
            used += _size(key)
            fitting.add(key)
    return [key for key in hints if key in fitting]


def _size(key: Key) -> int:
    return len(key.show) + len(key.word) + 1 + len(GAP)
