"""Secrets are replaced before the first byte reaches a disk.

A stand-in has the length and the character classes of what it replaces and keeps its public prefix (``sk-ant-``,
``Bearer``); the same secret gets the same stand-in within one session, so that pieces are still shared and no rule
sees a difference that was not there. Signatures, encrypted reasoning and ids are never touched: they are state that
the chain needs, and grant nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
from base64 import b64decode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from workbench.wire.encoding import decode_partial
from workbench.wire.exchange import Body, Exchange, Frame, Headers, HttpRequest, HttpResponse, Redaction

SECRET_HEADER = re.compile(
    r"(?i)(^|[-_])(authorization|auth|(api|auth|access|subscription)-?key|token|secret|password|credentials?)$"
)
COOKIE_HEADER = re.compile(r"(?i)^(set-)?cookie2?$")

QUERY_SECRET = re.compile(
    r"(?i)(?<=[?&;])(?:key|api[_-]?key|(?:access|auth|id|refresh|security|session)[_-]?token|token|client[_-]?secret"
    r"|secret|password|sig|signature|x-amz-(?:signature|credential|security-token)|x-goog-signature)=([^&#;\s]+)"
)
USERINFO = re.compile(r"(?<=://)([^/?#@\s:]*:[^/?#@\s]+)(?=@)")

KNOWN_KEY = re.compile(
    rb"(?<![A-Za-z0-9_+/-])(?:"
    rb"sk-[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, DeepSeek, OpenRouter …
    rb"|(?:gsk|hf|r8|nvapi|xai|pplx|tgp_v1|glpat|ghp|gho|ghu|ghs|ghr|github_pat|xox[abprs]|npm|dop_v1)[_-][A-Za-z0-9_-]{16,}"
    rb"|AIza[A-Za-z0-9_-]{35}"  # Google
    rb"|ya29\.[A-Za-z0-9_.-]{20,}"
    rb"|(?:AKIA|ASIA)[A-Z0-9]{16}"  # AWS
    rb"|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"  # JSON web token
    rb")"
)
BEARER_TEXT = re.compile(rb"(?i)\b(?:bearer|basic)[ ]+(?!(?-i:[a-z_]+)=\")([A-Za-z0-9_.~+/=-]{16,})")
"""What such a challenge asks for (WWW-Authenticate: Bearer resource_metadata="…") is no secret."""
_MEMBER_NAME = (
    rb'(?i)"(?:x-)?(?:api[_-]?key|authorization|(?:access|auth|refresh|id|session)[_-]?token|client[_-]?secret'
    rb'|secret[_-]?key|password|passwd|private[_-]?key)\\*"\s*'
)
SECRET_MEMBER = re.compile(_MEMBER_NAME + rb':\s*\\*"([^"\\]{8,})')
OPEN_MEMBER = re.compile(_MEMBER_NAME + rb'(?::\s*(?:\\*"[^"\\]*)?)?\Z')
"""The text ends in the middle of such a member: the rest of the secret may follow, even on another line."""

KEY_MARKS = tuple(
    b"sk- AIza ya29. AKIA ASIA eyJ gsk hf_ hf- r8_ r8- nvapi xai pplx tgp_v1 glpat ghp_ ghp- gho_ gho- ghu_ ghu- ghs_"
    b" ghs- ghr_ ghr- github_pat xox npm dop_v1".split()
)
BEARER_MARKS = (b"bearer ", b"basic ")
MEMBER_MARKS = tuple(b"apikey api_key api-key authorization token secret password passwd private".split())
"""One of these stands in each match of KNOWN_KEY, and in lower case of BEARER_TEXT and of members. Most texts hold
none, and looking for them is twenty times as fast."""

PREFIX = re.compile(
    r"^(?:(?:bearer|basic|token)[ ]+)?"
    r"(?:sk-(?:ant-|proj-|or-v1-|svcacct-)?|gsk_|hf_|xai-|AIza|ghp_|github_pat_|AKIA|ASIA)?",
    re.IGNORECASE,
)
PLACEHOLDER = re.compile(
    rb"^(?:\$\{?\w+\}?|<[^>]*>|[*x.]+|redacted|filtered|dummy|none|null|your[-_ ].*)$", re.IGNORECASE
)

WINDOW = 256 * 1024
"""Bytes of a body that are searched at once, and as many more as there are up to the next comma."""

CLASSES = (string.ascii_lowercase, string.ascii_uppercase, string.digits)


@dataclass(slots=True)
class Redactor:
    """Redacts the exchanges of one session.

    Attributes:
        salt: makes stand-ins of different sessions unlinkable; random unless given.
        seen: secrets that stood in a header or URL: they are looked for in bodies too.
    """

    salt: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)
    seen: set[bytes] = field(default_factory=set, repr=False)

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
        """What stands for a secret: same length, same classes, public prefix kept."""
        kept = PREFIX.match(secret)
        start = kept.end() if kept and kept.end() < len(secret) else 0
        digest = bytearray()
        while len(digest) < len(secret):
            digest += hmac.digest(
                self.salt, secret.encode("utf-8", "surrogatepass") + bytes([len(digest) % 251]), "sha256"
            )
        return secret[:start] + "".join(_same_class(c, digest[n]) for n, c in enumerate(secret) if n >= start)

    def remember(self, secret: str) -> None:
        """Look for this text in every body from now on, unless it is too short to be told from a word.

        Digits tell it from one: with them eight characters are enough.
        """
        least = 8 if any(map(str.isdigit, secret)) and any(map(str.isalpha, secret)) else 12
        if len(secret) >= least and not any(map(str.isspace, secret)):
            self.seen.add(secret.encode("latin-1", "replace"))

    def text(self, text: bytes) -> tuple[bytes, list[Redaction]]:
        """A body that is in no coding, every secret in it replaced; and where they stood."""
        spans = _merged(self._secrets(text))
        if not spans:
            return text, []
        pieces, at, found = [], 0, []
        for start, end, kind in spans:
            pieces += [text[at:start], self.stand_in(text[start:end].decode("latin-1")).encode("latin-1")]
            found.append(Redaction("body", start, end, kind))
            at = end
        return b"".join((*pieces, text[at:])), found

    def settled(self, text: bytes) -> int:
        """Length of the part of a growing text that can be redacted by itself: nothing to come changes it.

        Secrets keep within a line; but for members of JSON, whose value may stand on the next one.
        """
        end = text.rfind(b"\n") + 1
        is_open = _has(text.lower(), MEMBER_MARKS) and OPEN_MEMBER.search(text, 0, end)
        return 0 if is_open else end

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
        kinds = [_kind(name, value) for name, value in headers]
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
        """The value of a header that is secret; of user and password as they are sent, the password too."""
        scheme, _, secret = value.rpartition(" ")
        self.remember(secret)
        if scheme.lower() == "basic":
            with suppress(ValueError):
                self.remember(b64decode(secret).decode("latin-1").partition(":")[2])

    def _remember_query(self, url: str) -> None:
        """Secrets of a URL, as they stand in it and as they are meant."""
        for start, end in _in_urls(url):
            self.remember(url[start:end])
            self.remember(unquote(url[start:end], "latin-1"))

    def _line(self, text: str, where: str = "") -> tuple[str, list[Redaction]]:
        """A line of a head, or about an exchange, that is no secret as a whole: the secrets in it are replaced."""
        found = list[Redaction]()
        if not text:
            return text, found
        for start, end, kind in self._in_line(text):
            text = text[:start] + self.stand_in(text[start:end]) + text[end:]
            found.append(Redaction(where, start, end, kind))
        return text, found

    def _cookie(self, value: str) -> str:
        """Values of the pairs are replaced; names and attributes stay readable."""
        return re.sub(r"(?<==)[^;,\s]+", lambda m: self.stand_in(m[0]), value)

    def _in_line(self, text: str) -> list[tuple[int, int, str]]:
        spans = [(*span, "api-key") for span in _in_urls(text)]
        return _merged([*spans, *self._secrets(text.encode("latin-1", "replace"))])

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
        cut = f"; it was not whole: {problem}" if problem else ""
        return replace(
            body,
            raw=text,
            encoding="",
            is_raw=False,
            note=f"the {body.encoding} form held a secret and was not kept{cut}",
            original_length=len(body.raw),
            original_digest=hashlib.sha256(body.raw).hexdigest(),
        ), found

    def _frame(self, frame: Frame) -> Frame:
        text, found = self.text(frame.data)
        return replace(frame, data=text) if found else frame

    def _secrets(self, text: bytes) -> Iterator[tuple[int, int, str]]:
        for start, end in _windows(text):
            part = text[start:end]
            if _has(part, KEY_MARKS):
                yield from ((*m.span(), "api-key") for m in KNOWN_KEY.finditer(text, start, end))
            if _has(part.lower(), BEARER_MARKS):
                yield from ((*m.span(1), "bearer") for m in BEARER_TEXT.finditer(text, start, end))
        for m in SECRET_MEMBER.finditer(text) if _has(text.lower(), MEMBER_MARKS) else ():
            if not PLACEHOLDER.match(m[1]):
                yield (*m.span(1), "password")
        for secret in self.seen:
            at = text.find(secret)
            while at >= 0:
                yield at, at + len(secret), "api-key"
                at = text.find(secret, at + len(secret))


def _has(text: bytes, marks: Iterable[bytes]) -> bool:
    for mark in marks:  # noqa: SIM110 (any() takes three times as long)
        if mark in text:
            return True
    return False


def _windows(text: bytes) -> Iterator[tuple[int, int]]:
    """A text in parts that end behind a comma, which neither a key nor a bearer token holds.

    Searching all of a large body at once would keep every other thread from the interpreter for as long.
    """
    start = 0
    while start < len(text):
        end = text.find(b",", start + WINDOW) + 1 or len(text)
        yield start, end
        start = end


def _kind(name: str, value: str) -> str:
    """What a header holds that is secret by its name, "" for nothing."""
    kind = "cookie" if COOKIE_HEADER.match(name) else "api-key" if SECRET_HEADER.search(name) else ""
    return kind if kind and value and not PLACEHOLDER.match(value.encode("latin-1", "replace")) else ""


def _in_urls(text: str) -> list[tuple[int, int]]:
    """Where secrets stand in the URLs of a text, by the place they have there."""
    patterns = (QUERY_SECRET,) * ("=" in text) + (USERINFO,) * ("@" in text)  # they are slow, and seldom needed
    return [m.span(1) for pattern in patterns for m in pattern.finditer(text)]


def _merged(spans: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """In order, those that overlap as one."""
    merged = list[tuple[int, int, str]]()
    for start, end, kind in sorted(spans):
        if merged and start < merged[-1][1]:
            first, last, of = merged[-1]
            merged[-1] = (first, max(last, end), of)
        else:
            merged.append((start, end, kind))
    return merged


def _same_class(char: str, byte: int) -> str:
    for members in CLASSES:
        if char in members:
            return members[byte % len(members)]
    return char if char.isascii() else "x"
