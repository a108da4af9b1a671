"""The second wire pane of very wide windows: the response beside the request, or the reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

from workbench.tui.widgets.wire import ShownSide, WirePane
from workbench.views import REQUEST, RESPONSE

if TYPE_CHECKING:
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.selection import ExchangeSelection, Spans


def other_side_pane(session: SessionScreen) -> WirePane:
    """A pane of the side that the wire pane of a session does not show. It is never focused."""
    pane = WirePane(id="other-side", of="wire")
    pane.can_focus = False
    pane.turn = OtherSide(pane, session)
    session.wire.turn.mirrored.append(pane.turn)
    return pane


class OtherSide(ShownSide):
    """The side that the wire pane does not show; a click swaps both.

    Args:
        session: the screen with the wire pane.
    """

    def __init__(self, pane: WirePane, session: SessionScreen) -> None:
        super().__init__(pane)
        self.session = session

    def choose(self) -> None:
        self.pane.content.side = RESPONSE if self.session.wire.side == REQUEST else REQUEST

    def follow(self, selection: ExchangeSelection, *, is_source: bool) -> None:
        """Stay, wherever the selection is."""

    def spans(self) -> Spans:
        """Byte ranges to scroll to: what is related to the selection, which is on the other side."""
        return self.pane.marks.lit or self.pane.marks.related

    def mirror(self) -> None:
        """Show the side that the wire pane does not show now."""
        opened, selection = self.session.opened, self.session.pointer.selection
        if not self.pane.is_mounted:
            return
        self.pane.open(opened)
        if opened and selection:
            self.pane.light(selection, opened.lights(selection), is_source=False)

    def click(self, event: events.Click) -> None:
        """Show this side in the wire pane."""
        event.prevent_default()
        event.stop()
        self.session.moves.side()
        self.session.panes.focus("wire")
