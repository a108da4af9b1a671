"""Find the protocol of an exchange: by its kind, its URL, its bodies, or the events of its stream."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice

from workbench import protocols
from workbench.errors import WireError
from workbench.fronts import late
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.protocols import Adapter
from workbench.protocols._claim_keys import that_may_claim
from workbench.protocols.common import undecoded_protocols
from workbench.wire import (
    GRPC,
    TURNS,
    BodyText,
    Exchange,
    ExchangeKind,
    SseEvent,
    loads,
    seen_frames,
    without_repeated_prefix,
)

(is_error_alone,) = late("workbench.protocols._misread", "is_error_alone")

ERROR_ALONE = "the body contains only an error"
"""Reason shown for an error body that shows no protocol."""
BESIDE = "not a model exchange: its URL belongs to another operation"
TOOL_SIDE = "not a model exchange: an MCP connection or a request on it"
TEXT = "text"
"""Name of the protocol for plain text of a model: the body is the response, and its only leaf."""

WITHOUT_BODY = ("GET", "DELETE", "HEAD", "OPTIONS")
"""HTTP methods of requests that ask no model."""

_LIKELY = 0.2
"""Minimum claim on a body with which a requested protocol is chosen, even if another one has a higher claim."""
_SURE = 0.9
"""Claim on a body at which a protocol that is recognised but not decoded has to stand back."""
_IN_ENVELOPE = 0.5
"""Minimum claim on a response inside an envelope."""
_MOST_AROUND = 12
"""Members of an envelope that may contain a response without a request."""
_FIRST_EVENTS = 8
"""Events of a stream, or messages of a connection, that are looked at."""


class SidesToDetect(NamedTuple):
    """The content-decoded body of the request, that of the response, and the events that it consists of."""

    request: BodyText
    response: bytes
    events: Sequence[SseEvent]


class DetectedProtocol(NamedTuple):
    """Name of a protocol; None if the exchange is none with a model. ``how`` it was found, in words."""

    protocol: str | None
    how: str


def detect_protocol(
    exchange: Exchange, sides: SidesToDetect, wanted: str | None, among: Collection[str]
) -> DetectedProtocol:
    """The protocol of an exchange.

    Args:
        wanted: the protocol that the caller asks for; None to detect it.
        among: protocols to choose from, unless URL or body clearly belong to another one; empty for all.
    """
    if exchange.kind is ExchangeKind.MCP:
        return DetectedProtocol(None, TOOL_SIDE)
    if wanted:
        return DetectedProtocol(wanted, "as requested")
    if TURNS in exchange.meta:
        return DetectedProtocol(
            None, "a WebSocket connection; its requests and responses are the exchanges that follow"
        )
    if exchange.kind is ExchangeKind.WEBSOCKET:
        return DetectedProtocol(_name_connection(exchange), "a WebSocket connection")
    if GRPC in exchange.meta:
        return DetectedProtocol(undecoded_protocols.name_trees(exchange.meta[GRPC]), "a gRPC call")
    return _by_url(exchange, sides) or _by_body(exchange, sides, among)


def _name_connection(exchange: Exchange) -> str | None:
    named = undecoded_protocols.name_url(exchange.request.url) if exchange.request else None
    if named:
        return named
    return protocols.protocol_of_messages(frame.value for frame in islice(seen_frames(exchange), _FIRST_EVENTS))


def _by_url(exchange: Exchange, sides: SidesToDetect) -> DetectedProtocol | None:
    request = exchange.request
    if request is None or not request.url:
        return None
    if undecoded_protocols.is_beside(request.url):
        is_error = is_error_alone(_peek(sides.response))
        return DetectedProtocol(None, ERROR_ALONE if is_error else BESIDE)
    if request.method in WITHOUT_BODY:  # GET of the same URL lists what is stored
        return None
    owner = next((adapter for adapter in protocols.every() if adapter.claims_url(request.url)), None)
    return _at_shared_url(owner, sides) if owner else None


def _at_shared_url(adapter: Adapter, sides: SidesToDetect) -> DetectedProtocol:
    """A protocol by its URL; where several share the URL, by the body there."""
    if not adapter.shares_urls:
        return DetectedProtocol(adapter.name, "from the URL")
    first = next((_peek(event.data) for event in sides.events if event.data), None)
    found = adapter.protocol_of(_peek(sides.request.whole()), first if sides.events else _peek(sides.response))
    return DetectedProtocol(found, "from the URL" if found == adapter.name else "from the URL and body")


def _by_body(exchange: Exchange, sides: SidesToDetect, among: Collection[str]) -> DetectedProtocol:
    request, response = _peek(sides.request.whole()), None if sides.events else _peek(sides.response)
    first = [
        (event.name, _peek(without_repeated_prefix(event.data)))
        for event in sides.events[:_FIRST_EVENTS]
        if event.data is not None
    ]
    named = undecoded_protocols.name_url(exchange.request.url) if exchange.request and exchange.request.url else ""
    if named:
        return DetectedProtocol(named, "from the URL")
    score, found = _best_claim(request, response, first, among)
    others = (undecoded_protocols.name_value(value) for value in (request, response, *(v for _, v in first)))
    other = next(filter(None, others), "") if score < _SURE else ""
    if other:
        return DetectedProtocol(other, "from the body")
    failed = next((value for _, value in first if is_error_alone(value)), response)
    return found if score > 0 else _without_claim(exchange, sides, failed if sides.events else response)


def _best_claim(
    request: JsonValue, response: JsonValue, first: Sequence[tuple[str | None, JsonValue]], among: Collection[str]
) -> tuple[float, DetectedProtocol]:
    """The highest claim of a protocol on the bodies, or on (name, value) of the first events; 0.0 without a claim."""
    claims: list[tuple[float, DetectedProtocol]] = []
    for adapter in protocols.every() if first else that_may_claim(request, response):
        if request is not None:
            found = DetectedProtocol(adapter.name, "from the request body")
            claims.append((adapter.claims_request(request), found))
        if response is not None:
            found = DetectedProtocol(adapter.name, "from the response body")
            claims.append((adapter.claims_response(response), found))
        if first:
            found = DetectedProtocol(adapter.name, "from the stream")
            claims.append((max(adapter.claims_event(name, value) for name, value in first), found))
    likely = [claim for claim in claims if claim[1].protocol in among and claim[0] >= _LIKELY]
    return max(likely or claims, key=lambda claim: claim[0], default=(0.0, DetectedProtocol(None, "")))


def _without_claim(exchange: Exchange, sides: SidesToDetect, response: JsonValue) -> DetectedProtocol:
    """The kind of an exchange whose bodies no protocol claims: text, an envelope, an error, or no model exchange."""
    if _is_text_alone(exchange, sides):
        return DetectedProtocol(TEXT, "plain text")
    enveloped = _protocol_in_envelope(exchange, response)
    if enveloped:
        return DetectedProtocol(enveloped, "from the response body, inside a wrapper object")
    if is_error_alone(response):
        return DetectedProtocol(None, ERROR_ALONE)
    return DetectedProtocol(None, "not a model exchange: no protocol matches its URL or body")


def _is_text_alone(exchange: Exchange, sides: SidesToDetect) -> bool:
    http = exchange.response
    kind = (http and http.headers.get("content-type")) or ""
    return exchange.request is None and kind.startswith("text/plain") and not sides.events


def _protocol_in_envelope(exchange: Exchange, response: JsonValue) -> str | None:
    """The protocol of a response inside an envelope of a gateway."""
    if exchange.request or not isinstance(response, dict) or len(response) > _MOST_AROUND:
        return None
    claimants = (
        a.name for a in protocols.every() if any(a.claims_response(v) >= _IN_ENVELOPE for v in response.values())
    )
    return next(claimants, None)


def _peek(data: bytes | None) -> JsonValue:
    try:
        return loads(data) if data else None
    except WireError:
        return None
