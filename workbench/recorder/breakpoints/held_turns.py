"""The turns of a WebSocket whose messages may be held: which turn a message belongs to, and where a call begins."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.protocols import SocketTurns
from workbench.recorder.breakpoints.held_response import FirstToolCall
from workbench.recorder.capture.socket_state import SocketState
from workbench.wire import Exchange, Frame, HttpResponse


class HeldTurns:
    """The turns of one connection; they are numbered from one.

    Args:
        connection: its handshake.
        protocol: that its URL belongs to; empty if unknown.
        state: what is known of it if it was open before; None if it begins.
    """

    def __init__(self, connection: Exchange, protocol: str, state: SocketState | None) -> None:
        self._turns = SocketTurns(connection)
        self._protocol = protocol
        self._earlier = state.turn - 1 if state else 0  # turns that were over
        self._frames = 0  # of the turns that are known
        self._last_judged = 0
        self._firsts: dict[int, FirstToolCall] = {}
        for frame in state.frames if state else ():
            self.add(frame)
        self._before = state.passed - self._frames if state else 0

    @property
    def messages(self) -> int:
        """Number of messages since the connection began."""
        return self._before + self._frames

    def add(self, frame: Frame) -> int:
        """Take the next message; returns the number of its turn, 0 for none."""
        self._turns.add(frame)
        self._frames += 1
        number = self._turns.number_of(self._frames - 1)
        return number + self._earlier if number else 0

    def is_complete(self, number: int) -> bool:
        """True once the response of a turn could end here."""
        return self._turns.is_complete(number - self._earlier)

    def response(self, number: int) -> HttpResponse:
        """The response of a turn so far, as over HTTP."""
        answer = self._turns.exchange(number - self._earlier).response
        assert answer
        return answer

    def is_new_request(self, number: int) -> bool:
        """True the first time for the request of a turn."""
        is_new, self._last_judged = number > self._last_judged, max(number, self._last_judged)
        return is_new

    def skip_requests(self) -> None:
        """All requests so far have left."""
        self._last_judged = len(self._turns) + self._earlier

    def has_first_call(self, number: int, messages: Iterable[bytes]) -> bool:
        """The messages begin the first tool call of the response of a turn, which is not complete with them."""
        if not self._protocol:
            return False
        first = self._firsts.get(number)
        if first is None:
            first = self._firsts[number] = FirstToolCall(self._protocol, "text/event-stream", "")
        if first.is_found:
            return False
        for data in messages:
            first.feed(b"data: " + data.replace(b"\n", b" ") + b"\n\n")
        return self._firsts[number].is_found and not self.is_complete(number)

    def take_call(self, number: int) -> bool:
        """True once for a response that has a call."""
        first = self._firsts.pop(number, None)
        return first is not None and first.is_found
