"""Reads HTTP as text: wire messages, ``.http`` files, output of ``curl -v``, and logs of clients and SDKs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from workbench import regex
from workbench.formats.unwrapping._finds import (
    Find,
    UnreadableFind,
    pasted_header,
    pasted_headers,
    request_find,
    response_find,
    to_bytes,
)
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
    """The message with the first line ``found``. Raises UnreadableFind."""
    head = _head(text, found.end())
    if found["answer"]:
        return _response(text, found, head)
    url, host = found["url"], head.headers.get("host")
    if not found["version"] and not head.headers.items and "://" not in url and "{{" not in url:
        raise UnreadableFind(REQUEST, "no header follows the first line")
    if url.startswith("/") and host:
        local = host.startswith(("localhost", "127.0.0.1", "[::1]"))
        url = f"{'http' if local else 'https'}://{host}{url}"
    body, end = _body(text, head)
    if _FILE.match(body):
        raise UnreadableFind(REQUEST, "the body is in a file, not in the text; paste the body itself", end)
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
    content_encoding = head.headers.get("content-encoding") or ""
    content = Body(raw, encoding=detect_encoding(raw, content_encoding) if raw and content_encoding else "")
    reason = (found["reason"] or "").strip()
    return response_find(
        RESPONSE, end, status=status, headers=head.headers, body=content, reason=reason, version=found["answer"]
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
        items.append((line[1], pasted_header(line[2].strip())))
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
    """True if whitespace at the end of the body is significant."""
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
    """Headers printed by ``curl -v`` with arrows, and the body of a response after them. Raises UnreadableFind."""
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
        raise UnreadableFind("the output of curl -v", "the first line is not HTTP", at)
    if arrow == ">":
        find = read(plain, 0, start)
        return find._replace(what="the output of curl -v", end=at)
    skipped = at
    while noise := _NOISE.match(text, skipped):
        skipped = noise.end()
    head = _head(plain, start.end())
    body, end = _verbose_body(text, skipped, head)
    status = int(start["status"])
    if status < 200:
        body, end = "", at
    reason = (start["reason"] or "").strip()
    content = Body(to_bytes(body))
    find = response_find("the output of curl -v", end, status=status, headers=head.headers, body=content, reason=reason)
    return find._replace(end=end)


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


WHAT = "a debug log"
_URL = r"https?://[^\s\"',]+"
LOG = regex.compile(
    r"(?P<options>\brequest[ _]?options:[ \t]*(?=\{))"
    rf"|HTTP Re(?:quest|sponse): (?P<method>[A-Z]+) (?P<url>{_URL})"
    r" \"(?:HTTP/[\d.]+ )?(?P<status>\d{3}) ?(?P<reason>[^\"\n]*)\""
    rf"|HTTP Request: (?P<method2>[A-Z]+) (?P<url2>{_URL})"
    r"|(?P<trace>receive_response_headers\.complete return_value=(?=\())"
    r"|(?P<sent>\bsend: (?=b['\"]))"
    r"|(?P<reply>\breply: (?=['\"]HTTP/))"
    rf"|(?P<host>{_URL}) \"(?P<method3>[A-Z]+) (?P<path>/\S*) HTTP/[\d.]+\" (?P<status3>\d{{3}})",
    re.IGNORECASE,
)
_SENT = regex.compile(r"[^\n]*?\bsend: (?=b['\"])")
_HEADER_LINE = regex.compile(r"\n?[^\n]*?\bheader: ([\w-]{1,100}): ?([^\n]*)")
_HEADERS = regex.compile(r"[^\n]*?\bHeaders\((?=[\[{])")


def read_log(text: str, found: re.Match[str], names: Mapping[str, Any]) -> list[Find]:
    """Sides of exchanges that a log names at an offset; empty without a body. Raises UnreadableFind."""
    if found["options"] is not None:
        return _options(text, found, names)
    if found["trace"]:
        return _trace(text, found)
    if found["sent"]:
        return _send_lines(text, found)
    if found["reply"]:
        return _reply(text, found)
    if found["host"]:
        url = re.sub(r":(?:443|80)\Z", "", found["host"]) + found["path"]
        request = request_find(WHAT, found.end(), method=found["method3"], url=url)
        return [request, response_find(WHAT, found.end(), status=int(found["status3"]))]
    if found["method2"]:
        return [request_find(WHAT, found.end(), method=found["method2"], url=found["url2"])]
    end, headers = found.end(), Headers()
    header_block = _HEADERS.match(text, end)
    if header_block:
        reader = ValueReader(text)
        try:
            headers = pasted_headers(reader.value(header_block.end()))
            end = reader.at
        except UnreadableValue:
            end = found.end()
    status, reason = int(found["status"]), found["reason"].strip()
    request = request_find(WHAT, found.end(), method=found["method"], url=found["url"])
    return [request, response_find(WHAT, end, status=status, headers=headers, reason=reason)]


def _options(text: str, found: re.Match[str], names: Mapping[str, Any]) -> list[Find]:
    reader = ValueReader(text, names)
    try:
        value = reader.value(found.end())
    except UnreadableValue as error:
        line = text.count("\n", 0, error.at) + 1
        raise UnreadableFind("the request options in a debug log", f"line {line}: {error.what}", error.at) from error
    record = request_of(value, "the request options in a debug log", reader.at)
    return [record] if record else []


def request_of(value: object, what: str, end: int) -> Find | None:
    """Request of a mapping with a URL and a body; None for other mappings."""
    if not isinstance(value, dict):
        return None
    inner = value.get("config") or value.get("options")
    if "url" not in value and isinstance(inner, dict) and ("url" in inner or "path" in inner):
        value = inner
    url = next(
        (value[k] for k in ("url", "uri", "api_base", "endpoint", "path") if isinstance(value.get(k), str)), None
    )
    body = next((value[k] for k in _BODIES if value.get(k) not in (None, "", {}, [])), None)
    if url is None or body is None or "response" in value or "status" in value:
        return None
    if not isinstance(body, dict | str | bytes):
        return None
    method = value.get("method")
    headers = pasted_headers(value.get("headers"))
    name = method if isinstance(method, str) else "POST"
    if isinstance(body, dict):
        return request_find(what, end, method=name, url=url, headers=headers, value=body)
    return request_find(what, end, method=name, url=url, headers=headers, body=_bytes(body))


_BODIES = ("json_data", "json", "body", "data", "content", "payload", "complete_input_dict", "request_body")


def _bytes(body: str | bytes) -> bytes:
    return body if isinstance(body, bytes) else body.encode("utf-8", "replace")


def _trace(text: str, found: re.Match[str]) -> list[Find]:
    """httpcore: ``return_value=(b'HTTP/1.1', 200, b'OK', [(b'Date', b'…'), …])``."""
    reader = ValueReader(text)
    try:
        value = reader.value(found.end())
    except UnreadableValue:
        return []
    status = next((v for v in value if type(v) is int and 100 <= v < 600), None) if isinstance(value, list) else None
    pairs = next((v for v in value if isinstance(v, list)), []) if isinstance(value, list) else []
    if status is None:
        return []
    return [response_find(WHAT, reader.at, status=status, headers=pasted_headers(pairs))]


def _send_lines(text: str, found: re.Match[str]) -> list[Find]:
    """http.client: pieces of a request, one ``send:`` after the other."""
    pieces: list[bytes] = []
    at, line = found.end(), 0
    while True:
        reader = ValueReader(text)
        try:
            piece = reader.value(at)
        except UnreadableValue as error:
            raise UnreadableFind("a request in a debug log", error.what, error.at) from error
        if not isinstance(piece, bytes):
            break
        pieces.append(piece)
        line = reader.at
        following = _SENT.match(text, line + 1 if text.startswith("\n", line) else line)
        if not following:
            break
        at = following.end()
    plain = b"".join(pieces).decode("utf-8", "surrogateescape")
    start = START.match(plain)
    if not start:
        return []
    return [read(plain, 0, start)._replace(what=WHAT, end=line)]


def _reply(text: str, found: re.Match[str]) -> list[Find]:
    """http.client: the status line, and the headers one by one."""
    reader = ValueReader(text)
    try:
        line = reader.value(found.end())
    except UnreadableValue as error:
        raise UnreadableFind("a response in a debug log", error.what) from error
    start = START.match(line.strip()) if isinstance(line, str) else None
    if not start or not start["status"]:
        return []
    items: list[tuple[str, str]] = []
    end = reader.at
    while header := _HEADER_LINE.match(text, end):
        items.append((header[1], pasted_header(header[2].strip())))
        end = header.end()
    return [response_find(WHAT, end, status=int(start["status"]), headers=Headers(tuple(items)))]
