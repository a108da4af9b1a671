"""Reads curl commands as written by documentation, browsers and clients' logs."""

from __future__ import annotations

import base64
import re
from dataclasses import field
from urllib.parse import quote

from workbench import regex
from workbench.errors import WireError
from workbench.formats.unwrapping._finds import Find, UnreadableFind, header_text, request_find, to_bytes
from workbench.formats.unwrapping._shell import Words, words
from workbench.formats.unwrapping._values import UnreadableValue, ValueReader
from workbench.lazy_dataclass import dataclass
from workbench.wire import Headers, loads

WHAT = "a curl command"
START = regex.compile(r"curl(?:\.exe)?[ \t]")
_WITH_VALUE = frozenset(
    {
        *("request", "url", "header", "data", "data-raw", "data-binary", "data-ascii", "data-urlencode", "json"),
        *("user", "user-agent", "cookie", "referer", "form", "form-string", "upload-file", "oauth2-bearer"),
        *("url-query", "cookie-jar", "output", "max-time", "connect-timeout", "proxy", "write-out", "config", "range"),
        *("cert", "key", "cacert", "capath", "cert-type", "key-type", "pass", "ciphers", "tls-max", "aws-sigv4"),
        *("resolve", "connect-to", "interface", "local-port", "dns-servers", "unix-socket", "noproxy", "proto"),
        *("retry", "retry-delay", "retry-max-time", "limit-rate", "speed-limit", "speed-time", "keepalive-time"),
        *("proxy-header", "proxy-user", "dump-header", "trace", "trace-ascii", "stderr", "max-redirs", "max-filesize"),
        *("time-cond", "variable", "post-data", "body-data", "method"),
    }
)
"""Long options with a value; all others are flags."""
_SHORT = {
    "X": "request", "H": "header", "d": "data", "u": "user", "A": "user-agent", "b": "cookie", "e": "referer",
    "F": "form", "T": "upload-file",
}  # fmt: skip
_SHORT_WITH_VALUE = frozenset("XHduAbeFTocmxwKrtyYzECDPQU")
_URL = regex.compile(
    r"(?:https?://|localhost[:/]|127\.0\.0\.1|\$|\{\{?|[\w.-]+\.[a-z]{2,}(?:[:/]|$)|[\w.-]+:\d+)", re.IGNORECASE
)
_VARIABLE = regex.compile(r"\$\{?\w+\}?|\$\([^()]*\)|`[^`]*`|%\w+%")
_ITEM = regex.compile(r"([^\s:=@]+)(:=@|=@|:=|==|=|:)(.*)", re.DOTALL)
_LOOSE = regex.compile(r"(?:-d|--data(?:-raw|-binary)?|--json)[ \t]+'(?=\s*[{\[])")


@dataclass(slots=True)
class _Options:
    method: str = ""
    url: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    data: list[str] = field(default_factory=list)
    is_json: bool = False
    is_get: bool = False
    refused: str = ""


def read(text: str, at: int) -> Find:
    """Request of the curl command at an offset. Raises Torn."""
    split = words(text, at)
    options = _options(split)
    if _has_broken_quotes(split, options):
        return _loose(text, at)
    if split.is_open:
        raise UnreadableFind(WHAT, "a quote is not closed", len(text))
    named = _VARIABLE.fullmatch("".join(options.data).strip())
    if named:
        options.refused = f"its body is in {named[0][:80]}, not in the command; paste the body itself"
    if options.refused:
        raise UnreadableFind(WHAT, options.refused, split.end)
    if not options.url:
        raise UnreadableFind(WHAT, "it contains no URL", split.end)
    body = "&".join(options.data) if len(options.data) > 1 and not options.is_json else "".join(options.data)
    method = options.method or ("GET" if options.is_get or not options.data else "POST")
    url = options.url
    if options.is_get and body:
        url, body = f"{url}{'&' if '?' in url else '?'}{body}", ""
    headers = Headers(tuple((header_text(n), header_text(v)) for n, v in options.headers))
    return request_find(WHAT, split.end, method=method, url=url, headers=headers, body=to_bytes(body))


def _options(split: Words) -> _Options:
    found = _Options()
    items = iter(split.items[1:])
    for word in items:
        if word.startswith("--") and len(word) > 2:
            name, glued, value = word[2:].partition("=")
            if name not in _WITH_VALUE:
                found.is_get |= name == "get"
                continue
            _take(found, name, value if glued else next(items, ""), split.stdin)
        elif word.startswith("-") and len(word) > 1:
            for n, letter in enumerate(word[1:], 2):
                found.is_get |= letter == "G"
                if letter in _SHORT_WITH_VALUE:
                    value = word[n:] or next(items, "")
                    _take(found, _SHORT.get(letter, ""), value, split.stdin)
                    break
        elif not found.url and (_URL.match(word) or "/" in word):
            found.url = word
    return found


def _take(found: _Options, name: str, value: str, stdin: str | None) -> None:
    if name in ("request", "method"):
        found.method = value
    elif name == "url":
        found.url = value
    elif name == "header":
        key, colon, held = value.partition(":")
        if colon and key.strip():
            found.headers.append((key.strip(), held.strip()))
    elif name == "user":
        found.headers.append(("Authorization", f"Basic {base64.b64encode(value.encode('utf-8', 'replace')).decode()}"))
    elif name == "oauth2-bearer":
        found.headers.append(("Authorization", f"Bearer {value}"))
    elif name in ("user-agent", "cookie", "referer"):
        found.headers.append(({"user-agent": "User-Agent", "cookie": "Cookie", "referer": "Referer"}[name], value))
    elif name in ("form", "form-string", "upload-file"):
        found.refused = f"its body is in a file or a form (--{name}), not in the command; paste the body itself"
    elif name in ("data", "data-raw", "data-binary", "data-ascii", "data-urlencode", "json", "post-data", "body-data"):
        _take_data(found, name, value, stdin)


def _take_data(found: _Options, name: str, value: str, stdin: str | None) -> None:
    if value.startswith("@") and name != "data-raw":
        if value == "@-" and stdin is not None:
            value = stdin
        else:
            what = "the standard input of the command" if value == "@-" else f"the file {value[1:81]}"
            found.refused = f"its body is in {what}, not in the command; paste the body itself"
            return
    if name == "data-urlencode":
        key, equals, held = value.partition("=")
        value = f"{key}={quote(held)}" if equals and key else quote(value.removeprefix("="))
    if name == "json":
        found.is_json = True
        found.headers += [("Content-Type", "application/json"), ("Accept", "application/json")]
    found.data.append(value)


def read_httpie(text: str, at: int) -> Find:
    """Request of HTTPie: ``http POST URL Header:value text=value json:=[1]``. Raises Torn."""
    what = "an HTTPie command"
    split = words(text, at)
    items = [word for word in split.items[1:] if not word.startswith("-")]
    method = items.pop(0) if items and items[0].isupper() else ""
    url = items.pop(0) if items else ""
    headers: list[tuple[str, str]] = []
    body: dict[str, object] = {}
    for item in items:
        found = _ITEM.match(item)
        if not found or "@" in found[2]:
            raise UnreadableFind(what, f"{item[:40]!r} cannot be read; paste the body itself", split.end)
        name, kind, value = found.groups()
        if kind == ":":
            headers.append((header_text(name), header_text(value)))
        elif kind == "==":
            url += f"{'&' if '?' in url else '?'}{name}={quote(value)}"
        elif kind == "=":
            body[name] = value
        else:
            body[name] = _json(value, what, split.end)
    url = f"http://localhost{url}" if url.startswith(":") else url
    method = method or ("POST" if body else "GET")
    return request_find(what, split.end, method=method, url=url, headers=Headers(tuple(headers)), value=body or None)


def _json(text: str, what: str, end: int) -> object:
    try:
        return loads(text.encode("utf-8", "replace"))
    except WireError as error:
        raise UnreadableFind(what, f"a value is not JSON ({error.what})", end) from error


def _has_broken_quotes(split: Words, options: _Options) -> bool:
    """True if a client logged a dictionary between single quotes without escaping it."""
    raw = "".join(options.data).strip()
    if not raw.startswith(("{", "[")) or options.refused:
        return split.is_open
    try:
        loads(raw.encode("utf-8", "replace"))
    except WireError:
        return re.match(r"[{\[]\s*[\w\\{\[]", raw) is not None
    return False


def _loose(text: str, at: int) -> Find:
    """Command of a log line, ``-d '{'model': …}'``; the value itself shows its end."""
    limit = _next_command(text, at)
    data = _LOOSE.search(text, at, limit)
    if not data:
        raise UnreadableFind(WHAT, "a quote is not closed")
    reader = ValueReader(text)
    try:
        value = reader.value(data.end())
    except UnreadableValue as error:
        line = text.count("\n", 0, error.at) + 1
        raise UnreadableFind(WHAT, f"its body cannot be read: line {line}: {error.what}") from error
    before = _options(words(text[at : data.start()].rstrip().rstrip("\\"), 0))
    if not before.url:
        raise UnreadableFind(WHAT, "it contains no URL")
    end = reader.at + text.startswith("'", reader.at)
    headers = Headers(tuple((header_text(n), header_text(v)) for n, v in before.headers))
    return request_find(WHAT, end, method=before.method or "POST", url=before.url, headers=headers, value=value)


def _next_command(text: str, at: int) -> int:
    found = re.compile(r"^[ \t]*(?:[$%>#][ \t]+)?curl[ \t]", re.MULTILINE).search(
        text, text.find("\n", at) + 1 or len(text)
    )
    return found.start() if found else len(text)
