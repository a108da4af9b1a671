"""Session screen: an inspected session, driven by one selection."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from textual import events, getters, work
from textual.app import ComposeResult
from textual.screen import Screen

from workbench.errors import WorkbenchError
from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.action_forwarding import ActionOf, ActionOnInspected
from workbench.tui.bars import Bar, Headline, KeyBar, TabBar
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.screens.session.actions import SessionActions
from workbench.tui.screens.session.breakpoints import BreakpointBanner
from workbench.tui.screens.session.follow import LiveFollower
from workbench.tui.screens.session.header import SessionHeader
from workbench.tui.screens.session.jumps import SessionJumps
from workbench.tui.screens.session.layout import PaneGrid, PaneLayout
from workbench.tui.screens.session.moves import SessionMoves
from workbench.tui.screens.session.navigation import Navigation
from workbench.tui.screens.session.pane_search import PaneSearch
from workbench.tui.screens.session.pointer import Pointer
from workbench.tui.screens.session.type_ahead import TypeAhead
from workbench.tui.screens.session.updates import SessionUpdates
from workbench.tui.service import (
    ExchangeUpdate,
    InspectedRows,
    InspectionThread,
    JobAnswer,
    OpenedExchange,
    Opener,
    OpenFailure,
    OpeningExchange,
    ProvisionalRows,
    SessionChange,
    SessionList,
    Trouble,
)
from workbench.tui.state import SessionState
from workbench.tui.widgets.findings import FindingsPane
from workbench.tui.widgets.lineview import LineView
from workbench.tui.widgets.pane import Pane
from workbench.tui.widgets.timeline import TimelinePane

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.pause_listener import PauseChange, PausingTrouble
    from workbench.tui.screens.session.branch_switch import BranchSwitch
    from workbench.tui.screens.session.branches import SessionBranches
    from workbench.tui.screens.session.exchange_filter import SessionFilter
    from workbench.tui.screens.session.notes import SessionNotes
    from workbench.tui.screens.session.repair_lookup import RepairLookup
    from workbench.tui.screens.session.request_screens import RequestScreens
    from workbench.tui.widgets.wire import WirePane
    from workbench.wire.session import Session


class SessionScreen(Screen[WorkbenchError | OSError | None]):
    """Shows a session. Dismissed with the error if the session cannot be opened.

    The screen holds the shown exchange; its parts, each in a module, arrange the panes, follow a live session,
    navigate, and open other screens.

    Args:
        source: a session, or a function that opens one; that one is opened and closed in a thread.
        provider: label of the contract; None to choose one for each exchange.
        protocol: name of the protocol; None to detect it for each exchange.
        exchange: index of the exchange to open at; None for the first break.
    """

    CSS_PATH = "session.tcss"
    BINDINGS = keys.bindings(keys.SESSION)

    exchanges = getters.query_one("#exchanges", TimelinePane)
    findings = getters.query_one("#findings", FindingsPane)

    def __init__(
        self,
        source: Session | Opener,
        provider: str | None = None,
        protocol: str | None = None,
        exchange: int | None = None,
    ) -> None:
        super().__init__()
        self._recording = None if callable(source) else source
        self.inspecting = InspectionThread(source, provider, protocol)
        self.state = SessionState()
        self.opened: ExchangeView | None = None
        self._why_not = ""
        self.panes = PaneLayout(self, lambda: self.show_exchange(self.opened, self._why_not))
        self.header = SessionHeader(self)
        self.navigation = Navigation(self, exchange)
        self.moves = SessionMoves(self, self.navigation)
        self.pointer = Pointer(self)
        self.updates = SessionUpdates(self)
        self.follower = LiveFollower(self)
        self.breakpoints = BreakpointBanner(self)
        self.actions = SessionActions(self)
        self.pane_search = PaneSearch(self)
        self.type_ahead = TypeAhead(self)
        self.jumps = SessionJumps(self)

    @cached_property
    def exchange_filter(self) -> SessionFilter:
        from workbench.tui.screens.session.exchange_filter import SessionFilter

        return SessionFilter(self)

    @cached_property
    def notes(self) -> SessionNotes:
        from workbench.tui.screens.session.notes import SessionNotes

        return SessionNotes(self)

    @cached_property
    def repair_lookup(self) -> RepairLookup:
        from workbench.tui.screens.session.repair_lookup import RepairLookup

        return RepairLookup(self)

    @cached_property
    def branch_switch(self) -> BranchSwitch:
        from workbench.tui.screens.session.branch_switch import BranchSwitch

        return BranchSwitch(self)

    @cached_property
    def request_screens(self) -> RequestScreens:
        from workbench.tui.screens.session.request_screens import RequestScreens

        return RequestScreens(self)

    @cached_property
    def branches(self) -> SessionBranches:
        from workbench.tui.screens.session.branches import SessionBranches

        return SessionBranches(self)

    @property
    def wire(self) -> WirePane:
        """Wire pane, once it is mounted."""
        from workbench.tui.widgets.wire import WirePane

        return self.query_one("#wire", WirePane)

    def compose(self) -> ComposeResult:
        yield Headline()
        yield TabBar(id="tabs")
        with PaneGrid(self.panes.fill, id="body"):
            yield TimelinePane(self.state, id="exchanges")
        yield FindingsPane(self.state, id="findings")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.call_after_refresh(self._begin)
        self.show_exchange(None)
        if self._recording:
            self.updates.list_at_once(self._recording)
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.panes.focus("exchanges")

    def _begin(self) -> None:
        """Start the work that the first paint does not wait for."""
        self._inspect()
        if self.navigation.goal.exchange is not None:
            self.panes.focused = "wire"
            self.navigation.open(self.navigation.goal.exchange)

    @work(thread=True, group="inspect", exit_on_error=False)
    def _inspect(self) -> None:
        self.inspecting.run(self.post_message)

    def on_unmount(self) -> None:
        self.inspecting.stop()
        self.breakpoints.stop()

    # What is shown.

    def show_exchange(self, exchange_view: ExchangeView | None, why_not: str = "opening …") -> None:
        """Show an exchange in every pane, or the reason that none is shown."""
        self.opened, self._why_not = exchange_view, why_not
        for pane in self.query(Pane):
            pane.open(exchange_view, why_not)
        self.header.show()
        self.panes.fill()

    def refresh_lists(self) -> None:
        """Show new rows and findings."""
        self.exchanges.grew()
        self.findings.grew()
        self.panes.fit(self.state)
        self.header.show()
        self.follower.go_to_newest()

    # Messages.

    def on_open_failure(self, message: OpenFailure) -> None:
        self.moves.back(message.error)

    def on_session_list(self, message: SessionList) -> None:
        self.updates.list(message)

    def on_session_change(self, message: SessionChange) -> None:
        self.breakpoints.listen(message.is_live)
        self.follower.grow_session(message)

    def on_inspected_rows(self, message: InspectedRows) -> None:
        self.updates.add_rows(message.rows)

    def on_opening_exchange(self, message: OpeningExchange) -> None:
        self.navigation.start_at(message.index)

    def on_provisional_rows(self, message: ProvisionalRows) -> None:
        self.updates.add_provisional(message.rows)

    async def on_opened_exchange(self, message: OpenedExchange) -> None:
        await self.updates.open_exchange(message.opened)

    def on_exchange_update(self, message: ExchangeUpdate) -> None:
        self.follower.grow(message.opened)

    def on_job_answer(self, message: JobAnswer) -> None:
        message.deliver()

    def on_trouble(self, message: Trouble) -> None:
        self.updates.fail(message)

    def on_pause_change(self, message: PauseChange) -> None:
        self.breakpoints.change(message)

    def on_pausing_trouble(self, message: PausingTrouble) -> None:
        self.notify(visible(message.text), title="breakpoints", severity="warning", markup=False)

    def on_resize(self) -> None:
        self.call_later(self.header.show)  # behind a dialog too, with the classes of the new size

    def on_screen_resume(self) -> None:
        """Show the branch that another screen may have gone to."""
        if self.opened and self.branches.is_begun:
            self.branch_switch.look(self.opened.index)

    def on_tab_bar_tab_click(self, message: TabBar.TabClick) -> None:
        self.panes.focus(message.name)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, Pane) and event.widget.id:
            self.panes.note_focus(event.widget.id)

    def on_findings_pane_expansion(self, message: FindingsPane.Expansion) -> None:
        """Look for the repairs of the finding under the cursor."""
        self.repair_lookup.want(message.finding)

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        self.pointer.move(message.view)

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        self.pointer.enter(message.view)

    def on_key(self, event: events.Key) -> None:
        if self.pointer.explain(event.key):
            event.stop()

    # Actions of the key table; most of them belong to a part.

    action_pane = ActionOf("panes")
    action_show = ActionOf("panes")
    action_zoom = ActionOf("panes")
    action_next = ActionOf("moves")
    action_warning = ActionOf("moves")
    action_exchange = ActionOf("moves")
    action_side = ActionOf("moves")
    action_origin = ActionOnInspected("moves")
    action_follow = ActionOf("follower")
    action_inspect = ActionOf("follower")
    action_breaks = ActionOf("breakpoints")
    action_search = ActionOf("pane_search", "ask")
    action_match = ActionOf("pane_search")
    action_jump = ActionOf("jumps", "ask")
    action_filter = ActionOf("exchange_filter", "ask")
    action_mark = ActionOf("notes")
    action_note = ActionOf("notes", "ask")
    action_next_mark = ActionOf("notes", "next")
    action_stream = ActionOf("actions")
    action_story = ActionOf("actions")
    action_diff = ActionOnInspected("actions")
    action_compare = ActionOnInspected("actions")
    action_repairs = ActionOnInspected("actions")
    action_edit = ActionOnInspected("actions")
    action_branches = ActionOnInspected("actions")
    action_send = ActionOnInspected("actions")
    action_continue = ActionOnInspected("actions", "continue_conversation")
    action_minimize = ActionOnInspected("actions")
    action_what_if = ActionOnInspected("actions")
    action_lab = ActionOf("actions")
    action_metrics = ActionOf("actions")
    action_export = ActionOnInspected("actions")
    action_convert = ActionOnInspected("actions")
    action_tools = ActionOnInspected("actions")
    action_passages = ActionOnInspected("actions")
    action_matrix = ActionOnInspected("actions")
    action_arguments = ActionOnInspected("actions")
    action_copy = ActionOf("actions")
    action_leave = ActionOf("moves")
    action_back = ActionOf("moves")
    action_branch = ActionOnInspected("branch_switch", "switch_shown")
