r"""Text form of a session: JSON Lines, for fixtures and diffs.

The first line is ``{"workbench": "session", "version": 2, "id": ID}``, with the maker's metadata in ``"about"``, then
one exchange a line. Bodies are exact: UTF-8 bodies are in ``"text"``, others in ``"base64"``. Keys with their default
value are left out.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from workbench.errors import SessionFormatError, WireError
from workbench.ir import NOTHING, JsonValue
from workbench.wire.exchange import (
    Body,
    Exchange,
    Frame,
    HttpRequest,
    HttpResponse,
    State,
)
from workbench.wire.json_scan import encode
from workbench.wire.jsontext import loads
from workbench.wire.session import MemorySession, values
from workbench.wire.session.identity import valid_id

VERSION = 2
HEAD = b'{"workbench": "session"'

STEPS: Mapping[int, Callable[[dict[str, JsonValue]], dict[str, JsonValue]]] = {
    1: lambda line: line,  # sessions of format 1 have no id: ``identity.session_id`` derives one
}
"""One-step converters of a line: version → converter to the next version."""


def is_text_session(head: bytes) -> bool:
    """True if a file starts like a text session."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(HEAD)


def write(exchanges: Iterable[Exchange], path: Path, about: Mapping[str, str] = NOTHING, id: str = "") -> int:
    """Write a text session; return the number of exchanges."""
    count = 0
    head: dict[str, JsonValue] = {"workbench": "session", "version": VERSION}
    head |= ({"id": id} if id else {}) | ({"about": dict(about)} if about else {})
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(head) + "\n")
        for exchange in exchanges:
            file.write(dump(exchange) + "\n")
            count += 1
    return count


def read(data: bytes, name: str) -> MemorySession:
    """Read a text session. Damaged lines are reported and left out.

    Raises:
        SessionFormatError: the first line is missing or of a newer version.
    """
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    version, id, about = _head(lines[0], name)
    exchanges, damage = [], []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        try:
            exchanges.append(load(_current(loads(line), version)))
        except (WireError, SessionFormatError) as error:
            damage.append(f"line {number} is damaged and left out: {error}")
    return MemorySession(name, tuple(exchanges), tuple(damage), "text", about, id=id)


def _head(line: bytes, name: str) -> tuple[int, str, Mapping[str, str]]:
    try:
        head = loads(line)
    except WireError:
        head = None
    head = head if isinstance(head, dict) and head.get("workbench") == "session" else {}
    version, about = head.get("version"), head.get("about")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise SessionFormatError("the first line is not a text session header", where=f"{name}, line 1")
    if version > VERSION:
        raise SessionFormatError(values.newer(str(version), VERSION), where=name, hint="update Workbench")
    members = about.items() if isinstance(about, dict) else ()
    return version, valid_id(head.get("id", "")), {key: value for key, value in members if isinstance(value, str)}


def _current(line: dict[str, JsonValue], version: int) -> dict[str, JsonValue]:
    while version != VERSION:
        line = STEPS[version](line)
        version += 1
    return line


def dump(exchange: Exchange) -> str:
    """One exchange as one line."""
    plain: dict[str, JsonValue] = {"id": exchange.id}
    for name in ("state", "kind", "origin", "started_at", "duration", "hop", "parent", "branch", "client", "note"):
        value = getattr(exchange, name)
        if value != getattr(_DEFAULT, name):
            plain[name] = State.INCOMPLETE if value is State.OPEN else value  # a line of text does not go on
    if exchange.meta:
        plain["meta"] = dict(exchange.meta)
    if exchange.request:
        plain["request"] = _dump_request(exchange.request)
    if exchange.response:
        plain["response"] = _dump_response(exchange.response)
    if exchange.frames:
        plain["frames"] = [_dump_frame(f) for f in exchange.frames]
    text = json.dumps(plain, ensure_ascii=False)
    return text if text.isascii() or _encodes(text) else json.dumps(plain)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_DEFAULT = Exchange(id="")


def _dump_request(request: HttpRequest) -> JsonValue:
    head = {"method": request.method, "url": request.url, "http_version": request.http_version}
    return _dump_http(head, request)


def _dump_response(response: HttpResponse) -> JsonValue:
    head = {"status": response.status, "reason": response.reason, "http_version": response.http_version}
    return _dump_http(head, response)


def _dump_http(head: dict[str, JsonValue], http: HttpRequest | HttpResponse) -> JsonValue:
    plain = {k: v for k, v in head.items() if v != "" or k in ("method", "url")}
    if http.headers.items:
        plain["headers"] = [list(h) for h in http.headers]
    plain["body"] = _dump_body(http.body)
    if http.redactions:
        plain["redactions"] = [list(r) for r in http.redactions]
    return plain


def _dump_body(body: Body) -> JsonValue:
    plain: dict[str, JsonValue] = _dump_bytes(body.raw)
    if body.encoding:
        plain["encoding"] = body.encoding
    if body.chunks:
        plain["chunks"] = [list(c) for c in body.chunks]
    if not body.is_raw:
        plain["is_raw"] = False
    for name in ("note", "original_length", "original_digest"):
        if getattr(body, name):
            plain[name] = getattr(body, name)
    return plain


def _dump_bytes(raw: bytes) -> dict[str, JsonValue]:
    try:
        return {"text": raw.decode("utf-8", "strict")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}


def _dump_frame(frame: Frame) -> JsonValue:
    return {"direction": frame.direction, "opcode": frame.opcode, "at": frame.at, **_dump_bytes(frame.data)}


def load(line: JsonValue) -> Exchange:
    """One exchange from its parsed line. Raises SessionFormatError."""
    try:
        return _load(values.members(line))
    except (KeyError, SessionFormatError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else error.what
        raise SessionFormatError(f"not an exchange: {why}") from error


def _load(line: Mapping[str, JsonValue]) -> Exchange:
    return Exchange(
        id=_text(line["id"]),
        request=_load_request(line["request"]) if "request" in line else None,
        response=_load_response(line["response"]) if "response" in line else None,
        state=values.state(line.get("state", "complete")),
        kind=values.kind(line.get("kind", "http")),
        origin=values.origin(line.get("origin", "imported")),
        started_at=_SECONDS(line.get("started_at")),
        duration=_SECONDS(line.get("duration")),
        hop=_text(line.get("hop", "")),
        parent=_OPTIONAL_TEXT(line.get("parent")),
        branch=_text(line.get("branch", "")),
        client=_text(line.get("client", "")),
        note=_text(line.get("note", "")),
        frames=tuple(map(_load_frame, values.several(line.get("frames", [])))),
        meta=values.members(line["meta"]) if "meta" in line else NOTHING,
    )


def _load_frame(plain: JsonValue) -> Frame:
    plain = values.members(plain)
    data = _load_bytes(plain)
    return Frame(_text(plain["direction"]), _text(plain["opcode"]), data, _SECONDS(plain.get("at")))


def _load_request(plain: JsonValue) -> HttpRequest:
    plain = values.members(plain)
    return HttpRequest(
        method=_text(plain.get("method", "POST")),
        url=_text(plain.get("url", "")),
        http_version=_text(plain.get("http_version", "")),
        headers=values.headers(plain.get("headers", [])),
        body=_load_body(plain["body"]),
        redactions=values.redactions(plain.get("redactions", [])),
    )


def _load_response(plain: JsonValue) -> HttpResponse:
    plain = values.members(plain)
    return HttpResponse(
        status=values.count(plain.get("status", 200)),
        reason=_text(plain.get("reason", "")),
        http_version=_text(plain.get("http_version", "")),
        headers=values.headers(plain.get("headers", [])),
        body=_load_body(plain["body"]),
        redactions=values.redactions(plain.get("redactions", [])),
    )


def _load_body(plain: JsonValue) -> Body:
    plain = values.members(plain)
    return Body(
        raw=_load_bytes(plain),
        encoding=_text(plain.get("encoding", "")),
        chunks=values.chunks(plain.get("chunks", [])),
        is_raw=values.flag(plain.get("is_raw", True)),
        note=_text(plain.get("note", "")),
        original_length=_OPTIONAL_COUNT(plain.get("original_length")),
        original_digest=_OPTIONAL_TEXT(plain.get("original_digest")),
    )


def _load_bytes(plain: Mapping[str, JsonValue]) -> bytes:
    if "base64" not in plain:
        return encode(_text(plain["text"]))
    try:
        return base64.b64decode(_text(plain["base64"]), validate=True)
    except ValueError as error:
        raise SessionFormatError("the bytes are not base64") from error


_text = values.text
_SECONDS = values.optional(values.seconds)
_OPTIONAL_TEXT = values.optional(values.text)
_OPTIONAL_COUNT = values.optional(values.count)
