"""Keys of the session screen that open another screen on what is selected, and where that one leads back to."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from workbench.safetext import visible
from workbench.tui.screens.holding import Holding
from workbench.tui.service import Answer, guarded
from workbench.views.words import REQUEST

if TYPE_CHECKING:
    from workbench.rules.inspection import Inspector
    from workbench.send.target import Origin
    from workbench.tui.collating import Source
    from workbench.tui.mending import Mending
    from workbench.tui.models.repairs import Offered
    from workbench.tui.screens.session import SessionScreen
    from workbench.tui.selection import Spot


class Outward(Holding):
    """A desk from which other screens are opened."""

    @property
    def mending(self) -> Mending:
        """The repairs."""
        raise NotImplementedError

    @cached_property
    def agreed(self) -> set[Origin]:
        """Where people have agreed that requests of this session are sent."""
        return set()

    def stay(self) -> None:
        """Let nothing that is found or comes later move the selection."""
        raise NotImplementedError

    def go_to_event(self, event: int | None) -> None:
        """Back from the stream; to an event of the open answer."""
        raise NotImplementedError

    def go_to_byte(self, place: tuple[int, int] | None) -> None:
        """Show a byte of a request, given as (exchange, offset)."""
        raise NotImplementedError

    def go_to_spot(self, place: Spot | None) -> None:
        """Show a place that another screen found."""
        raise NotImplementedError

    def action_stream(self) -> None:
        from workbench.tui.screens.stream import StreamScreen, selected_event, why_not

        why = why_not(self.opened) if self.opened else "no exchange is open"
        if why or not self.opened:
            self.notify(visible(why), severity="warning", markup=False)
        else:
            self.stay()  # the exchange stays open below
            self.stepping = StreamScreen(self.opened.decoded, selected_event(self.opened, self.selection), self._branch)
            self.app.push_screen(self.stepping, self.go_to_event)

    def action_diff(self) -> None:
        from workbench.tui.screens.diff import DiffScreen

        if self.opened:
            screen = DiffScreen(
                self.inspecting.do_shown, self.opened.index, len(self.state.rows) - 1, self._session.standing.words
            )
            self.app.push_screen(screen, self.go_to_byte)

    def action_compare(self) -> None:
        """Two places of the session, else two exchanges or another file, side by side."""
        from workbench.tui.screens.comparing import ComparingScreen, begin
        from workbench.tui.screens.comparing_other import ask_other

        if opened := self.opened:
            session, index = self._session, opened.index

            def show(source: Source) -> None:
                if self.is_active:
                    self.app.push_screen(ComparingScreen(session, source, index), self.go_to_spot)

            begin(session, index, show, lambda: ask_other(session, index, show))

    def action_repairs(self) -> None:
        finding = self.findings.current
        offered = self.mending.offered(finding) if finding else ()
        if finding and offered:
            from workbench.tui.screens.edit import begin_repaired
            from workbench.tui.screens.repairs import RepairsScreen

            def apply(chosen: Offered | None) -> None:
                if chosen:
                    begin_repaired(self._session, finding, chosen)

            self.app.push_screen(RepairsScreen(finding, offered), apply)
        else:
            self.notify(visible(self.mending.why_none(finding)), markup=False)

    @property
    def _session(self) -> SessionScreen:
        return cast("SessionScreen", self)

    @property
    def _branch(self) -> str:
        """For titles: which branch of the open exchange is shown; empty string for the recorded request."""
        return self._session.standing.words(self.opened.index) if self.opened else ""

    def action_edit(self) -> None:
        """Edit the request, at the place that is selected."""
        from workbench.tui.screens.edit import begin

        if opened := self.opened:
            selected = self.selection
            begin(self._session, opened.index, selected.pointer if selected and selected.side == REQUEST else "")

    def action_branches(self) -> None:
        from workbench.tui.screens.branches import BranchesScreen
        from workbench.tui.screens.edit import begin

        if opened := self.opened:
            screen = BranchesScreen(self._session, opened.index)
            self.app.push_screen(screen, lambda is_gone: begin(self._session, opened.index) if is_gone else None)

    def action_send(self) -> None:
        """Send the request, as it was recorded or as it was edited last."""
        from workbench.tui.screens.send import begin

        if opened := self.opened:
            session = cast("SessionScreen", self)
            session.working.current(opened.index, lambda node: begin(session, node))

    def action_continue(self) -> None:
        """Go on with the conversation, from where the person stands."""
        from workbench.tui.screens.continuing import begin

        if opened := self.opened:
            session = cast("SessionScreen", self)
            session.working.current(opened.index, lambda node: begin(session, node))

    def action_minimize(self) -> None:
        """The smallest request that still fails in the same way, from where the person stands."""
        from workbench.tui.screens.minimizing import begin

        if opened := self.opened:
            session = cast("SessionScreen", self)
            session.working.current(opened.index, lambda node: begin(session, node))

    def action_what_if(self) -> None:
        """Send the request with one thing different."""
        from workbench.tui.screens.whatif import begin

        if opened := self.opened:
            session = cast("SessionScreen", self)
            session.working.current(opened.index, lambda node: begin(session, node))

    def action_lab(self) -> None:
        """Probe models, first the simulator of the contract that the exchange is read under."""
        from workbench.tui.screens.lab import LabScreen

        if not self.is_furnished:
            return
        row = self.opened.row if self.opened else None
        label = self.opened.detail.contract.label if self.opened else "openai"
        self.app.push_screen(LabScreen(label, (row and row.protocol) or "", is_own=row is not None))

    def action_metrics(self) -> None:
        """What this session cost, turn by turn, and how tool use went."""
        from workbench.tui.screens.metrics import of_session

        if self.is_furnished:
            of_session(self._session)

    def action_export(self) -> None:
        """Write the request, as it was recorded or as it was edited last, in a form that others take."""
        from workbench.tui.screens.exporting import begin

        if opened := self.opened:
            session = cast("SessionScreen", self)
            session.working.current(opened.index, lambda node: begin(session, node))

    def go_to_other_place(self, why_not: str = "") -> None:
        """Show the same turn where it was recorded at another place.

        Args:
            why_not: what to say in a session of one place.
        """
        opened = self.opened
        if opened is None or not self.state.hop_columns:
            self.notify(why_not or "nothing is wrong, and nothing was recorded at another place", markup=False)
            return

        def job(inspector: Inspector) -> Answer:
            from workbench.tui.pairing import paired

            found = paired(inspector, opened.index)
            return Answer(lambda: show(found))

        def show(found: int | None) -> None:
            if found is None:
                self.notify("this turn was not recorded at another place", markup=False)
            else:
                self.open_exchange(found)

        self.inspecting.do(guarded(job, lambda why: self.notify(visible(why), severity="warning", markup=False)))

    def action_convert(self) -> None:
        from workbench.tui.screens.conversion import ConversionScreen

        if self.opened:
            decoded, last = self.opened.decoded, len(self.state.rows) - 1
            screen = ConversionScreen(
                self.inspecting.do_shown,
                decoded.index,
                self.wire.side,
                decoded.protocol,
                last,
                self._session.standing.words,
            )
            self.app.push_screen(screen, self.go_to_spot)

    def action_tools(self) -> None:
        from workbench.tui.screens.tools import NO_TOOLS, ToolsScreen

        if opened := self.opened:
            pointer = self.selection.pointer if self.selection and self.selection.side == REQUEST else ""
            why = opened.silence(NO_TOOLS)
            screen = ToolsScreen(
                self.inspecting.do_shown, opened.index, opened.row.provider, pointer, why, self._branch
            )
            self.app.push_screen(screen, self.go_to_spot)

    def action_matrix(self) -> None:
        from workbench.tui.screens.matrix import MatrixScreen

        if opened := self.opened:
            screen = MatrixScreen(self.inspecting.do_shown, opened.index, opened.row.provider, self._branch)
            self.app.push_screen(screen, self.go_to_spot)

    def action_arguments(self) -> None:
        from workbench.tui.screens.ladder import NO_CALLS, LadderScreen

        if opened := self.opened:
            refs = opened.refs(self.selection) if self.selection else ()
            screen = LadderScreen(self.inspecting.do_shown, opened.index, refs, opened.silence(NO_CALLS), self._branch)
            self.app.push_screen(screen, self.go_to_spot)
