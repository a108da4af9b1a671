"""An exchange: one HTTP request and its response, as received.

Bytes are kept exactly. Header names and values are bytes of the wire read as Latin-1, which loses nothing.
Times are seconds: ``started_at`` since the epoch (UTC), chunk times since the exchange began.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from workbench import regex
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.wire.body_text import BodyText, WholeText


class State(StrEnum):
    """Completeness of an exchange."""

    OPEN = "open"  # still arriving: the process that records it is at it
    COMPLETE = "complete"
    ABORTED = "aborted"  # one side closed the connection before the response was complete
    INCOMPLETE = "incomplete"  # the recording stops here (crash, truncated file, missing side)


RELAY_HEADER = "X-Workbench-Relay"
"""Header of every response that is the relay's own; its value is ``refused`` or ``failed``."""

CLIENT_LEFT = "the client disconnected"
"""Note of an aborted exchange that the client did not wait for."""

_CLIENT_GONE = regex.compile(r"client (?:hung up|disconnected)|ERR_ABORTED|BINDING_ABORTED", re.IGNORECASE)
"""Texts by which recorders, proxies and browsers note that the client ended an exchange."""


CONNECTION: Final = "connection"
"""Key of ``Exchange.meta`` of an exchange in a connection: the id of the connection."""


class ExchangeKind(StrEnum):
    """Transport of an exchange."""

    HTTP = "http"
    WEBSOCKET = "websocket"
    MCP = "mcp"  # a connection to a tool server, or a request in it


class Origin(StrEnum):
    """Way by which an exchange came into its session."""

    RECORDED = "recorded"
    IMPORTED = "imported"
    PASTED = "pasted"  # taken out of a text (a command, a log, an issue report): no recorder vouches for it
    RECONSTRUCTED = "reconstructed"  # built from a client's transcript: there was no wire to see
    RESENT = "re-sent"
    EDITED = "edited"  # its request was changed: nobody has sent it
    PROBE = "probe"


class Chunk(NamedTuple):
    """A piece of a body as it arrived: it ends at byte ``end`` of the raw body, ``at`` seconds after the start."""

    end: int
    at: float


class Redaction(NamedTuple):
    """A secret that was replaced before it was written to disk.

    Attributes:
        where: ``"url"``, ``"header:NAME"``, ``"reason"``, ``"body"``, on its side.
        start, end: byte range of the stand-in there (of the value, for headers).
        kind: ``"bearer"``, ``"api-key"``, ``"cookie"`` …
    """

    where: str
    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Headers:
    """Headers in wire order, duplicates and case kept."""

    items: tuple[tuple[str, str], ...] = ()

    def get(self, name: str, default: str | None = None) -> str | None:
        """The first value of a header, case-insensitively."""
        wanted = name.lower()
        for key, value in self.items:
            if key.lower() == wanted:
                return value
        return default

    def all(self, name: str) -> tuple[str, ...]:
        """Every value of a header, in order."""
        wanted = name.lower()
        return tuple([v for n, v in self.items if n.lower() == wanted])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class _JoinedOnDemand:
    """Holds the pieces of a stored body; they are joined on first use."""

    __slots__ = ("_pieces",)
    _pieces: BodyText

    if not TYPE_CHECKING:  # else the type checker takes every misspelt attribute for bytes

        def __getattr__(self, name: str) -> bytes:
            if name != "raw":  # the only attribute that may be unset
                raise AttributeError(name)
            whole = self._pieces.whole()
            object.__setattr__(self, name, whole)
            return whole


@dataclass(frozen=True, slots=True)
class Body(_JoinedOnDemand):
    """Bytes of one side.

    Attributes:
        raw: as received, still content-encoded; decoded and redacted if ``is_raw`` is False.
        is_raw: False if the original bytes were not kept (a compressed body with a secret, or a recorder that stored a
            parsed form); ``note`` gives the reason.
        encoding: Content-Encoding of ``raw``, empty for identity.
        chunks: arrival of each piece, empty if the recording has no times.
        original_length, original_digest: of the wire bytes if they differ from ``raw`` (SHA-256, hex).
    """

    raw: bytes = b""
    encoding: str = ""
    chunks: tuple[Chunk, ...] = ()
    is_raw: bool = True
    note: str = ""
    original_length: int | None = None
    original_digest: str | None = None

    @property
    def text(self) -> BodyText:
        """The bytes as received; in the pieces of its file where it comes from one."""
        return getattr(self, "_pieces", None) or WholeText(self.raw)


def body_of(
    text: BodyText,
    encoding: str,
    chunks: tuple[Chunk, ...],
    is_raw: bool,
    note: str,
    original_length: int | None,
    original_digest: str | None,
) -> Body:
    """A body whose bytes are joined only if needed."""
    body = Body(b"", encoding, chunks, is_raw, note, original_length, original_digest)
    object.__setattr__(body, "_pieces", text)
    object.__delattr__(body, "raw")
    return body


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request. ``url`` is absolute, or a path if the host is unknown."""

    method: str = "POST"
    url: str = ""
    headers: Headers = Headers()
    body: Body = Body()
    http_version: str = ""
    redactions: tuple[Redaction, ...] = ()


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One response. ``status`` is 0 if it was not recorded."""

    status: int = 200
    headers: Headers = Headers()
    body: Body = Body()
    reason: str = ""
    http_version: str = ""
    redactions: tuple[Redaction, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """One WebSocket message: ``opcode`` is ``"text"``, ``"binary"``, ``"ping"``, ``"pong"`` or ``"close"``.

    Of a tool server a line: ``"text"``, or ``"stderr"`` of its standard error.
    """

    direction: str  # "sent" or "received", seen from the client
    opcode: str
    data: bytes
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One HTTP request and its response, or one WebSocket connection.

    Attributes:
        id: unique in its session, stable under conversion between file forms.
        request, response: None if the side was not recorded (``state`` is then incomplete, or ``note`` gives the
            reason).
        started_at: seconds since the epoch; None if unknown.
        duration: seconds from start to last byte; None if unknown.
        hop: name of the hop it was recorded at, empty if there is only one.
        parent: id of the exchange that this one re-sends or edits.
        branch: name of its branch, empty for the trunk.
        note: remark of an importer or recorder.
        meta: further data of the importer, verbatim.
        damage: parts that could not be read from its file, one line each; not stored.
    """

    id: str
    request: HttpRequest | None = None
    response: HttpResponse | None = None
    state: State = State.COMPLETE
    kind: ExchangeKind = ExchangeKind.HTTP
    origin: Origin = Origin.IMPORTED
    started_at: float | None = None
    duration: float | None = None
    hop: str = ""
    parent: str | None = None
    branch: str = ""
    client: str = ""
    note: str = ""
    frames: tuple[Frame, ...] = ()
    meta: Mapping[str, JsonValue] = field(default=NOTHING)
    damage: tuple[str, ...] = ()

    @property
    def is_transcript(self) -> bool:
        """Rebuilt from what a client wrote down. A turn of a WebSocket was sent, if not as one request."""
        return self.origin is Origin.RECONSTRUCTED and CONNECTION not in self.meta

    @property
    def is_left(self) -> bool:
        """True if the client ended it before the response was complete."""
        return self.state is State.ABORTED and bool(_CLIENT_GONE.search(self.note))


@dataclass(frozen=True, slots=True)
class Summary:
    """List data of an exchange, without its bodies.

    Attributes:
        index: position in the session, from zero.
        request_bytes, response_bytes: lengths of the raw bodies.
    """

    index: int
    id: str
    method: str
    url: str
    status: int | None
    state: State
    kind: ExchangeKind
    origin: Origin
    request_bytes: int
    response_bytes: int
    started_at: float | None = None
    duration: float | None = None
    hop: str = ""
    parent: str | None = None
    branch: str = ""
    model: str | None = None
    content_type: str = ""
    note: str = ""


def summarize(index: int, exchange: Exchange, model: str | None = None) -> Summary:
    """The list row of an exchange."""
    request, response = exchange.request, exchange.response
    return Summary(
        index=index,
        id=exchange.id,
        method=request.method if request else "",
        url=request.url if request else "",
        status=(response.status or None) if response else None,
        state=exchange.state,
        kind=exchange.kind,
        origin=exchange.origin,
        request_bytes=request.body.text.size if request else 0,
        response_bytes=response.body.text.size if response else 0,
        started_at=exchange.started_at,
        duration=exchange.duration,
        hop=exchange.hop,
        parent=exchange.parent,
        branch=exchange.branch,
        model=model,
        content_type=(response.headers.get("content-type") or "") if response else "",
        note=exchange.note,
    )
