"""Search in a list, while the person types, a slice of time at a time."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.safetext import visible
from workbench.views import Span, line

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.timer import Timer

    from workbench.tui.widgets.lineview import LineView
    from workbench.tui.widgets.prompt import Prompt

SLICE_SECONDS = 0.03
"""Seconds of searching at a time, so that keys stay responsive."""

WAYS = (("enter", "accept"), ("esc", "cancel"))
HINT = "capital letters match case"


class ListSearch:
    """Searches the list of a screen, with an input line above its footer.

    Args:
        screen: has a footer with the id ``keys``.
        view_of: returns the list to search, where the person is; in another list ``match`` searches again.
        changed: shows the state of the search, for example in the footer.

    Attributes:
        wanted: searched text; empty if no search is active.
        found: positions of matches, sorted.
    """

    def __init__(self, screen: Screen[Any], view_of: Callable[[], LineView], changed: Callable[[], None]) -> None:
        self.screen, self._view_of, self._changed = screen, view_of, changed
        self.wanted = ""
        self.found: list[int] = []
        self._origin = 0
        self._work: Iterator[tuple[int | None, float]] | None = None
        self._timer: Timer | None = None
        self._prompt: Prompt | None = None
        self._is_moving = False
        self._view: LineView | None = None

    @property
    def view(self) -> LineView:
        """The list that is searched."""
        self._view = self._view or self._view_of()
        return self._view

    @property
    def is_busy(self) -> bool:
        """The search has not reached the end of the list."""
        return self._work is not None

    def ask(self) -> None:
        """Open the input line."""
        from workbench.tui.widgets.prompt import Prompt

        if self._prompt is None:
            self._view = self._view_of()
            self._origin = self._view.position
            self._prompt = Prompt("/", self.wanted, self.begin, self._close, ways=WAYS)
            self.screen.mount(self._prompt, before="#keys")
            self.screen.call_after_refresh(self._say)

    def begin(self, wanted: str) -> None:
        """Search for a text, and go to its first match from where the search began."""
        self.end()
        self.wanted = wanted
        if wanted:
            self._is_moving = True
            self._work = self.view.finder.begin(wanted)
            self._search_slice(self._work)
        self._say()

    def end(self) -> None:
        """End the search, and remove its marks."""
        if self._timer:
            self._timer.stop()
        self.view.finder.end()
        self._work = self._timer = None
        self.wanted, self.found = "", []
        self._changed()

    def _close(self, wanted: str | None) -> None:
        self._prompt = None
        if not wanted:
            self.end()
            self.view.go_to(self._origin)
        self._changed()

    def _search_slice(self, work: Iterator[tuple[int | None, float]]) -> None:
        if work is not self._work:
            return
        until = time.monotonic() + SLICE_SECONDS
        for place, _ in work:
            if place is not None:
                insort(self.found, place)
            if time.monotonic() > until:
                self._timer = self.screen.set_timer(0.001, partial(self._search_slice, work))
                break
        else:
            self._work = None
        self._show()

    def _show(self) -> None:
        self.view.finder.show()
        beyond = bisect_left(self.found, self._origin)
        if self._is_moving and (beyond < len(self.found) or not self.is_busy):
            self._is_moving = False
            if self.found:
                self._go(self.found[beyond % len(self.found)])
        self._say()
        self._changed()

    def _go(self, position: int) -> None:
        self.view.go_to(position)
        self.view.post_message(self.view.CursorMove(self.view))

    def match(self, step: int) -> None:
        """Go to the next or previous match, wrapping around."""
        if self.wanted and self._view_of() is not self.view:
            self._search_in(self._view_of())
            return
        if not self.found:
            self.screen.notify(self._why_none(), markup=False)
            return
        here = self.view.position
        at = bisect_right(self.found, here) if step > 0 else bisect_left(self.found, here) - 1
        if not 0 <= at < len(self.found):
            end = "top" if step > 0 else "end"
            self.screen.notify(f"no more matches: continued at the {end}", markup=False)
        self._go(self.found[at % len(self.found)])
        self._changed()

    def _search_in(self, view: LineView) -> None:
        """Search another list for the same text, from its cursor on."""
        wanted = self.wanted
        self.end()
        self._view, self._origin = view, view.position
        self.begin(wanted)

    def leave(self) -> None:
        """End the search; without one, go back."""
        if self.wanted:
            self.end()
        else:
            self.screen.call_later(self.screen.run_action, "back")

    def _why_none(self) -> str:
        if not self.wanted:
            return "no search yet · /: search"
        return "still searching" if self.is_busy else f"no match: {visible(self.wanted)}"

    def words(self) -> str:
        """State of the search in words; empty if none is active."""
        if not self.wanted:
            return ""
        if not self.found:
            return "searching …  " if self.is_busy else f"no match: {visible(self.wanted[:20])}  "
        at = max(1, bisect_right(self.found, self.view.position))
        return f"match {at:,} of {len(self.found):,}{' so far' if self.is_busy else ''}  "

    def _say(self) -> None:
        if self._prompt and self._prompt.is_mounted:
            words = self.words().strip()
            self._prompt.say([line(Span(words or "search", "strong"), Span(f"  {HINT}", "muted"))])


def search_of(screen: Screen[Any]) -> ListSearch:
    """A search in the focused list of a screen, whose state is shown in front of the keys of its footer."""
    from workbench.tui.bars import KeyBar
    from workbench.tui.widgets.lineview import LineView

    def view_of() -> LineView:
        focused = screen.focused
        return focused if isinstance(focused, LineView) else next(iter(screen.query(LineView)))

    def show() -> None:
        for bar in screen.query("#keys").results(KeyBar):
            bar.show_words(search.words())

    search = ListSearch(screen, view_of, show)
    return search
