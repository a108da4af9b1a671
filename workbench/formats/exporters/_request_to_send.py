"""Prepares a request for sending again: URL, headers and body, with variables in place of secrets.

Headers of one connection (``Connection``, ``Content-Length`` …) are left to the program that sends it. A provider's key
variable is used only if the request goes to that provider's own host: a session must not choose where a key is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import AnyStr, Final, NamedTuple
from urllib.parse import quote

from workbench import contracts, regex
from workbench.errors import LocalProtocolError, WireError
from workbench.lazy_dataclass import dataclass, replace
from workbench.wire import Exchange, HttpRequest, Redactor, decode_partial, framing_of, loads
from workbench.wire.secrets import Family, is_header, of_header

_PLAIN: Final = regex.compile(r"[A-Za-z0-9_./:@,+-]+", re.ASCII)
_NAME: Final = regex.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII)
_TRAP: Final = regex.compile(r"\\(?:'|\Z)")
"""A backslash before one of our quotes: some shells (fish) let it escape that quote even in single quotes."""

_ESCAPED: Final = regex.compile(rb"[^ !#-&(-\[\]-~]|%")


class SecretVariable(NamedTuple):
    """A shell variable in place of a secret."""

    name: str


Piece = bytes | SecretVariable


def is_pasteable(pieces: Sequence[Piece]) -> bool:
    """True if every character of the text is visible and literal between single quotes."""
    return all(isinstance(piece, SecretVariable) or _is_pasteable(piece) for piece in pieces)


def _is_pasteable(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return text.replace("\n", "").isprintable() and not _TRAP.search(text)


def shell_word(pieces: Sequence[Piece]) -> str:
    """Join pasteable pieces into one quoted word."""
    return "".join(map(_shell_piece, pieces)) or "''"


def _shell_piece(piece: Piece) -> str:
    if isinstance(piece, SecretVariable):
        return _variable(piece)
    text = piece.decode()
    return text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "'\"'\"'") + "'" if text else ""


def printf_command(pieces: Sequence[Piece]) -> str:
    r"""A command that prints the pieces exactly, including NUL bytes."""
    form = b"".join(b"%s" if isinstance(p, SecretVariable) else _ESCAPED.sub(_escape, p) for p in pieces)
    variables = [_variable(p) for p in pieces if isinstance(p, SecretVariable)]
    text = "\\055" + form[1:].decode() if form.startswith(b"-") else form.decode()  # no option of printf
    return " ".join(("printf", f"'{text}'", *variables))


def _escape(found: re.Match[bytes]) -> bytes:
    return b"%%" if found[0] == b"%" else b"\\%03o" % found[0][0]


def word(pieces: Sequence[Piece]) -> str:
    """Join pieces into one word, which must not contain NUL or end with a line end."""
    return shell_word(pieces) if is_pasteable(pieces) else f'"$({printf_command(pieces)})"'


def _variable(variable: SecretVariable) -> str:
    assert _NAME.fullmatch(variable.name)
    return f'"${{{variable.name}:?set it first}}"'


_LEFT_OUT: Final = {
    "accept-encoding", "connection", "content-length", "expect", "host", "http2-settings", "keep-alive",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
_TOKEN: Final = regex.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_HOST: Final = regex.compile(r"[A-Za-z0-9._-]+(?::[0-9]{1,5})?|\[[0-9a-fA-F:.]+\](?::[0-9]{1,5})?", re.ASCII)
_SCHEME: Final = regex.compile(r"(?i)(?:bearer|basic|token) +")
_URL_SAFE: Final = "".join(chr(c) for c in range(0x21, 0x7F) if chr(c) not in "\"'<>\\^`{|}")


@dataclass(frozen=True, slots=True)
class RequestToSend:
    """A request to send.

    Attributes:
        url, body: pieces, with variables in place of secrets; the body without content coding.
        headers: name and pieces of the value; no pieces for an empty value.
        names: of all headers it had.
        raw_url: as recorded.
        has_body: send a body, even an empty one.
        takes_codings: its sender accepted compressed responses.
        is_stream: show the response while it arrives.
        notes: differences from the recorded request, one line each.
    """

    method: str
    url: tuple[Piece, ...]
    headers: tuple[tuple[str, tuple[Piece, ...]], ...]
    body: tuple[Piece, ...]
    names: tuple[str, ...]
    raw_url: str
    has_body: bool
    takes_codings: bool
    is_stream: bool
    notes: tuple[str, ...] = ()


def request_to_send(exchange: Exchange, redactor: Redactor) -> RequestToSend:
    """Prepare the request of an exchange.

    Raises:
        LocalProtocolError: there is no request, or HTTP cannot carry it.
    """
    if exchange.request is None:
        raise LocalProtocolError("no request was recorded", hint="only a request can be sent again")
    found = redactor.exchange(replace(exchange, response=None, frames=()))
    assert found.request
    return _RequestReader(exchange.request, found.request).read(is_stream=_is_stream(exchange))


def _is_stream(exchange: Exchange) -> bool:
    """True if the response was a stream, or, without a successful response, if the request asks for one."""
    request, answer = exchange.request, exchange.response
    if answer is None or answer.status >= 400:
        return request is not None and _asks_for_stream(request)
    kind = answer.headers.get("content-type") or ""
    return kind.startswith("text/event-stream") or framing_of(decode_partial(answer.body)[0], kind) is not None


def _asks_for_stream(request: HttpRequest) -> bool:
    if "streamGenerateContent" in request.url:
        return True
    try:
        plain = loads(decode_partial(request.body)[0])
    except WireError:
        return False
    is_usual = request.url.partition("?")[0].endswith(
        ("/api/chat", "/api/generate")
    )  # Ollama streams unless told not to
    return isinstance(plain, dict) and plain.get("stream", is_usual) is True


@dataclass(slots=True)
class _RequestReader:
    """Reads one request. ``marked`` is the same request with every secret marked."""

    request: HttpRequest
    marked: HttpRequest

    def read(self, *, is_stream: bool) -> RequestToSend:
        request = self.request
        if not _TOKEN.fullmatch(request.method):
            raise LocalProtocolError("the method is not an HTTP method", hint="the request cannot be sent")
        notes: list[str] = []
        result = RequestToSend(
            method=request.method,
            url=tuple(self._url(notes)),
            body=tuple(self._body(notes)),
            headers=tuple(self._headers(notes)),
            names=tuple(name for name, _ in request.headers),
            raw_url=request.url,
            has_body=bool(request.body.raw) or request.method in ("POST", "PUT", "PATCH"),
            takes_codings=bool(request.headers.get("accept-encoding")),
            is_stream=is_stream,
        )
        key = self._key()
        used = {
            piece for pieces in (result.url, result.body, *(value for _, value in result.headers)) for piece in pieces
        }
        if key != "API_KEY" and SecretVariable(key) not in used:
            notes.append(f"no key was recorded: add the header with ${key}")
        return replace(result, notes=tuple(notes))

    # The URL.

    def _url(self, notes: list[str]) -> list[Piece]:
        url = self.request.url
        base: list[Piece] = []
        if url.startswith("/"):
            base = self._base(notes)
        elif not re.match(r"(?i)https?://[^/?#]", url):
            raise LocalProtocolError("the URL is not an HTTP URL", hint="only HTTP requests can be sent again")
        spans = [(r.start, r.end) for r in self.marked.redactions if r.where == "url"]
        pieces = list(_cut(url, spans, self._key()))
        plain = [
            SecretVariable(p.name) if isinstance(p, SecretVariable) else _percent_encode(p).encode() for p in pieces
        ]
        if any(isinstance(p, str) and _percent_encode(p) != p for p in pieces):
            notes.append("characters not allowed in URLs are percent-encoded")
        return [*base, *plain]

    def _base(self, notes: list[str]) -> list[Piece]:
        host = self.request.headers.get("host") or ""
        if _HOST.fullmatch(host):
            notes.append("the scheme was not recorded; https is assumed")
            return [f"https://{host}".encode()]
        notes.append("the host was not recorded: set BASE_URL")
        return [SecretVariable("BASE_URL")]

    def _key(self) -> str:
        """Variable of the key: the provider's own if the request goes to its host."""
        return contracts.key_variable(self.request.url) or "API_KEY"

    # Headers.

    def _headers(self, notes: list[str]) -> Iterator[tuple[str, tuple[Piece, ...]]]:
        dropped = _LEFT_OUT | {
            name.strip().lower() for value in self.request.headers.all("connection") for name in value.split(",")
        }
        if self._decode is not None:
            dropped |= {"content-encoding"}
        for name, value in self.request.headers:
            if name.lower() in dropped or name.startswith(":"):
                continue
            if not _TOKEN.fullmatch(name) or any(c in value for c in "\r\n\0"):
                notes.append(f"left out a header that HTTP does not allow: {name[:40]!r}")
            else:
                yield name, tuple(self._value(name, value.strip()))

    def _value(self, name: str, value: str) -> Iterator[Piece]:
        if not value:
            return
        if of_header(name) is Family.COOKIE:
            yield SecretVariable("COOKIE")
        elif is_header(name) or f"header:{name}" in {r.where for r in self.marked.redactions}:
            scheme = _SCHEME.match(value)
            yield from [scheme[0].encode()] if scheme else []
            yield SecretVariable(self._key())
        else:
            yield _octets(value)

    # The body.

    @property
    def _decode(self) -> bytes | None:
        """The body without its content coding; None if it cannot be decoded."""
        text, problem = decode_partial(self.request.body)
        return None if problem else text

    def _body(self, notes: list[str]) -> list[Piece]:
        body = self.request.body
        text = self._decode
        if text is None:
            notes.append(f"the body is sent as {body.encoding}: it cannot be decoded")
            return [body.raw]
        if body.encoding:
            notes.append(f"the body is sent decoded; the original was {body.encoding}")
        elif not body.is_raw:
            notes.append("the body is sent as stored; the original bytes were not kept")
        spans = [(r.start, r.end) for r in self.marked.redactions if r.where == "body"]
        if spans:
            notes.append("secrets in the body are replaced by variables: set SECRET …")
        return list(_cut(text, spans, "SECRET"))


def _percent_encode(text: str) -> str:
    return quote(text, safe=_URL_SAFE, errors="surrogatepass")


def _cut(text: AnyStr, spans: Sequence[tuple[int, int]], name: str) -> Iterator[AnyStr | SecretVariable]:
    """The text with a variable in place of every range that is inside it and separate; one variable for each secret."""
    at, names = 0, dict[AnyStr, str]()
    for start, end in sorted(set(spans)):
        if at <= start < end <= len(text):
            if start > at:
                yield text[at:start]
            number = f"_{len(names) + 1}" if names else ""
            yield SecretVariable(names.setdefault(text[start:end], name + number))
            at = end
    if at < len(text):
        yield text[at:]


def _octets(value: str) -> bytes:
    """Bytes of a header value; importers may return text that no wire carried."""
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
