"""The pauses of one exchange: whether it is paused, for how long it was, and what its note says of that."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from workbench.ir import JsonValue
from workbench.recorder.breakpoints.gate import BreakpointGate, PausedExchange
from workbench.recorder.events import RequestHead

Reasons = tuple[Mapping[str, JsonValue], ...]


class PauseTracker:
    """Starts and ends the pauses of one exchange, and keeps notes of them.

    Args:
        exchange: what waits.
        key, head: of the request.

    Attributes:
        notes: sentences for the note of the exchange.
        active_at: when the client last sent or received something, by the loop's clock.
    """

    def __init__(self, gate: BreakpointGate, exchange: PausedExchange, key: int, head: RequestHead) -> None:
        self.notes: list[str] = []
        self._gate, self._exchange, self._key, self._head = gate, exchange, key, head
        self._loop = asyncio.get_running_loop()
        self._number, self._since, self._kinds = 0, 0.0, ""
        self.note_activity()

    def note_activity(self) -> None:
        """Remember that the client sent or received something now."""
        self.active_at = self._loop.time()

    async def evaluate(self, side: str, **words: JsonValue) -> tuple[Reasons, str]:
        """Reasons to pause, and why it could not be judged. Whatever goes wrong, traffic continues."""
        try:
            return await self._gate.judge(self._key, side, **words)
        except Exception as error:
            return (), f"{type(error).__name__}: {error}"

    def report_unjudged(self, why: str) -> None:
        """Note and report that the exchange continues without having been judged."""
        self.notes.append(f"not checked at a breakpoint: {why}")
        self._gate.report_unjudged(self._key, why)

    def begin(self, side: str, reasons: Reasons, *, has_head: bool) -> None:
        """Begin a pause; ``has_head``: the client has the head of its response."""
        self._since = self._loop.time()
        self._kinds = ", ".join(dict.fromkeys(reason["kind"] for reason in reasons))
        quiet = self._since - self.active_at
        self._number = self._gate.pause(
            self._exchange, self._key, self._head, side, reasons, quiet=quiet, has_head=has_head
        )

    def end(self, how: str) -> None:
        """End the pause, if there is one."""
        number, self._number = self._number, 0
        if number:
            seconds = self._loop.time() - self._since
            self.notes.append(f"paused at a breakpoint ({self._kinds}) for {seconds:.1f} s: {how}")
            self._gate.end_pause(number, how)
