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
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from workbench.errors import WireError
from workbench.wire.encoding import decode_body
from workbench.wire.exchange import Body, Exchange, Frame, Headers, HttpRequest, HttpResponse, Redaction

SECRET_HEADER = re.compile(
    r"(?i)^(proxy-)?authorization$|(^|[-_])(api-?key|auth-?key|token|secret|password|credentials?)$"
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
BEARER_TEXT = re.compile(rb"(?i)\b(?:bearer|basic)[ ]+([A-Za-z0-9_.~+/=-]{16,})")
SECRET_MEMBER = re.compile(
    rb'(?i)\\*"(?:x-)?(?:api[_-]?key|authorization|(?:access|auth|refresh|id|session)[_-]?token|client[_-]?secret'
    rb'|secret[_-]?key|password|passwd|private[_-]?key)\\*"\s*:\s*\\*"([^"\\]{8,})'
)
PREFIX = re.compile(
    r"^(?:(?:bearer|basic|token)[ ]+)?"
    r"(?:sk-(?:ant-|proj-|or-v1-|svcacct-)?|gsk_|hf_|xai-|AIza|ghp_|github_pat_|AKIA|ASIA)?",
    re.IGNORECASE,
)
PLACEHOLDER = re.compile(
    rb"^(?:\$\{?\w+\}?|<[^>]*>|[*x.]+|redacted|filtered|dummy|none|null|your[-_ ].*)$", re.IGNORECASE
)

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
        return replace(exchange, request=request, response=response, frames=frames)

    def stand_in(self, secret: str) -> str:
        """What stands for a secret: same length, same classes, public prefix kept."""
        kept = PREFIX.match(secret)
        start = kept.end() if kept and kept.end() < len(secret) else 0
        digest = b""
        while len(digest) < len(secret):
            digest += hmac.digest(
                self.salt, secret.encode("utf-8", "surrogatepass") + bytes([len(digest) % 251]), "sha256"
            )
        return secret[:start] + "".join(_same_class(c, digest[n]) for n, c in enumerate(secret) if n >= start)

    def _request(self, request: HttpRequest) -> HttpRequest:
        headers, found = self._headers(request.headers)
        url, in_url = self._url(request.url)
        body, in_body = self._body(request.body)
        return replace(
            request, url=url, headers=headers, body=body, redactions=(*request.redactions, *in_url, *found, *in_body)
        )

    def _response(self, response: HttpResponse) -> HttpResponse:
        headers, found = self._headers(response.headers)
        body, in_body = self._body(response.body)
        return replace(response, headers=headers, body=body, redactions=(*response.redactions, *found, *in_body))

    def _headers(self, headers: Headers) -> tuple[Headers, list[Redaction]]:
        items, found = [], []
        for name, value in headers:
            kind = "cookie" if COOKIE_HEADER.match(name) else "api-key" if SECRET_HEADER.search(name) else ""
            if kind and value and not PLACEHOLDER.match(value.encode("latin-1", "replace")):
                if kind == "api-key":
                    self._remember(value.rpartition(" ")[2])
                value = self._cookie(value) if kind == "cookie" else self.stand_in(value)
                found.append(Redaction(f"header:{name}", 0, len(value), kind))
            items.append((name, value))
        return Headers(tuple(items)), found

    def _cookie(self, value: str) -> str:
        """Values of the pairs are replaced; names and attributes stay readable."""
        return re.sub(r"(?<==)[^;,\s]+", lambda m: self.stand_in(m[0]), value)

    def _remember(self, secret: str) -> None:
        if len(secret) >= 12:
            self.seen.add(secret.encode("latin-1", "replace"))

    def _url(self, url: str) -> tuple[str, list[Redaction]]:
        found = []
        spans = [m.span(1) for m in QUERY_SECRET.finditer(url)] + [m.span(1) for m in USERINFO.finditer(url)]
        for start, end in spans:
            self._remember(url[start:end])
            url = url[:start] + self.stand_in(url[start:end]) + url[end:]
            found.append(Redaction("url", start, end, "api-key"))
        return url, found

    def _body(self, body: Body) -> tuple[Body, list[Redaction]]:
        if not body.raw:
            return body, []
        if not body.encoding:
            text, found = self._text(body.raw)
            return (replace(body, raw=text) if found else body), found
        try:
            decoded = decode_body(body)
        except WireError:
            return body, []  # unreadable: nothing of it can be recognised, and the raw bytes are the evidence
        text, found = self._text(decoded)
        if not found:
            return body, []
        return replace(
            body,
            raw=text,
            encoding="",
            is_raw=False,
            note=f"the {body.encoding} form held a secret and was not kept",
            original_length=len(body.raw),
            original_digest=hashlib.sha256(body.raw).hexdigest(),
        ), found

    def _frame(self, frame: Frame) -> Frame:
        text, found = self._text(frame.data)
        return replace(frame, data=text) if found else frame

    def _text(self, text: bytes) -> tuple[bytes, list[Redaction]]:
        spans = sorted(set(self._secrets(text)))
        if not spans:
            return text, []
        pieces, at, found = [], 0, []
        for start, end, kind in spans:
            if start < at:
                continue
            pieces += [text[at:start], self.stand_in(text[start:end].decode("latin-1")).encode("latin-1")]
            found.append(Redaction("body", start, end, kind))
            at = end
        return b"".join((*pieces, text[at:])), found

    def _secrets(self, text: bytes) -> Iterator[tuple[int, int, str]]:
        yield from ((*m.span(), "api-key") for m in KNOWN_KEY.finditer(text))
        yield from ((*m.span(1), "bearer") for m in BEARER_TEXT.finditer(text))
        for m in SECRET_MEMBER.finditer(text):
            if not PLACEHOLDER.match(m[1]):
                yield (*m.span(1), "password")
        for secret in self.seen:
            at = text.find(secret)
            while at >= 0:
                yield at, at + len(secret), "api-key"
                at = text.find(secret, at + len(secret))


def _same_class(char: str, byte: int) -> str:
    for members in CLASSES:
        if char in members:
            return members[byte % len(members)]
    return char if char.isascii() else "x"
