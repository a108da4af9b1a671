"""Requests to a tool server over HTTP: streamable HTTP, and the older HTTP with server-sent events.

A POST carries one message; its answer is JSON, a stream with the response among other messages, or 202 without one. In
the older transport, and where a stream broke, the response comes on a stream that a GET has opened. An exchange keeps
its bytes; only its kind, method and address become those of the message in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols.history import fact
from workbench.protocols.mcp.sign_in import SIGN_INS, sign_in_method
from workbench.protocols.wire_place import WirePlace
from workbench.wire import (
    CONNECTION,
    UPSTREAM,
    BodyText,
    Exchange,
    ExchangeKind,
    HttpRequest,
    JsonIndex,
    SseEvent,
    decode_partial,
    loads,
    read_stream,
    urls,
)

if TYPE_CHECKING:
    from workbench.protocols.decode import DecodedExchange

ASKED_BY = "asked_by"
"""Key of ``Exchange.meta``: ``"client"`` or ``"server"``, whoever sent the request."""

OVER_HTTP = "over_http"
"""Key of ``Exchange.meta``: method and URL of the HTTP request that carried a message to a tool server."""

STREAM, END, BATCH = "stream", "session end", "batch"
"""Methods of what carries no single request: the stream that a GET opens, the end of a session (DELETE), and an array
of messages (revision 2025-03-26)."""

_SESSION = "mcp-session-id"
_HEAD, _TAIL = 64, 192
"""Bytes at either end of a body in which a message says that it is JSON-RPC."""

_ENVELOPE = "jsonrpc"
_MARK = b'"jsonrpc"'

_SIGN_IN_NEEDED = (401, 403)
"""Statuses whose body may be an error of OAuth, which is no message."""


def as_tool_request(exchange: Exchange) -> Exchange:
    """The exchange as a message to a tool server, if it carries one; else as it is."""
    http = exchange.request
    if exchange.kind is not ExchangeKind.HTTP or http is None:
        return exchange
    messages = _messages_of(http) if http.method == "POST" else []
    if messages and not (_has_mark(http) or all(map(_is_of_tool_server, messages))):
        return exchange
    if messages:
        method = messages[0].get("method") if len(messages) == 1 else BATCH
        names = {_object_of(message) for message in messages}
        named = names.pop() if len(names) == 1 else ""
        return _with_name(exchange, http, method if isinstance(method, str) else "response", named)
    if method := sign_in_method(http):
        return _with_name(exchange, http, method, "")
    if http.method in ("GET", "DELETE") and _is_of_session(exchange):
        return _with_name(exchange, http, STREAM if http.method == "GET" else END, "")
    return exchange


def _messages_of(http: HttpRequest) -> list[dict[str, JsonValue]]:
    """The message of a body, or those of a batch; none if it is something else.

    What is neither a request nor a response is a message, too, where the headers say that it goes to a tool server.
    """
    if not _may_be_message(http.body.text):
        return []
    try:
        value = loads(http.body.text.whole())
    except WireError:
        return []
    messages = value if isinstance(value, list) else [value]
    return messages if all(_is_message(each, is_marked=_has_mark(http)) for each in messages) else []


def _is_message(value: JsonValue, *, is_marked: bool) -> bool:
    is_object = isinstance(value, dict) and value.get("jsonrpc") == "2.0"
    return is_object and (is_marked or "method" in value or "result" in value or "error" in value)


def _is_of_tool_server(message: dict[str, JsonValue]) -> bool:
    """The message has no method of another protocol that is JSON-RPC, too.

    Agents talk to each other with ``message/send``, and ask for a task by ``id``, not ``taskId`` (A2A 0.3.0,
    ``TaskQueryParams``).
    """
    from workbench.protocols.mcp.revisions import namespaces  # with their table: few bodies are JSON-RPC

    method, params = message.get("method"), message.get("params")
    if not isinstance(method, str):
        return True
    namespace = method.partition("/")[0]
    is_between_agents = namespace == "tasks" and isinstance(params, dict) and "id" in params and "taskId" not in params
    return namespace in namespaces() and not is_between_agents


def id_of_post(http: HttpRequest) -> JsonValue:
    """Id of the message that a POST carried; None for a batch, and for one without an id."""
    messages = _messages_of(http)
    return messages[0].get("id") if len(messages) == 1 else None


def _may_be_message(text: BodyText) -> bool:
    """A look at both ends: the bodies of models, which are stored in pieces, are not joined for it."""
    head = text.between(0, _HEAD)
    first = head.lstrip() or text.whole().lstrip()
    return first[:1] in (b"{", b"[") and (_MARK in head or _MARK in text.between(max(0, text.size - _TAIL), text.size))


def _object_of(message: dict[str, JsonValue]) -> str:
    params = message.get("params")
    name = (params.get("name") or params.get("uri")) if isinstance(params, dict) else None
    return name if isinstance(name, str) else ""


def _is_of_session(exchange: Exchange) -> bool:
    """A GET that opens a stream of messages, or is refused by one; or a DELETE that ends a session."""
    request, response = exchange.request, exchange.response
    assert request
    if _has_mark(request):
        return True
    body = response.body.raw if response and request.method == "GET" else b""
    is_message = body[:1] == b"{" and _MARK in body[:_TAIL]
    return is_message or body.startswith(b"event: endpoint") or (b"data:" in body[:256] and _MARK in body[:2048])


def _has_mark(request: HttpRequest) -> bool:
    """Its headers say that it goes to a tool server."""
    return bool(request.headers.get(_SESSION) or request.headers.get("mcp-protocol-version"))


def _with_name(exchange: Exchange, http: HttpRequest, method: str, name: str) -> Exchange:
    found = urls.split_url(http.url)
    server = str(exchange.meta.get(UPSTREAM) or f"{found.netloc}{found.path}")
    response = exchange.response
    session = http.headers.get(_SESSION) or (response and response.headers.get(_SESSION)) or ""
    facts = [http.method, http.url]
    return replace(
        exchange,
        kind=ExchangeKind.MCP,
        request=replace(http, method=method, url=f"mcp://{quote(server, safe='')}/{quote(name, safe='')}"),
        meta={**exchange.meta, CONNECTION: f"{server} {session}".strip(), ASKED_BY: "client", OVER_HTTP: facts},
    )


def is_tool_call(message: bytes) -> bool:
    """A message is a ``tools/call``, or a batch has one."""
    try:
        value = loads(message) if b"tools/call" in message else None
    except WireError:
        return False
    messages = value if isinstance(value, list) else [value]
    return any(isinstance(each, dict) and each.get("method") == "tools/call" and "id" in each for each in messages)


def messages_over_http(decoded: DecodedExchange) -> Iterator[tuple[str, dict[str, JsonValue]]]:
    """Who sent each message of an exchange, ``"client"`` or ``"server"``, and the message, in their order."""
    http = decoded.exchange.request
    if http is None or not is_over_http(decoded.exchange) or http.method in SIGN_INS:
        return
    yield from (("client", message) for message in _request_messages(decoded))
    events = [message for _, message in event_messages(decoded)]
    try:
        whole = loads(decoded.response_text) if not events and _MARK in decoded.response_text[:_TAIL] else None
    except WireError:
        whole = None
    others = whole if isinstance(whole, list) else [whole]
    yield from (("server", message) for message in events or others if isinstance(message, dict))


def _request_messages(decoded: DecodedExchange) -> list[dict[str, JsonValue]]:
    return fact(decoded, _read_request)


def _read_request(decoded: DecodedExchange) -> list[dict[str, JsonValue]]:
    http = decoded.exchange.request
    return _messages_of(http) if http else []


def event_messages(decoded: DecodedExchange) -> Sequence[tuple[bytes, dict[str, JsonValue]]]:
    """Messages in the events of a response, each with its bytes; read once."""
    return fact(decoded, _read_events)


def _read_events(decoded: DecodedExchange) -> Sequence[tuple[bytes, dict[str, JsonValue]]]:
    return [*messages_of_events(decoded.events)]


def request_object(decoded: DecodedExchange) -> dict[str, JsonValue]:
    """The message of a request, read once; an empty object for other bytes."""
    return fact(decoded, _read_request_object)


def _read_request_object(decoded: DecodedExchange) -> dict[str, JsonValue]:
    return message_object(decoded.request_text)


def response_object(decoded: DecodedExchange) -> dict[str, JsonValue]:
    """The response to a request, read once; an empty object for other bytes."""
    return fact(decoded, _read_response_object)


def _read_response_object(decoded: DecodedExchange) -> dict[str, JsonValue]:
    found, http = message_object(response_message(decoded)), decoded.exchange.response
    is_of_http = is_over_http(decoded.exchange) and http is not None and http.status in _SIGN_IN_NEEDED
    return {} if is_of_http and _ENVELOPE not in found else found


def message_object(text: bytes) -> dict[str, JsonValue]:
    """The JSON object of a message; an empty one for other bytes."""
    try:
        value = loads(text) if text.strip() else None
    except WireError:
        return {}
    return value if isinstance(value, dict) else {}


def is_over_http(exchange: Exchange) -> bool:
    """A message to a tool server that HTTP carried."""
    return OVER_HTTP in exchange.meta


def response_message(decoded: DecodedExchange) -> bytes:
    """The response to a request: the body, or the message of a stream that answers it; empty if it is not there."""
    return fact(decoded, _find_response)


def _find_response(decoded: DecodedExchange) -> bytes:
    if not decoded.events or not is_over_http(decoded.exchange) or decoded.exchange.request is None:
        return decoded.response_text
    messages = _request_messages(decoded)
    id_ = messages[0].get("id") if len(messages) == 1 else None
    return next((data for data, message in event_messages(decoded) if _answers(message, id_)), b"")


def place_in_response(decoded: DecodedExchange, pointer: str) -> WirePlace:
    """Place of a pointer into the response to a request, in the body that carried it."""
    message = response_message(decoded)
    span, start = JsonIndex(message).span(pointer), decoded.response_text.find(message)
    return WirePlace(((span[0] + start, span[1] + start),)) if span and start >= 0 else WirePlace()


def _answers(message: JsonValue, id_: JsonValue) -> bool:
    is_response = isinstance(message, dict) and "method" not in message
    return is_response and ("id" not in message or (message["id"] == id_ and type(message["id"]) is type(id_)))


def messages_of_events(events: Sequence[SseEvent]) -> Iterator[tuple[bytes, dict[str, JsonValue]]]:
    """Data of each event that holds a JSON object, and the object."""
    for event in events:
        if event.data and event.data.lstrip()[:1] == b"{":
            try:
                message = loads(event.data)
            except WireError:
                continue
            if isinstance(message, dict):
                yield event.data, message


CHANGED = "notifications/tools/list_changed"
"""Method with which a server says that its tool list has changed."""


def changes_of_list(decoded: DecodedExchange) -> Iterator[float]:
    """When, in seconds since the epoch, the streams of a response said that the tool list had changed."""
    exchange = decoded.exchange
    if exchange.response is None or exchange.started_at is None:
        return
    body, _ = decode_partial(exchange.response.body)
    is_stream = exchange.request is not None and exchange.request.method == STREAM
    events = read_stream(body, "text/event-stream").events if is_stream else decoded.events
    for event in events:
        if event.data and CHANGED.encode() in event.data:
            chunks = exchange.response.body.chunks
            late = next((chunk.at for chunk in chunks if chunk.end >= event.end), exchange.duration or 0.0)
            yield exchange.started_at + late
