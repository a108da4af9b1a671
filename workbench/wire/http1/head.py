"""Heads of HTTP/1.1 messages: parsed strictly, kept line by line, so that they can be sent on unchanged.

Messages that two parsers could read differently are refused, not repaired (RFC 9112, sections 2.2, 3, 5.1, 5.2 and 11).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from workbench import regex
from workbench.errors import WireError
from workbench.limits import MAX_HEADER_BLOCK, SNIPPET
from workbench.wire.exchange import Headers

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_TEXT = rb"[\t\x20-\x7e\x80-\xff]*"
_FIELD = regex.compile(rb"(%s):(%s)" % (_TOKEN, _TEXT))
_REQUEST_LINE = regex.compile(rb"(%s) ([\x21-\x7e\x80-\xff]+) (HTTP/1\.[01])" % _TOKEN)
_STATUS_LINE = regex.compile(rb"(HTTP/1\.[01]) ([1-9][0-9]{2})(?: (%s))?" % _TEXT)
_STRAY_LINE_END = regex.compile(rb"(?<!\r)\n|\r(?![\n])(?!\Z)")
_NEITHER_TOKEN_NOR_LINE_END = regex.compile(rb"[^!#$%&'*+\-.^_`|~0-9A-Za-z\r\n]")


class BadMessage(WireError):
    """Raised for a message that is not HTTP/1.1, or that two parsers could read differently.

    Args:
        found: the offending bytes. They are shown to the client, but not part of ``what``: they may be a secret.

    Attributes:
        status: response status if a client sent it.
    """

    def __init__(self, what: str, status: int = 400, *, found: bytes | None = None) -> None:
        super().__init__(what, hint=None if found is None else f"received: {quote(found)}")
        self.status = status


class HeaderField(NamedTuple):
    """One header line as sent.

    Attributes:
        key: its name in lower case.
        value: without surrounding space.
        pair: name and value for a recording: wire bytes read as Latin-1.
    """

    key: bytes
    value: bytes
    line: bytes
    pair: tuple[str, str]

    @property
    def name(self) -> bytes:
        """The name as sent."""
        return self.line[: len(self.key)]

    def with_value(self, value: bytes) -> HeaderField:
        """The same header with another value."""
        return header_field(self.name, value)


def header_field(name: bytes, value: bytes) -> HeaderField:
    """A header line of our own."""
    pair = name.decode("latin-1"), value.decode("latin-1")
    return HeaderField(name.lower(), value, name + b": " + value, pair)


class Head:
    """Start line and headers as received, without line ends."""

    __slots__ = ("_values", "fields", "start", "version")

    def __init__(self, start: bytes, version: bytes, fields: tuple[HeaderField, ...]) -> None:
        self.start, self.version, self.fields = start, version, fields
        values = self._values = dict[bytes, list[bytes]]()  # by name: a relay asks twenty times for each head
        for key, value, _, _ in fields:
            values.setdefault(key, []).append(value)

    def values(self, key: bytes) -> Sequence[bytes]:
        """Values of a header, by its lower-case name."""
        return self._values.get(key, ())

    def tokens(self, key: bytes) -> Sequence[bytes]:
        """Members of a comma-separated header, in lower case."""
        values = self._values.get(key)
        if values is None:
            return ()
        members = (m.strip(b" \t").lower() for value in values for m in value.split(b","))
        return [m for m in members if m]

    @property
    def headers(self) -> Headers:
        """Headers for a recording."""
        return Headers(tuple([pair for _, _, _, pair in self.fields]))


class Request(Head):
    """Head of a request."""

    __slots__ = ("method", "target")

    def __init__(
        self, start: bytes, version: bytes, fields: tuple[HeaderField, ...], method: bytes, target: bytes
    ) -> None:
        super().__init__(start, version, fields)
        self.method, self.target = method, target


class Response(Head):
    """Head of a response."""

    __slots__ = ("reason", "status")

    def __init__(
        self, start: bytes, version: bytes, fields: tuple[HeaderField, ...], status: int, reason: bytes
    ) -> None:
        super().__init__(start, version, fields)
        self.status, self.reason = status, reason


def render(start: bytes, lines: Iterable[bytes]) -> bytes:
    """Bytes of a head with its empty line."""
    return b"\r\n".join((start, *lines, b"", b""))


def read_request(block: bytes) -> Request:
    """Parse a request head without its empty line. Raises BadMessage."""
    start, fields = _split(block)
    matched = _REQUEST_LINE.fullmatch(start)
    if not matched:
        if re.fullmatch(rb"\S+ \S+ HTTP/(?!1\.[01]$)[0-9.]+", start):
            raise BadMessage(f"only HTTP/1.1 and 1.0 are supported, not {quote(start[-8:])}", 505)
        raise BadMessage("not an HTTP/1.1 request line", found=start)
    method, target, version = matched.groups()
    return Request(start, version, fields, method, target)


def read_response(block: bytes) -> Response:
    """Parse a response head without its empty line. Raises BadMessage."""
    start, fields = _split(block)
    matched = _STATUS_LINE.fullmatch(start)
    if not matched:
        raise BadMessage("not an HTTP/1.1 status line", found=start)
    version, status, reason = matched.groups()
    return Response(start, version, fields, int(status), reason or b"")


def read_fields(lines: Iterable[bytes]) -> tuple[HeaderField, ...]:
    """Parse header or trailer lines. Raises BadMessage."""
    return tuple(map(_field, lines))


def quote(data: bytes) -> str:
    """Bytes of a message for an error text: ASCII, one line, shortened."""
    return ascii(data[:SNIPPET].decode("latin-1"))


def read_headers(block: bytes) -> Headers:
    """Headers of a head whose first line may be anything; none if one of them is damaged."""
    try:
        _, fields = _split(block)
    except BadMessage:
        return Headers()
    return Head(b"", b"", fields).headers


def _split(block: bytes) -> tuple[bytes, tuple[HeaderField, ...]]:
    start, *lines = block.split(b"\r\n")
    return start, tuple(map(_known_field if len(block) <= _USUAL else _field, lines))


def _field(line: bytes) -> HeaderField:
    matched = _FIELD.fullmatch(line)
    if matched:
        name, value = matched[1], matched[2].strip(b" \t")
        return HeaderField(name.lower(), value, line, (name.decode("latin-1"), value.decode("latin-1")))
    if line[:1] in (b" ", b"\t"):
        raise BadMessage("a header is continued on a second line (obsolete line folding)", found=line)
    if re.match(rb"%s[ \t]+:" % _TOKEN, line):
        raise BadMessage("a header has a space before the colon", found=line)
    raise BadMessage("not a header line", found=line)


_USUAL, _LINES = 8 * 1024, 512
"""Bytes of a head whose lines are remembered, and how many lines are: one client sends the same again and again."""

_known_field = lru_cache(_LINES)(_field)


class HeadBuffer:
    """Collects bytes until a head is complete."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._looked = 0

    def __len__(self) -> int:
        return len(self._data)

    def add(self, data: bytes) -> None:
        """Append bytes."""
        self._data += data

    def take_rest(self) -> bytes:
        """All bytes that are not part of a head; the buffer is empty afterwards."""
        rest = bytes(self._data)
        self._data.clear()
        self._looked = 0
        return rest

    def take(self) -> bytes | None:
        """The next head without its empty line; None if it is incomplete. Raises BadMessage.

        Empty lines before a head are skipped, as RFC 9112 2.2 requires.
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
        """Refuse data that can never become a head, so that the reader does not wait for its end."""
        if _NEITHER_TOKEN_NOR_LINE_END.match(self._data):
            raise BadMessage("these bytes are not HTTP (they may be TLS)", found=bytes(self._data))
        if _STRAY_LINE_END.search(self._data, max(0, self._looked - 1)):
            raise BadMessage("a header line does not end with CR LF")


_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authentication-info",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"upgrade",
    }
)

_NOT_FOR_CONNECTION_TO_NAME = frozenset({b"content-length", b"host", b"transfer-encoding", b"trailer"})
"""Framing is forwarded unchanged, so a Connection header must not remove its headers."""


def end_to_end(head: Head) -> Sequence[HeaderField]:
    """Headers that are sent on."""
    dropped = _HOP_BY_HOP
    if named := set(head.tokens(b"connection")) - _NOT_FOR_CONNECTION_TO_NAME:
        dropped = dropped | named
    return [f for f in head.fields if f.key not in dropped]


def asks_websocket(head: Head) -> bool:
    """True for a handshake of a WebSocket: a GET whose upgrade is passed on (RFC 6455 4.1)."""
    return b"websocket" in head.tokens(b"upgrade") and b"upgrade" in head.tokens(b"connection")


def other_upgrade(head: Head) -> str:
    """The protocols other than WebSocket that a request asks to switch to; empty for none."""
    if not head.values(b"upgrade"):
        return ""
    asked = [name.decode("latin-1") for name in head.tokens(b"upgrade") if name != b"websocket"]
    return ", ".join(asked) if asked and b"upgrade" in head.tokens(b"connection") else ""


def is_persistent(head: Head) -> bool:
    """True if the sender keeps the connection open. HTTP/1.0 is assumed to close it."""
    return head.version == b"HTTP/1.1" and b"close" not in head.tokens(b"connection")


_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Admission:
    """Checks requests against the address of the listener.

    Args:
        passes_websockets: their handshakes are accepted; else the response is 426, which clients take as a reason to
            use HTTP (measured with Codex 0.169.0).
    """

    def __init__(self, port: int, *, passes_websockets: bool = False) -> None:
        self._passes_websockets = passes_websockets
        hosts = {"[::1]" if host == "::1" else host for host in _LOOPBACK}
        self._authorities = {f"{host}:{port}".encode() for host in hosts}
        if port == 80:
            self._authorities |= {host.encode() for host in hosts}

    def target(self, request: Request) -> bytes:
        """Path and query of a request to this listener. Raises BadMessage with the status to answer."""
        if request.method == b"CONNECT":
            raise BadMessage(
                "this recorder is not a forward proxy: set the client's base URL to the recorder's URL, not HTTP_PROXY",
                405,
            )
        target = request.target if request.target.startswith(b"/") else self._origin_form(request.target)
        self._check_host(request)
        _check_page(request)
        if b"websocket" in request.tokens(b"upgrade") and not self._passes_websockets:
            raise BadMessage("this recorder does not forward WebSockets (--no-websocket): use plain HTTP requests", 426)
        return target

    def _origin_form(self, target: bytes) -> bytes:
        scheme, mark, rest = target.partition(b"://")
        authority, slash, path = rest.partition(b"/")
        if mark and scheme.lower() == b"http" and authority.lower() in self._authorities:
            return slash + path or b"/"
        if mark:
            raise BadMessage(
                "this recorder is not a forward proxy: set the client's base URL to the recorder's URL, not HTTP_PROXY"
            )
        raise BadMessage(f"not a path: {quote(target)}")

    def _check_host(self, request: Request) -> None:
        hosts = request.values(b"host")
        if len(hosts) > 1 or (not hosts and request.version == b"HTTP/1.1"):
            raise BadMessage(f"exactly one Host header is required, not {len(hosts)}")
        if hosts and hosts[0].lower() not in self._authorities:
            known = " or ".join(sorted(a.decode() for a in self._authorities))
            raise BadMessage(f"Host is {quote(hosts[0])}; only requests for {known} are accepted", 421)


def _check_page(request: Request) -> None:
    """Refuse requests of web pages from other sites. Pages served from this machine may use the relay."""
    origins = request.values(b"origin")
    for origin in origins:
        if origin == b"null" or (origin.lower().startswith((b"http:", b"https:")) and not _is_local(origin)):
            raise BadMessage(f"requests from web pages at {quote(origin)} are refused", 403)
    if not origins and b"cross-site" in request.tokens(b"sec-fetch-site"):
        raise BadMessage("requests from web pages of other sites are refused", 403)


def _is_local(origin: bytes) -> bool:
    try:
        return urlsplit(origin.decode("latin-1")).hostname in _LOOPBACK
    except ValueError:
        return False
