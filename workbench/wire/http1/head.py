"""Heads of HTTP/1.1 messages: read strictly, kept line by line as they stood, so that they can be sent on unchanged.

What two readers could take for different messages is refused, not mended (RFC 9112, sections 2.2, 3, 5.1, 5.2 and 11).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from workbench.errors import WireError
from workbench.limits import MAX_HEADER_BLOCK, SNIPPET
from workbench.wire.exchange import Headers

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_TEXT = rb"[\t\x20-\x7e\x80-\xff]*"
_FIELD = re.compile(rb"(%s):(%s)" % (_TOKEN, _TEXT))
_REQUEST_LINE = re.compile(rb"(%s) ([\x21-\x7e\x80-\xff]+) (HTTP/1\.[01])" % _TOKEN)
_STATUS_LINE = re.compile(rb"(HTTP/1\.[01]) ([1-9][0-9]{2})(?: (%s))?" % _TEXT)
_STRAY_LINE_END = re.compile(rb"(?<!\r)\n|\r(?![\n])(?!\Z)")
_NEITHER_TOKEN_NOR_LINE_END = re.compile(rb"[^!#$%&'*+\-.^_`|~0-9A-Za-z\r\n]")


class BadMessage(WireError):
    """A message that is not HTTP/1.1, or that two readers could read differently.

    Args:
        found: what stands there instead. Said to who is answered, but no part of ``what``: it may be part of a secret.

    Attributes:
        status: what to answer when a client sent it.
    """

    def __init__(self, what: str, status: int = 400, *, found: bytes | None = None) -> None:
        super().__init__(what, hint=None if found is None else f"there is {quoted(found)}")
        self.status = status


class Field(NamedTuple):
    """One header line as sent; ``key`` is its name in lower case, ``value`` is without the space around."""

    key: bytes
    value: bytes
    line: bytes

    @property
    def name(self) -> bytes:
        """The name in the case it was sent in."""
        return self.line[: len(self.key)]

    def with_value(self, value: bytes) -> Field:
        """The same header with another value."""
        return Field(self.key, value, self.name + b": " + value)


@dataclass(frozen=True, slots=True)
class Head:
    """Start line and headers, as received, without line ends."""

    start: bytes
    version: bytes
    fields: tuple[Field, ...]

    def values(self, key: bytes) -> list[bytes]:
        """Values of a header, by its name in lower case."""
        return [f.value for f in self.fields if f.key == key]

    def tokens(self, key: bytes) -> list[bytes]:
        """Members of a comma-separated header, in lower case."""
        values = self.values(key)
        members = (m.strip(b" \t").lower() for value in values for m in value.split(b","))
        return [m for m in members if m] if values else values

    @property
    def headers(self) -> Headers:
        """For those who record: text of the wire read as Latin-1."""
        return Headers(tuple((f.name.decode("latin-1"), f.value.decode("latin-1")) for f in self.fields))


@dataclass(frozen=True, slots=True)
class Request(Head):
    """Head of a request."""

    method: bytes
    target: bytes


@dataclass(frozen=True, slots=True)
class Response(Head):
    """Head of a response."""

    status: int
    reason: bytes


def render(start: bytes, lines: Iterable[bytes]) -> bytes:
    """The bytes of a head, with its empty line."""
    return b"\r\n".join((start, *lines, b"", b""))


def read_request(block: bytes) -> Request:
    """Read a request's head, given without its empty line. Raises BadMessage."""
    start, fields = _split(block)
    matched = _REQUEST_LINE.fullmatch(start)
    if not matched:
        if re.fullmatch(rb"\S+ \S+ HTTP/(?!1\.[01]$)[0-9.]+", start):
            raise BadMessage(f"only HTTP/1.1 and 1.0 are spoken here, not {quoted(start[-8:])}", 505)
        raise BadMessage("no request line of HTTP/1.1", found=start)
    method, target, version = matched.groups()
    return Request(start, version, fields, method, target)


def read_response(block: bytes) -> Response:
    """Read a response's head, given without its empty line. Raises BadMessage."""
    start, fields = _split(block)
    matched = _STATUS_LINE.fullmatch(start)
    if not matched:
        raise BadMessage("no status line of HTTP/1.1", found=start)
    version, status, reason = matched.groups()
    return Response(start, version, fields, int(status), reason or b"")


def read_fields(lines: Iterable[bytes]) -> tuple[Field, ...]:
    """Read header or trailer lines. Raises BadMessage."""
    return tuple(_field(line) for line in lines)


def quoted(data: bytes) -> str:
    """A piece of a message for an error text: ASCII, on one line, not long."""
    return ascii(data[:SNIPPET].decode("latin-1"))


def _split(block: bytes) -> tuple[bytes, tuple[Field, ...]]:
    start, *lines = block.split(b"\r\n")
    return start, read_fields(lines)


def _field(line: bytes) -> Field:
    matched = _FIELD.fullmatch(line)
    if matched:
        name, value = matched.groups()
        return Field(name.lower(), value.strip(b" \t"), line)
    if line[:1] in (b" ", b"\t"):
        raise BadMessage("a header is folded over two lines", found=line)
    if re.match(rb"%s[ \t]+:" % _TOKEN, line):
        raise BadMessage("there is space before the colon of a header", found=line)
    raise BadMessage("not a header line", found=line)


class HeadBuffer:
    """Collects bytes until a head is whole."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._looked = 0

    def __len__(self) -> int:
        return len(self._data)

    def add(self, data: bytes) -> None:
        """More bytes came."""
        self._data += data

    def take_rest(self) -> bytes:
        """Everything that was not taken as a head; the buffer is empty then."""
        rest = bytes(self._data)
        self._data.clear()
        self._looked = 0
        return rest

    def take(self) -> bytes | None:
        """The next head without its empty line, or None if it is not whole. Raises BadMessage.

        Empty lines before a head are passed over, as RFC 9112 2.2 asks.
        """
        while self._data[:2] == b"\r\n":
            del self._data[:2]
            self._looked = 0
        end = self._data.find(b"\r\n\r\n", max(0, self._looked - 3))
        if max(end, 0 if end >= 0 else len(self._data)) > MAX_HEADER_BLOCK:
            raise BadMessage(f"the headers are longer than {MAX_HEADER_BLOCK:,} bytes", 431)
        if end < 0:
            self._check_unfinished()
            self._looked = len(self._data)
            return None
        block = bytes(self._data[:end])
        del self._data[: end + 4]
        self._looked = 0
        return block

    def _check_unfinished(self) -> None:
        """What can never become a head is refused at once, so that nobody waits for its end."""
        if _NEITHER_TOKEN_NOR_LINE_END.match(self._data):
            raise BadMessage("this is not HTTP (is it TLS?)", found=bytes(self._data))
        if _STRAY_LINE_END.search(self._data, max(0, self._looked - 1)):
            raise BadMessage("a line of the head does not end with CR LF")
