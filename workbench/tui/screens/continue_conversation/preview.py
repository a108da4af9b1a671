"""Preview of the request that follows a tool result, in the rows that the step leaves free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.service import JobAnswer, guard, is_open
from workbench.views import line, size

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.send.loop import ConversationLoop
    from workbench.tui.models.continuing import Offer, Pending
    from workbench.tui.screens.continue_conversation.screen import ContinuingScreen
    from workbench.tui.screens.continue_conversation.steps import StepSettings


def next_body(loop: ConversationLoop, settings: StepSettings, offer: Offer) -> bytes:
    """Body of the request that the loop sends after a result; empty if another call is to be answered first."""
    from workbench.send.loop import Send
    from workbench.tui.screens.continue_conversation import steps

    following = loop.after(offer.result).step
    leaving = steps.leaving(following, settings).leaving if isinstance(following, Send) else None
    return leaving.request.body.raw if leaving else b""


class RequestPreview:
    """Shows the request that a pending tool result leads to; made in the inspector's thread."""

    def __init__(self, screen: ContinuingScreen) -> None:
        self.screen = screen
        self._state: tuple[Pending | None, Offer | None] = (None, None)

    def show(self, pending: Pending | None, offer: Offer | None) -> None:
        """Show the request after a result, or nothing if the step is no result."""
        from workbench.send.loop import AnswerCall

        stepper = self.screen.stepper
        if pending is self._state[0] and offer is self._state[1]:
            return
        self._state = pending, offer
        loop, settings = stepper.loop, stepper.settings
        if not (pending and offer and settings and isinstance(pending.step, AnswerCall)):
            self.hide()
            return

        def job(inspector: Inspector) -> JobAnswer:
            body = next_body(loop, settings, offer)
            return JobAnswer(lambda: self._show(pending, offer, body))

        self.screen.session.inspecting.do(guard(job, lambda why: self.hide()))

    def hide(self) -> None:
        """Take no rows."""
        self.screen.request.display = False

    def _show(self, pending: Pending, offer: Offer, body: bytes) -> None:
        if not is_open(self.screen) or pending is not self._state[0] or offer is not self._state[1]:
            return
        pane = self.screen.request
        pane.display = bool(body)
        pane.show(body)
        pane.title(line(f" Request with this result · {size(len(body))} "))
