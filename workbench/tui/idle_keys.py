"""The keys of a screen, in groups on its empty rows, for a person who pauses there after a key, once in a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.safetext import cells
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.models.palette import CHANGE, LOOK, MOVE, group
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, Span, line

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.timer import Timer
    from textual.widget import Widget

    from workbench.tui.app import WorkbenchApp
    from workbench.tui.keys import Key

PAUSE_SECONDS = 6.0
"""Seconds without a key after which a person may look for one; reading a finding takes about as long."""

SHOWN_SECONDS = 20.0
"""Seconds that the keys are shown: who only watches a recording needs the lines below them."""

GROUPS = {CHANGE: "act", LOOK: "look", MOVE: "move"}
"""Groups that are shown, each on a line, with their words."""

_HEAD = 6
"""Columns for the word of a group."""


class ActiveKey(NamedTuple):
    """A key in force, and its distance from the focused pane."""

    key: Key
    distance: int


def hint_lines(active: Sequence[ActiveKey], width: int) -> list[Line]:
    """A line for each group: the keys that fit, those of the footer and of the focused pane first."""
    lines = []
    for title, word in GROUPS.items():
        own = [each for each in active if each.key.keys and group(each.key) == title]
        by_rank = sorted(own, key=lambda each: (not each.key.rank, each.distance, each.key.rank))
        spans = list(_fitting([each.key for each in by_rank], width - _HEAD - 1))
        lines += [line(Span(f" {word}", "role strong", _HEAD), *spans)] if spans else []
    return lines


def _fitting(found: Sequence[Key], width: int) -> Iterator[Span]:
    for key in found:
        width -= cells(key.show) + cells(key.word) + 3
        if width < 0:
            return
        yield from (Span(key.show, "accent strong"), Span(f" {key.word}  "))


class HintBar(Bar):
    """Lines on empty rows above the footer, until the next key; what is read and the footer stay in view."""

    DEFAULT_CSS = "HintBar { layer: hints; dock: bottom; background: $panel; }"


def has_room(screen: Screen[Any], rows: int) -> bool:
    """True if this many rows above the footer are empty, and not those of a low pane that is read."""
    view, top = screen.focused, screen.size.height - 1 - rows
    if view is not None and view.region.bottom > top and view.region.y > screen.size.height // 3:
        return False
    return all(_end_of_text(each) <= top for each in screen.query("LineView, Bar") if not isinstance(each, KeyBar))


def _end_of_text(view: Widget) -> int:
    """Row of the screen below the last text of a widget; 0 if it is not shown."""
    if not view.region or not isinstance(view, LineView):
        return view.region.bottom
    visible_rows = min(view.content_region.height, view.virtual_size.height - view.scroll_offset.y)
    return view.content_region.y + visible_rows


class Hints:
    """Waits for a pause on each kind of screen, once in a run.

    Args:
        app: the app; a test, which has no terminal, calls ``show`` itself.
    """

    def __init__(self, app: WorkbenchApp) -> None:
        self.app = app
        self._timer: Timer | None = None
        self._seen: set[str] = set()

    def note_key(self) -> None:
        """Hide the keys, and wait for the next pause."""
        self._hide()
        if self._timer:
            self._timer.stop()
        if not self.app.is_headless and not self.app.keymap.is_quiet:
            self._timer = self.app.set_timer(PAUSE_SECONDS, self.show)

    def _hide(self) -> None:
        for screen in self.app.screen_stack:
            for bar in screen.query(HintBar):
                bar.remove()

    def show(self) -> None:
        """Show the keys of the screen, unless a person types there, has seen them, or reads all its rows."""
        screen = self.app.screen
        kind = type(screen).__name__
        is_typing = screen.focused is not None and not isinstance(screen.focused, LineView)
        if kind in self._seen or is_typing or not screen.query(KeyBar) or self.app.tour:
            return
        active = [
            ActiveKey(key, distance) for distance, (_, rows) in enumerate(self.app.useful_keys(screen)) for key in rows
        ]
        lines = hint_lines(active, screen.size.width)
        if not has_room(screen, len(lines)):
            return
        self._seen.add(kind)
        bar = HintBar()
        bar.styles.height = len(lines)
        bar.styles.margin = (0, 0, 1, 0)
        bar.show(lines)
        screen.mount(bar)
        if not self.app.is_headless:
            self._timer = self.app.set_timer(SHOWN_SECONDS, self._hide)
