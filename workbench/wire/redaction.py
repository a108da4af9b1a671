"""Replaces secrets before the first byte is written to disk.

A stand-in has the length and the character classes of the secret and keeps its public prefix (``sk-ant-``, ``Bearer``);
the same secret gets the same stand-in within one session, so that pieces are still shared and no rule sees a new
difference. Signatures, encrypted reasoning and ids are never changed: they are state that the chain needs, and grant
nothing.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import string
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice, zip_longest
from typing import Final
from urllib.parse import unquote

from workbench import regex
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.wire.aws_texts import AwsTexts, is_messages
from workbench.wire.encoding import decode_partial
from workbench.wire.exchange import Body, Exchange, Frame, Headers, HttpRequest, HttpResponse, Redaction
from workbench.wire.secrets import (
    Family,
    Secret,
    family,
    find,
    is_placeholder,
    is_secret,
    join_overlapping,
    of_header,
    of_query,
    open_key,
    open_web_key,
    public_prefix,
)
from workbench.wire.secrets.histories import HistorySearch
from workbench.wire.secrets.stream_texts import StreamedTexts, lines_of
from workbench.wire.stream import framing_of

CLASSES: Final = (string.ascii_lowercase, string.ascii_uppercase, string.digits)

_LEAST_FREE, _CHECK = 8, 5
"""Letters and digits that a stand-in with a check needs, and the number of check characters."""

_ESCAPE: Final = regex.compile(
    r"\\+(?:u[0-9a-fA-F]{4}|.)|%[0-9a-fA-F]{2}|&(?:quot|apos|amp|#x?[0-9a-fA-F]{2,3});", re.DOTALL
)
_CODE: Final = regex.compile(r"(?:\\+u00|%)([0-7][0-9a-fA-F])")


def _members(chars: str) -> bytes:
    """Map each byte to one of these characters."""
    return bytes(ord(chars[n % len(chars)]) for n in range(256))


def _mask(chars: str) -> bytes:
    """Map these characters to all-one bits, all others to zero."""
    return bytes(0xFF if chr(n) in chars else 0 for n in range(256))


_TABLES: Final = tuple((_members(chars), _mask(chars)) for chars in CLASSES)
_OTHERS: Final = bytes(0 if chr(n) in "".join(CLASSES) else 0xFF for n in range(256))
_ALNUM: Final = frozenset("".join(CLASSES).encode())


def disguise(secret: str, salt: bytes) -> str:
    """Replace each character by one of its class, always the same for the same secret.

    Characters other than ASCII letters and digits are kept; non-ASCII characters become "x". A stand-in is kept.
    """
    if not any(mark in secret for mark in "\\%&"):
        return _disguise(secret, secret, salt)
    literals, escapes = _ESCAPE.split(secret), _ESCAPE.findall(secret)
    characters = list(map(_unescape, escapes))
    stand_ins = iter(
        _disguise("".join(chain.from_iterable(zip_longest(literals, characters, fillvalue=""))), secret, salt)
    )
    pieces = list[str]()
    for literal, escape, char in zip_longest(literals, escapes, characters, fillvalue=""):
        pieces.append("".join(islice(stand_ins, len(literal))))
        pieces.append(escape[:-2] + f"{ord(next(stand_ins)):02x}" if char else escape)
    return "".join(pieces)


def _unescape(escape: str) -> str:
    """Letter or digit that an escape encodes; empty for other escapes."""
    found = _CODE.fullmatch(escape)
    char = chr(int(found[1], 16)) if found else ""
    return char if char.isalnum() else ""


def _disguise(text: str, secret: str, salt: bytes) -> str:
    raw = (text if text.isascii() else "".join(c if c.isascii() else "x" for c in text)).encode()
    if _is_checked(raw):
        return raw.decode()
    key = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
    return _with_check(_replace_characters(raw, hashlib.shake_256(salt + key).digest(len(raw)))).decode()


def _replace_characters(text: bytes, noise: bytes) -> bytes:
    """Letters and digits of the noise, in the character classes of the text."""
    stand_in = _number(text) & _number(text.translate(_OTHERS))
    for members, mask in _TABLES:
        stand_in |= _number(noise.translate(members)) & _number(text.translate(mask))
    return stand_in.to_bytes(len(text), "big")


def _number(text: bytes) -> int:
    return int.from_bytes(text, "big")


def _with_check(stand_in: bytes) -> bytes:
    """The text with check characters at its end; unchanged if it is too short."""
    start = _check_start(stand_in)
    if start is None:
        return stand_in
    noise = hashlib.shake_256(b"stand-in" + stand_in[:start]).digest(len(stand_in) - start)
    return stand_in[:start] + _replace_characters(stand_in[start:], noise)


def _is_checked(text: bytes) -> bool:
    return _check_start(text) is not None and _with_check(text) == text


def _check_start(text: bytes) -> int | None:
    """Offset of the last letters and digits; None if there are too few."""
    places = list(islice((n for n in range(len(text) - 1, -1, -1) if text[n] in _ALNUM), _LEAST_FREE))
    return places[_CHECK - 1] if len(places) == _LEAST_FREE else None


_USERINFO = regex.compile(r"(?<=://)([^/?#@\s:]*:[^/?#@\s]+|[^/?#@\s:]{16,})(?=@)")
_PARAMETER = regex.compile(r"[?&;#]([A-Za-z][\w.~-]*+)=([^&#;\s]+)")
_OPEN_MEMBER = regex.compile(rb"([\w.-]+)[\\\"'`]+[ \t]*(?:=>|:=|=|:|,)\s*\Z")
_LONGEST_GAP = 400
_LINES, _LONGEST_LINE = 500, 4096
"""Header lines whose secrets are kept in memory, and the length of the longest."""

_LEAST, _LEAST_LETTERS = 8, 12
"""Minimum length of a secret that bodies are searched for; and if it is all letters or all digits."""


_Change = tuple[Redaction, bytes]
"""A place in a text, and what stands there instead."""


@dataclass(slots=True)
class Redactor:
    """Redacts the exchanges of one session.

    Attributes:
        salt: makes stand-ins of different sessions unlinkable; random by default.
        seen: secrets found in headers and URLs, searched in bodies as well.
    """

    salt: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)
    seen: set[bytes] = field(default_factory=set, repr=False)
    _lines: dict[str, Sequence[Secret]] = field(default_factory=dict, repr=False)
    _seen_in_lines: int = 0
    _histories: HistorySearch = field(default_factory=HistorySearch, repr=False)

    def exchange(self, exchange: Exchange) -> Exchange:
        """The exchange with every secret replaced and each replacement marked."""
        request = self._request(exchange.request) if exchange.request else None
        response = self._response(exchange.response) if exchange.response else None
        frames = tuple(self._frame(f) for f in exchange.frames)
        client, note = self._line(exchange.client)[0], self._line(exchange.note)[0]
        same = request is exchange.request and response is exchange.response
        if same and not frames and client == exchange.client and note == exchange.note:
            return exchange
        return replace(exchange, request=request, response=response, frames=frames, client=client, note=note)

    def stand_in(self, secret: str) -> str:
        """Stand-in for a secret: same length, same classes, public prefix kept."""
        start = public_prefix(secret)
        return secret[:start] + disguise(secret[start:], self.salt)

    def remember(self, secret: str) -> None:
        """Search this text in every later body, unless it is too short to be distinguished from a word.

        Text with digits needs only eight characters.
        """
        least = _LEAST if any(map(str.isdigit, secret)) and any(map(str.isalpha, secret)) else _LEAST_LETTERS
        if len(secret) >= least and not any(map(str.isspace, secret)):
            self.seen.add(secret.encode("latin-1", "replace"))

    def text(self, text: bytes, stream: StreamedTexts | None = None) -> tuple[bytes, list[Redaction]]:
        """A body without content coding, with every secret replaced, and the positions of the stand-ins.

        Args:
            stream: the stream that the text continues; None for a whole body.
        """
        if is_messages(text):
            aws_texts = AwsTexts(text)
            redacted_text, found = self._text(aws_texts.text, stream or StreamedTexts())
            return (aws_texts.rewrite(redacted_text), aws_texts.marks(found)) if found else (text, [])
        return self._text(text, stream or (StreamedTexts() if framing_of(text) else None))

    def messages(self, messages: Sequence[bytes], stream: StreamedTexts, count: int) -> Iterator[bytes]:
        """The first messages of a connection with every secret replaced; each has its length.

        Args:
            messages: the next ones: those behind the first may end what begins in these.
            stream: the connection that they continue.
            count: number of the first ones.
        """
        changes, start = [*self._in_pieces(lines_of(messages), stream)], 0
        for message in messages[:count]:
            end = start + len(message)
            yield self.message(message, [_move(c, -start) for c in changes if start <= c[0].start and c[0].end <= end])
            start = end + 1

    def message(self, message: bytes, changes: Sequence[_Change] = ()) -> bytes:
        """One message alone, with these changes."""
        return (self.text(message) if is_messages(message) else self._replace(message, [*changes], is_stream=False))[0]

    def _text(self, text: bytes, stream: StreamedTexts | None) -> tuple[bytes, list[Redaction]]:
        """A text without escapes."""
        return self._replace(text, [*self._in_pieces(text, stream)] if stream else [], is_stream=bool(stream))

    def _replace(self, text: bytes, changes: list[_Change], *, is_stream: bool) -> tuple[bytes, list[Redaction]]:
        """The text with these changes, and with a stand-in for each secret beside them."""
        ranges = [(mark.start, mark.end) for mark, _ in changes]
        for start, end, kind in find(text, self.seen) if is_stream else self._histories.find(text, self.seen):
            if not any(first < end and start < last for first, last in ranges):
                changes.append((Redaction("body", start, end, kind), self._stand_in(text[start:end])))
        if not changes:
            return text, []
        pieces, at = list[bytes](), 0
        changes.sort(key=lambda change: change[0].start)
        for mark, stand_in in changes:
            pieces += (text[at : mark.start], stand_in)
            at = mark.end
        return b"".join((*pieces, text[at:])), [mark for mark, _ in changes]

    def _in_pieces(self, text: bytes, stream: StreamedTexts) -> Iterator[_Change]:
        """Each piece of the secrets in a stream's deltas, and its stand-in."""
        for cut in stream.secrets(text, self.seen):
            stand_in, at = self._stand_in(cut.secret), cut.written_length
            for start, end in cut.ranges:
                yield Redaction("body", start, end, cut.kind), stand_in[at : at + end - start]
                at += end - start

    def _stand_in(self, secret: bytes) -> bytes:
        return self.stand_in(secret.decode("latin-1")).encode("latin-1")

    def settled_length(self, text: bytes) -> int:
        """Length of the part of a growing text that can be redacted now: later text cannot change it.

        Secrets stay within a line, except for values of members, which may be on the next one, and private keys.
        """
        end = text.rfind(b"\n") + 1
        for find_open in (open_key, open_web_key):
            if (start := find_open(text, end)) is not None:
                end = text.rfind(b"\n", 0, start) + 1
        return 0 if is_open(text[max(0, end - _LONGEST_GAP) : end]) else end

    def _request(self, request: HttpRequest) -> HttpRequest:
        self._remember_query(request.url)
        headers, found = self._headers(request.headers)
        url, in_url = self._line(request.url, "url")
        body, in_body = self._body(request.body)
        if not (found or in_url or in_body):
            return request
        return replace(
            request, url=url, headers=headers, body=body, redactions=(*request.redactions, *in_url, *found, *in_body)
        )

    def _response(self, response: HttpResponse) -> HttpResponse:
        headers, found = self._headers(response.headers)
        reason, in_reason = self._line(response.reason, "reason")
        body, in_body = self._body(response.body)
        if not (found or in_reason or in_body):
            return response
        marks = (*response.redactions, *found, *in_reason, *in_body)
        return replace(response, headers=headers, reason=reason, body=body, redactions=marks)

    def _headers(self, headers: Headers) -> tuple[Headers, list[Redaction]]:
        kinds = [header_kind(name, value) for name, value in headers]
        for (_, value), kind in zip(headers, kinds, strict=True):
            if kind == "api-key":
                self._remember_credentials(value)
        others = "\n".join(value for (_, value), kind in zip(headers, kinds, strict=True) if not kind)
        are_clean = not self._in_line(others)  # nearly always: all at once is twenty times as fast as one by one
        items, found = [], []
        for (name, value), kind in zip(headers, kinds, strict=True):
            if kind:
                value = self._cookie(value) if kind == "cookie" else self.stand_in(value)
                found.append(Redaction(f"header:{name}", 0, len(value), kind))
            elif not are_clean:
                value, inside = self._line(value, f"header:{name}")
                found += inside
            items.append((name, value))
        return Headers(tuple(items)), found

    def _remember_credentials(self, value: str) -> None:
        """Remember the value of a secret header; of basic credentials also the password."""
        scheme, _, secret = value.rpartition(" ")
        self.remember(secret)
        if scheme.lower() == "basic":
            with suppress(ValueError):
                self.remember(b64decode(secret).decode("latin-1").partition(":")[2])

    def _remember_query(self, url: str) -> None:
        """Remember the secrets of a URL, encoded and decoded."""
        for start, end in in_url(url):
            self.remember(url[start:end])
            self.remember(unquote(url[start:end], "latin-1"))

    def _line(self, text: str, where: str = "") -> tuple[str, list[Redaction]]:
        """Redact a header line or metadata that is not a secret as a whole."""
        found = list[Redaction]()
        if not text:
            return text, found
        for start, end, kind in self._in_line(text):
            text = text[:start] + self.stand_in(text[start:end]) + text[end:]
            found.append(Redaction(where, start, end, kind))
        return text, found

    def _cookie(self, value: str) -> str:
        """Replace the values of pairs; names and attributes stay readable."""
        return re.sub(r"(?<==)[^;,\s]+", lambda m: self.stand_in(m[0]), value)

    def _in_line(self, text: str) -> Sequence[Secret]:
        """Secrets of a header line or of several: most come again and again."""
        if len(text) > _LONGEST_LINE:
            return self._search_line(text)
        if len(self._lines) >= _LINES or self._seen_in_lines != len(self.seen):
            self._lines.clear()
            self._seen_in_lines = len(self.seen)
        if text not in self._lines:
            self._lines[text] = self._search_line(text)
        return self._lines[text]

    def _search_line(self, text: str) -> Sequence[Secret]:
        spans = [Secret(*span, "api-key") for span in in_url(text)]
        return join_overlapping([*spans, *find(text.encode("latin-1", "replace"), self.seen)])

    def _body(self, body: Body) -> tuple[Body, list[Redaction]]:
        if not body.raw:
            return body, []
        if not body.encoding:
            text, found = self.text(body.raw)
            return (replace(body, raw=text) if found else body), found
        decoded, problem = decode_partial(body)
        text, found = self.text(decoded)
        if not found:
            return body, []  # where it cannot be read, nothing can be recognised and the raw bytes are the evidence
        cut = f"; the data was incomplete: {problem}" if problem else ""
        return replace(
            body,
            raw=text,
            encoding="",
            is_raw=False,
            note=f"the {body.encoding} encoding contained a secret and was not kept{cut}",
            original_length=len(body.raw),
            original_digest=hashlib.sha256(body.raw).hexdigest(),
        ), found

    def _frame(self, frame: Frame) -> Frame:
        text, found = self.text(frame.data)
        return replace(frame, data=text) if found else frame


def _move(change: _Change, by: int) -> _Change:
    mark, redacted = change
    return mark._replace(start=mark.start + by, end=mark.end + by), redacted


def is_open(text: bytes) -> bool:
    """True if a text ends between the name of a secret and its value, which may be on another line."""
    found = _OPEN_MEMBER.search(text[-_LONGEST_GAP:])
    return bool(found and family(found[1], is_line=True))


def header_kind(name: str, value: str) -> str:
    """Kind of secret in a header: "cookie", "api-key"; empty if there is none."""
    raw, kind = value.encode("latin-1", "replace"), of_header(name)
    if kind is None or not value or is_placeholder(raw.split(b" ")[-1]) or is_placeholder(raw):
        return ""
    if kind is Family.COOKIE:
        return "cookie"
    return "api-key" if kind is not Family.TOKEN or is_secret(raw, kind) else ""


def in_url(text: str) -> list[tuple[int, int]]:
    """Positions of secrets in the URLs of a text, by their parameter."""
    users = _USERINFO.finditer(text) if "@" in text else ()
    found = [m.span(1) for m in users if ":" in m[1] or is_secret(m[1].encode("latin-1", "replace"), Family.TOKEN)]
    for m in _PARAMETER.finditer(text) if "=" in text else ():
        kind, value = of_query(m[1].encode("latin-1", "replace")), m[2].encode("latin-1", "replace")
        if kind is None or is_placeholder(value):
            continue
        if kind is not Family.TOKEN or is_secret(value, kind):
            found.append(m.span(2))
    return found
