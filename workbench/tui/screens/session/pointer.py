"""The selection of the session screen: what a cursor stands on, and what a key does there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui import keys
from workbench.tui.panes.pane import Pane
from workbench.tui.screens.session.goal import Goal
from workbench.tui.screens.session.type_ahead import ON_AN_EXCHANGE

if TYPE_CHECKING:
    from workbench.tui.panes.lineview import LineView
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.selection import Selection

WIRE_KEYS = ("wire.way", "wire.headers")
"""Keys of the wire pane that are no moves: if another pane has the focus, a notice says where they act."""


class Pointer:
    """Selects in every pane what the person points at in one.

    Attributes:
        selection: what is selected; None before the first exchange is open.
    """

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self.selection: Selection | None = None

    def select(self, selection: Selection, source: LineView | None = None) -> None:
        """Light up in every pane what belongs to a place of the open exchange."""
        opened = self.screen.opened
        assert opened
        self.selection = selection
        found = opened.lights(selection)
        for pane in self.screen.query(Pane):
            pane.light(selection, found, is_source=pane is source)

    def move(self, view: LineView) -> None:
        """Show what the cursor of a pane has moved to."""
        screen = self.screen
        screen.navigation.stay()
        if view is screen.exchanges:
            screen.navigation.open(screen.state.shown[view.cursor])
        elif view is screen.findings:
            screen.navigation.go_to_finding(view.cursor)
        elif isinstance(view, Pane) and (selection := view.selection()):
            self.select(selection, source=view)

    def enter(self, view: LineView) -> None:
        """Open what the cursor of a pane stands on, or go to its bytes."""
        from workbench.tui.panes.exchange import ExchangePane

        screen = self.screen
        screen.navigation.choose()
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

    def explain(self, key: str) -> None:
        """Say why a key does nothing: it needs an open exchange, or acts in the wire pane."""
        screen = self.screen
        row = next((row for row in screen.keymap.rows(keys.SESSION) if keys.readable(key) in row.names), None)
        if row and row.id in ON_AN_EXCHANGE and screen.opened is None:
            screen.notify(f"{row.show} ({row.word}) acts on an exchange: none is open", markup=False)
        if screen.focused is None or screen.focused.id == "wire":
            return
        for row in screen.keymap.rows(keys.WIRE):
            if row.id in WIRE_KEYS and key in row.keys.split(","):
                screen.notify(f"{row.show} ({row.word}) acts in the wire pane: 2 goes there", markup=False)
