"""Selection of the session screen, driven by the cursors of its panes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui import keys
from workbench.tui.keymap import keymap_of
from workbench.tui.screens.session.navigation import Goal
from workbench.tui.screens.session.type_ahead import ON_AN_EXCHANGE
from workbench.tui.widgets.pane import Pane

if TYPE_CHECKING:
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.selection import ExchangeSelection
    from workbench.tui.widgets.lineview import LineView

WIRE_KEYS = {"wire.way": "way", "wire.headers": "headers", "wire.opaque": "opaque"}
"""Keys of the wire pane other than moves, with their actions: they act on it whichever pane has the focus."""


class Pointer:
    """Selects in every pane the place of the cursor in one.

    Attributes:
        selection: current selection; None before the first exchange is open.
    """

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self.selection: ExchangeSelection | None = None

    def select(self, selection: ExchangeSelection, source: LineView | None = None) -> None:
        """Highlight a place of the open exchange in every pane."""
        opened = self.screen.opened
        assert opened
        self.selection = selection
        found = opened.lights(selection)
        for pane in self.screen.query(Pane):
            pane.light(selection, found, is_source=pane is source)
        self.screen.header.follow_cursor()

    def move(self, view: LineView) -> None:
        """Show the place that the cursor of a pane has moved to."""
        screen = self.screen
        screen.navigation.stay()
        if view is screen.exchanges:
            exchange = screen.exchanges.folds.exchange_at(view.cursor)
            if exchange is not None:
                screen.navigation.open(exchange)
        elif view is screen.findings:
            screen.navigation.go_to_finding(view.cursor)
        elif isinstance(view, Pane) and (selection := view.selection()):
            self.select(selection, source=view)

    def enter(self, view: LineView) -> None:
        """Open the item under the cursor of a pane, or go to its bytes."""
        from workbench.tui.widgets.exchange import ExchangePane

        screen = self.screen
        screen.navigation.choose()
        if view is screen.exchanges and screen.exchanges.fold_here():
            return
        if isinstance(view, ExchangePane) and view.cursor not in view.lit and (selection := view.selection()):
            self.select(selection, source=view)
        origin = view.origin() if isinstance(view, ExchangePane) else None
        if origin:
            screen.navigation.go(Goal(origin[0], event=origin[1][0] if origin[1] else None))
            screen.panes.focus("wire")
        elif view.id == "ir":
            view.toggle()
        else:
            screen.panes.focus("ir" if view is screen.wire else "wire")

    def explain(self, key: str) -> bool:
        """Act on the wire pane, or say that a key needs an open exchange. Returns True for such a key."""
        screen = self.screen
        row = next((row for row in keymap_of(screen.app).rows(keys.SESSION) if keys.readable(key) in row.names), None)
        if row and row.id in ON_AN_EXCHANGE and screen.opened is None:
            screen.notify(f"{row.show} ({row.word}) needs an open exchange", markup=False)
            return True
        if screen.focused is None or screen.focused.id == "wire":
            return False
        for row in keymap_of(screen.app).rows(keys.WIRE):
            if row.id in WIRE_KEYS and keys.readable(key) in row.names and screen.opened:
                getattr(screen.wire, f"action_{WIRE_KEYS[row.id]}")()
                return True
        return False
