"""HAR 1.2: exports of browsers and proxies, and the recordings of Polly.JS.

Format: http://www.softwareishard.com/blog/har-12-spec/. Chrome adds ``_webSocketMessages`` and ``_error``; an export
without content leaves ``content.text`` out, which is common for event streams.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple

from workbench.errors import UnreadableInput
from workbench.importers._http import base64_body, body_of, epoch, header_text, headers_of, seconds, text_bytes, whole
from workbench.importers._lines import Damage
from workbench.ir import JsonValue
from workbench.wire.exchange import Body, Exchange, Frame, HttpRequest, HttpResponse, Kind, State
from workbench.wire.jsontext import loads
from workbench.wire.session import MemorySession

NAME = "har"
TITLE = "HAR archive"

_LOG = re.compile(rb'\A\s*\{\s*"log"\s*:\s*\{')
_OPCODES = {1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong"}


class _Answer(NamedTuple):
    """The response of an entry, how much of it is there, and what is to be said about it."""

    response: HttpResponse | None
    state: State
    note: str


def sniff(head: bytes) -> float:
    """An object whose first key is ``log``."""
    return 0.95 if _LOG.match(head) else 0.0


def read(data: bytes, name: str) -> MemorySession:
    """Every entry in the order of the file. Raises UnreadableInput, WireError."""
    value = loads(data)
    log = value.get("log") if isinstance(value, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise UnreadableInput("no list at /log/entries")
    damage = Damage()
    exchanges: list[Exchange] = []
    for number, entry in enumerate(entries):
        if isinstance(entry, dict) and isinstance(entry.get("request"), dict):
            exchanges.append(_exchange(str(len(exchanges) + 1), entry, entry["request"]))
        else:
            damage.add(f"/log/entries/{number}: no request")
    if not exchanges:
        raise damage.refuse("the archive holds no entry")
    return MemorySession(name, tuple(exchanges), damage.told(), format=TITLE)


def _exchange(number: str, entry: dict[str, JsonValue], request: dict[str, JsonValue]) -> Exchange:
    started = epoch(entry.get("startedDateTime"))
    frames = _frames(entry.get("_webSocketMessages"), started)
    answer = _answer(entry.get("response"))
    return Exchange(
        number,
        request=_request(request),
        response=answer.response,
        state=answer.state,
        kind=Kind.WEBSOCKET if frames else Kind.HTTP,
        started_at=started,
        duration=seconds(entry.get("time")),
        note=answer.note,
        frames=frames,
    )


def _request(plain: dict[str, JsonValue]) -> HttpRequest:
    headers = headers_of(plain.get("headers"))
    url = plain.get("url")
    return HttpRequest(
        method=header_text(plain.get("method", "GET")),
        url=url if isinstance(url, str) else "",
        headers=headers,
        body=_content(plain.get("postData"), plain),
        http_version=_version(plain),
    )


def _answer(plain: JsonValue) -> _Answer:
    if not isinstance(plain, dict):
        return _Answer(None, State.INCOMPLETE, "the archive holds no response")
    status, fault = whole(plain.get("status")), plain.get("_error") or plain.get("_errorMessage")
    if not status:  # what browsers write for a request that was blocked or aborted
        return _Answer(None, State.ABORTED, f"no answer: {fault}" if isinstance(fault, str) else "no answer came")
    content = plain.get("content")
    response = HttpResponse(
        status=status,
        headers=headers_of(plain.get("headers")),
        body=_content(content, plain),
        reason=header_text(plain.get("statusText", "")),
        http_version=_version(plain),
    )
    size = whole(content.get("size")) if isinstance(content, dict) else 0
    if size > 0 and not response.body.raw:
        return _Answer(response, State.INCOMPLETE, f"the export left out the response body ({size:,} bytes)")
    return _Answer(response, State.COMPLETE, f"the browser reported: {fault}" if isinstance(fault, str) else "")


def _content(content: JsonValue, message: dict[str, JsonValue]) -> Body:
    """``postData`` or ``content``. Their text is decoded already, whatever Content-Encoding says."""
    if not isinstance(content, dict):
        return Body()
    headers = headers_of(message.get("headers"))
    if content.get("encoding") == "base64":
        return base64_body(content.get("text"), headers)
    if not content.get("text") and content.get("params"):
        return Body(is_raw=False, note="a form: the export kept its fields and not its bytes")
    return body_of(text_bytes(content.get("text")), headers)


def _version(plain: dict[str, JsonValue]) -> str:
    version = plain.get("httpVersion")
    return version if isinstance(version, str) else ""


def _frames(messages: JsonValue, started: float | None) -> tuple[Frame, ...]:
    held = messages if isinstance(messages, list) else []
    return tuple(_frame(m, started) for m in held if isinstance(m, dict))


def _frame(message: dict[str, JsonValue], started: float | None) -> Frame:
    opcode = _OPCODES.get(whole(message.get("opcode"), 1), "binary")
    data = text_bytes(message.get("data"))
    if opcode == "binary":
        try:
            data = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            opcode = "text"
    at = epoch(message.get("time"))
    direction = "sent" if message.get("type") == "send" else "received"
    return Frame(direction, opcode, data, at - started if at is not None and started is not None else None)
