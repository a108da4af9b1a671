"""Session-screen actions that open another screen for the selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.safetext import visible
from workbench.tui.models.findings import LOOKING
from workbench.views import REQUEST

if TYPE_CHECKING:
    from workbench.send import Origin
    from workbench.tui.compare_sources import CollationSource
    from workbench.tui.models.findings import RepairOffer
    from workbench.tui.screens.session.screen import SessionScreen


class SessionActions:
    """Opens other screens for the selection, and goes to the place that they return.

    Attributes:
        agreed: origins that the person has allowed requests of this session to be sent to.
    """

    def __init__(self, session: SessionScreen) -> None:
        self.session = session
        self.agreed: set[Origin] = set()

    def stream(self) -> None:
        """Open the stream of the response, event by event."""
        from workbench.tui.screens.stream import StreamScreen, selected_event, why_not

        session, opened = self.session, self.session.opened
        why = why_not(opened) if opened else "no exchange is open"
        if why or not opened:
            session.notify(visible(why), severity="warning", markup=False)
        else:
            session.navigation.stay()  # the exchange stays open below
            event = selected_event(opened, session.pointer.selection)
            session.follower.stream = StreamScreen(opened.decoded, event, self._branch)
            session.app.push_screen(session.follower.stream, session.navigation.go_to_event)

    def story(self) -> None:
        """Show the session as a story."""
        from workbench.tui.screens.story.screen import StoryScreen

        if self.session.panes.is_furnished:
            self.session.app.push_screen(StoryScreen(self.session), self.session.navigation.go_to_item)

    def diff(self) -> None:
        """Compare the request with the one before it."""
        from workbench.tui.screens.diff import DiffScreen

        if opened := self.session.opened:
            last, branch_words = len(self.session.state.rows) - 1, self.session.branch_switch.words
            screen = DiffScreen(self.session.inspecting.do_shown, opened.index, last, branch_words)
            self.session.app.push_screen(screen, self.session.navigation.go_to_byte)

    def compare(self) -> None:
        """Compare two hops of the session, two exchanges, or another file, side by side."""
        from workbench.tui.screens.comparing.comparison import begin
        from workbench.tui.screens.comparing.other import ask_other
        from workbench.tui.screens.comparing.screen import ComparingScreen

        session, opened = self.session, self.session.opened
        if opened is None:
            return
        index = opened.index

        def show(source: CollationSource) -> None:
            if session.is_active:
                session.app.push_screen(ComparingScreen(session, source, index), session.navigation.go_to_spot)

        begin(session, index, show, lambda: ask_other(session, index, show))

    def repairs(self) -> None:
        """List the repairs of the finding under the cursor."""
        finding, lookup = self.session.findings.current, self.session.repair_lookup
        offered = lookup.offers(finding) if finding else ()
        if finding and (offered or lookup.repairs_of(finding) == LOOKING):
            from workbench.tui.screens.edit.screen import begin_repaired
            from workbench.tui.screens.repairs import RepairsScreen

            def apply(repair_offer: RepairOffer | None) -> None:
                if repair_offer:
                    begin_repaired(self.session, finding, repair_offer)

            screen = RepairsScreen(finding, offered)
            self.session.app.push_screen(screen, apply)
            if not offered:
                lookup.tell(finding, screen)
        else:
            self.session.notify(visible(lookup.why_none(finding)), markup=False)

    @property
    def _branch(self) -> str:
        """Name of the branch that is shown, for titles; empty for the recorded request."""
        return self.session.branch_switch.words(self.session.opened.index) if self.session.opened else ""

    def edit(self) -> None:
        """Edit the request at the selected place."""
        if opened := self.session.opened:
            selected = self.session.pointer.selection
            pointer = selected.pointer if selected and selected.side == REQUEST else ""
            self.session.request_screens.edit(opened.index, pointer)

    def branches(self) -> None:
        """Open the tree of edits and sends."""
        if opened := self.session.opened:
            screens, index = self.session.request_screens, opened.index
            screens.branches(index, lambda is_gone: screens.edit(index) if is_gone else None)

    def send(self) -> None:
        """Send the request, as recorded or as last edited."""
        if opened := self.session.opened:
            self.session.branches.current(opened.index, self.session.request_screens.send)

    def continue_conversation(self) -> None:
        """Continue the conversation, step by step."""
        from workbench.tui.screens.continue_conversation.screen import begin

        if opened := self.session.opened:
            self.session.branches.current(opened.index, lambda node: begin(self.session, node))

    def minimize(self) -> None:
        """Find the smallest request that still fails in the same way."""
        from workbench.tui.screens.minimizing import begin

        if opened := self.session.opened:
            self.session.branches.current(opened.index, lambda node: begin(self.session, node))

    def what_if(self) -> None:
        """Send variants of the request to several targets."""
        from workbench.tui.screens.whatif.screen import begin

        if opened := self.session.opened:
            self.session.branches.current(opened.index, lambda node: begin(self.session, node))

    def lab(self) -> None:
        """Probe models; first in the list is the simulator of the contract of the exchange."""
        from workbench.tui.screens.lab.screen import LabScreen

        if not self.session.panes.is_furnished:
            return
        row = self.session.opened.row if self.session.opened else None
        label = self.session.opened.detail.contract.label if self.session.opened else "openai"
        self.session.app.push_screen(LabScreen(label, (row and row.protocol) or "", is_own=row is not None))

    def metrics(self) -> None:
        """Show tokens, cost and tool use of this session, turn by turn."""
        from workbench.tui.screens.metrics import of_session

        if self.session.panes.is_furnished:
            of_session(self.session)

    def export(self) -> None:
        """Export the request, as recorded or as last edited."""
        from workbench.tui.screens.exporting import begin

        if opened := self.session.opened:
            self.session.branches.current(opened.index, lambda node: begin(self.session, node))

    def copy(self) -> None:
        """Choose what to copy."""
        from workbench.tui.screens.copy import ask_what_to_copy

        ask_what_to_copy(self.session)

    def convert(self) -> None:
        """Show the side on the wire as another protocol."""
        from workbench.tui.screens.conversion import ConversionScreen

        if opened := self.session.opened:
            decoded, last = opened.decoded, len(self.session.state.rows) - 1
            screen = ConversionScreen(
                self.session.inspecting.do_shown,
                decoded.index,
                self.session.wire.side,
                decoded.protocol,
                last,
                self.session.branch_switch.words,
            )
            self.session.app.push_screen(screen, self.session.navigation.go_to_spot)

    def tools(self) -> None:
        """Show which providers accept the declared tools."""
        from workbench.tui.screens.tools import NO_TOOLS, ToolsScreen

        if opened := self.session.opened:
            selected = self.session.pointer.selection
            pointer = selected.pointer if selected and selected.side == REQUEST else ""
            why = opened.silence(NO_TOOLS)
            screen = ToolsScreen(
                self.session.inspecting.do_shown, opened.index, opened.row.provider, pointer, why, self._branch
            )
            self.session.app.push_screen(screen, self.session.navigation.go_to_spot)

    def passages(self) -> None:
        """Show what tool servers returned beside what the model received."""
        from workbench.tui.screens.passages import PassagesScreen

        if opened := self.session.opened:
            screen = PassagesScreen(
                self.session.inspecting.do_shown, opened.index, self._selected_calls(), self._branch
            )
            self.session.app.push_screen(screen, self.session.navigation.go_to_spot)

    def _selected_calls(self) -> frozenset[str | None]:
        """Ids of the calls and results that are selected."""
        opened, selection = self.session.opened, self.session.pointer.selection
        if not opened or not selection:
            return frozenset()
        lines = opened.detail.closure.lines
        return frozenset(lines[n].id for n in opened.lights(selection).calls)

    def matrix(self) -> None:
        """Show which providers accept the request."""
        from workbench.tui.screens.matrix import MatrixScreen

        if opened := self.session.opened:
            screen = MatrixScreen(self.session.inspecting.do_shown, opened.index, opened.row.provider, self._branch)
            self.session.app.push_screen(screen, self.session.navigation.go_to_spot)

    def arguments(self) -> None:
        """Show how the arguments of the selected calls are parsed."""
        from workbench.tui.screens.ladder import NO_CALLS, LadderScreen

        if opened := self.session.opened:
            refs = opened.refs(self.session.pointer.selection) if self.session.pointer.selection else ()
            screen = LadderScreen(
                self.session.inspecting.do_shown, opened.index, refs, opened.silence(NO_CALLS), self._branch
            )
            self.session.app.push_screen(screen, self.session.navigation.go_to_spot)
