"""Editing of the pending step of a conversation: a tool result, a request body, or the next user message."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbench.lazy_dataclass import replace
from workbench.safetext import from_bytes, visible
from workbench.send.loop import AnswerCall, CallResult, EndReason, LoopEnd, Say, Send
from workbench.tui.models import continuing
from workbench.tui.models.continuing import Offer, Pending, StepRecord
from workbench.tui.models.edit_modes import is_plain
from workbench.tui.screens.continue_conversation import steps as stepping
from workbench.tui.service import JobAnswer as Delivery
from workbench.tui.service import guard
from workbench.tui.widgets.writing import MOST_IN_PLACE, Writing

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.tui.screens.continue_conversation.screen import ContinuingScreen
    from workbench.tui.screens.continue_conversation.stepper import Stepper


class StepEditor:
    """Opens the text of the pending step for editing, and puts the edited text into the step."""

    def __init__(self, screen: ContinuingScreen, stepper: Stepper) -> None:
        self.screen, self.stepper = screen, stepper

    def write(self) -> None:
        """Edit the text of the pending step in place."""
        text = self._editable()
        if text is None or self.screen.query("#writing"):
            return
        if len(text.encode("utf-8", "surrogatepass")) > MOST_IN_PLACE or not is_plain(text):
            self.screen.notify(
                "too long to edit here, or it has characters that cannot be shown · E: open your editor", markup=False
            )
            return
        self.stepper.runs_on = False
        is_line = bool(self.stepper.pending and isinstance(self.stepper.pending.step, LoopEnd))
        writing = Writing(text, self._title_of_writing(), is_line=is_line, id="writing")
        self.screen.add_class("-writing")
        self.screen.about.mount(writing)
        writing.focus()

    def write_outside(self) -> None:
        """Edit the text of the pending step in the person's own editor."""
        from workbench.errors import WorkbenchError
        from workbench.tui.editor import edited_outside

        text = self._editable()
        if text is None:
            return
        self.stepper.runs_on = False
        is_request = bool(self.stepper.pending and isinstance(self.stepper.pending.step, Send))
        lone = "surrogateescape" if is_request else "surrogatepass"  # bytes of a body; half a character of a result
        try:
            edited = edited_outside(self.screen.app, text.encode("utf-8", lone), ".json" if is_request else ".txt")
        except (WorkbenchError, OSError) as error:
            self.stepper.say(str(error))
            return
        if edited is not None:
            text = from_bytes(edited)
            self._take(text if is_request else re.sub("[\udc80-\udcff]", "\ufffd", text))

    def _editable(self) -> str | None:
        """Text of the pending step that can be edited now; None if there is none."""
        pending = self.stepper.pending
        if pending is None or self.stepper.sender.is_sending:
            return None
        step = pending.step
        if isinstance(step, AnswerCall):
            return continuing.result_text(self.stepper.offer.result) if self.stepper.offer else ""
        if isinstance(step, Send):
            return from_bytes(step.request.body.raw)
        if step.reason in (EndReason.DONE, EndReason.TEXT_CALL):
            return ""
        self.screen.notify(visible(f"{step.text} · u: undo"), markup=False)
        return None

    def _title_of_writing(self) -> str:
        step = self.stepper.pending.step if self.stepper.pending else None
        if isinstance(step, AnswerCall):
            return visible(f"Tool result of {step.call.name or 'the call'}")
        return "Request body" if isinstance(step, Send) else "Next user message"

    def take(self, text: str) -> None:
        """Take the text edited in place."""
        self.stop()
        self._take(text)

    def stop(self) -> None:
        """Close the field."""
        self.screen.query("#writing").remove()
        self.screen.remove_class("-writing")
        self.screen.steps.focus()

    def _take(self, text: str) -> None:
        """Use an edited text for the pending step."""
        pending = self.stepper.pending
        if pending is None:
            return
        if isinstance(pending.step, AnswerCall):
            failed = bool(self.stepper.offer and self.stepper.offer.result.is_error)
            self.stepper.offers = [Offer(CallResult(text, is_error=failed), "written by hand"), *pending.offers]
            self.stepper.offer_number = 0
            self.screen.show_steps()
        elif isinstance(pending.step, Send):
            self._change_request(pending.step, text.encode("utf-8", "surrogateescape"))
        elif text:
            self.stepper.advance(
                self.stepper.loop.after(Say(text)), StepRecord(self.stepper.loop, self.stepper.node, pending, said=text)
            )

    def _change_request(self, step: Send, body: bytes) -> None:
        """Give the pending request another body; an unreadable one is sent unchanged."""
        from workbench.edits import with_body

        changed, settings = replace(step, request=with_body(step.request, body)), self.stepper.settings
        if settings is None:
            return

        def job(inspector: Inspector) -> Delivery:
            pending = replace(stepping.leaving(changed, settings), is_changed=True)
            return Delivery(lambda: self._show_request(pending))

        self.stepper.session.inspecting.do(guard(job, self.stepper.say))

    def _show_request(self, pending: Pending) -> None:
        self.stepper.pending = pending
        self.screen.show_steps()
