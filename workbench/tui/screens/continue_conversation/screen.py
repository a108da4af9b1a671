"""Screen that continues a conversation: shows one pending step at a time, to edit and do by hand or in a run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.chain import Ledger
from workbench.lazy_dataclass import replace
from workbench.send import Target
from workbench.send.loop import LoopEnd
from workbench.tui import keys
from workbench.tui.action_forwarding import ActionOf
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.models import continuing, send
from workbench.tui.models.ir import node_line
from workbench.tui.models.outline import Outline
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.screens.continue_conversation.editor import StepEditor
from workbench.tui.screens.continue_conversation.preview import RequestPreview
from workbench.tui.screens.continue_conversation.sender import StepResponseGrew, StepSendEnd
from workbench.tui.screens.continue_conversation.stepper import Stepper
from workbench.tui.screens.worklist import ListPane
from workbench.tui.widgets.body import BodyPane
from workbench.tui.widgets.lineview import LineView
from workbench.tui.widgets.text import TextLinesPane
from workbench.tui.widgets.writing import Writing
from workbench.views import Line, line, size

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.tui.screens.session.screen import SessionScreen


def begin(session: SessionScreen, node: BranchNode) -> None:
    """Ask for a target, then show the first step."""
    from workbench.tui.screens.target_choice import TargetScreen

    def open_screen(target: Target | None) -> None:
        if target:
            session.app.push_screen(ContinuingScreen(session, node, target))

    row = session.state.rows[node.index]
    session.app.push_screen(
        TargetScreen("Continue this conversation with", row.provider or "generic", row.protocol or ""), open_screen
    )


class ContinuingScreen(Screen[None]):
    """Steps of a conversation, and the pending one in full.

    Args:
        session: session of the exchange.
        node: exchange or edit to continue.
        target: receiver of the requests.
    """

    CSS_PATH = "continuing.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.CONTINUE
    BINDINGS = keys.bindings(keys.CONTINUE)

    steps = getters.query_one("#steps", ListPane)
    conversation = getters.query_one("#conversation", ListPane)
    step = getters.query_one("#step", TextLinesPane)
    request = getters.query_one("#request", BodyPane)
    about = getters.query_one("#about", Container)

    def __init__(self, session: SessionScreen, node: BranchNode, target: Target) -> None:
        super().__init__()
        self.session, self.start = session, node
        self.stepper = Stepper(self, session, node, target)
        self.editor = StepEditor(self, self.stepper)
        self.preview = RequestPreview(self)

    @property
    def is_key_set(self) -> bool:
        """The API key of the target is in the environment."""
        return bool(self.stepper.target.key_variable and os.environ.get(self.stepper.target.key_variable))

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="sides-of-steps"):
            with Container(id="so-far"):
                yield ListPane(id="steps")
                yield ListPane(id="conversation")
            with Container(id="about"):
                yield TextLinesPane(id="step")
                yield BodyPane(id="request")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.steps.title(line(" Steps "))
        self.conversation.title(line(" Conversation so far "))
        self.preview.hide()
        self.steps.focus()
        self.stepper.look(is_first=True)

    def on_unmount(self) -> None:
        self.stepper.sender.cancel()

    def on_resize(self) -> None:
        self.show_progress()

    def on_step_response_grew(self, message: StepResponseGrew) -> None:
        self.show_progress()

    def on_step_send_end(self, message: StepSendEnd) -> None:
        self.stepper.sender.finish(message)

    def on_writing_save(self, message: Writing.Save) -> None:
        self.editor.take(message.text)

    def on_writing_cancel(self, message: Writing.Cancel) -> None:
        self.editor.stop()

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        if not self.has_class("-writing"):
            self.stepper.do()

    # Actions of the key table.

    action_edit = ActionOf("editor", "write")
    action_editor = ActionOf("editor", "write_outside")
    action_run = ActionOf("stepper")
    action_undo = ActionOf("stepper")

    def action_offer(self) -> None:
        """Choose the next tool result on offer."""
        if len(self.stepper.offers) > 1:
            self.stepper.offer_number = (self.stepper.offer_number + 1) % len(self.stepper.offers)
            self.show_steps()
        else:
            self.notify("no other tool result · e: write one", markup=False)

    def action_error(self) -> None:
        """Switch between a tool result and an error result."""
        if self.stepper.offer:
            result = replace(self.stepper.offer.result, is_error=not self.stepper.offer.result.is_error, element=None)
            self.stepper.offers[self.stepper.offer_number] = self.stepper.offer._replace(result=result)
            self.show_steps()

    def ask_limits(self) -> None:
        """Ask for other limits."""
        from workbench.tui.screens.questions import AskScreen

        hint = "requests, tokens, repeats of a call, errors in a row; 0: no limit"
        ask = AskScreen("Limits", hint, continuing.limits_text(self.stepper.loop.limits))

        def apply(text: str | None) -> None:
            limits = continuing.limits_of(text) if text is not None else None
            if limits:
                self.stepper.limit(limits)
            elif text is not None:
                self.notify(
                    "type one to four numbers: requests, tokens, repeats, errors; for example 20 100000 3 0",
                    severity="warning",
                    markup=False,
                )

        self.app.push_screen(ask, apply)

    def action_limits(self) -> None:
        self.ask_limits()

    def action_target(self) -> None:
        """Choose another target."""
        from workbench.tui.screens.target_choice import TargetScreen

        row = self.session.state.rows[self.stepper.node.index]
        self.app.push_screen(
            TargetScreen("Continue this conversation with", row.provider or "generic", row.protocol or ""),
            self.stepper.aim,
        )

    def action_corrections(self) -> None:
        """List the corrections of a measured profile, to switch them off and on."""
        from workbench.tui.screens.correcting import CorrectingScreen

        if self.stepper.sender.is_sending:
            self.notify("a request is being sent · esc: cancel", markup=False)
        elif self.stepper.settings and self.stepper.settings.choice.decided:
            self.app.push_screen(CorrectingScreen(self.stepper.settings.choice), self._switch_corrections)
        else:
            self.notify("no corrections: no capability profile of this target and model requires any", markup=False)

    def _switch_corrections(self, off: frozenset[str] | None) -> None:
        if off is not None and off != self.stepper.off:
            self.stepper.steer(self.stepper.target, off)

    # What is shown.

    def _show_keys(self) -> None:
        """Show the keys that are of use now."""
        is_corrected = self.stepper.settings is not None and bool(self.stepper.settings.choice.decided)
        rows = [key for key in keys.CONTINUE if is_corrected or key.id != "continue.corrections"]
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_STEP, *rows])

    def show_steps(self) -> None:
        """Show the steps, and the pending one in full."""
        rows = len(self.stepper.done) + 1
        self.steps.show(rows, self._row)
        self.steps.move_to(rows - 1)
        self.show_progress()
        self._show_keys()
        self._show_step()
        self._show_conversation()

    def _show_conversation(self) -> None:
        """Show the messages so far: what the next request will carry."""
        nodes = Outline(self.stepper.loop.decoded_exchange, Ledger()).nodes
        self.conversation.show(len(nodes), lambda item: node_line(nodes[item]))

    def _row(self, item: int) -> Line:
        if item < len(self.stepper.done):
            return continuing.done_line(self.stepper.done[item])
        return continuing.pending_line(self.stepper.pending, self.stepper.offer)

    def _show_step(self) -> None:
        item = self.steps.cursor
        is_done = item < len(self.stepper.done)
        pending = self.stepper.done[item].pending if is_done else self.stepper.pending
        offer = self.stepper.done[item].offer if is_done else self.stepper.offer
        answer = "" if is_done else self._answer()
        target = "" if is_done else self.stepper.target.name
        self.step.show(lambda width: continuing.detail(pending, offer, answer, width, target))
        self.preview.show(None if is_done else pending, offer)
        which = f"Step {item + 1}" if is_done else "Next step"
        self.step.title(line(f" {which} "))

    def _answer(self) -> str:
        """Text of the model's last response at the end of the loop; empty before."""
        from workbench.ir import Text

        if not self.stepper.pending or not isinstance(self.stepper.pending.step, LoopEnd):
            return ""
        response = self.stepper.loop.decoded_exchange.response
        messages = response.choices[0] if response and response.choices else ()
        return "\n".join(p.text for m in messages for p in m.parts if isinstance(p, Text))

    def show_progress(self) -> None:
        """Show the progress of a run or a request."""
        steps = self.stepper
        self.query_one("#keys", KeyBar).run(steps.sender.is_sending or steps.runs_on)
        running = "running" if steps.runs_on else ""
        if steps.sender.is_sending:
            running = f"sending, {size(steps.sender.received_size)} received"
        decided = steps.settings.choice.decided if steps.settings else ()
        facts = continuing.facts(steps.loop, steps.done, running, decided)
        title = f"Continue exchange {steps.node.index + 1} with {steps.target.name}{send.request_name(self.start)}"
        lines = send.headline(title, facts, steps.target, self.size, is_set=self.is_key_set)
        self.query_one("#headline", Bar).show(lines)

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.steps:
            self._show_step()

    # Leaving.

    def action_pane(self) -> None:
        all_panes: list[LineView] = [self.steps, self.step, self.request, self.conversation]
        panes = [pane for pane in all_panes if pane.display]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        panes[(at + 1) % len(panes)].focus()

    def action_leave(self) -> None:
        """Cancel the run or the request; else go back."""
        if self.stepper.runs_on or self.stepper.sender.is_sending:
            self.stepper.break_off()
            self.show_progress()
        else:
            self.stepper.leave()

    def action_back(self) -> None:
        self.stepper.leave()
