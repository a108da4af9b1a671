"""Panes of the story screen: the story, which folds, and the lanes of the session over time."""

from __future__ import annotations

from collections.abc import Iterator

from textual import events
from textual.message import Message

from workbench.tui import keys
from workbench.tui.models.time_lanes import TimeMap, TimeWindow, lane_line, window_of
from workbench.tui.widgets.item_search import ItemSearch
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, Story, StoryItem, story_body, story_digits, story_line, wrap

MOST_COLUMNS = 150
"""Columns of a line: times at its end stay near their text."""

MOST_ZOOM = 4096
"""Smallest part of the session that the timeline shows: one in so many."""


class StorySearch(ItemSearch):
    """Search in all items of a story, the hidden ones too."""

    def __init__(self, pane: StoryPane) -> None:
        super().__init__(pane)
        self.pane = pane

    def begin(self, wanted: str) -> Iterator[tuple[int | None, float]]:
        needle, items = self.set_needle(wanted), self.pane.story.items
        for number, item in enumerate(items):
            is_found = needle.search(f"{item.label}\n{item.text}\n{item.note}")
            yield number if is_found else None, number / len(items)


class StoryPane(LineView):
    """The story without what is folded. The text of the item under the cursor is shown in full."""

    is_accordion = True
    story = Story()
    why = ""
    """Text shown while there is no story."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.toggled: frozenset[int] = frozenset()
        self._visible: list[int] = []
        self._digits = 1
        self.finder = StorySearch(self)

    def show(self, story: Story, why: str = "") -> None:
        """Show another story; folds and the cursor keep their items if it has only grown."""
        here = self.number
        self.story, self.why, self._digits = story, why, story_digits(story)
        self._refold(here)

    def _refold(self, here: int | None) -> None:
        self._visible = list(self.story.visible_items(self.toggled))
        if here is not None:
            self.cursor = max(0, sum(1 for number in self._visible if number <= here) - 1)
        self.reload()
        self.show_item(self.cursor)

    @property
    def number(self) -> int | None:
        """Number of the item under the cursor; None if there is none."""
        return self._visible[self.cursor] if self.cursor < len(self._visible) else None

    @property
    def current(self) -> StoryItem | None:
        """The item under the cursor."""
        return None if self.number is None else self.story.items[self.number]

    def fold(self) -> None:
        """Show or hide what belongs to the item under the cursor, or to the one it belongs to."""
        number = self.number
        while number is not None and not self.story.has_below(number):
            number = self.story.parent_of(number)
        if number is not None:
            self.toggled ^= {number}
            self._refold(number)

    def fold_all(self, is_folded: bool) -> None:
        """Fold or unfold every group."""
        items = self.story.items
        groups = (n for n in range(len(items)) if self.story.has_below(n))
        self.toggled = frozenset(n for n in groups if items[n].is_folded != is_folded)
        self._refold(self.number)

    def reveal(self, number: int) -> None:
        """Put the cursor on an item, and unfold what hides it."""
        above = self.story.parent_of(number)
        while above is not None:
            if self.story.items[above].is_folded != (above in self.toggled):
                self.toggled ^= {above}
            above = self.story.parent_of(above)
        self._visible = list(self.story.visible_items(self.toggled))
        self.reload()
        self.move_to(self._visible.index(number), center=True)

    # Search: in all items, the hidden ones too; positions are their numbers.

    @property
    def position(self) -> int:
        return self.number or 0

    def go_to(self, position: int) -> None:
        self.reveal(position)

    # Lines.

    def count(self) -> int:
        return len(self._visible)

    def head(self, item: int, width: int) -> Line:
        number = self._visible[item]
        is_open = None
        if self.story.has_below(number):
            is_open = item + 1 < len(self._visible) and self._visible[item + 1] == number + 1
        is_told = bool(self.lines_of.further.get(item))
        room = min(width, MOST_COLUMNS)
        return story_line(self.story.items[number], room, self._digits, is_open=is_open, is_told=is_told)

    def further(self, item: int, width: int) -> list[Line]:
        return story_body(self.story.items[self._visible[item]], min(width, MOST_COLUMNS), self._digits)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted")


class TimePane(LineView):
    """The lanes. The cursor is on a lane; one exchange of the session is selected."""

    BINDINGS = keys.bindings(keys.LANES)
    times = TimeMap((), length=1.0)
    exchange: int | None = None
    zoom = 1

    class Selection(Message):
        """An exchange was selected in the lanes."""

        def __init__(self, exchange: int) -> None:
            super().__init__()
            self.exchange = exchange

    class WindowChange(Message):
        """Another part of the session is shown."""

    def show(self, times: TimeMap) -> None:
        """Show other lanes."""
        self.times = times
        self.reload()
        self.post_message(self.WindowChange())

    def select(self, exchange: int | None) -> None:
        """Select an exchange, from outside."""
        if exchange != self.exchange:
            self.exchange = exchange
            found = None if exchange is None else self.times.find(exchange)
            if found:
                self.move_to(found[0])
            self.refresh()
            self.post_message(self.WindowChange())

    @property
    def window(self) -> TimeWindow:
        """The shown part of the session."""
        return window_of(self.times, self.text_width - self.times.label, self.zoom, self.exchange)

    def count(self) -> int:
        return len(self.times.lanes)

    def head(self, item: int, width: int) -> Line:
        return lane_line(self.times, item, self.window, self.exchange)

    def nothing(self, width: int) -> list[Line]:
        return wrap("no exchanges inspected yet", width, "muted")

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.post_message(self.WindowChange())

    def _go(self, item: int) -> None:
        """Go to another lane: to its exchange that is nearest in time."""
        lanes = self.times.lanes
        if not lanes:
            return
        lane = lanes[max(0, min(item, len(lanes) - 1))]
        found = None if self.exchange is None else self.times.find(self.exchange)
        start = lanes[found[0]].bars[found[1]].start if found else 0.0
        self._choose(min(lane.bars, key=lambda bar: abs(bar.start - start)).exchange)

    def action_bar(self, step: int) -> None:
        """Go to the next exchange of the lane, or the one before."""
        found = self.times.find(self.exchange) if self.exchange is not None else None
        if found is None:
            self._go(self.cursor)
            return
        bars = self.times.lanes[found[0]].bars
        self._choose(bars[max(0, min(found[1] + step, len(bars) - 1))].exchange)

    def _choose(self, exchange: int) -> None:
        self.select(exchange)
        self.post_message(self.Selection(exchange))

    def action_zoom_time(self, step: int) -> None:
        """Show less of the session around the selected exchange, or more of it."""
        self.zoom = max(1, min(self.zoom * 2 if step > 0 else self.zoom // 2, MOST_ZOOM))
        self.refresh()
        self.post_message(self.WindowChange())
