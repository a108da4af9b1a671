"""Sender of the answer screen: sends the request in a thread, and saves the exchange as a branch."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from workbench.tui.dispatch import Dispatch, IncomingResponse, ResponseGrew, SendEnd, is_open, known_to
from workbench.tui.service import JobAnswer, guard, in_words

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.rules import Inspector
    from workbench.send import Event
    from workbench.tui.screens.send_answer.screen import AnswerScreen
    from workbench.wire import Exchange
    from workbench.wire.session import Session


class AnswerSender:
    """Sends the request of an answer screen once, or again.

    Attributes:
        incoming: response of the current send; None before the first one.
        number: number of the current send; reports of earlier ones are dropped.
        is_leaving: the screen closes once the exchange is saved.
    """

    def __init__(self, screen: AnswerScreen) -> None:
        self.screen = screen
        self.incoming: IncomingResponse | None = None
        self.number = 0
        self.is_leaving = False
        self._dispatch: Dispatch[Exchange] | None = None

    def send(self) -> None:
        """Send the request."""
        screen, node = self.screen, self.screen.node
        self.number += 1
        self.incoming = IncomingResponse(screen.sent.outgoing, time.time())
        screen.clear()
        screen.session.branches.ask(lambda workspace: workspace.as_branch_session(node), self._know, self.fail)

    def _know(self, session: Session) -> None:
        """Find the session that simulators know, then start."""
        index = self.screen.node.index

        def job(inspector: Inspector) -> JobAnswer:
            known = known_to(inspector, session, index)
            return JobAnswer(lambda: self._begin(known))

        self.screen.session.inspecting.do(guard(job, self.fail))

    def _begin(self, session: Session) -> None:
        screen, incoming = self.screen, self.incoming
        outgoing, parent = screen.sent.outgoing, screen.node.id
        if not is_open(screen) or incoming is None:
            return

        def on_event(event: Event) -> None:
            incoming.add(event)
            screen.post_message(ResponseGrew())

        dispatch = Dispatch(session, lambda sender: sender.send(outgoing, on_event, parent=parent))
        if self.is_leaving:
            dispatch.cancel()
        self._dispatch = dispatch
        run = partial(self._run, self.number, dispatch, incoming)
        screen.run_worker(run, thread=True, group="send", exit_on_error=False)

    def _run(self, number: int, dispatch: Dispatch[Exchange], incoming: IncomingResponse) -> None:
        try:
            exchange = dispatch.run() or incoming.aborted_exchange()
        except Exception as error:
            self.screen.post_message(SendEnd(number, None, in_words(error)))
        else:
            self.screen.post_message(SendEnd(number, exchange))

    def fail(self, why: str) -> None:
        """End the current send with an error."""
        self.screen.post_message(SendEnd(self.number, None, why))

    def cancel(self) -> None:
        """Cancel the current send; the exchange so far is saved."""
        if self._dispatch:
            self._dispatch.cancel()

    # The end of a send.

    def finish(self, message: SendEnd) -> None:
        """Save the exchange and have it judged, or show the error."""
        screen = self.screen
        if message.number != self.number:
            return
        if message.exchange is None:
            screen.why = message.why
            screen.show()
            self._leave_if_asked()
            return
        screen.session.branches.commit_response(screen.node, message.exchange, self._keep, self._not_kept)
        screen.reader.judge(message.exchange)

    def _keep(self, node: BranchNode) -> None:
        """Note the branch of the exchange, even if the screen closes."""
        self.screen.recorded = node
        self._leave_if_asked()

    def _leave_if_asked(self) -> None:
        if self.is_leaving and self.screen.is_active:
            self.screen.dismiss(False)

    def _not_kept(self, why: str) -> None:
        """Show that the exchange could not be saved, and keep the screen open."""
        self.is_leaving = False
        self.screen.show_error(f"not saved: {why}")
