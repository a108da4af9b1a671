"""Importer for HAR 1.2: exports of browsers and proxies, and the recordings of Polly.JS.

Format: http://www.softwareishard.com/blog/har-12-spec/. Chrome adds ``_webSocketMessages`` and ``_error``; an export
without content has no ``content.text``, which is common for event streams. Workbench's own archives have in
``_workbench`` what HAR has no field for.
"""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple, TypeVar

from workbench import regex
from workbench.config import safeyaml
from workbench.errors import UnreadableInput
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._http import (
    WAS_CHUNKS,
    base64_body,
    epoch,
    header_text,
    headers_of,
    joined_chunks,
    seconds,
    stored_body,
    text_bytes,
    whole,
    whole_text,
)
from workbench.formats.importers._values import measure
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols import with_turns
from workbench.wire import (
    CONNECTION,
    FRAMES,
    OPCODES,
    Body,
    Chunk,
    Exchange,
    ExchangeKind,
    Frame,
    HttpRequest,
    HttpResponse,
    Origin,
    State,
    loads,
)
from workbench.wire.session import MemorySession

NAME = "har"
TITLE = "HAR archive"

_LOG = regex.compile(rb'\A\s*\{\s*"log"\s*:\s*\{')
_YAML_LOG = regex.compile(
    rb"\A(?:---\s*\n)?log:[ \t]*\r?\n(?:[ \t][^\n]*\n){0,40}?[ \t]+(?:creator|entries|_recordingName):"
)


class _HarResponse(NamedTuple):
    """Response of an entry, its completeness, and a note about it."""

    response: HttpResponse | None
    state: State
    note: str


def sniff(head: bytes) -> float:
    """An object with the first key ``log``, in JSON or, as Polly.JS may write it, in YAML."""
    return 0.95 if _LOG.match(head) or _YAML_LOG.match(head) else 0.0


def read(data: bytes, name: str) -> MemorySession:
    """All entries in file order. Raises UnreadableInput, WireError."""
    is_json = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"
    value = loads(data) if is_json else safeyaml.load(data, name=name)
    log = value.get("log") if isinstance(value, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise UnreadableInput("/log/entries is not a list")
    damage = ImportDamage()
    exchanges: list[Exchange] = []
    for number, entry in enumerate(entries):
        if isinstance(entry, dict) and isinstance(entry.get("request"), dict):
            exchanges.append(_exchange(str(len(exchanges) + 1), entry, entry["request"]))
        else:
            damage.add(f"/log/entries/{number}: no request")
    if not exchanges:
        raise damage.refuse("the archive has no entries")
    is_ours = any(isinstance(entry, dict) and "_workbench" in entry for entry in entries)
    return MemorySession(name, tuple(with_turns(exchanges, have_them=is_ours)), damage.as_lines(), format=TITLE)


def _exchange(number: str, entry: dict[str, JsonValue], request: dict[str, JsonValue]) -> Exchange:
    started = epoch(entry.get("startedDateTime"))
    frames = _frames(entry.get("_webSocketMessages"), started)
    answer = _answer(entry.get("response"))
    exchange = Exchange(
        number,
        request=_request(request),
        response=answer.response,
        state=State.COMPLETE if frames else answer.state,
        kind=ExchangeKind.WEBSOCKET if frames else ExchangeKind.HTTP,
        started_at=started,
        duration=seconds(entry.get("time")),
        note="" if frames and not answer.response else answer.note,
        frames=frames,
    )
    own = entry.get("_workbench")
    return _restore(exchange, own, entry.get("response")) if isinstance(own, dict) else exchange


def _restore(exchange: Exchange, own: dict[str, JsonValue], answer: JsonValue) -> Exchange:
    """An exchange of a Workbench archive with its original fields."""
    sides = own.get("sides")
    has = sides if isinstance(sides, list) else []
    response = _response(answer) if isinstance(answer, dict) and "response" in has else None
    if response:
        response = replace(response, body=replace(response.body, chunks=_chunks(own.get("chunks"))))
    parent, duration = own.get("parent"), own.get("duration")
    return replace(
        exchange,
        hop=_own_text(own, "hop"),
        branch=_own_text(own, "branch"),
        client=_own_text(own, "client"),
        note=_own_text(own, "note"),
        request=exchange.request if "request" in has else None,
        response=response,
        state=_member(State, own.get("state"), exchange.state),
        origin=_member(Origin, own.get("origin"), exchange.origin),
        parent=parent if isinstance(parent, str) else None,
        meta={**exchange.meta, **{key: own[key] for key in (CONNECTION, FRAMES) if own.get(key)}},
        duration=measure(duration),
    )


def _own_text(own: dict[str, JsonValue], name: str) -> str:
    return whole_text(own.get(name))


_Known = TypeVar("_Known", State, Origin)


def _member(kind: type[_Known], name: JsonValue, otherwise: _Known) -> _Known:
    return next((member for member in kind if member.value == name), otherwise)


def _chunks(value: JsonValue) -> tuple[Chunk, ...]:
    pairs = value if isinstance(value, list) else []
    return tuple(Chunk(whole(p[0]), measure(p[1]) or 0.0) for p in pairs if isinstance(p, list) and len(p) == 2)


def _request(plain: dict[str, JsonValue]) -> HttpRequest:
    headers = headers_of(plain.get("headers"))
    return HttpRequest(
        method=header_text(plain.get("method", "GET")),
        url=whole_text(plain.get("url")),
        headers=headers,
        body=_content(plain.get("postData"), plain),
        http_version=_version(plain),
    )


def _answer(plain: JsonValue) -> _HarResponse:
    if not isinstance(plain, dict):
        return _HarResponse(None, State.INCOMPLETE, "the archive contains no response")
    status, fault = whole(plain.get("status")), plain.get("_error") or plain.get("_errorMessage")
    if not status:  # what browsers write for a request that was blocked or aborted
        return _HarResponse(None, State.ABORTED, f"no response: {fault}" if isinstance(fault, str) else "no response")
    content, response = plain.get("content"), _response(plain)
    size = whole(content.get("size")) if isinstance(content, dict) else 0
    if size > 0 and not response.body.raw:
        return _HarResponse(response, State.INCOMPLETE, f"the export omits the response body ({size:,} bytes)")
    return _HarResponse(response, State.COMPLETE, f"the browser reported: {fault}" if isinstance(fault, str) else "")


def _response(plain: dict[str, JsonValue]) -> HttpResponse:
    return HttpResponse(
        status=whole(plain.get("status")),
        headers=headers_of(plain.get("headers")),
        body=_content(plain.get("content"), plain),
        reason=header_text(plain.get("statusText", "")),
        http_version=_version(plain),
    )


def _content(content: JsonValue, message: dict[str, JsonValue]) -> Body:
    """Body of ``postData`` or ``content``. The text is already decoded, whatever Content-Encoding states."""
    if not isinstance(content, dict):
        return Body()
    headers = headers_of(message.get("headers"))
    if "base64" in (content.get("encoding"), content.get("_encoding")):
        return base64_body(content.get("text"), headers)
    if not content.get("text") and content.get("params"):
        return Body(is_raw=False, note="form data: the archive contains the fields, not the bytes")
    chunks = joined_chunks(content.get("text")) if headers.get("content-encoding") else None
    if chunks is not None:
        return replace(stored_body(chunks, headers), note=WAS_CHUNKS)
    return stored_body(text_bytes(content.get("text")), headers)


def _version(plain: dict[str, JsonValue]) -> str:
    version = plain.get("httpVersion")
    return version if isinstance(version, str) else ""


def _frames(messages: JsonValue, started: float | None) -> tuple[Frame, ...]:
    entries = messages if isinstance(messages, list) else []
    return tuple(_frame(m, started) for m in entries if isinstance(m, dict))


def _frame(message: dict[str, JsonValue], started: float | None) -> Frame:
    opcode = OPCODES.get(whole(message.get("opcode"), 1), "binary")
    data = text_bytes(message.get("data"))
    if opcode == "binary":
        try:
            data = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            opcode = "text"
    at = epoch(message.get("time"))
    direction = "sent" if message.get("type") == "send" else "received"
    return Frame(direction, opcode, data, at - started if at is not None and started is not None else None)
