"""Reads command lines: their words as a shell splits them, and the requests of curl commands."""

from __future__ import annotations

import base64
import re
from typing import NamedTuple
from urllib.parse import quote

from workbench import regex
from workbench.errors import WireError
from workbench.formats.unwrapping._finds import Find, UnreadableFind, pasted_header, request_find, to_bytes
from workbench.formats.unwrapping._values import UnreadableValue, ValueReader
from workbench.lazy_dataclass import dataclass, field
from workbench.wire import Headers, loads

_PLAIN = regex.compile(r"[^\s'\"\\`$;|&<>()^]+")
_SINGLE = regex.compile(r"'([^']*)'")
_SINGLE_DOUBLED = regex.compile(r"'((?:[^']|'')*+)'")
_DOUBLE = regex.compile(r'"((?:[^"\\`]|\\.|`(?!\r?\n).|`\r?\n)*+)"', re.DOTALL)
_REDIRECTED = regex.compile(r"[<>&]+[ \t]*[^\s;|&]*")
_SLASHES = regex.compile(r"\\*")
_IN_QUOTES, _OUTSIDE = regex.compile(r'[^"\\]+'), regex.compile(r'[^"\\\s]+')
_DOUBLE_POWERSHELL = regex.compile(r'"((?:[^"`]|`.|"")*+)"', re.DOTALL)
_ANSI = regex.compile(r"\$'((?:[^'\\]|\\.)*+)'", re.DOTALL)
_IN_DOUBLE = regex.compile(r"\\([$`\"\\]|\r?\n)")
_ANSI_ESCAPE = regex.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)", re.DOTALL)
_OCTAL = "01234567"
_ANSI_ONE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "e": "\x1b", "E": "\x1b"}
_LINE_END = regex.compile(r"[ \t]*\r?\n")
_HEREDOC = regex.compile(r"<<(-?)\s*(['\"]?)(\w+)\2")
_CARET = regex.compile(r"\^(\r?\n\r?\n|\r?\n|.)", re.DOTALL)
_POWERSHELL = regex.compile(r"`(.)", re.DOTALL)
_POWERSHELL_ONE = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "b": "\b", "a": "\a", "f": "\f", "v": "\v", "e": "\x1b"}


class Words(NamedTuple):
    """Words of one command.

    Attributes:
        items: the words.
        end: offset after the command.
        stdin: content of a here-document; None without one.
        is_open: an unclosed quote.
    """

    items: tuple[str, ...]
    end: int
    stdin: str | None = None
    is_open: bool = False


def words(text: str, at: int) -> Words:
    """Words of the command at an offset, in the syntax of its shell."""
    line_end = text.find("\n", at)
    first = text[at : line_end if line_end >= 0 else len(text)]
    if '^"' in first or first.rstrip().endswith("^"):
        return _cmd(text, at)
    return _posix(text, at, is_powershell=first.rstrip().endswith("`"))


class _WordCollector:
    """Words being collected from pieces."""

    def __init__(self) -> None:
        self.items: list[str] = []
        self._pieces: list[str] | None = None

    def add(self, piece: str) -> None:
        """Add a piece to the word; an empty piece starts one."""
        self._pieces = [*(self._pieces or ()), piece] if len(self._pieces or ()) < 8 else self._fold(piece)

    def _fold(self, piece: str) -> list[str]:
        return ["".join((*(self._pieces or ()), piece))]

    @property
    def is_between(self) -> bool:
        """True if no word has started."""
        return self._pieces is None

    def end(self) -> None:
        """Finish the word."""
        if self._pieces is not None:
            self.items.append("".join(self._pieces))
        self._pieces = None

    def drop(self) -> None:
        """Discard the word: it was the stream number of a redirection."""
        if self._pieces and "".join(self._pieces).isdigit():
            self._pieces = None
        self.end()


def _posix(text: str, at: int, stop: int | None = None, *, is_powershell: bool = False) -> Words:
    found = _WordCollector()
    length = len(text) if stop is None else stop
    while at < length:
        char = text[at]
        if char in " \t\r":
            found.end()
            at += 1
        elif char == "\n" or char in ";|&" or (char == ")" and found.is_between):
            break
        elif char == "\\" or (char == "`" and is_powershell):
            end = _LINE_END.match(text, at + 1)  # blanks behind the backslash are a slip that the eye does not see
            if not end:
                found.add(text[at + 1 : at + 2])
            at = end.end() if end else at + 2
        elif char in "'\"" or text.startswith("$'", at):
            piece = _quoted_string(text, at, is_powershell=is_powershell)
            if piece is None:
                return Words(tuple(found.items), length, is_open=True)
            found.add(piece[0])
            at = piece[1]
        elif char == "<" and (here := _HEREDOC.match(text, at)):
            found.end()
            stdin, end_of_it = _here(text, here)
            line_end = text.find("\n", here.end())
            rest = _posix(text, here.end(), line_end if line_end >= 0 else length)
            return Words((*found.items, *rest.items), end_of_it, stdin, is_open=stdin is None)
        elif char in "<>":
            found.drop()
            redirected = _REDIRECTED.match(text, at)
            at = redirected.end() if redirected else at + 1
        else:
            plain = _PLAIN.match(text, at)
            piece_end = plain.end() if plain else at + 1
            found.add(text[at:piece_end])
            at = piece_end
    found.end()
    return Words(tuple(found.items), at)


def _quoted_string(text: str, at: int, *, is_powershell: bool) -> tuple[str, int] | None:
    """Content and end of a quoted string; None if it is not closed."""
    if text[at] == "$":
        found = _ANSI.match(text, at)
        return (_ANSI_ESCAPE.sub(_ansi, found[1]), found.end()) if found else None
    if text[at] == "'":
        found = (_SINGLE_DOUBLED if is_powershell else _SINGLE).match(text, at)
        return (found[1].replace("''", "'") if is_powershell else found[1], found.end()) if found else None
    if is_powershell:
        found = _DOUBLE_POWERSHELL.match(text, at)
        return (powershell_text(found[1]), found.end()) if found else None
    found = _DOUBLE.match(text, at)
    return (_IN_DOUBLE.sub(lambda m: "" if "\n" in m[1] else m[1], found[1]), found.end()) if found else None


def _ansi(match: re.Match[str]) -> str:
    word = match[1]
    if word[0] in "xuU" and len(word) > 1:
        code = int(word[1:], 16)
        return chr(code) if code <= 0x10FFFF and not 0xD800 <= code < 0xE000 else "\ufffd"
    return chr(int(word, 8) & 0xFF) if word[0] in _OCTAL else _ANSI_ONE.get(word, word)


def _here(text: str, here: re.Match[str]) -> tuple[str | None, int]:
    """Lines of a here-document, and its end."""
    start = text.find("\n", here.end()) + 1
    if not start:
        return None, len(text)
    last = re.compile(rf"^[ \t]*{re.escape(here[3])}[ \t]*\r?$", re.MULTILINE).search(text, start)
    return (text[start : last.start()].removesuffix("\n"), last.end()) if last else (None, len(text))


def powershell_text(text: str) -> str:
    """Text of a double-quoted PowerShell string."""
    return _POWERSHELL.sub(lambda m: _POWERSHELL_ONE.get(m[1], m[1]), text.replace('""', '"'))


def _cmd(text: str, at: int) -> Words:
    r"""``cmd``: carets before line ends, and in newer browsers before every special character.

    The program splits the rest itself: ``\"`` is a quote, as ``""`` within quotes.
    """
    raw, end = _caret_lines(text, at)
    is_newer = '^"' in raw
    if is_newer:
        raw = _CARET.sub(lambda m: "\n" if m[1].count("\n") > 1 else "" if "\n" in m[1] else m[1], raw)
    else:
        raw = re.sub(r"\^\r?\n", " ", raw)
    found, is_quoted, n = _WordCollector(), False, 0
    while n < len(raw):
        slashes = _SLASHES.match(raw, n)
        count = slashes.end() - n if slashes else 0
        n += count
        char = raw[n : n + 1]
        if char == '"':
            found.add("\\" * (count // 2))
            if count % 2 or (is_quoted and raw.startswith('""', n)):
                found.add('"')
                n += 1 if count % 2 else 2
            else:
                is_quoted = not is_quoted
                n += 1
        elif count:  # newer browsers double every backslash, and not only those before a quote
            found.add("\\" * (count // 2 if is_newer and count > 1 else count))
        elif char.isspace() and not is_quoted:
            found.end()
            n += 1
        else:
            stop = (_IN_QUOTES if is_quoted else _OUTSIDE).match(raw, n)
            piece = stop[0] if stop else char
            found.add(piece)
            n += len(piece)
    found.end()
    return Words(tuple(found.items), end, is_open=is_quoted)


def _caret_lines(text: str, at: int) -> tuple[str, int]:
    """Lines of a command continued by carets, and its end."""
    end = at
    while True:
        stop = text.find("\n", end)
        if stop < 0:
            return text[at:], len(text)
        line = text[end:stop].rstrip("\r")
        if not line.rstrip().endswith("^"):
            return text[at:stop], stop
        end = stop + 1
        if text.startswith(("\n", "\r\n"), end):  # caret, line end, line end: a line end in the data
            end = text.find("\n", end) + 1


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
    """Request of the curl command at an offset. Raises UnreadableFind."""
    split = words(text, at)
    options = _options(split)
    if _has_broken_quotes(split, options):
        return _loose(text, at)
    if split.is_open:
        raise UnreadableFind(WHAT, "an unclosed quote", len(text))
    named = _VARIABLE.fullmatch("".join(options.data).strip())
    if named:
        options.refused = f"the body is in {named[0][:80]}, not in the command; paste the body itself"
    if options.refused:
        raise UnreadableFind(WHAT, options.refused, split.end)
    if not options.url:
        raise UnreadableFind(WHAT, "the command contains no URL", split.end)
    body = "&".join(options.data) if len(options.data) > 1 and not options.is_json else "".join(options.data)
    method = options.method or ("GET" if options.is_get or not options.data else "POST")
    url = options.url
    if options.is_get and body:
        url, body = f"{url}{'&' if '?' in url else '?'}{body}", ""
    headers = Headers(tuple((pasted_header(n), pasted_header(v)) for n, v in options.headers))
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


def _take(options: _Options, name: str, value: str, stdin: str | None) -> None:
    if name in ("request", "method"):
        options.method = value
    elif name == "url":
        options.url = value
    elif name == "header":
        key, colon, content = value.partition(":")
        if colon and key.strip():
            options.headers.append((key.strip(), content.strip()))
    elif name == "user":
        options.headers.append(
            ("Authorization", f"Basic {base64.b64encode(value.encode('utf-8', 'replace')).decode()}")
        )
    elif name == "oauth2-bearer":
        options.headers.append(("Authorization", f"Bearer {value}"))
    elif name in ("user-agent", "cookie", "referer"):
        options.headers.append(({"user-agent": "User-Agent", "cookie": "Cookie", "referer": "Referer"}[name], value))
    elif name in ("form", "form-string", "upload-file"):
        options.refused = f"the body is in a file or a form (--{name}), not in the command; paste the body itself"
    elif name in ("data", "data-raw", "data-binary", "data-ascii", "data-urlencode", "json", "post-data", "body-data"):
        _take_data(options, name, value, stdin)


def _take_data(options: _Options, name: str, value: str, stdin: str | None) -> None:
    if value.startswith("@") and name != "data-raw":
        if value == "@-" and stdin is not None:
            value = stdin
        else:
            what = "the standard input of the command" if value == "@-" else f"the file {value[1:81]}"
            options.refused = f"the body is in {what}, not in the command; paste the body itself"
            return
    if name == "data-urlencode":
        key, equals, content = value.partition("=")
        value = f"{key}={quote(content)}" if equals and key else quote(value.removeprefix("="))
    if name == "json":
        options.is_json = True
        options.headers += [("Content-Type", "application/json"), ("Accept", "application/json")]
    options.data.append(value)


def read_httpie(text: str, at: int) -> Find:
    """Request of HTTPie: ``http POST URL Header:value text=value json:=[1]``. Raises UnreadableFind."""
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
            headers.append((pasted_header(name), pasted_header(value)))
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
        raise UnreadableFind(WHAT, "an unclosed quote")
    reader = ValueReader(text)
    try:
        value = reader.value(data.end())
    except UnreadableValue as error:
        line = text.count("\n", 0, error.at) + 1
        raise UnreadableFind(WHAT, f"the body cannot be read: line {line}: {error.what}") from error
    before = _options(words(text[at : data.start()].rstrip().rstrip("\\"), 0))
    if not before.url:
        raise UnreadableFind(WHAT, "the command contains no URL")
    end = reader.at + text.startswith("'", reader.at)
    headers = Headers(tuple((pasted_header(n), pasted_header(v)) for n, v in before.headers))
    return request_find(WHAT, end, method=before.method or "POST", url=before.url, headers=headers, value=value)


def _next_command(text: str, at: int) -> int:
    found = re.compile(r"^[ \t]*(?:[$%>#][ \t]+)?curl[ \t]", re.MULTILINE).search(
        text, text.find("\n", at) + 1 or len(text)
    )
    return found.start() if found else len(text)
