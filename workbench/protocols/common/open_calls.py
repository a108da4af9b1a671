"""Calls whose results a client has not sent: where the connection ends, nothing else shows that they are missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from workbench.named_tuple import NamedTuple
from workbench.protocols.common.socket_facts import SocketFact

_LONG = 20.0
"""Seconds without a result: a client that ends the connection as the call says does it sooner."""


class _OpenCall(NamedTuple):
    tool: str
    number: int
    at: float


class OpenCalls:
    """The calls of one connection that wait for a result."""

    def __init__(self) -> None:
        self._calls: dict[str, _OpenCall] = {}

    def add(self, call: str, tool: str, number: int, at: float) -> None:
        """Note a call that is complete, in a message."""
        self._calls.setdefault(call, _OpenCall(tool, number, at))

    def close(self, calls: Iterable[str]) -> None:
        """Note calls that have a result, or need none any more."""
        for call in calls:
            self._calls.pop(call, None)

    def facts(self, at: float, named: Collection[str | None]) -> Iterator[SocketFact]:
        """Calls without a result long after they were made (langwatch scenario issue 646).

        Args:
            at: time of the newest message, or of the end of the connection.
            named: calls that other facts name.
        """
        for name, call in self._calls.items():
            if at - call.at >= _LONG and name not in named:
                text = f"no result of tool call {name!r:.80} ({call.tool:.80}, message {call.number + 1}) was sent in"
                text += f" {at - call.at:.0f} s, and then the connection ended"
                yield SocketFact("socket.unanswered-call", text, (call.number,), is_harmless=True, is_of_end=True)
