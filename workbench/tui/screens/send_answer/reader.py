"""Reader of the answer screen: decodes the response while it arrives, and judges the complete one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from workbench.tui.dispatch import IncomingResponse, ResponseGrew, is_open
from workbench.tui.models import send_answer
from workbench.tui.models.send_answer import ResponseComparison
from workbench.tui.service import JobAnswer, guard

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.tui.screens.send_answer.screen import AnswerScreen
    from workbench.wire import Exchange

REPAINT_SECONDS = 0.1
"""Seconds between two reads of an arriving response at least."""

REST, REST_SECONDS = 4, 2.0
"""Pause after a read, as a multiple of its duration, and its maximum: a long response takes a fifth of the time."""


class AnswerReader:
    """Reads the response of an answer screen in the inspector's thread, and compares it with the recorded one."""

    def __init__(self, screen: AnswerScreen) -> None:
        self.screen = screen
        self._is_reading = self._has_more = False

    def read(self) -> None:
        """Read the response so far, unless a read is in progress."""
        sender = self.screen.sender
        if self._is_reading:
            self._has_more = True
        elif not self.screen.is_over and sender.incoming:
            self._is_reading, self._has_more = True, False
            self._read(sender.incoming, sender.number)

    def _read(self, incoming: IncomingResponse, number: int) -> None:
        screen = self.screen
        index, protocol = screen.node.index, screen.sent.outgoing.protocol or None
        known = screen.shown.after if screen.shown else screen.sent.trial.decoded

        def job(inspector: Inspector) -> JobAnswer:
            from workbench.protocols import DecodedExchange

            began = time.thread_time()
            before = inspector.detail(index).decoded
            comparison = send_answer.compare_responses(
                before, DecodedExchange(index, incoming.exchange(), protocol, known)
            )
            rest = REST * (time.thread_time() - began)
            return JobAnswer(
                lambda: self._show_growth(number, comparison, max(REPAINT_SECONDS, min(rest, REST_SECONDS)))
            )

        screen.session.inspecting.do(guard(job, lambda why: self._show_growth(number, None, REST_SECONDS)))

    def _show_growth(self, number: int, comparison: ResponseComparison | None, rest: float) -> None:
        screen = self.screen
        self._is_reading = False
        if not is_open(screen) or number != screen.sender.number or screen.is_over:
            return
        screen.shown = comparison or screen.shown
        screen.show()
        if self._has_more:
            screen.set_timer(rest, lambda: screen.on_response_grew(ResponseGrew()))

    def judge(self, exchange: Exchange) -> None:
        """Judge the complete exchange."""
        screen = self.screen
        index, sent = screen.node.index, screen.sent

        def job(inspector: Inspector) -> JobAnswer:
            from workbench.send import judge_exchange

            before = inspector.detail(index).decoded
            trial = judge_exchange(inspector, index, sent.outgoing, exchange)
            comparison = send_answer.compare_responses(before, trial.decoded, trial)
            return JobAnswer(lambda: self._show_judgement(comparison))

        screen.show()
        screen.session.inspecting.do(guard(job, screen.sender.fail))

    def _show_judgement(self, comparison: ResponseComparison) -> None:
        if is_open(self.screen):
            self.screen.shown = comparison
            self.screen.show()
