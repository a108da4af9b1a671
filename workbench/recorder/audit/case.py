"""Cases of an audit: each is one request, the response it gets, and what the pair shows."""

from __future__ import annotations

from enum import Enum, StrEnum

from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST, RESPONSE

Pairs = tuple[tuple[str, str], ...]
"""Headers: names and values, in order."""


class Theme(StrEnum):
    """Themes of cases: the rows of a score card."""

    FIELDS = "fields"
    SPELLING = "spelling"
    TEXTS = "texts"
    IDS = "ids and signatures"
    HEADERS = "headers"
    PATH = "path and method"
    SIZE = "size and encoding"
    FIELDS_BACK = "fields of responses"
    EVENTS = "events"
    BUFFERING = "buffering"
    ERRORS = "errors"
    HEADERS_BACK = "headers of responses"
    BREAKS = "broken connections"
    CODING = "size and encoding of responses"

    @property
    def side(self) -> str:
        """The direction: "request" or "response"."""
        return RESPONSE if self in _OF_ANSWERS else REQUEST


_OF_ANSWERS = frozenset(list(Theme)[list(Theme).index(Theme.FIELDS_BACK) :])


class ResponseFraming(Enum):
    """Framing by which the end of a response is known."""

    LENGTH = "Content-Length"
    CHUNKED = "chunked"
    CLOSE = "the end of the connection"


class ResponseEnd(Enum):
    """Ways in which the audit's upstream ends a response."""

    WHOLE = "whole"
    CUT = "closed before its end"
    LEFT = "left open until the client disconnects"


@dataclass(frozen=True, slots=True)
class CaseResponse:
    """The response of the audit's upstream.

    Attributes:
        pieces: of the body. Of a chunked answer each is a chunk of its own, which follows when the client has something
            of the one before.
        in_events: each piece holds whole events: it may be waited for.
    """

    pieces: tuple[bytes, ...] = ()
    status: int = 200
    headers: Pairs = (("Content-Type", "application/json"),)
    framing: ResponseFraming = ResponseFraming.LENGTH
    end: ResponseEnd = ResponseEnd.WHOLE
    in_events: bool = True


@dataclass(frozen=True, slots=True)
class CaseRequest:
    """The request of the audit's client.

    Attributes:
        path: below the gateway's base URL, with the query.
        body: None if it has none.
        headers: in addition to those of every request.
    """

    path: str
    body: bytes | None = None
    headers: Pairs = ()
    method: str = "POST"


@dataclass(frozen=True, slots=True)
class AuditCase:
    """One request and its response, both legal.

    Attributes:
        name: unique among those of a protocol; it is in the request too, so that the audit's upstream recognises it.
        shows: what becomes visible, in words: "numbers keep their exact form".
        why: what damage here breaks.
        rule: slug of the rule that explains more; empty if none.
        is_convertible: it can be judged if the gateway uses another protocol upstream.
        hangs_up: the client disconnects after the first piece of the response.
    """

    name: str
    theme: Theme
    shows: str
    request: CaseRequest
    response: CaseResponse
    why: str = ""
    rule: str = ""
    is_convertible: bool = False
    hangs_up: bool = False

    @property
    def streams(self) -> bool:
        """The response is a stream."""
        return self.response.framing is ResponseFraming.CHUNKED


def mark(name: str) -> str:
    """The words in a request by which the audit's upstream recognises it."""
    return f"audit:{name}:"
