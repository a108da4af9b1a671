"""The panes of the session screen: how they are arranged, and which of them has the keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.tui import session_panes
from workbench.tui.bars import Bar
from workbench.tui.models.tabs import tab_line
from workbench.tui.panes.pane import Pane
from workbench.tui.session_panes import SIDE_SLOTS

if TYPE_CHECKING:
    from workbench.tui.screens.session.screen import SessionScreen


class PaneLayout:
    """Tells the style sheet which panes are in front; it decides how many of them there is room for.

    Args:
        opened: called once the panes of an exchange are there.
    """

    def __init__(self, screen: SessionScreen, opened: Callable[[], None]) -> None:
        self.screen, self._opened = screen, opened
        self.focused = self._front = "exchanges"
        self._side = "ir"
        self._in_slot = {row.slot: row.id for row in reversed(session_panes.PANES)}
        self.is_furnished = False

    async def furnish(self) -> None:
        """Add the panes of an exchange, once: the first paint goes without, and so does that of the list.

        Nothing is added to a screen that was left meanwhile: the one behind it calls back for it.
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
        """Bring a pane to the front and give it the keys, if it is there yet."""
        for pane in self.screen.query(f"#{name}").results(Pane):
            self.note_focus(name)
            pane.focus(scroll_visible=False)

    def bring_bytes_to_front(self) -> None:
        """Show the wire instead of the timeline where there is room for one of them only."""
        if self._front == "exchanges":
            self._front = "wire"
            self._arrange()

    def note_focus(self, name: str) -> None:
        """Arrange the panes for the one that has the keys now."""
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
            pane.set_class(pane.id == self._front, "-front")
            pane.set_class(pane.id == self._side, "-kept")
            pane.set_class(pane.id not in self._in_slot.values(), "-behind")
        self.screen.set_class(self.focused == "findings", "-on-findings")
        self.show_tabs()

    def show_tabs(self) -> None:
        """Name the panes, and which of them are seen."""
        wide, zoomed = self.screen.has_class("-wide"), self.screen.has_class("-zoom")
        seen = ("exchanges", "wire", self._side, "findings") if wide else (self._front, "findings")
        line = tab_line(self.focused, () if zoomed else seen, is_zoomed=zoomed)
        self.screen.query_one("#tabs", Bar).show([line])

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
        self.show_tabs()
