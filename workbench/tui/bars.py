"""Widgets that paint a few fixed lines: header, tabs, footer; and the base class that they share with the panes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.safetext import cells
from workbench.tui import keys, paint, themes
from workbench.tui.keymap import Keymap
from workbench.tui.models import tabs
from workbench.views import LINK, Line, Span, hang, is_longer, join_lines, plain, whole_facts

if TYPE_CHECKING:
    from workbench.tui.keys import Key


class LinePainter(Widget):
    """A widget that paints lines in the named styles."""

    _styles_for: object = None
    _known_styles: dict[str, Style]

    def style(self, names: str) -> Style:
        """The style of names joined by spaces, over the widget's own."""
        variables = self.app.theme_variables
        if self._styles_for is not variables:
            self._styles_for, self._known_styles = variables, {}
        if LINK in names and not getattr(self.app, "has_links", False):
            names = " ".join(name for name in names.split() if not name.startswith(LINK))
        if names not in self._known_styles:
            _, _, back, front = self.colors
            self._known_styles[names] = themes.style(names, variables, front, back, is_plain=self._is_plain)
        return self._known_styles[names]

    @property
    def _is_plain(self) -> bool:
        return bool(getattr(self.app, "is_plain", False))

    def notify_style_update(self) -> None:
        self._styles_for = None
        super().notify_style_update()


class Bar(LinePainter):
    """Lines that do not scroll and cannot be focused. Where its height is ``auto``, long ones take several rows."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()

    def show(self, lines: Sequence[Line]) -> None:
        """Paint other lines."""
        if lines != self._lines:
            self._lines = lines
            self.refresh(layout=self.styles.is_auto_height and len(self._rows(self.size.width)) != self.size.height)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, len(self._rows(width)))

    def _rows(self, width: int) -> Sequence[Line]:
        if not self.styles.is_auto_height:
            return self._lines
        return [row for each in self._lines for row in _hang(each, width)]

    def render_line(self, y: int) -> Strip:
        rows, width = self._rows(self.size.width), self.size.width
        return paint.strip(whole_facts(rows[y] if y < len(rows) else (), width), width, self.style)


class Headline(Bar):
    """The header of a screen.

    In a window that is not tall the title and the state take one row each, without their last facts if not all fit:
    rows are for the panes. An error, and where a request would go that leaves this machine, are always whole.
    """

    def __init__(self) -> None:
        super().__init__(id="headline")

    def _rows(self, width: int) -> Sequence[Line]:
        if self.screen.size.height >= tabs.TALL or not self.styles.is_auto_height:
            return super()._rows(width)
        state, more = self._lines[:2], self._lines[2:]
        lines = [row for each in state for row in (_hang(each, width) if _is_urgent(each) else [each])]
        return [*lines, *(row for each in more for row in _hang(each, width))]


def _is_urgent(of: Line) -> bool:
    """True if a line begins with an error, or ends with a warning."""
    ends = [span.style for span in of if span.text.strip()]
    return bool(ends) and ("error" in ends[0] or "warning strong" in ends[-1])


def _hang(of: Line, width: int) -> Sequence[Line]:
    """A line in rows, the further ones a column to the right."""
    if not is_longer(of, width):
        return [of]
    first, *further = hang(of, width - 1)
    return [first, *((Span(" "), *row) for row in further)]


class KeyBar(Bar):
    """The footer: the keys that apply now, as the user has set them; a click presses one."""

    _table: Sequence[Key] = ()
    _hints: Sequence[Key] = ()
    _before = ""
    _is_running = False

    @property
    def text(self) -> str:
        """The keys that are listed."""
        return "".join(map(plain, self._lines))

    def show_keys(self, table: Sequence[Key], before: str = "") -> None:
        """Show keys of a table and those that work everywhere, as many as fit.

        Args:
            table: rows of ``keys``; ranked ones are shown.
            before: safe text in front of them.
        """
        self._table, self._before = table, before
        self._show_table()

    def show_words(self, before: str) -> None:
        """Show other text in front of the same keys."""
        if before != self._before:
            self._before = before
            self._lay_out()

    def run(self, is_running: bool) -> None:
        """Show the key that cancels a running job. Without a job the same key goes back, and is not listed."""
        if is_running != self._is_running:
            self._is_running = is_running
            self._show_table()

    def _show_table(self) -> None:
        keymap: Keymap = getattr(self.app, "keymap", Keymap())
        idle = {
            key.id for key in self._table if key.id.endswith(".leave") and key.word == "cancel" and not self._is_running
        }
        ranks = [key.rank for key in self._table if key.id in idle and key.rank]
        table = [_idle(key, idle, ranks) for key in self._table]
        self._hints = keymap.rows((*table, *keys.GLOBAL))
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        self.show([tabs.key_line(self._hints, self.size.width, self._before)])

    def on_click(self, event: events.Click) -> None:
        key = tabs.key_at(event.x, self._hints, self.size.width, self._before)
        if key:
            self.app.simulate_key(keys.first_name(key))


def _idle(key: Key, idle: Collection[str], ranks: Sequence[int]) -> Key:
    """A row of the footer without a running job: the cancel key is left out, and the back key gets its rank."""
    if key.id in idle:
        return key._replace(word="back", rank=0)
    is_back = ranks and key.id.endswith(".back") and key.rank
    return key._replace(rank=min(key.rank, *ranks)) if is_back else key


class Ways(Bar):
    """The footer of a dialog, in place of that of the screen below.

    Args:
        ways: ids of rows of ``keys``, or readable keys, each with a word; the most useful first.
    """

    def __init__(self, *ways: tuple[str, str]) -> None:
        super().__init__()
        self._ways = ways

    def name_ways(self, *ways: tuple[str, str]) -> None:
        """Show other keys."""
        self._ways = ways
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        """Show the keys that fit: the one that leaves, then the first ones, in their order."""
        keymap: Keymap = getattr(self.app, "keymap", Keymap())
        table = keys.table()
        rows = [(keymap.row(table[key]).show if key in table else key, word) for key, word in self._ways]
        fitting: list[int] = []
        room = self.size.width - 1 + len(tabs.GAP)
        for n in sorted(range(len(rows)), key=lambda n: rows[n][1] not in tabs.WAYS_OUT):
            size = sum(map(cells, rows[n])) + 1 + len(tabs.GAP)
            if size > room:
                break
            room -= size
            fitting.append(n)
        hints = [(Span(rows[n][0], "accent strong"), Span(f" {rows[n][1]}")) for n in sorted(fitting)]
        self.show([(Span(" "), *join_lines(hints, Span(tabs.GAP)))])


class TabBar(Bar):
    """The names of the panes; a click on one focuses it."""

    class TabClick(Message):
        """A tab was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, panes: tabs.Panes = tabs.PANES, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._panes, self._focused = panes, ""

    def show_tabs(self, focused: str, seen: Sequence[str], *, is_zoomed: bool = False) -> None:
        """Show the names of the panes, or of the focused one if there is no room for all."""
        self._focused = focused
        width = self.screen.size.width
        self.show([tabs.tab_line(focused, seen, is_zoomed=is_zoomed, panes=self._panes, width=width)])

    def on_click(self, event: events.Click) -> None:
        if name := tabs.tab_at(event.x, self._panes, self._focused, self.screen.size.width):
            self.post_message(self.TabClick(name))
