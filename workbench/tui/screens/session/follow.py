"""Follower of a live session: selection and view stay in place, unless the person follows the newest exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.safetext import clip, visible
from workbench.tui.host import host_of
from workbench.tui.models.findings import first_break
from workbench.tui.widgets.pane import Pane
from workbench.views import RESPONSE

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.screens.stream import StreamScreen
    from workbench.tui.selection import ExchangeSelection
    from workbench.tui.service import SessionChange, SessionList


class LiveFollower:
    """Shows new exchanges and data of a live session.

    Attributes:
        is_following: the newest exchange is shown, until the person moves.
        stream: stream screen of the open exchange, which grows with it; None if closed.
    """

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self.is_following = False
        self.stream: StreamScreen | None = None
        self._is_break_known: bool | None = None

    def grow_session(self, message: SessionChange) -> None:
        """Show more exchanges, or the end of the recording."""
        was_live = self.screen.state.is_live
        self.update(message)
        if was_live and not message.is_live:
            self.screen.notify("the recording has ended", markup=False)

    def update(self, message: SessionList | SessionChange) -> None:
        """Show the current list of exchanges."""
        screen, state = self.screen, self.screen.state
        state.follow(message.summaries, is_live=message.is_live, about=message.about, total=message.total)
        screen.refresh_lists()
        if not message.summaries:
            screen.show_exchange(None, state.waiting())

    def announce_first_break(self) -> None:
        """Notify of the first break of a session that had none."""
        state = self.screen.state
        if not state.is_done:
            return
        number = first_break(state.findings)
        finding = None if number is None else state.findings[number]
        is_broken = finding is not None and finding.severity == "error"
        if finding and is_broken and self._is_break_known is False:
            where = f"first break: exchange {finding.exchange + 1:,} · ]: go there"
            self.screen.notify(clip(visible(finding.message), 200), title=where, severity="error", markup=False)
            host_of(self.screen.app).alert(f"✗ break · {state.name}")
        self._is_break_known = bool(self._is_break_known) or is_broken

    def grow(self, exchange_view: ExchangeView) -> None:
        """Show more of the open exchange."""
        screen, before = self.screen, self.screen.opened
        if before is None or not before.index == exchange_view.index == screen.navigation.goal.exchange:
            return
        screen.opened = exchange_view
        for pane in screen.query(Pane):
            pane.grow(exchange_view)
        if screen.pointer.selection and not self.show_newest(exchange_view):
            screen.pointer.selection = _extend(screen.pointer.selection, before, exchange_view)
            found = exchange_view.lights(screen.pointer.selection)
            for pane in screen.query(Pane):
                pane.light(screen.pointer.selection, found, is_source=True)  # no cursor moves
        if self.stream:
            self.stream.grow(exchange_view.decoded)
        self.compare_clients(exchange_view)
        screen.header.show()

    def show_newest(self, exchange_view: ExchangeView) -> bool:
        """While following: select the last event of an arriving response. Returns False if there is none."""
        events = exchange_view.decoded.events
        if not (self.is_following and events and exchange_view.decoded.is_arriving):
            return False
        wire = self.screen.wire
        wire.show_side(RESPONSE)
        self.screen.pointer.select(exchange_view.at_event(len(events) - 1), source=wire)
        wire.move_to(wire.count() - 1)
        return True

    def compare_clients(self, exchange_view: ExchangeView) -> None:
        """Check, once the stream has ended, if known clients build different messages from it."""
        if exchange_view.decoded.events and not exchange_view.decoded.is_arriving:
            from workbench.tui.screens.session.sdk_differences import comparing

            self.screen.inspecting.do(comparing(self.screen, exchange_view))

    def go_to_newest(self) -> None:
        """While following: open the newest exchange that passes the filter, if another one is open."""
        visible = self.screen.state.visible
        if self.is_following and visible and visible[-1] != self.screen.navigation.goal.exchange:
            self.screen.navigation.open(visible[-1])
            self.is_following = True

    def pause(self, is_paused: bool) -> None:
        """Pause the inspection of further exchanges, or resume it."""
        self.screen.state.is_paused = is_paused
        self.screen.inspecting.pause(is_paused)
        self.screen.refresh_lists()

    # Actions.

    def follow(self) -> None:
        """Follow the newest exchange, or stop."""
        if not self.screen.state.is_live and not self.is_following:
            self.screen.notify("the recording has ended; there are no new exchanges to follow", markup=False)
            return
        self.is_following = not self.is_following
        self.go_to_newest()
        self.screen.header.show()

    def inspect(self) -> None:
        """Resume the inspection."""
        self.pause(False)


def _extend(selection: ExchangeSelection, before: ExchangeView, exchange_view: ExchangeView) -> ExchangeSelection:
    """Selection extended by what has been added to its node."""
    number = before.node_of(selection.side, selection.pointer, selection.events)
    if number is None or before.at_node(number) != selection:
        return selection
    now = exchange_view.node_of(selection.side, selection.pointer, selection.events)
    return selection if now is None else exchange_view.at_node(now)
