"""Reads HTTP as text: wire messages, editors' ``.http`` files, and the output of ``curl -v`` and ``-i``."""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench import regex
from workbench.formats.unwrapping._finds import Find, UnreadableFind, header_text, request_find, response_find, to_bytes
from workbench.formats.unwrapping._values import UnreadableValue, ValueReader
from workbench.wire import Body, Headers, detect_encoding

REQUEST, RESPONSE = "an HTTP request", "an HTTP response"
METHODS = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"
START = regex.compile(
    rf"(?P<method>{METHODS})[ \t]+(?P<url>\S+)(?:[ \t]+(?P<version>HTTP/\d(?:\.\d)?))?[ \t]*\r?(?=\n|\Z)"
    r"|(?P<answer>HTTP/\d(?:\.\d)?)[ \t]+(?P<status>[1-5]\d\d)(?:[ \t]+(?P<reason>[^\r\n]{0,80}))?[ \t]*\r?(?=\n|\Z)"
)
_HEADER = regex.compile(r"[ \t]*([!#$%&'*+.^_`|~\w-]{1,100}):[ \t]?([^\r\n]*)\r?(?:\n|\Z)")
_NEXT = regex.compile(
    rf"^[ \t]*(?:\#\#\#.*|```.*|(?:{METHODS})[ \t]+\S+[ \t]+HTTP/\d.*|HTTP/\d(?:\.\d)?[ \t]+[1-5]\d\d.*"
    r"|(?:[$%#][ \t]+)?curl[ \t].*|[*][ \t](?:Connection|Closing|Curl_|HTTP/).*|>[ \t]?(?:\{%|<).*)\r?$",
    re.MULTILINE,
)
_CHUNK = regex.compile(r"([0-9a-fA-F]{1,8})(?:;[^\r\n]{0,200})?\r?\n")
_FILE = regex.compile(r"<[ \t]*@?\S")
_COMMENT = regex.compile(r"[ \t]*(?:#|//)[^\n]*(?:\n|\Z)")
_NOISE = regex.compile(
    r"^(?:[*{}][ \t][^\n]*|\s*%\s+Total[^\n]*|[ \d:.kMG-]*\d+[ \d:.kMG-]{20,})\r?(?:\n|\Z)", re.MULTILINE
)


class _PrintedHead(NamedTuple):
    headers: Headers
    end: int


def read(text: str, at: int, found: re.Match[str]) -> Find:
    """The message with the first line ``found``. Raises Torn."""
    head = _head(text, found.end())
    if found["answer"]:
        return _response(text, found, head)
    url, host = found["url"], head.headers.get("host")
    if not found["version"] and not head.headers.items and "://" not in url and "{{" not in url:
        raise UnreadableFind(REQUEST, "no header follows its first line")
    if url.startswith("/") and host:
        local = host.startswith(("localhost", "127.0.0.1", "[::1]"))
        url = f"{'http' if local else 'https'}://{host}{url}"
    body, end = _body(text, head)
    if _FILE.match(body):
        raise UnreadableFind(REQUEST, "its body is in a file, not in the text; paste the body itself", end)
    what = REQUEST
    return request_find(
        what, end, method=found["method"], url=url, headers=head.headers,
        body=_strip_chunks(body, head.headers), version=found["version"] or "",
    )  # fmt: skip


def _response(text: str, found: re.Match[str], head: _PrintedHead) -> Find:
    status = int(found["status"])
    is_between = status < 200 or (found["reason"] or "").strip().lower() == "connection established"
    body, end = ("", head.end) if is_between else _body(text, head)
    raw = _strip_chunks(body, head.headers)
    named = head.headers.get("content-encoding") or ""
    held = Body(raw, encoding=detect_encoding(raw, named) if raw and named else "")
    reason = (found["reason"] or "").strip()
    return response_find(
        RESPONSE, end, status=status, headers=head.headers, body=held, reason=reason, version=found["answer"]
    )


def _head(text: str, at: int) -> _PrintedHead:
    """Header lines after a first line, and the start of the body."""
    at = at + 1 if text.startswith("\n", at) else at
    items: list[tuple[str, str]] = []
    while True:
        comment = _COMMENT.match(text, at)
        if comment and comment[0].strip():
            at = comment.end()
            continue
        line = _HEADER.match(text, at)
        if not line or text[at : at + 1] in ("{", "["):
            break
        items.append((line[1], header_text(line[2].strip())))
        at = line.end()
    blank = re.compile(r"[ \t]*\r?\n").match(text, at)
    return _PrintedHead(Headers(tuple(items)), blank.end() if blank else at)


def _body(text: str, head: _PrintedHead) -> tuple[str, int]:
    """Body after a header block, up to the start of something else, and its end."""
    start = head.end
    length = head.headers.get("content-length") or ""
    if length.isascii() and length.isdigit() and len(length) < 10:
        end = _by_length(text, start, int(length))
        if end is not None:
            return text[start:end], end
    lead = re.compile(r"\s*").match(text, start)
    first = lead.end() if lead else start
    if text.startswith(("{", "["), first) and "chunked" not in (head.headers.get("transfer-encoding") or "").lower():
        reader = ValueReader(text)
        try:
            reader.value(first)
        except UnreadableValue:
            pass
        else:
            return text[first : reader.at], reader.at
    stop = _NEXT.search(text, start)
    end = stop.start() if stop else len(text)
    return text[start:end].strip("\r\n") if not _is_framed(head) else text[start:end], end


def _is_framed(head: _PrintedHead) -> bool:
    """True if white space at the end of the body is significant."""
    kind = head.headers.get("content-type") or ""
    return "event-stream" in kind or "chunked" in (head.headers.get("transfer-encoding") or "").lower()


def _by_length(text: str, start: int, length: int) -> int | None:
    """End of a body of that many bytes; None if the text was changed since."""
    piece = text[start : start + length]
    if not piece.isascii():
        piece = to_bytes(piece)[:length].decode("utf-8", "surrogateescape")
    end = start + len(piece)
    rest = text[end : end + 200].lstrip()
    is_whole = len(to_bytes(piece)) == length
    return end if is_whole and (not rest or START.match(rest) or _NEXT.match(rest) or piece[-1:] in "}]\n") else None


def _strip_chunks(body: str, headers: Headers) -> bytes:
    """The body without chunk framing, if it still has it."""
    raw = to_bytes(body)
    if "chunked" not in (headers.get("transfer-encoding") or "").lower():
        return raw
    pieces: list[bytes] = []
    at, text = 0, raw.decode("latin-1")
    while line := _CHUNK.match(text, at):
        size = int(line[1], 16)
        pieces.append(raw[line.end() : line.end() + size])
        at = line.end() + size
        at += 2 if text.startswith("\r\n", at) else text.startswith("\n", at)
        if not size:
            break
    return b"".join(pieces) if pieces else raw


VERBOSE = regex.compile(
    rf">[ \t](?P<method>{METHODS})[ \t]+(?P<url>\S+)[ \t]+(?P<version>HTTP/\d(?:\.\d)?)|<[ \t]HTTP/\d"
)
_ARROW = regex.compile(r"^[ \t]*([<>])[ \t]?([^\r\n]*)\r?(?:\n|\Z)", re.MULTILINE)


def read_verbose(text: str, at: int) -> Find:
    """Headers printed by ``curl -v`` with arrows, and the body of a response after them. Raises Torn."""
    arrow = text[at]
    lines: list[str] = []
    while found := _arrow_line(text, at):
        if found[1] != arrow or (lines and not lines[-1]):
            break
        lines.append(found[2].strip())
        at = found.end()
    plain = "\n".join(lines) + "\n\n"
    start = START.match(plain)
    if not start:
        raise UnreadableFind("the output of curl -v", "its first line is not HTTP", at)
    if arrow == ">":
        made = read(plain, 0, start)
        return made._replace(what="the output of curl -v", end=at)
    skipped = at
    while noise := _NOISE.match(text, skipped):
        skipped = noise.end()
    head = _head(plain, start.end())
    body, end = _verbose_body(text, skipped, head)
    status = int(start["status"])
    if status < 200:
        body, end = "", at
    reason = (start["reason"] or "").strip()
    held = Body(to_bytes(body))
    made = response_find("the output of curl -v", end, status=status, headers=head.headers, body=held, reason=reason)
    return made._replace(end=end)


def _verbose_body(text: str, at: int, head: _PrintedHead) -> tuple[str, int]:
    first = re.compile(r"\s*").match(text, at)
    start = first.end() if first else at
    if text.startswith(("{", "["), start):
        reader = ValueReader(text)
        try:
            reader.value(start)
        except UnreadableValue:
            pass
        else:
            return text[start : reader.at], reader.at
    stop = re.compile(
        r"^[ \t]*(?:[*][ \t](?:Conn|Clos|HTTP|TLS|Ex)[^\n]*|[$%][ \t]+curl.*|```.*|>[ \t](?:POST|GET)[ \t].*)$",
        re.MULTILINE,
    )
    found = stop.search(text, at)
    end = found.start() if found else len(text)
    return _NOISE.sub("", text[at:end]), end


def _arrow_line(text: str, at: int) -> re.Match[str] | None:
    while noise := _NOISE.match(text, at):
        at = noise.end()
    return _ARROW.match(text, at)
