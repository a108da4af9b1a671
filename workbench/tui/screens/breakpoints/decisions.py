"""Decisions of the breakpoints screen: arm breakpoints; continue, drop or answer a paused exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.recorder.breakpoints import FRAMES, RECORDING, TOOLS, parse
from workbench.tui.models import pauses
from workbench.tui.models.pauses import PausedSide
from workbench.tui.widgets.breakpoint_list import FILTER
from workbench.views import REQUEST

if TYPE_CHECKING:
    from workbench.tui.screens.breakpoints.screen import BreakpointsScreen

FILTERED = "filter:"


class PauseDecisions:
    """Sends decisions about breakpoints and pauses to the recorders."""

    def __init__(self, screen: BreakpointsScreen) -> None:
        self.screen = screen

    # Breakpoints.

    def arm(self) -> None:
        """Arm or disarm the breakpoint under the cursor."""
        here = self.screen.points.here
        if here is None or here.held:
            return
        if here.kind == FILTER:
            self.filter()
        else:
            self.screen.listener.toggle(here.kind)

    def filter(self) -> None:
        """Ask for a filter, and arm it as a breakpoint."""
        from workbench.tui.screens.questions import AskScreen

        def arm_filter(expression: str | None) -> None:
            if not expression or not expression.strip():
                return
            text = expression.strip()
            is_name = text.startswith((TOOLS, FRAMES)) and " " not in text
            name = text if is_name else f"{FILTERED}{text}"
            try:
                parse(name)
            except WorkbenchError as error:
                self.screen.refuse(str(error))
            else:
                self.screen.listener.toggle(name)

        hint = "a filter: tool:bash, text~word, rule:closure; or mcp:files/read_file, frame:response.create"
        self.screen.app.push_screen(AskScreen("Pause exchanges that match", hint), arm_filter)

    # Paused exchanges.

    def paused_for(self, deed: str) -> PausedSide | None:
        """Paused exchange under the cursor if it supports a deed; else None, with a notice."""
        paused = self.screen.paused_here
        if paused is None:
            self.screen.refuse("select a paused exchange" if self.screen.listener.paused_sides else "nothing is paused")
            return None
        if deed in paused.deeds:
            return paused
        self.screen.refuse(pauses.refusal_text(paused, deed))
        return None

    def resume(self) -> None:
        """Pass on the exchange unchanged."""
        if paused := self.paused_for("continue"):
            self.screen.listener.decide(paused, lambda remote: remote.resume(paused.id))

    def pass_on(self, paused: PausedSide, body: bytes) -> None:
        """Pass on an exchange with an edited body."""
        self.screen.listener.decide(paused, lambda remote: remote.edit(paused.id, body))

    def drop(self) -> None:
        """Close the client's connection, if the person confirms it."""
        from workbench.tui.screens.questions import ConfirmScreen

        if paused := self.paused_for("drop"):
            name = pauses.paused_name(paused, self.screen.session.state.number_of(paused.exchange))
            end = "closes the client's connection; the client may retry"
            if paused.is_tool_hop:
                unsent = "the call is not sent, and " if paused.side == REQUEST else ""
                end = f"{unsent}the client gets no response"
            question = f"Drop {name}? " + (f"Then {end}." if paused.is_tool_hop else f"This {end}.")
            if paused.is_message:
                question = f"Drop {name}? The message is not forwarded; the connection stays open."

            def drop(is_sure: bool | None) -> None:
                if is_sure:
                    self.screen.listener.decide(paused, lambda remote: remote.drop(paused.id))

            self.screen.app.push_screen(ConfirmScreen(question, "drop", "keep it paused"), drop)

    def answer(self) -> None:
        """Let a simulator respond, or for a tool server the recording."""
        from workbench.tui.screens.edit.forms import ContractChoiceScreen

        paused = self.paused_for("answer")
        if paused and paused.is_tool_hop:
            self.screen.listener.decide(paused, lambda remote: remote.answer(paused.id, RECORDING))
        elif paused:
            state = self.screen.session.state
            index = state.index_of(paused.exchange)
            row = None if index is None else state.row(index)

            def answer(label: str | None) -> None:
                if label is not None:
                    self.screen.listener.decide(paused, lambda remote: remote.answer(paused.id, f"sim:{label}"))

            title = "Respond with the simulator of"
            self.screen.app.push_screen(ContractChoiceScreen((row and row.provider) or "generic", title), answer)
