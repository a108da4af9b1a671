"""Sender of a continued conversation: confirms a request, saves it as a branch, sends it, and saves the exchange."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.safetext import visible
from workbench.send import origin
from workbench.send.loop import Send
from workbench.tui.models import send
from workbench.tui.models.continuing import Pending, StepRecord
from workbench.tui.screens.continue_conversation import steps as stepping
from workbench.tui.service import JobAnswer as Delivery
from workbench.tui.service import guard, in_words, is_open

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.rules import Inspector
    from workbench.send import Event, Outgoing
    from workbench.tui.dispatch import Dispatch, IncomingResponse
    from workbench.tui.screens.continue_conversation.screen import ContinuingScreen
    from workbench.tui.screens.continue_conversation.stepper import Stepper
    from workbench.wire import Exchange
    from workbench.wire.session import Session


class StepResponseGrew(Message):
    """More of the response has arrived."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, StepResponseGrew)


class StepSendEnd(Message):
    """End of a send: the exchange, or the reason that there is none."""

    def __init__(self, exchange: Exchange | None, why: str = "") -> None:
        super().__init__()
        self.exchange, self.why = exchange, why


class StepSender:
    """Sends the pending request of a stepper, one at a time.

    Attributes:
        is_leaving: the screen closes once the exchange is saved.
    """

    def __init__(self, screen: ContinuingScreen, stepper: Stepper) -> None:
        self.screen, self.stepper = screen, stepper
        self.is_leaving = False
        self._sent_from = self._sent_as = stepper.node
        self._incoming: IncomingResponse | None = None
        self._dispatch: Dispatch[Exchange] | None = None

    @property
    def is_sending(self) -> bool:
        """A request is being sent."""
        return self._incoming is not None

    @property
    def received_size(self) -> int:
        """Bytes received of the response that is arriving."""
        return self._incoming.size if self._incoming else 0

    def cancel(self) -> None:
        """Cancel a request; what was received is saved."""
        if self._dispatch:
            self._dispatch.cancel()

    def send(self, pending: Pending) -> None:
        """Send a request; ask first if the endpoint is real."""
        screen, leaving = self.screen, pending.leaving
        if leaving is None:
            screen.notify(visible(pending.why or "the request cannot be sent"), severity="error", markup=False)
        elif not leaving.asks_first or origin(leaving.request.url) in screen.session.actions.agreed:
            self._go(pending, leaving)
        else:
            from workbench.tui.screens.questions import ConfirmScreen

            question = send.question(leaving, is_set=screen.is_key_set)
            confirm = ConfirmScreen(question, "send", "do not send")
            screen.app.push_screen(confirm, partial(self._take_consent, pending, leaving))

    def _take_consent(self, pending: Pending, outgoing: Outgoing, is_agreed: bool | None) -> None:
        if is_agreed:
            self.screen.session.actions.agreed.add(origin(outgoing.request.url))
            self._go(pending, outgoing)
        else:
            self.stepper.runs_on = False

    def _go(self, pending: Pending, outgoing: Outgoing) -> None:
        """Save the request as a branch, and send it."""
        from workbench.tui.dispatch import IncomingResponse

        assert isinstance(pending.step, Send)
        stepper, session = self.stepper, self.screen.session
        self._incoming = IncomingResponse(outgoing, time.time())
        node, step, exchanges = stepper.node, pending.step, stepper.exchanges

        def job(inspector: Inspector) -> Delivery:
            known = stepping.simulator_history(inspector, node.index, exchanges)
            return Delivery(lambda: self._begin(known, outgoing))

        def send_from(branch: BranchNode) -> None:
            self._sent_as = branch
            session.inspecting.do(guard(job, self._fail))

        self._sent_from, self._sent_as = node, node
        self.screen.show_progress()
        if step.added or pending.is_changed:
            session.branches.commit(node, step.request, stepping.title(stepper.done), send_from, self._fail)
        else:
            send_from(node)

    def _begin(self, session: Session, outgoing: Outgoing) -> None:
        from workbench.tui.dispatch import Dispatch

        incoming, parent = self._incoming, self._sent_as.id
        if not is_open(self.screen) or incoming is None:
            return

        def on_event(event: Event) -> None:
            incoming.add(event)
            self.screen.post_message(StepResponseGrew())

        dispatch = Dispatch(session, lambda sender: sender.send(outgoing, on_event, parent=parent))
        if self.is_leaving:
            dispatch.cancel()
        self._dispatch = dispatch
        wait = partial(self._wait, dispatch, incoming)
        self.screen.run_worker(wait, thread=True, group="continue", exit_on_error=False)

    def _wait(self, dispatch: Dispatch[Exchange], incoming: IncomingResponse) -> None:
        try:
            self.screen.post_message(StepSendEnd(dispatch.run() or incoming.aborted_exchange()))
        except Exception as error:
            self.screen.post_message(StepSendEnd(None, in_words(error)))

    def _fail(self, why: str) -> None:
        self.screen.post_message(StepSendEnd(None, why))

    # The end of a send.

    def finish(self, message: StepSendEnd) -> None:
        """Save the exchange, judge it, and find the next step."""
        stepper, session = self.stepper, self.screen.session
        self._incoming = self._dispatch = None
        pending = stepper.pending
        if message.exchange is None or pending is None or pending.leaving is None:
            stepper.say(f"not sent: {message.why}")
            self.screen.show_progress()
            self._leave_if_asked()
            return
        exchange, leaving, loop, before = message.exchange, pending.leaving, stepper.loop, self._sent_from
        label, exchanges = stepper.target.contract, stepper.exchanges
        session.branches.commit_response(self._sent_as, exchange, self._take_branch, self._not_kept)

        def job(inspector: Inspector) -> Delivery:
            from workbench.send.loop import with_sent_body

            after = loop.after(with_sent_body(exchange, leaving), protocol=leaving.protocol)
            judgement = stepping.judge_last([*exchanges, exchange], label)
            status = exchange.response.status if exchange.response else None
            names = tuple(call.name or "(no name)" for call in after.calls)
            record = StepRecord(loop, before, pending, None, status, names, judgement, exchange.note)
            return Delivery(lambda: stepper.advance(after, record))

        session.inspecting.do(guard(job, stepper.say))

    def _take_branch(self, node: BranchNode) -> None:
        self.stepper.node = node
        self._leave_if_asked()

    def _not_kept(self, why: str) -> None:
        self.stepper.say(f"not saved: {why}")
        self._leave_if_asked()

    def _leave_if_asked(self) -> None:
        if self.is_leaving and is_open(self.screen):
            self.screen.dismiss(None)
