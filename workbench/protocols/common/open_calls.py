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
        self._facts: list[SocketFact] = []

    def add(self, call: str, tool: str, number: int, at: float) -> None:
        """Note a call that is complete, in a message."""
        self._calls.setdefault(call, _OpenCall(tool, number, at))

    def close(self, calls: Iterable[str]) -> None:
        """Note calls that have a result, or need none any more."""
        for call in calls:
            self._calls.pop(call, None)

    def answer(self, calls: Iterable[str], number: int, at: float, quiet: float) -> None:
        """Note results in a message: those that came late while the client sent no sound left the user alone.

        Args:
            quiet: seconds since the client sent anything else; 0 where it sends no sound at all.
        """
        names = [*calls]
        for name in names:
            call = self._calls.get(name)
            if call and min(at - call.at, quiet) >= _LONG:
                text = (
                    f"the result of tool call {name!r:.80} ({call.tool:.80}) came {at - call.at:.0f} s after the call,"
                )
                text += " and the client sent no sound meanwhile: a tool that blocks it leaves the user in silence"
                self._facts.append(SocketFact("socket.unanswered-call", text, (call.number, number), is_harmless=True))
        self.close(names)

    def facts(self, at: float, named: Collection[str | None]) -> Iterator[SocketFact]:
        """Calls whose result came late, or did not come until the end (langwatch scenario issue 646).

        Args:
            at: time of the newest message, or of the end of the connection.
            named: calls that other facts name.
        """
        yield from self._facts
        for name, call in self._calls.items():
            if at - call.at >= _LONG and name not in named:
                text = f"no result of tool call {name!r:.80} ({call.tool:.80}, message {call.number + 1}) was sent in"
                text += f" {at - call.at:.0f} s, and then the connection ended"
                yield SocketFact("socket.unanswered-call", text, (call.number,), is_harmless=True, is_of_end=True)
