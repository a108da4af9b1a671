"""A request as a ``curl`` command for a POSIX shell, which sends it again.

Secrets, found or marked as replaced, become shell variables; what belongs to one connection (``Connection``,
``Content-Length`` …) is left to curl. The key variable of a provider is named only where the request goes to that
provider's own host: nothing in a session chooses where somebody's key goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import AnyStr, Final, NamedTuple
from urllib.parse import quote, urlsplit

from workbench.errors import LocalProtocolError
from workbench.exporters import Exported, Selection, one_file
from workbench.exporters._words import Piece, Variable, is_pasteable, printed, quoted, word
from workbench.wire.encoding import decode_partial
from workbench.wire.exchange import Exchange, HttpRequest
from workbench.wire.redaction import COOKIE_HEADER, SECRET_HEADER, Redactor
from workbench.wire.stream import framing_of

TITLE = "cURL command"
SUFFIX = ".sh"

MOST_ON_THE_LINE: Final = 100_000
"""Bytes of a body given as an argument; Linux takes 131,072 for one, and what is larger is piped in."""

_EXPECTS: Final = 1_000_000
"""From about here on curl asks the server before it sends a body, which not every server answers."""

_KEYS: Final = {
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "api.openai.com": "OPENAI_API_KEY",
    "api.deepseek.com": "DEEPSEEK_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
    "api.groq.com": "GROQ_API_KEY",
    "api.mistral.ai": "MISTRAL_API_KEY",
    "api.x.ai": "XAI_API_KEY",
    "api.moonshot.ai": "MOONSHOT_API_KEY",
    "api.minimax.io": "MINIMAX_API_KEY",
    "open.bigmodel.cn": "ZHIPUAI_API_KEY",
    "dashscope.aliyuncs.com": "DASHSCOPE_API_KEY",
}
"""Host → the variable that its own SDK or documentation reads the key from."""

_LEFT_TO_CURL: Final = {
    "accept-encoding", "connection", "content-length", "expect", "host", "http2-settings", "keep-alive",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
_ADDED_BY_CURL: Final = ("Accept", "User-Agent")
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_HOST: Final = re.compile(r"[A-Za-z0-9._-]+(?::[0-9]{1,5})?|\[[0-9a-fA-F:.]+\](?::[0-9]{1,5})?", re.ASCII)
_SCHEME: Final = re.compile(r"(?i)(?:bearer|basic|token) +")
_URL_SAFE: Final = "".join(chr(c) for c in range(0x21, 0x7F) if chr(c) not in "\"'<>\\^`{|}")


class Command(NamedTuple):
    """A command, and what is not in it as it was sent, one line each."""

    text: str
    notes: tuple[str, ...] = ()


def write(selection: Selection) -> Exported:
    """Every request, in order, one command after the other."""
    made, notes, left_out = list[str](), list[str](), list[str]()
    for index, exchange in selection.exchanges():
        try:
            command = curl(exchange)
        except LocalProtocolError as error:
            left_out.append(f"exchange {index + 1}: {error}")
            continue
        made.append(command.text + "\n")
        notes += (f"exchange {index + 1}: {note}" for note in command.notes)
    return one_file("\n".join(made).encode(), tuple(notes), tuple(left_out))


def curl(exchange: Exchange) -> Command:
    """The command that sends the request of an exchange again.

    Raises:
        LocalProtocolError: there is no request, or curl cannot send such a one.
    """
    if exchange.request is None:
        raise LocalProtocolError("no request was recorded", hint="only a request can be sent again")
    found = Redactor(salt=b"curl").exchange(replace(exchange, response=None, frames=()))
    assert found.request
    return _Writer(exchange.request, found.request).command(is_stream=_is_stream(exchange))


def _is_stream(exchange: Exchange) -> bool:
    answer = exchange.response
    if answer is None:
        return False
    kind = answer.headers.get("content-type") or ""
    return kind.startswith("text/event-stream") or framing_of(decode_partial(answer.body)[0], kind) is not None


@dataclass(slots=True)
class _Writer:
    """Writes one request. ``marked`` is the same one with every secret in it marked."""

    request: HttpRequest
    marked: HttpRequest

    def command(self, *, is_stream: bool) -> Command:
        if not _TOKEN.fullmatch(self.request.method):
            raise LocalProtocolError("the method is no HTTP method", hint="it cannot be sent")
        notes: list[str] = []
        url = self._url(notes)
        body = self._body(notes)
        head = ["curl", "--globoff", "--path-as-is"] if _has_steps(self.request.url) else ["curl", "--globoff"]
        head += ["--no-buffer"] if is_stream else []
        head += ["--compressed"] if self.request.headers.get("accept-encoding") else []
        method = ["--head"] if self.request.method == "HEAD" else ["-X", self.request.method]
        lines = [" ".join((*head, *method, "--url", word(url)))]
        lines += [f"-H {word(pieces)}" for pieces in self._headers(notes)]
        size = sum(len(p) for p in body if isinstance(p, bytes))
        lines += ["-H Expect:"] if size > _EXPECTS else []
        before = ""
        if size and is_pasteable(body) and size <= MOST_ON_THE_LINE:
            lines.append(f"--data-raw {quoted(body)}")
        elif size:
            before = f"{_guards(body)}{_piped(body)} |\n"
            lines.append("--data-binary @-")
        elif self._has_body:
            lines.append("--data-raw ''")
        text = before + " \\\n  ".join(lines)
        key = self._key()
        if key != "API_KEY" and key not in text:
            notes.append(f"no key was recorded: add the header that carries ${key}")
        return Command(text, tuple(notes))

    # The URL.

    def _url(self, notes: list[str]) -> list[Piece]:
        url = self.request.url
        base: list[Piece] = []
        if url.startswith("/"):
            base = self._base(notes)
        elif not re.match(r"(?i)https?://[^/?#]", url):
            raise LocalProtocolError("the URL is no HTTP URL", hint="curl is only given what was sent over HTTP")
        spans = [(r.start, r.end) for r in self.marked.redactions if r.where == "url"]
        pieces = list(_cut(url, spans, self._key()))
        plain = [Variable(p.name) if isinstance(p, Variable) else quote(p, safe=_URL_SAFE).encode() for p in pieces]
        if any(isinstance(p, str) and quote(p, safe=_URL_SAFE) != p for p in pieces):
            notes.append("characters that no URL holds are percent-encoded")
        return [*base, *plain]

    def _base(self, notes: list[str]) -> list[Piece]:
        host = self.request.headers.get("host") or ""
        if _HOST.fullmatch(host):
            notes.append("the scheme was not recorded: https is assumed")
            return [f"https://{host}".encode()]
        notes.append("the host was not recorded: set BASE_URL")
        return [Variable("BASE_URL")]

    def _key(self) -> str:
        """The variable of the key: the provider's own, where it would go to the provider alone."""
        try:
            parts = urlsplit(self.request.url)
            host, is_plain = parts.hostname or "", parts.port in (None, 443)
        except ValueError:
            return "API_KEY"
        return _KEYS.get(host, "API_KEY") if parts.scheme == "https" and is_plain else "API_KEY"

    # Headers.

    def _headers(self, notes: list[str]) -> Iterator[Sequence[Piece]]:
        dropped = _LEFT_TO_CURL | {
            name.strip().lower() for value in self.request.headers.all("connection") for name in value.split(",")
        }
        if self._decoded is not None:
            dropped |= {"content-encoding"}
        names = {name.lower() for name, _ in self.request.headers}
        for name, value in self.request.headers:
            if name.lower() in dropped or name.startswith(":"):
                continue
            if not _TOKEN.fullmatch(name) or any(c in value for c in "\r\n\0"):
                notes.append(f"a header that HTTP does not allow is left out: {name[:40]!r}")
            elif value.strip():
                yield self._value(name, value.strip())
            else:
                yield [f"{name};".encode()]
        wanted = [*_ADDED_BY_CURL, *(["Content-Type"] if self._has_body else [])]
        yield from ([f"{name}:".encode()] for name in wanted if name.lower() not in names)

    def _value(self, name: str, value: str) -> list[Piece]:
        start = f"{name}: "
        if COOKIE_HEADER.match(name):
            return [start.encode(), Variable("COOKIE")]
        if SECRET_HEADER.search(name) or f"header:{name}" in {r.where for r in self.marked.redactions}:
            scheme = _SCHEME.match(value)
            return [(start + (scheme[0] if scheme else "")).encode(), Variable(self._key())]
        return [start.encode() + _octets(value)]

    # The body.

    @property
    def _has_body(self) -> bool:
        return bool(self.request.body.raw) or self.request.method in ("POST", "PUT", "PATCH")

    @property
    def _decoded(self) -> bytes | None:
        """The body without its content coding, None where that cannot be undone."""
        text, problem = decode_partial(self.request.body)
        return None if problem else text

    def _body(self, notes: list[str]) -> list[Piece]:
        body = self.request.body
        text = self._decoded
        if text is None:
            notes.append(f"the body is sent in its content coding ({body.encoding}): it does not decode")
            return [body.raw]
        if body.encoding:
            notes.append(f"the body is sent decoded; it was sent as {body.encoding}")
        elif not body.is_raw:
            notes.append("the body is sent as it was kept, not byte for byte as it was first sent")
        spans = [(r.start, r.end) for r in self.marked.redactions if r.where == "body"]
        if spans:
            notes.append("secrets in the body are variables: set SECRET …")
        return list(_cut(text, spans, "SECRET"))


def _cut(text: AnyStr, spans: Sequence[tuple[int, int]], name: str) -> Iterator[AnyStr | Variable]:
    """The text with a variable in place of every range, as far as ranges lie in it and apart; one for each secret."""
    at, names = 0, dict[AnyStr, str]()
    for start, end in sorted(set(spans)):
        if at <= start < end <= len(text):
            if start > at:
                yield text[at:start]
            number = f"_{len(names) + 1}" if names else ""
            yield Variable(names.setdefault(text[start:end], name + number))
            at = end
    if at < len(text):
        yield text[at:]


def _octets(value: str) -> bytes:
    """The bytes of a header's value; importers may hand over text that no wire carried so."""
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")


def _piped(body: Sequence[Piece]) -> str:
    return f"printf %s {quoted(body)}" if is_pasteable(body) else printed(body)


def _guards(body: Sequence[Piece]) -> str:
    """What keeps curl from sending half a body: a variable that is not set ends one side of a pipe alone."""
    return "".join(f": {quoted([piece])} &&\n" for piece in dict.fromkeys(body) if isinstance(piece, Variable))


def _has_steps(url: str) -> bool:
    return "/./" in url or "/../" in url or url.endswith(("/.", "/.."))
