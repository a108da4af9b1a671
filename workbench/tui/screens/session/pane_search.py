"""Search in the panes of the session screen, the focused one first, while the person types, a slice at a time."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from workbench.tui.models.tabs import PANES
from workbench.tui.widgets.lineview import LineView
from workbench.views import Span, line

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.selection import SessionSpot
    from workbench.tui.widgets.prompt import Prompt

SLICE_SECONDS = 0.03
"""Seconds of searching at a time, so that keys stay responsive."""

LAST = 1 << 60
"""Position behind every match."""

WAYS = (("enter", "accept"), ("tab", "all exchanges"), ("esc", "cancel"))
HINT = "capital letters match case"


class PaneSearch:
    """Searches a pane.

    Attributes:
        wanted: searched text; empty if no search is active.
        found: positions of matches in the pane, sorted.
        view: searched pane.
    """

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self.wanted = ""
        self.found: list[int] = []
        self.view: LineView | None = None
        self._work: Iterator[tuple[int | None, float]] | None = None
        self._timer: Timer | None = None
        self._done_part = 0.0
        self._origin = 0
        self._is_moving = False
        self._prompt: Prompt | None = None
        self._elsewhere: list[tuple[str, int]] = []

    @property
    def is_busy(self) -> bool:
        """The search has not reached the end of the pane."""
        return self._work is not None

    def ask(self) -> None:
        """Open the input line of the search."""
        from workbench.tui.widgets.prompt import Prompt

        view = self.screen.focused
        if self._prompt or not isinstance(view, LineView):
            return
        before = self.wanted
        self._origin, self.view = view.position, view
        self._prompt = Prompt("/", before, self._search_for, self._close, ways=WAYS, switch=self._search_all)
        self.screen.mount(self._prompt, before="#keys")
        self.screen.call_after_refresh(self._say)

    def _search_for(self, wanted: str) -> None:
        assert self.view
        self.begin(self.view, wanted, move_from=self._origin)

    def _close(self, wanted: str | None) -> None:
        self._prompt = None
        view = self.view
        if not wanted:
            self.end()
            if view:
                view.go_to(self._origin)
        elif view and self._go_elsewhere():
            pass
        elif view:
            view.post_message(LineView.CursorMove(view))
            self.screen.call_after_refresh(view.go_to, view.position)  # the pane is larger without the prompt
        self.screen.header.show_keys()

    def _search_all(self, wanted: str) -> None:
        """Search the bytes of all exchanges; in the chosen one the search continues in the Wire pane."""
        from workbench.tui.screens.byte_search import ByteSearchScreen

        screen = self.screen

        def go(place: SessionSpot | None) -> None:
            if place:
                screen.panes.focus("wire")
                self.end()
                self.view, self.wanted = screen.wire, search.wanted
                screen.navigation.go_to_spot(place)
                self.again()  # another exchange is searched again once it is open

        search = ByteSearchScreen(screen, wanted)
        screen.app.push_screen(search, go)

    def begin(self, view: LineView, wanted: str, *, move_from: int | None) -> None:
        """Search a pane; go to the first match from position ``move_from`` on, None to stay."""
        self.end()
        self.view, self.wanted = view, wanted
        self._origin = self._origin if move_from is None else move_from
        self._is_moving = move_from is not None
        if wanted:
            self._work = view.finder.begin(wanted)
            self._search_slice(self._work)
        self._say()

    def end(self) -> None:
        """End the search, and remove its marks."""
        if self._timer:
            self._timer.stop()
        if self.view:
            self.view.finder.end()
        self._work = self._timer = None
        self.wanted, self.found, self._elsewhere = "", [], []

    def again(self) -> None:
        """Search again: the panes have new contents."""
        if self.wanted and self.view and self.view is not self.screen.exchanges:
            self.begin(self.view, self.wanted, move_from=None)

    def _search_slice(self, work: Iterator[tuple[int | None, float]]) -> None:
        """Search for one slice of time, unless the search has ended or changed meanwhile."""
        if work is not self._work:
            return
        until = time.monotonic() + SLICE_SECONDS
        self._timer = None
        for place, part in work:
            self._done_part = part
            if place is not None:
                insort(self.found, place)
            if time.monotonic() > until:
                self._timer = self.screen.set_timer(0.001, partial(self._search_slice, work))
                break
        else:
            self._work = None
            self._elsewhere = self._look_elsewhere()
        self._show()

    def _look_elsewhere(self) -> list[tuple[str, int]]:
        """Other panes with matches, as (name, number of matches); each is searched for one slice of time only."""
        holding = []
        for name, _ in PANES:
            for pane in self.screen.query(f"#{name}").results(LineView):
                if pane is self.view:
                    continue
                until, many = time.monotonic() + SLICE_SECONDS, 0
                for place, _ in pane.finder.begin(self.wanted):
                    many += place is not None
                    if time.monotonic() > until:
                        break
                pane.finder.end()
                holding += [(name, many)] if many else []
        return holding

    def _go_elsewhere(self) -> bool:
        """Go to the first match in another pane, if this one has none. Returns False if no pane has one."""
        if self.found or not self._elsewhere:
            return False
        self._go_to_pane(self._elsewhere[0][0], 1)
        return True

    def _go_to_pane(self, name: str, step: int) -> None:
        """Go to the first match of a pane, or to its last one."""
        wanted = self.wanted
        self.screen.panes.focus(name)
        for pane in self.screen.query(f"#{name}").results(LineView):
            self.begin(pane, wanted, move_from=0 if step > 0 else LAST)
            pane.post_message(LineView.CursorMove(pane))

    def _next_pane(self, step: int) -> str:
        """The next pane with matches behind the last match of this one; empty to stay in this one.

        Matches in Exchanges open other exchanges, so that a search there stays there.
        """
        if self.view is None or self.view is self.screen.exchanges or self.is_busy:
            return ""
        holding = dict(self._look_elsewhere())
        order = [name for name, _ in PANES]
        here = order.index(self.view.id or "")
        around = [order[(here + step * n) % len(order)] for n in range(1, len(order))]
        return next((name for name in around if name in holding and name != "exchanges"), "")

    def _show(self) -> None:
        assert self.view
        self.view.finder.show()
        beyond = bisect_left(self.found, self._origin)
        if self._is_moving and (beyond < len(self.found) or not self.is_busy):
            self._is_moving = False
            target = -1 if self._origin == LAST else beyond % max(1, len(self.found))
            self.view.go_to(self.found[target] if self.found else self._origin)
        self._say()
        self.screen.header.show_keys()

    def match(self, step: int) -> None:
        """Go to the next or previous match."""
        if self.wanted:
            self.step(step)
        else:
            self.screen.notify("no search yet · /: search · ]: next break", markup=False)

    def step(self, step: int) -> None:
        """Go to the next or previous match, through all panes and around; in another pane start the search there."""
        view = self.screen.focused
        if not isinstance(view, LineView):
            return
        if view is not self.view:
            self.begin(view, self.wanted, move_from=view.position)
            return
        if not self.found and not self._go_elsewhere():
            self.screen.notify("still searching" if self.is_busy else "no match in any pane", markup=False)
        if not self.found:
            return
        at = bisect_right(self.found, view.position) if step > 0 else bisect_left(self.found, view.position) - 1
        if not 0 <= at < len(self.found) and (name := self._next_pane(step)):
            self._go_to_pane(name, step)
            return
        if not 0 <= at < len(self.found):
            end = "top" if step > 0 else "end"
            self.screen.notify(f"no more matches: continued at the {end}", markup=False)
        view.go_to(self.found[at % len(self.found)])
        view.post_message(LineView.CursorMove(view))
        self.screen.header.show_keys()

    def words(self) -> str:
        """State of the search in words; empty if none is active."""
        if not self.wanted:
            return ""
        busy = f", {self._done_part:.0%} searched · esc: stop" if self.is_busy else ""
        if not self.found or self.view is None:
            return f"no match so far{busy}" if busy else f"no match in {self._name()}{self._elsewhere_words()}"
        at = max(1, bisect_right(self.found, self.view.position))
        return f"match {at:,} of {len(self.found):,}{busy}"

    def also(self) -> str:
        """Other panes with matches, in words."""
        return f" · also {self._counts()}" if self.found and self._elsewhere else ""

    def _counts(self) -> str:
        names = dict(PANES)
        return ", ".join(f"{many:,} in {names[name]}" for name, many in self._elsewhere)

    def _name(self) -> str:
        return next((words for name, words in PANES if self.view and name == self.view.id), "this pane")

    def _elsewhere_words(self) -> str:
        if not self._elsewhere:
            return " or in another pane"
        return f"; {self._counts()} · enter: go there"

    def _say(self) -> None:
        if self._prompt and self._prompt.is_mounted:
            words = f"{self.words()}{self.also()}" if self.wanted else "search all panes, this one first"
            self._prompt.say([line(Span(words, "strong"), Span(f"  {HINT}", "muted"))])
