"""Reads requests and responses from logs of HTTP clients and SDKs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from workbench import regex
from workbench.formats.unwrapping._finds import (
    Find,
    UnreadableFind,
    header_text,
    headers_of,
    request_find,
    response_find,
)
from workbench.formats.unwrapping._http import START
from workbench.formats.unwrapping._http import read as read_http
from workbench.formats.unwrapping._values import UnreadableValue, ValueReader
from workbench.wire import Headers

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


def read(text: str, found: re.Match[str], names: Mapping[str, Any]) -> list[Find]:
    """Sides of exchanges that a log names at an offset; empty without a body. Raises Torn."""
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
        made = request_find(WHAT, found.end(), method=found["method3"], url=url)
        return [made, response_find(WHAT, found.end(), status=int(found["status3"]))]
    if found["method2"]:
        return [request_find(WHAT, found.end(), method=found["method2"], url=found["url2"])]
    end, headers = found.end(), Headers()
    shown = _HEADERS.match(text, end)
    if shown:
        reader = ValueReader(text)
        try:
            headers = headers_of(reader.value(shown.end()))
            end = reader.at
        except UnreadableValue:
            end = found.end()
    status, reason = int(found["status"]), found["reason"].strip()
    made = request_find(WHAT, found.end(), method=found["method"], url=found["url"])
    return [made, response_find(WHAT, end, status=status, headers=headers, reason=reason)]


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
    headers = headers_of(value.get("headers"))
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
    return [response_find(WHAT, reader.at, status=status, headers=headers_of(pairs))]


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
    return [read_http(plain, 0, start)._replace(what=WHAT, end=line)]


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
        items.append((header[1], header_text(header[2].strip())))
        end = header.end()
    return [response_find(WHAT, end, status=int(start["status"]), headers=Headers(tuple(items)))]
