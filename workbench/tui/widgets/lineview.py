"""A list of lines that paints only the visible ones: the base of every pane.

A pane has *items*; each takes one line, and further lines while it is open. The cursor is on an item. Items of the
selection are lit, those that are related to it have a glyph in the gutter and a colour.

Line numbers of a list whose items may be open: from item to line and back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui import keys, paint
from workbench.tui.bars import LinePainter
from workbench.tui.widgets.item_search import ItemSearch
from workbench.views import Line, Span, hang, is_longer, line_columns, mark_matches, strip_ends, whole_facts, whole_tail

GUTTER = 2
_ENDLESS = 1_000_000


class LineView(LinePainter, ScrollView, can_focus=True):
    """Lines with a cursor."""

    BINDINGS = keys.bindings(keys.PANE)
    is_accordion = fills = False
    """The item under the cursor is open, and all if all fit; as many as fit."""
    flows = False
    """A line that is too long takes more rows also where there is no room: the list is scrolled then."""
    hangs = False
    """The line of an open item takes as many rows as it needs."""

    class CursorMove(Message):
        """The user moved the cursor."""

        def __init__(self, view: LineView) -> None:
            super().__init__()
            self.view = view

    class Activation(CursorMove):
        """The user pressed enter, or clicked the item under the cursor."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.cursor, self._had_focus, self.measured_width = 0, False, 0
        self.titled = self.shown_title = tuple[Span, ...]()
        self.lit: frozenset[int] = frozenset()
        self.related: frozenset[int] = frozenset()
        self.opened_items: set[int] = set()
        self.lines_of, self.finder = ItemLines(), ItemSearch(self)
        self._empty: list[Line] = []

    # What a pane supplies.

    def count(self) -> int:
        """Number of items."""
        return 0

    def head(self, item: int, width: int) -> Line:
        """The line of an item."""
        return ()

    def further(self, item: int, width: int) -> list[Line]:
        """The lines below the first one while the item is open."""
        return []

    def nothing(self, width: int) -> list[Line]:
        """Lines shown if there are no items: what is missing, and why."""
        return []

    def empty_line(self, number: int) -> Line:
        """One of the lines of ``nothing``."""
        return self._empty[number] if number < len(self._empty) else ()

    # What others do with it.

    def toggle(self) -> None:
        """Open the item under the cursor, or close it."""
        self.opened_items ^= {self.cursor}
        self.reload()
        self.show_item(self.cursor)

    def is_selected(self, item: int) -> bool:
        """True if the item, with the cursor on it, is the selection of the whole screen."""
        return True

    def title(self, line: Line) -> None:
        """Set the title on the upper border; what does not fit is left out fact by fact."""
        self.titled = line
        fit_title(self)

    def reload(self) -> None:
        """Measure and paint again after items were added, removed or opened."""
        width = self.text_width
        self.cursor = max(0, min(self.cursor, self.count() - 1))
        self.lines_of.measure(*open_lines(self, width))
        self._empty = [] if self.count() else self.nothing(width)
        if self.virtual_size.height != (height := self.count() + self.lines_of.extra or len(self._empty)):
            self.virtual_size = Size(0, height)
            lay_out_around(self)
        self.refresh()
        fit_title(self)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        fit_title(self)

    def mark(self, marked: frozenset[int], related: frozenset[int] = frozenset()) -> None:
        """Highlight items."""
        if (marked, related) != (self.lit, self.related):
            self.lit, self.related = marked, related
            self.refresh()

    def move_to(self, item: int, *, center: bool = False) -> None:
        """Put the cursor on an item and scroll to it, without a ``CursorMove``."""
        item = max(0, min(item, self.count() - 1))
        if item != self.cursor:
            self.cursor = item
            if self.is_accordion:
                self.reload()
        self.show_item(item, center=center)
        self.refresh()

    def show_item(self, item: int, *, center: bool = False) -> None:
        """Scroll so that all lines of an item are visible, or its first one; in a search the line that matches."""
        first = self.lines_of.first(item)
        inside = self.finder.line_inside(item)
        if inside:
            self.show_lines(first + inside, first + inside, center=center)
        else:
            self.show_lines(first, self.lines_of.last(item), center=center)

    def show_lines(self, first: int, last: int, *, center: bool = False) -> None:
        """Scroll so that lines are visible; if there are too many, the first ones."""
        top, height = self.scroll_offset.y, self.content_region.height
        if height <= 0 or (top <= first and last < top + height):
            return
        if center:
            target = first - max(0, (height - (last - first + 1)) // 2)
        else:
            target = first if first < top else min(first, last - height + 1)
        self.scroll_to(y=max(0, target), animate=False, force=True, immediate=True)

    # What a search does with it. A place is what ``position`` says: here an item.

    @property
    def position(self) -> int:
        """Item under the cursor."""
        return self.cursor

    def go_to(self, position: int) -> None:
        """Put the cursor on a match, without a ``CursorMove``; an item with the match inside is opened."""
        finder = self.finder
        is_seen = finder.is_in_head(position) or finder.line_inside(position)
        if self.count() and finder.needle and not is_seen:
            self.opened_items.add(position)
            self.reload()
        self.move_to(position, center=True)
        self.call_after_refresh(self.show_item, position, center=True)  # what is opened just now has no room yet

    @property
    def text_width(self) -> int:
        """Columns of a line, without the gutter."""
        return max(1, self.scrollable_content_region.width - GUTTER)

    # Painting.

    def render_line(self, y: int) -> Strip:
        return paint_row(self, y)

    def signs(self, item: int, inside: int) -> Line:
        """The signs in front of a line."""
        sign = "▌" if item in self.lit else "┆" if item in self.related else " "
        arrow = "▸" if self.is_selected(item) else "▹"
        is_here = item == self.cursor and not inside and self.has_focus
        return (Span(sign, "accent"), Span(arrow if is_here else " ", "accent"))

    def under(self, item: int) -> str:
        """Background style of all lines of an item."""
        if item == self.cursor:
            return "cursor" if self.has_focus and self.is_selected(item) else "cursor-blurred"
        return ""

    def on_resize(self, event: events.Resize) -> None:
        fit_title(self)
        reload_in_new_size(self)
        self.show_item(self.cursor)

    def on_hide(self) -> None:
        self._had_focus = self.has_focus

    def on_show(self) -> None:
        """Take back the focus that was lost while the pane had no room on the screen."""
        if self._had_focus and self.screen.focused is None:
            self.focus(scroll_visible=False)

    def on_focus(self) -> None:
        self.refresh()

    on_blur = on_focus

    # Keys and mouse.

    def action_move(self, step: int) -> None:
        self._go(self.cursor + step)

    def action_page(self, step: int) -> None:
        self._go(self.cursor + step * max(1, self.content_region.height - 1))

    def action_end(self, step: int) -> None:
        self._go(self.count() - 1 if step > 0 else 0)

    def action_enter(self) -> None:
        if self.count():
            self.post_message(self.Activation(self))

    def _go(self, item: int) -> None:
        before = self.cursor
        if self.count():
            self.move_to(item)
            if self.cursor != before or not self.is_selected(self.cursor):
                self.post_message(self.CursorMove(self))

    @property
    def allow_vertical_scroll(self) -> bool:
        """Let the wheel scroll whenever there is more than fits, with or without a scroll bar."""
        return self.max_scroll_y > 0

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        number = place.y + self.scroll_offset.y if place else self.virtual_size.height
        if not self.count() or number >= self.virtual_size.height:
            return
        item, _ = self.lines_of.at(number)
        if item == self.cursor:
            self.post_message(self.Activation(self))
        else:
            self._go(item)


def paint_row(view: LineView, y: int) -> Strip:
    """A visible row of a list."""
    number, width = y + view.scroll_offset.y, view.scrollable_content_region.width
    if number >= view.virtual_size.height:
        return Strip.blank(width, view.rich_style)
    if not view.count():
        return paint.strip((Span(" " * GUTTER), *view.empty_line(number)), width, view.style)
    item, inside = view.lines_of.at(number)
    line = view.lines_of.line(view, item, inside)
    if view.finder.needle:
        line = mark_matches(line, view.finder.needle, "match here" if item == view.cursor else "match")
    signs, under = view.signs(item, inside), background(view, item, inside)
    is_last = y == view.content_region.height - 1 and not view.styles.border_top[0]
    more = more_below(view)[0] if is_last else ""  # a list with a border says it there
    if more and line_columns(line) + GUTTER + len(more) > width:
        signs, more = (Span("↓" + signs[0].text[1:], "accent"), *signs[1:]), ""
    line = whole_tail(line, width - len(more) - GUTTER)
    row_strip = paint.strip((*signs, *line), width - len(more), view.style, under)
    return Strip.join((row_strip, paint.strip((Span(more, "accent"),), len(more), view.style))) if more else row_strip


def reload_in_new_size(view: LineView) -> None:
    """Measure a list again; if its height may follow its lines, it is laid out once more.

    Textual keeps the height of the layout under way, which was that of the lines in the size before: in another width
    a list needs other rows, even if it has as many now.
    """
    before = view.virtual_size.height, view.measured_width
    view.reload()
    view.measured_width = view.text_width
    if (view.virtual_size.height, view.measured_width) != before:
        view.call_after_refresh(lay_out_around, view)


def lay_out_around(view: LineView) -> None:
    """Lay out the containers of a list again, whose heights may follow its lines."""
    view.refresh(layout=True)
    for around in view.ancestors:
        if isinstance(around, Widget) and around is not view.screen:
            around.refresh(layout=True)


def fit_title(view: LineView) -> None:
    """Put the facts of a title that fit on the border, above the text, and how many items follow below."""
    edge = 0 if view.styles.border_left[0] else 1  # beside a left border there is a column already
    titled, width = strip_ends(view.titled), view.size.width - 3 - edge
    room = width - line_columns(titled)
    more = next((words for words in more_below(view) if len(words) <= room), more_below(view)[-1])
    facts = whole_facts(titled, width - len(more)) if width > 0 else titled
    words = (Span(" " * edge), *facts, Span(f"{more if facts else more.lstrip()} "))
    title_words = words if facts or more else ()
    if title_words != view.shown_title:
        view.shown_title = title_words
        view.border_title = paint.content(title_words, view.style)


def more_below(view: LineView) -> tuple[str, ...]:
    """Number of items of which nothing is visible below, in forms from the longest: `` ↓ 12 more`` … `` ↓``."""
    end = view.scroll_offset.y + view.content_region.height
    if view.content_region.height <= 0 or end >= view.virtual_size.height:
        return ("",)
    if not view.count():
        return (" ↓",)
    below = view.count() - 1 - view.lines_of.at(int(end) - 1)[0]
    return (f" ↓ {below:,} more", f" ↓ {below:,}", " ↓") if below else (" ↓",)


def background(view: LineView, item: int, inside: int) -> str:
    """Background style of a line; without colours only the first line of an item is underlined, to be readable."""
    under = view.under(item)
    is_quiet = inside and under.startswith("cursor") and getattr(view.app, "is_plain", False)
    return "" if is_quiet else under


def open_lines(view: LineView, width: int) -> tuple[dict[int, list[Line]], dict[int, list[Line]]]:
    """Further lines of the open items of a list, and the rows of the lines that take several.

    All items are open if all fit, else those that have to be.
    """
    fills = view.is_accordion and view.fills
    opened = _fill_room(view, width) if fills else _open_within(view, width, _lines_that_fit(view))
    return opened, _spread(view, width, opened, _lines_that_fit(view))


def rows_within(view: LineView, width: int, rows: int, spare: int = 0) -> int:
    """Rows that a list takes where it has this many columns and rows, however many it has now.

    ``spare``: rows that nothing else needs, for lines that are too long.
    """
    if not view.count():
        return min(rows, len(view.nothing(width)))
    opened = _open_within(view, width, rows)
    row_count = view.count() + sum(map(len, opened.values()))
    spread = _spread(view, width, opened, row_count + spare) if spare > 0 else {}
    return row_count + sum(len(each) - 1 for item, each in spread.items() if item not in opened)


def _open_within(view: LineView, width: int, rows: int) -> dict[int, list[Line]]:
    all_open = _all_open(view, width, rows) if view.is_accordion else None
    if all_open is not None:
        return all_open
    is_open = view.opened_items | ({view.cursor} if view.is_accordion else set())
    return {n: _further(view, n, width) for n in sorted(is_open) if n < view.count()}


def _further(view: LineView, item: int, width: int) -> list[Line]:
    """The rows of an open item below its first."""
    return [*_hang_rows(view, item, width)[1:], *view.further(item, width)]


def _hang_rows(view: LineView, item: int, width: int) -> list[Line]:
    """The rows of the line of an open item, if they are more than one."""
    head = view.head(item, width) if view.hangs else ()
    return hang(head, width) if is_longer(head, width) else []


def _all_open(view: LineView, width: int, rows: int) -> dict[int, list[Line]] | None:
    """Every item with its further lines; None if not all fit into the rows."""
    room = rows - view.count()
    lines_of: dict[int, list[Line]] = {}
    for item in range(view.count() if room >= 0 else 0):
        lines_of[item] = _further(view, item, width)
        room -= len(lines_of[item])
        if room < 0:
            return None
    return lines_of or None


def _spread(view: LineView, width: int, opened: Mapping[int, list[Line]], rows: int) -> dict[int, list[Line]]:
    """The rows of each line that is too long, from the top, as far as there is room; the last of them may be cut."""
    room = _ENDLESS if view.flows else rows - view.count() - sum(map(len, opened.values()))
    lines_of = {item: lines for item in opened if (lines := _hang_rows(view, item, width))}
    for item in range(view.count() if room > 0 else 0):
        head = view.head(item, width)
        parts = hang(head, width) if item not in opened and is_longer(head, width) else []
        if len(parts) > 1 and room > 0:
            lines_of[item] = parts if len(parts) <= room + 1 else [*parts[:room], _joint_row(*parts[room : room + 2])]
            room -= len(lines_of[item]) - 1
    return lines_of


def _joint_row(first: Line, second: Line) -> Line:
    """Two rows of one line as a row that is too long, with a blank for the line break."""
    indented = bool(second) and second[0].text.isspace()
    return (*first, Span(" "), *second[indented:])


LEAST_SHOWN = 4
"""Lines of an item that is opened in part to fill a list, at least."""


def _fill_room(view: LineView, width: int) -> dict[int, list[Line]]:
    """The item under the cursor with its further lines, and those after and before it as far as there is room."""
    room = _lines_that_fit(view) - view.count()
    lines_of: dict[int, list[Line]] = {}
    for item in (*range(view.cursor, view.count()), *range(view.cursor - 1, -1, -1)):
        is_open = item == view.cursor or item in view.opened_items
        if not is_open and room <= 0:
            continue
        lines = _further(view, item, width)
        if not is_open and len(lines) > room:
            if room < LEAST_SHOWN:
                continue
            spare = len(lines) - room + 1
            lines = [*lines[: room - 1], (Span(f"    … {spare:,} more lines", "muted"),)]
        lines_of[item] = lines
        room -= len(lines)
    return dict(sorted(lines_of.items()))


def _lines_that_fit(view: LineView) -> int:
    """Lines that a list has, or, if its height follows its lines, may take."""
    most, parent = view.styles.max_height, view.parent
    if view.styles.is_auto_height and most is not None and isinstance(parent, Widget):
        limit = int(most.resolve(parent.size, view.screen.size)) - view.gutter.height
        return max(limit, view.content_region.height)
    return view.content_region.height


class ItemLines:
    """Maps items to lines: every item has one line, an open item further ones below it.

    Attributes:
        further: item → its further lines, for the open items and those of several rows, in order.
    """

    def __init__(self) -> None:
        self.measure({}, {})

    def measure(self, opened: Mapping[int, list[Line]], spread: Mapping[int, list[Line]]) -> None:
        """Set the open items, and the rows of the lines that take several."""
        self._heads = {item: rows[0] for item, rows in spread.items()}
        further = {**{item: rows[1:] for item, rows in spread.items()}, **opened}
        self.further: dict[int, list[Line]] = dict(sorted(further.items()))
        self._open = list(self.further)
        self._before = [0, *accumulate(len(lines) for lines in self.further.values())]

    def line(self, view: LineView, item: int, inside: int) -> Line:
        """A row of an item."""
        if inside:
            return self.further[item][inside - 1]
        return self._heads.get(item) or view.head(item, view.text_width)

    @property
    def extra(self) -> int:
        """Number of lines that the open items have beyond their first."""
        return self._before[-1]

    def first(self, item: int) -> int:
        """Number of an item's first line."""
        return item + self._before[bisect_right(self._open, item - 1)]

    def last(self, item: int) -> int:
        """Number of an item's last line."""
        return self.first(item) + len(self.further.get(item, ()))

    def at(self, number: int) -> tuple[int, int]:
        """(item, index of the line in the item) of a line."""
        after = bisect_right(self._open, number, key=self.first)
        if after:
            item = self._open[after - 1]
            inside = number - self.first(item)
            if inside <= len(self.further[item]):
                return item, inside
        return number - self._before[after], 0
