"""Importer for mitmproxy flow files: HTTP as seen by the proxy, one tnetstring per flow.

Facts: ``mitmproxy/io`` and ``mitmproxy/http.py`` of the project, formats 5 to 21: field names have not changed;
WebSocket messages moved from their own flows into those of their handshakes. Chunk times of streams are not kept.

Reads typed netstrings, ``<length>:<payload><type>``, from untrusted bytes.
Types: ``,`` bytes, ``;`` text, ``#`` integer, ``^`` float, ``!`` boolean, ``~`` null, ``]`` list, ``}`` dictionary
(https://tnetstrings.info, and ``;`` as mitmproxy adds it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workbench import regex
from workbench.errors import WireError
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._http import epoch, header_text, headers_of, stored_body, whole
from workbench.formats.importers._values import as_list, mapping, rest
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols import with_turns
from workbench.wire import OPCODES, Body, Exchange, ExchangeKind, Frame, Headers, HttpRequest, HttpResponse, State
from workbench.wire.session import MemorySession

NAME = "mitmproxy"
TITLE = "mitmproxy flow file"

_FLOW = regex.compile(
    rb"\d{1,12}:\d{1,3}:(?:version|type|id|request|response|client_conn|server_conn|websocket|metadata)[;,]"
)
_PORTS = {"http": 80, "https": 443}
_CERTIFICATES = ("certificate_list", "mitmcert", "cert", "clientcert", "sslkeylogfile")
_NOT_KEPT = "mitmproxy did not keep this body: it was streamed"


def sniff(head: bytes) -> float:
    """A dictionary that starts with a key of flows."""
    return 0.95 if _FLOW.match(head) else 0.0


def read(data: bytes, name: str) -> MemorySession:
    """One exchange per HTTP flow. Raises UnreadableInput if there are none."""
    damage = ImportDamage()
    exchanges: dict[str, Exchange] = {}
    for number, flow in _flows(data, damage):
        exchange = _exchange(number, flow)
        if exchange is None:
            kind = header_text(flow.get("type"))[:40]
            damage.add(f"flow {number}: flow type {kind!r} is not supported")
        elif exchange.id in exchanges:
            exchanges[f"{exchange.id} ({number})"] = replace(exchange, id=f"{exchange.id} ({number})")
        else:
            exchanges[exchange.id] = exchange
    if not exchanges:
        raise damage.refuse("no HTTP flow")
    return MemorySession(name, tuple(with_turns(exchanges.values())), damage.as_lines(), format=TITLE)


def _flows(data: bytes, damage: ImportDamage) -> Iterator[tuple[int, dict[str, JsonValue]]]:
    """Yield complete flows; after a fault the start of the next flow is unknown."""
    at = number = 0
    while at < len(data):
        if data[at : at + 1].isspace():
            at += 1
            continue
        number += 1
        try:
            value, at = read_tnetstring(data, at, len(data))
        except WireError as error:
            damage.add(f"flow {number}: {error.what}")
            return
        if isinstance(value, dict):
            yield number, value
        else:
            damage.add(f"flow {number}: not a dictionary")


def _exchange(number: int, flow: dict[str, JsonValue]) -> Exchange | None:
    request, response = mapping(flow.get("request")), mapping(flow.get("response"))
    socket = flow.get("websocket")
    messages = mapping(socket).get("messages", flow.get("messages") if flow.get("type") == "websocket" else None)
    if not request and messages is None:
        return None
    error = mapping(flow.get("error"))
    started = epoch(request.get("timestamp_start"))
    ended = epoch(response.get("timestamp_end"))
    unsent = rest(flow, "request", "response", "id", "type", "websocket", "messages")
    trailers = {
        side: message["trailers"]
        for side, message in (("request", request), ("response", response))
        if message.get("trailers")
    }
    exchange = Exchange(
        header_text(flow.get("id")) or f"flow {number}",
        request=_request(request) if request else None,
        response=_response(response) if response else None,
        state=State.ABORTED if error else State.COMPLETE if response or messages else State.INCOMPLETE,
        started_at=started,
        duration=ended - started if started and ended and ended >= started else None,
        note=f"mitmproxy: {header_text(error.get('msg'))[:200]}" if error else "",
        meta={"flow": _plain(unsent | ({"trailers": trailers} if trailers else {}))},
    )
    if messages is None:
        return exchange
    return replace(exchange, kind=ExchangeKind.WEBSOCKET, frames=tuple(_frames(messages, started)))


def _request(message: dict[str, JsonValue]) -> HttpRequest:
    headers = headers_of(message.get("headers"))
    return HttpRequest(
        method=header_text(message.get("method")) or "GET",
        url=_url(message),
        headers=headers,
        body=_body(message, headers),
        http_version=header_text(message.get("http_version")),
    )


def _url(message: dict[str, JsonValue]) -> str:
    scheme, host, path = (header_text(message.get(key)) for key in ("scheme", "host", "path"))
    port = whole(message.get("port"))
    authority = f"[{host}]" if ":" in host and not host.startswith("[") else host
    if port and port != _PORTS.get(scheme):
        authority = f"{authority}:{port}"
    return f"{scheme or 'http'}://{authority}{path}" if host else path


def _response(message: dict[str, JsonValue]) -> HttpResponse:
    headers = headers_of(message.get("headers"))
    status = whole(message.get("status_code", message.get("code")))
    return HttpResponse(
        status=status if 0 <= status < 1000 else 0,
        headers=headers,
        body=_body(message, headers),
        reason=header_text(message.get("reason")),
        http_version=header_text(message.get("http_version")),
    )


def _body(message: dict[str, JsonValue], headers: Headers) -> Body:
    content = message.get("content")
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogateescape")
    return stored_body(content, headers) if isinstance(content, bytes) else Body(is_raw=False, note=_NOT_KEPT)


def _frames(messages: JsonValue, started: float | None) -> Iterator[Frame]:
    """Messages as lists of type, direction, content and time."""
    for message in as_list(messages):
        if not isinstance(message, list) or len(message) < 3:
            continue
        content = message[2].encode("utf-8", "surrogateescape") if isinstance(message[2], str) else message[2]
        time = epoch(message[3]) if len(message) > 3 else None
        yield Frame(
            "sent" if message[1] is True else "received",
            OPCODES.get(whole(message[0]), "binary"),
            content if isinstance(content, bytes) else b"",
            max(time - started, 0.0) if time and started else None,
        )


def _plain(value: JsonValue) -> JsonValue:
    """Data of a flow as JSON: bytes read as Latin-1, certificates left out."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k not in _CERTIFICATES and v is not None}
    return value


MAX_DEPTH = 60
"""Limit of nested containers. A flow has seven."""

_MAX_DIGITS = 12
_MAX_NUMBER = 40


def read_tnetstring(data: bytes, at: int, end: int, depth: int = 0) -> tuple[JsonValue, int]:
    """(value, end offset) of the value at ``at``. Bytes stay bytes, keys are text.

    Raises:
        WireError: there is no value, or it ends after ``end``; the message has the byte offset.
    """
    colon = data.find(b":", at, min(at + _MAX_DIGITS + 1, end))
    if colon <= at or not data[at:colon].isdigit():
        raise WireError(f"no length at byte {at:,}")
    start = colon + 1
    stop = start + int(data[at:colon])
    if stop >= end:
        raise WireError(f"the value at byte {at:,} is longer than the data that contains it")
    kind = data[stop : stop + 1]
    if kind in (b"]", b"}"):
        if depth >= MAX_DEPTH:
            raise WireError(f"more than {MAX_DEPTH} nested containers at byte {at:,}")
        return _container(data, start, stop, kind, depth), stop + 1
    reader = _SCALARS.get(kind)
    if reader is None:
        raise WireError(f"a value of unknown type {kind!r} at byte {stop:,}")
    try:
        return reader(data[start:stop]), stop + 1
    except (ValueError, OverflowError):
        raise WireError(f"not a value of type {kind.decode()!r} at byte {at:,}") from None


def _container(data: bytes, at: int, end: int, kind: bytes, depth: int) -> JsonValue:
    items: list[JsonValue] = []
    while at < end:
        value, at = read_tnetstring(data, at, end, depth + 1)
        items.append(value)
    if kind == b"]":
        return items
    if len(items) % 2:
        raise WireError(f"a key without a value before byte {end:,}")
    return {_key(name): value for name, value in zip(items[::2], items[1::2], strict=True)}


def _key(name: JsonValue) -> str:
    if isinstance(name, bytes):
        return name.decode("utf-8", "surrogateescape")
    return name if isinstance(name, str) else repr(name)


def _number(raw: bytes) -> int:
    return int(_short(raw))


def _float(raw: bytes) -> float:
    return float(_short(raw))


def _short(raw: bytes) -> bytes:
    if len(raw) > _MAX_NUMBER:
        raise ValueError
    return raw


def _boolean(raw: bytes) -> bool:
    if raw not in (b"true", b"false"):
        raise ValueError
    return raw == b"true"


def _null(raw: bytes) -> None:
    if raw:
        raise ValueError


_SCALARS: dict[bytes, Callable[[bytes], JsonValue]] = {
    b",": bytes,
    b";": lambda raw: raw.decode("utf-8", "surrogateescape"),
    b"#": _number,
    b"^": _float,
    b"!": _boolean,
    b"~": _null,
}
