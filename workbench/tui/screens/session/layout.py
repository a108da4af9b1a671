"""Arrangement and focus of the panes of the session screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.containers import Container

from workbench.tui import session_panes
from workbench.tui.bars import TabBar
from workbench.tui.session_panes import SIDE_SLOTS
from workbench.tui.widgets.lineview import GUTTER, rows_within
from workbench.tui.widgets.pane import Pane
from workbench.tui.widgets.prompt import ASKING
from workbench.views import line_columns

if TYPE_CHECKING:
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.state import SessionState
    from workbench.tui.widgets.wire import WirePane

FEW = 5
"""Exchanges that a small timeline has room for."""

LIST_ROWS = 10
"""Rows of a long list of exchanges, in the layout of two columns."""

SLACK = 4
"""Empty rows of a pane that are left so that those below it do not move with each exchange, in a body of one height."""

LEDGER_ROWS = 7
"""Least rows for the panes of ``HALVES`` together."""


LEAST_LIST, MOST_LIST = 38, 52
"""Columns of the list of exchanges, in the layout of three columns; it takes more only of a very wide screen."""

STACK_SHARE = 2, 7
"""Part of the width of the column that the list shares with the ledgers, in a wide layout."""

VAST = 200
"""Columns from which on the request and the response are side by side."""

VAST_SHARE = 2, 9
"""Part of the width of the column of the list in such a window."""

LIST_SHARE = 3, 5
"""Part of the rows of that column that a long list takes."""

LEAST_STACK = 12
"""Rows that a long list and the ledgers below it need; in fewer they are beside each other."""

LEAST_LEDGER = 3
"""Least rows of a ledger, with its border."""

MEASURED = 64
"""Rows of the list that are measured for its columns."""


class PaneGrid(Container):
    """Contains the panes; its size changes later than that of the screen.

    Args:
        resized: called when it has another size.
    """

    def __init__(self, resized: Callable[[], None], *, id: str) -> None:
        super().__init__(id=id)
        self._resized = resized

    def on_resize(self) -> None:
        self._resized()


class PaneLayout:
    """Tells the style sheet which panes are in front; the sheet decides how many fit.

    Args:
        opened: called once the panes of an exchange are mounted.
    """

    def __init__(self, screen: SessionScreen, opened: Callable[[], None]) -> None:
        self.screen, self._opened = screen, opened
        self.focused = self._front = "exchanges"
        self._side = "ir"
        self._in_slot = {row.slot: row.id for row in reversed(session_panes.PANES)}
        self._list_rows = self._main_rows = self._main_room = 2
        self._rows: str | None = None
        self._columns: str | None = None
        self._other_side: WirePane | None = None
        self.is_furnished = False

    async def furnish(self) -> None:
        """Mount the panes of an exchange, once; they are not needed for the first paint and the list.

        A screen that was closed meanwhile gets none: the screen below still calls back for it.
        """
        if self.is_furnished or self.screen not in self.screen.app.screen_stack:
            return
        self.is_furnished = True
        wanted = self.focused
        await self.screen.query_one("#body").mount(*(row.make() for row in session_panes.later()))
        self._opened()
        self._arrange()
        if wanted == "wire":
            self.focus(wanted)

    def focus(self, name: str) -> None:
        """Bring a pane to the front and focus it, if it is mounted."""
        for pane in self.screen.query(f"#{name}").results(Pane):
            self.note_focus(name)
            pane.focus(scroll_visible=False)

    def bring_bytes_to_front(self) -> None:
        """Show the wire instead of the timeline if there is room for one only."""
        if self._front == "exchanges":
            self._front = "wire"
            self._arrange()

    def note_focus(self, name: str) -> None:
        """Arrange the panes around the focused one."""
        self.focused = name
        slot = session_panes.row(name).slot
        self._in_slot[slot] = name
        if name != "findings":
            self._front = name
        if slot in SIDE_SLOTS:
            self._side = name
        self._arrange()

    def _arrange(self) -> None:
        for pane in self.screen.query(Pane):
            pane.update_classes(self._place(pane))
        self.screen.set_class(self.focused == "findings", "-on-findings")
        self.fill()

    def _place(self, pane: Pane) -> dict[str, bool]:
        """The classes of a pane for where it is; they are set at once, since each change applies the sheet again."""
        return {
            "-front": pane.id == self._front,
            "-kept": pane.id == self._side,
            "-under": pane.id == self._side and self._shows_under,
            "-behind": pane.id not in self._in_slot.values(),
        }

    def fill(self) -> None:
        """Show the ledgers too where the pane above them leaves rows of its column empty, in a layout of two."""
        screen, body = self.screen, self.screen.query_one("#body")
        if screen.has_class(ASKING):
            return  # a question takes rows for a moment: what is read stays in its place
        self._widen_list()
        is_wide = screen.has_class("-wide") and screen.has_class("-tall") and not screen.has_class("-zoom")
        room = body.size.height - self._list_rows - LEDGER_ROWS
        needed = self._rows_in("main", room)
        is_roomy = is_wide and 0 < needed <= room
        if is_roomy:
            lacking = sum(self._rows_in(slot, room) for slot in session_panes.HALVES) - LEDGER_ROWS
            needed = self._rows_in("main", room, room - needed - max(0, lacking))
        screen.set_class(is_roomy, "-roomy")
        if room != self._main_room or not needed <= self._main_rows <= min(room, needed + SLACK):
            self._main_rows, self._main_room = needed, room
        rows = f"{self._list_rows} {self._main_rows} 4fr 3fr" if is_roomy else self._stacked_rows()
        if rows != self._rows:
            self._rows = body.styles.grid_rows = rows
        self.show_tabs()

    def _stacked_rows(self) -> str | None:
        """Rows of the column of a short list and the ledgers below it; None in another layout."""
        if not self.screen.has_class("-stacked") or self.screen.has_class("-zoom"):
            return None
        rows = self.screen.query_one("#body").size.height
        list_rows = min(self._list_rows, rows * LIST_SHARE[0] // LIST_SHARE[1])
        if not self.screen.has_class("-few"):
            list_rows = min(1 + self._exchanges.count(), rows * LIST_SHARE[0] // LIST_SHARE[1])
        room = rows - list_rows
        upper, lower = (max(LEAST_LEDGER, self._rows_in(slot, room)) for slot in session_panes.HALVES)
        return f"{list_rows} {max(LEAST_LEDGER, min(upper, room - lower))} 1fr"

    def _widen_list(self) -> None:
        """Give the list of exchanges the columns of its longest row, or a part of a wide layout if that is more."""
        screen, body = self.screen, self.screen.query_one("#body")
        is_huge = screen.has_class("-huge") and not screen.has_class("-zoom")
        has_rows = screen.has_class("-few") or body.size.height >= LEAST_STACK
        is_stacked = is_huge and self.is_furnished and has_rows
        screen.set_class(is_stacked, "-stacked")
        is_vast = is_stacked and body.size.width >= VAST
        part, whole = VAST_SHARE if is_vast else STACK_SHARE
        list_width = max(self._list_columns(), body.size.width * part // whole)
        columns = f"{list_width} {'5fr 4fr 4fr' if is_vast else '12fr 10fr'}" if is_stacked else None
        self._show_both_sides(is_vast)
        if columns != self._columns:
            self._columns = body.styles.grid_columns = columns

    def _show_both_sides(self, is_vast: bool) -> None:
        """Mount the pane of the other side with the first window that has room for it."""
        self.screen.set_class(is_vast, "-vast")
        if is_vast and self._other_side is None:
            from workbench.tui.widgets.other_side import other_side_pane

            self._other_side = other_side_pane(self.screen)
            self.screen.query_one("#body").mount(self._other_side, after="#wire")
            self.screen.call_after_refresh(self._other_side.turn.mirror)

    def _list_columns(self) -> int:
        pane = self._exchanges
        rows = (pane.head(item, MOST_LIST) for item in range(min(pane.count(), MEASURED)))
        longest = max((line_columns(row) for row in rows), default=0)
        return max(LEAST_LIST, min(MOST_LIST, longest + GUTTER + 1))

    @property
    def _exchanges(self) -> Pane:
        return self.screen.query_one("#exchanges", Pane)

    def _rows_in(self, slot: str, most: int, spare: int = 0) -> int:
        """Rows that the pane in a slot takes of this many in the left column, with its border; 0 if nothing is open."""
        width = self._exchanges.text_width
        panes = (pane for pane in self.screen.query(f"#{self._in_slot[slot]}").results(Pane) if pane.opened)
        return next((1 + rows_within(pane, width, most - 1, spare) for pane in panes), 0)

    @property
    def _shows_under(self) -> bool:
        """The list of exchanges is in front and has another pane below it; the sheet decides if there is room."""
        return self._front == "exchanges" and not self.screen.has_class("-zoom")

    def fit(self, state: SessionState) -> None:
        """Give the panes of a session with few exchanges, or without findings, the room that they need."""
        numbers = {f"-few-{few}": max(1, state.total) == few for few in range(1, FEW + 1)}
        self.screen.update_classes({"-calm": not state.findings, "-few": state.total <= FEW, **numbers})
        self._list_rows = 1 + max(1, state.total) if state.total <= FEW else LIST_ROWS
        self.fill()

    def show_tabs(self) -> None:
        """Name the panes in the tab bar, and highlight the visible ones."""
        screen = self.screen
        wide, zoomed = screen.has_class("-wide"), screen.has_class("-zoom")
        seen: tuple[str, ...] = ("exchanges", "wire", self._side, "findings") if wide else (self._front, "findings")
        if screen.has_class("-roomy"):
            seen = tuple(self._in_slot.values())
        if self._front == "exchanges" and (screen.has_class("-calm") or screen.has_class("-few")):
            seen += (self._side,)
        self.screen.query_one("#tabs", TabBar).show_tabs(self.focused, () if zoomed else seen, is_zoomed=zoomed)

    # Actions.

    def pane(self, step: int) -> None:
        """Go to the next pane, or the one before."""
        names = [row.id for row in session_panes.PANES]
        self.focus(names[(names.index(self.focused) + step) % len(names)])

    def show(self, name: str) -> None:
        """Go to a pane."""
        self.focus(name)

    def zoom(self) -> None:
        """Show the focused pane alone, or all again."""
        self.screen.toggle_class("-zoom")
        self._arrange()
