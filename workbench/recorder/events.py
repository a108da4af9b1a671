"""What the relay tells whoever records: called in the relay's loop while bytes are on their way, so it may not wait.

Times are seconds of a monotonic clock; ``at`` of one exchange are compared with one another, never with a calendar.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from workbench.ir import NOTHING
from workbench.wire.digests import Passed
from workbench.wire.exchange import Headers, State


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The request line and headers, as they were received from the client.

    Attributes:
        target: as it stood in the request line ("/v1/messages?beta=true").
        url: absolute, at the upstream: where it was forwarded to.
        hop: name of the place, "" for that of the whole recording.
        parent: key of the exchange that this one was made from (an edit, another protocol), 0 for none.
        branch: what was done to it, "" for nothing.
    """

    method: str
    target: str
    url: str
    headers: Headers
    http_version: str
    hop: str = ""
    parent: int = 0
    branch: str = ""


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """The status line and headers, as they were received from the upstream."""

    status: int
    reason: str
    headers: Headers
    http_version: str


class Tap(Protocol):
    """Hears one relay's exchanges. ``key`` names an exchange and is never used again.

    Calls of one exchange come in the order of the methods below, except that an answer may begin before the request is
    whole, which then may never be; ``ended`` always comes, and once. Bodies are without their transfer coding (chunk
    framing), and still in their content coding (gzip …). No method may raise or block.
    """

    def began(self, key: int, upstream: str, request: RequestHead, at: float) -> None:
        """The head of a request is complete. ``upstream`` is the name of the upstream."""
        ...

    def request_bytes(self, key: int, data: bytes, at: float) -> None:
        """A piece of the request body came from the client."""
        ...

    def request_done(self, key: int, at: float) -> None:
        """The request body is whole."""
        ...

    def answered(self, key: int, response: ResponseHead, at: float) -> None:
        """The head of the final response is there (informational 1xx ones are forwarded and not told)."""
        ...

    def response_bytes(self, key: int, data: bytes, at: float) -> None:
        """A piece of the response body came from the upstream."""
        ...

    def ended(self, key: int, state: State, why: str, at: float, passed: Mapping[str, Passed] = NOTHING) -> None:
        """Nothing more comes. ``state`` is COMPLETE or ABORTED; ``why`` says in words who hung up, "" when whole.

        ``passed`` has the digests of what came in and went out, by side: "request" and, once answered, "response".
        """
        ...
