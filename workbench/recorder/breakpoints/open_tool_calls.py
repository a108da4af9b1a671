"""Tool calls that were sent with a POST, by the stream on which their responses may come."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.ir import JsonValue
from workbench.recorder.breakpoints.intercepted_events import ClientExchange
from workbench.recorder.events import RequestHead
from workbench.wire import loads, urls

if TYPE_CHECKING:
    from workbench.recorder.breakpoints.held_stream import HeldStream

_SESSION = "mcp-session-id"
_MOST_CALLS = 1024
"""Calls of one address that are remembered; those with a response of their own are never asked for."""


class PostedCall(NamedTuple):
    """A ``tools/call`` that was sent with a POST, until its response comes."""

    exchange: ClientExchange
    exchange_id: str


class OpenToolCalls:
    """The tool calls under way at one recorder, and the streams on which their responses may come."""

    def __init__(self) -> None:
        self._calls: dict[str, dict[str, PostedCall]] = {}
        self._streams: dict[str, HeldStream] = {}

    def add(self, message: bytes, call: PostedCall) -> None:
        """Remember the call of a POST; a batch is answered where it was sent."""
        value = loads(message)
        id_ = repr(value["id"]) if isinstance(value, dict) else ""
        for address in _addresses(call.exchange.head):
            calls = self._calls.setdefault(address, {})
            calls[id_] = call
            if len(calls) > _MOST_CALLS:
                del calls[next(iter(calls))]

    def take(self, addresses: frozenset[str], id_: JsonValue) -> PostedCall | None:
        """The call with this id that was sent to one of these addresses."""
        found = [self._calls.get(address, {}).pop(repr(id_), None) for address in addresses]
        return next((call for call in found if call), None)

    def open(self, address: str, stream: HeldStream) -> None:
        """A stream carries the responses to what is sent to an address."""
        self._streams[address] = stream

    def upstream_of(self, target: str) -> str:
        """Name of the upstream whose stream has named this path for the client's messages; empty if none has.

        Servers name it without the prefix that one of several upstreams has at the recorder.
        """
        stream = self._streams.get(path_of(target))
        return stream.upstream if stream else ""

    def close(self, stream: HeldStream) -> None:
        """A stream is over, and so are the calls that wait for it."""
        for address in [address for address, other in self._streams.items() if other is stream]:
            del self._streams[address]
            self._calls.pop(address, None)

    def stream_of(self, head: RequestHead) -> HeldStream | None:
        """The stream on which the client expects the response to a POST; None if that has its own."""
        return self._streams.get(path_of(head.url))


def _addresses(head: RequestHead) -> frozenset[str]:
    """By what a POST and the stream with its response name each other: the path, or the session."""
    return frozenset((path_of(head.url), session_of(head)))


def path_of(url: str) -> str:
    """Path and query of a URL, which may have no host."""
    parts = urls.split_url(url)
    return f"{parts.path}?{parts.query}"


def session_of(head: RequestHead) -> str:
    """What requests of one session have in common; empty without one."""
    session = head.headers.get(_SESSION)
    return f"{_SESSION} {session}" if session else ""
