"""The second wire pane of very wide windows: the response beside the request, or the reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

from workbench.tui.widgets.wire import WirePane
from workbench.views import REQUEST, RESPONSE

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.selection import ExchangeSelection, Lights


class OtherSidePane(WirePane):
    """The bytes of the side that the wire pane does not show. It is not focused: a click swaps both sides.

    Args:
        session: the screen with the wire pane.
    """

    can_focus = False

    def __init__(self, session: SessionScreen) -> None:
        super().__init__(id="other-side", of="wire")
        self.session = session

    def on_mount(self) -> None:
        self.mirror()

    def open(self, exchange_view: ExchangeView | None, why_not: str = "") -> None:
        self.content.side = RESPONSE if self.session.wire.side == REQUEST else REQUEST
        super().open(exchange_view, why_not)

    def light(self, selection: ExchangeSelection, lights: Lights, *, is_source: bool) -> None:
        """Highlight what is related to the selection, and scroll to it; the side stays the other one."""
        super().light(selection, lights, is_source=True)
        related = lights.spans.get(self.side, ())
        if related and not is_source and not self.content.is_received:
            self.go_to(related[0][0])

    def mirror(self) -> None:
        """Show the side that the wire pane does not show now."""
        if not self.is_mounted:
            return
        opened, selection = self.session.opened, self.session.pointer.selection
        self.open(opened)
        if opened and selection:
            self.light(selection, opened.lights(selection), is_source=False)

    def on_click(self, event: events.Click) -> None:
        """Show this side in the wire pane."""
        event.prevent_default()
        event.stop()
        self.session.moves.side()
        self.session.panes.focus("wire")
