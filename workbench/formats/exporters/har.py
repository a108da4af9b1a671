"""Writes HAR 1.2, which browsers' developer tools open.

Bodies are text if they are UTF-8, else base64; content codings are decoded. Data without a HAR field is in
``_workbench`` (of an entry: id, origin, state, chunk times …), and the importer reads it back. Traffic with tool
servers over their standard streams is no HTTP and is left out. Format: http://www.softwareishard.com/blog/har-12-spec/.
"""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

from workbench import __version__
from workbench.errors import LocalProtocolError
from workbench.formats.exporters import ExportResult, ExportSelection, one_file
from workbench.formats.exporters._secret_removal import utf8_header, without_secrets
from workbench.ir import JsonValue
from workbench.wire import (
    CONNECTION,
    FRAMES,
    OPCODES,
    Body,
    Exchange,
    ExchangeKind,
    Frame,
    Headers,
    HttpRequest,
    HttpResponse,
    decode_partial,
    dumps,
)

TITLE = "HAR archive"
SUFFIX = ".har"

_OPCODES = {name: number for number, name in OPCODES.items()}
_NO_TIME = "1970-01-01T00:00:00.000Z"
"""Start time for exchanges without one; HAR requires a time."""


def write(selection: ExportSelection) -> ExportResult:
    """Write the exchanges as one archive.

    Raises:
        LocalProtocolError: all of them are traffic with tool servers over their standard streams, which is no HTTP.
        SessionFormatError: an exchange cannot be read.
    """
    entries: list[JsonValue] = []
    notes: list[str] = []
    left_out: list[str] = []
    for index, exchange in without_secrets(selection):
        where = f"exchange {index + 1}"
        if exchange.kind is ExchangeKind.MCP:
            left_out.append(f"{where}: traffic with a tool server; archives are HTTP only")
            continue
        entries.append(_entry(exchange))
        if any(side and side.body.encoding for side in (exchange.request, exchange.response)):
            notes.append(f"{where}: the body is stored decoded, as HAR requires")
    if left_out and not entries:
        raise LocalProtocolError(
            ("the selection contains only traffic with tool servers"), hint="an archive needs HTTP exchanges"
        )
    log = {"version": "1.2", "creator": {"name": "Workbench", "version": __version__}, "pages": [], "entries": entries}
    return one_file(dumps({"log": log}) + b"\n", tuple(notes), tuple(left_out))


def _entry(exchange: Exchange) -> JsonValue:
    timings = _timings(exchange)
    entry: dict[str, JsonValue] = {
        "startedDateTime": _moment(exchange.started_at),
        "time": sum(timings.values()),
        "request": _request(exchange.request or HttpRequest(method="", body=Body())),
        "response": _response(exchange.response, exchange.note),
        "cache": {},
        "timings": dict(timings),
        "_workbench": _own(exchange),
    }
    if exchange.kind is ExchangeKind.WEBSOCKET:
        entry["_resourceType"] = "websocket"
        entry["_webSocketMessages"] = [_frame(frame, exchange.started_at or 0) for frame in exchange.frames]
    return entry


def _frame(frame: Frame, started: float) -> JsonValue:
    """A WebSocket message as Chrome writes it: binary data is base64."""
    is_text = frame.opcode == "text"
    plain: dict[str, JsonValue] = {
        "type": "send" if frame.direction == "sent" else "receive",
        "opcode": _OPCODES.get(frame.opcode, 2),
        "data": frame.data.decode("utf-8", "replace") if is_text else b64encode(frame.data).decode(),
    }
    return plain if frame.at is None else {**plain, "time": started + frame.at}


def _own(exchange: Exchange) -> JsonValue:
    """Data that HAR has no field for; default values are omitted."""
    sides = {"request": exchange.request, "response": exchange.response}
    chunks = exchange.response.body.chunks if exchange.response and not exchange.response.body.encoding else ()
    own: dict[str, JsonValue] = {
        "id": exchange.id,
        "sides": [name for name, side in sides.items() if side],
        "state": exchange.state.value,
        "origin": exchange.origin.value,
        "hop": exchange.hop,
        "parent": exchange.parent,
        "branch": exchange.branch,
        "client": exchange.client,
        "note": exchange.note,
        "duration": exchange.duration,
        **{key: exchange.meta.get(key) for key in (CONNECTION, FRAMES)},
        "chunks": [[chunk.end, chunk.at] for chunk in chunks],
    }
    return {name: value for name, value in own.items() if value not in (None, "", [])}


def _request(request: HttpRequest) -> JsonValue:
    text = _decode(request.body)
    plain: dict[str, JsonValue] = {
        "method": request.method,
        "url": request.url,
        "httpVersion": request.http_version,
        "cookies": [],
        "headers": _headers(request.headers),
        "queryString": _query(request.url),
        "headersSize": -1,
        "bodySize": len(request.body.raw),
    }
    if request.body.raw:
        plain["postData"] = {"mimeType": request.headers.get("content-type") or "", **_content(text, "_encoding")}
    return plain


def _response(answer: HttpResponse | None, note: str) -> JsonValue:
    response = answer or HttpResponse(status=0)
    text = _decode(response.body)
    missing: dict[str, JsonValue] = {} if answer else {"_error": note or "no response was recorded"}
    return missing | {
        "status": response.status,
        "statusText": response.reason,
        "httpVersion": response.http_version,
        "cookies": [],
        "headers": _headers(response.headers),
        "content": {
            "size": len(text),
            "mimeType": response.headers.get("content-type") or "",
            **_content(text, "encoding"),
        },
        "redirectURL": response.headers.get("location") or "",
        "headersSize": -1,
        "bodySize": len(response.body.raw),
    }


def _decode(body: Body) -> bytes:
    """The body without its coding; unchanged if it cannot be decoded."""
    text, problem = decode_partial(body)
    return body.raw if problem else text


def _content(text: bytes, encoding: str) -> dict[str, JsonValue]:
    """``text`` of a body; ``postData`` has no field for its encoding and gets one of ours."""
    try:
        return {"text": text.decode()}
    except UnicodeDecodeError:
        return {"text": b64encode(text).decode(), encoding: "base64"}


def _headers(headers: Headers) -> list[JsonValue]:
    return [{"name": name, "value": utf8_header(value)} for name, value in headers]


def _query(url: str) -> list[JsonValue]:
    try:
        pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:
        return []
    return [{"name": name, "value": value} for name, value in pairs]


def _timings(exchange: Exchange) -> dict[str, float]:
    """Milliseconds to the first byte of the response, and from there to its last."""
    whole = max(exchange.duration or 0.0, 0.0)
    chunks = exchange.response.body.chunks if exchange.response else ()
    wait = min(max(chunks[0].at, 0.0), whole) if chunks else whole
    return {"send": 0, "wait": round(wait * 1000, 3), "receive": round((whole - wait) * 1000, 3)}


def _moment(seconds: float | None) -> str:
    if seconds is None:
        return _NO_TIME
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except (OverflowError, OSError, ValueError):
        return _NO_TIME
