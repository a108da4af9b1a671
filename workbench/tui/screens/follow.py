"""Following a session that grows: what is selected and seen stays where it is, unless the newest is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.safetext import clip, visible
from workbench.tui.models.findings import first_break
from workbench.tui.panes.pane import Pane
from workbench.tui.screens.desk import Desk
from workbench.tui.service import ExchangeGrew, Inspecting, Listed, RowsCame, SessionGrew
from workbench.views.words import RESPONSE

if TYPE_CHECKING:
    from workbench.tui.opened import ExchangeView
    from workbench.tui.panes.lineview import LineView
    from workbench.tui.screens.stream import StreamScreen
    from workbench.tui.selection import Selection


class Follower(Desk):
    """A desk whose session may grow."""

    inspecting: Inspecting
    selection: Selection | None
    wanted: int | None

    def __init__(self) -> None:
        super().__init__()
        self.is_following = False
        self.stepping: StreamScreen | None = None
        self._is_break_known: bool | None = None

    def open_exchange(self, index: int) -> None:
        """Show an exchange."""
        raise NotImplementedError

    def select(self, selection: Selection, source: LineView | None = None) -> None:
        """Light up what belongs to a place of the open exchange."""
        raise NotImplementedError

    def on_listed(self, message: Listed) -> None:
        self._take(message)

    def on_session_grew(self, message: SessionGrew) -> None:
        was_live = self.state.is_live
        self._take(message)
        if was_live and not message.is_live:
            self.notify("the recording has ended", markup=False)

    def refresh_lists(self) -> None:
        super().refresh_lists()
        self._go_along()

    def _take(self, message: Listed | SessionGrew) -> None:
        self.state.follow(message.summaries, is_live=message.is_live, about=message.about)
        self.refresh_lists()
        if not message.summaries:
            self.show_exchange(None, self.state.waiting())

    def on_rows_came(self, message: RowsCame) -> None:
        """Say the first break of a session that had none."""
        if not self.state.is_done:
            return
        number = first_break(self.state.findings)
        finding = None if number is None else self.state.findings[number]
        is_broken = finding is not None and finding.severity == "error"
        if finding and is_broken and self._is_break_known is False:
            where = f"first break, in exchange {finding.exchange + 1:,} (n goes there)"
            self.notify(clip(visible(finding.message), 200), title=where, severity="error", markup=False)
        self._is_break_known = bool(self._is_break_known) or is_broken

    def on_exchange_grew(self, message: ExchangeGrew) -> None:
        opened, before = message.opened, self.opened
        if before is None or not before.index == opened.index == self.wanted:
            return
        self.opened = opened
        for pane in self.query(Pane):
            pane.grow(opened)
        if self.selection and not self.show_newest(opened):
            self.selection = _grown(self.selection, before, opened)
            found = opened.lights(self.selection)
            for pane in self.query(Pane):
                pane.light(self.selection, found, is_source=True)  # no cursor moves
        if self.stepping:
            self.stepping.grow(opened.decoded)
        self.compare_clients(opened)
        self._show_headline()

    def show_newest(self, opened: ExchangeView) -> bool:
        """While following: the last event of an answer that arrives, in every pane; whether there is one."""
        events = opened.decoded.events
        if not (self.is_following and events and opened.decoded.is_arriving):
            return False
        self.wire.show_side(RESPONSE)
        self.select(opened.at_event(len(events) - 1), source=self.wire)
        self.wire.move_to(self.wire.count() - 1)
        return True

    def compare_clients(self, opened: ExchangeView) -> None:
        """Have it said beside the IR when usual clients build something else from the stream, once it has ended."""
        if opened.decoded.events and not opened.decoded.is_arriving:
            from workbench.tui.sdks import comparing

            self.inspecting.do(comparing(self, opened))

    def _go_along(self) -> None:
        """While following: to the newest exchange that passes the filter, where another one is open."""
        shown = self.state.shown
        if self.is_following and shown and shown[-1] != self.wanted:
            self.open_exchange(shown[-1])
            self.is_following = True

    def action_follow(self) -> None:
        if not self.state.is_live and not self.is_following:
            self.notify("the session is over: there is nothing to follow", markup=False)
            return
        self.is_following = not self.is_following
        self._go_along()
        self._show_headline()

    def action_inspect(self) -> None:
        self.pause(False)

    def pause(self, is_paused: bool) -> None:
        """Stop inspecting what nobody asked for, or go on."""
        self.state.is_paused = is_paused
        self.inspecting.pause(is_paused)
        self.refresh_lists()


def _grown(selection: Selection, before: ExchangeView, opened: ExchangeView) -> Selection:
    """What is selected, with what has come to it."""
    number = before.node_of(selection.side, selection.pointer, selection.events)
    if number is None or before.at_node(number) != selection:
        return selection
    now = opened.node_of(selection.side, selection.pointer, selection.events)
    return selection if now is None else opened.at_node(now)
