"""Importer for httprr traces of Go tests: HTTP/1.1 text, each message with its length.

Format: ``httprr trace v1``, then for each exchange a line of two lengths, the request and the response
(golang.org/x/oscar/internal/httprr, "Replay Log Format").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from workbench import regex
from workbench.errors import UnreadableInput
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._http import stored_body
from workbench.wire import Body, Exchange, Headers, HttpRequest, HttpResponse, State
from workbench.wire.session import MemorySession

NAME = "httprr"
TITLE = "httprr trace"

_FIRST = regex.compile(rb"httprr trace v1\r?\n")
_LENGTHS = regex.compile(rb"(\d{1,12}) (\d{1,12})\r?\n")
_REQUEST = regex.compile(rb"([A-Za-z]{1,20}) (\S{1,65536}) (HTTP/\d\.\d)\r?\n")
_STATUS = regex.compile(rb"(HTTP/\d(?:\.\d)?) (\d{3})(?: ([^\r\n]*))?\r?\n")
_HEAD_END = regex.compile(rb"\r?\n\r?\n")
_CHUNK = regex.compile(rb"([0-9A-Fa-f]{1,8})[^\r\n]{0,200}\r\n")


class _HeadersAndBody(NamedTuple):
    headers: Headers
    body: Body


def sniff(head: bytes) -> float:
    """The first line."""
    return 0.98 if _FIRST.match(head) else 0.0


def read(data: bytes, name: str) -> MemorySession:
    """All exchanges in order. Raises UnreadableInput if there are none."""
    damage = ImportDamage()
    exchanges = tuple(_exchanges(data, damage))
    if not exchanges:
        raise damage.refuse("the trace has no exchanges")
    return MemorySession(name, exchanges, damage.as_lines(), format=TITLE)


def _exchanges(data: bytes, damage: ImportDamage) -> Iterator[Exchange]:
    first = _FIRST.match(data)
    at = first.end() if first else 0
    number = 0
    while at < len(data):
        lengths = _LENGTHS.match(data, at)
        if not lengths:
            damage.add(f"byte {at:,}: expected a line with two lengths; the rest is not read")
            return
        number += 1
        start, middle = lengths.end(), lengths.end() + int(lengths[1])
        at = middle + int(lengths[2])
        if at > len(data):
            damage.add(f"exchange {number}: the file ends inside this exchange")
        try:
            yield _exchange(str(number), data[start:middle], data[middle:at], is_whole=at <= len(data))
        except UnreadableInput as error:
            damage.add(f"exchange {number}: {error.what}")


def _exchange(number: str, request_text: bytes, response_text: bytes, *, is_whole: bool) -> Exchange:
    line = _REQUEST.match(request_text)
    if not line:
        raise UnreadableInput("the request has no request line")
    status = _STATUS.match(response_text)
    if response_text and not status:
        raise UnreadableInput("the response has no status line")
    message = _message(request_text, line.end())
    url = line[2].decode("latin-1")
    host = message.headers.get("host")
    request = HttpRequest(
        line[1].decode("latin-1").upper(),
        f"https://{host}{url}" if url.startswith("/") and host else url,
        message.headers,
        message.body,
        line[3].decode("latin-1"),
    )
    response = None
    if status:
        reply = _message(response_text, status.end())
        reason = (status[3] or b"").decode("latin-1")
        response = HttpResponse(int(status[2]), reply.headers, reply.body, reason, status[1].decode("latin-1"))
    state = State.COMPLETE if response and is_whole else State.INCOMPLETE
    return Exchange(number, request=request, response=response, state=state)


def _message(message: bytes, start: int) -> _HeadersAndBody:
    """Headers and body after the first line."""
    end = _HEAD_END.search(message, max(start - 2, 0))
    block = message[start : end.start()] if end else message[start:]
    pairs = (line.partition(":") for line in block.decode("latin-1").splitlines())
    headers = Headers(tuple((name, value.strip()) for name, colon, value in pairs if colon and name))
    body = message[end.end() :] if end else b""
    if "chunked" in (headers.get("transfer-encoding") or "").lower():
        body = _remove_chunking(body)
    return _HeadersAndBody(headers, stored_body(body, headers))


def _remove_chunking(body: bytes) -> bytes:
    """A body without chunk framing; unchanged if it has none."""
    pieces: list[bytes] = []
    at = 0
    while size := _CHUNK.match(body, at):
        length = int(size[1], 16)
        if not length:
            return b"".join(pieces)
        pieces.append(body[size.end() : size.end() + length])
        at = size.end() + length + len(b"\r\n")
    return b"".join(pieces) if pieces and at >= len(body) else body
