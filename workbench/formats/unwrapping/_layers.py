"""Removes layers around a whole text: encoding, colours, log prefixes, quotation marks, base64, a JSON string.

Divides Markdown into fenced blocks and the text around them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import NamedTuple

from workbench import regex
from workbench.config import safeyaml
from workbench.errors import UnreadableInput, WireError
from workbench.formats.unwrapping._finds import json_bytes, to_bytes
from workbench.formats.unwrapping._values import UnreadableValue, ValueReader, json_types
from workbench.wire import dumps, loads

_ANSI = regex.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[@-Z\\^_])")
_STAMP = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[ ]?[+-]\d\d:?\d\d)?"
_PREFIX = regex.compile(
    rf"(?:(?:[\w./-]{{1,60}}-\d+[ \t]+\|[ ]?|[\w-]{{1,40}}[ ]+\|[ ]?)"  # docker compose
    rf"|(?:{_STAMP}[ ](?:stdout|stderr)[ ][FP][ ])"  # Kubernetes
    r"|(?:[A-Z][a-z]{2}[ ]+\d{1,2}[ ]\d\d:\d\d:\d\d(?:\.\d+)?[ ][\w.-]+[ ][\w.@/-]{1,60}(?:\[\d+\])?:[ ]?)"  # journald
    rf"|(?:\[[^\]\n]{{1,80}}\][ :]?[ ]?)"  # [pod/name], [12:00:00]
    rf"|(?:{_STAMP}(?:[ ]|\t|$))"
    r"|(?:\d\d:\d\d:\d\d(?:[.,]\d{1,9})?[ ])"
    r"|(?:(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|debug|info|warn|error)\b[ :|-]*[ ]?)"
    r"|(?:-[ ])"
    r"|(?:[\w.]{1,60}:(?:\d+:)?[ ](?=(?:data|event|id):))"
    r")+"
)
_NUMBERED = regex.compile(r"[ \t]*\d{1,6}[ ]?(?:[:|\t]|→)[ ]?")
_QUOTED = regex.compile(r"[ \t]*>[ ]?")
_STREAM = regex.compile(r"^(?P<lead>[^\n]{1,200}?)(?P<field>(?:data:[ ]?[{\[]|event:[ ]?\w)[^\n]*)$", re.MULTILINE)
_BASE64 = regex.compile(r"[A-Za-z0-9+/\s_-]+={0,2}\s*\Z")
_PRINTED = regex.compile(r"""^[^\n]{0,80}?\bb(['"])((?:data|event|id|:)[^\n]*|)\1[ \t]*,?[ \t]*$""", re.MULTILINE)
_YAML = regex.compile(
    r"(?:^|\n)(?:- )?[\"']?(?:model|messages|contents|choices|candidates|method|uri|url|request|path)[\"']?:(?:\s|$)"
)
_LOG_KEYS = ("log", "message", "msg", "MESSAGE", "textPayload", "text", "line", "event")
_ESCAPED = regex.compile(r"\s*[{\[]\s*(?:\{\s*)?\\+\"")
_HEX = regex.compile(r"\\x([0-7][0-9A-Fa-f])")
_MOST_SHARE = 0.8


class Layer(NamedTuple):
    """A text without one layer, and the layer's name ("UTF-16")."""

    what: str
    content: bytes
    is_rebuilt: bool = False


def decode(data: bytes) -> tuple[str, str] | None:
    """(text, encoding if not UTF-8) of bytes; None for binary data."""
    for mark, name in (
        (b"\xff\xfe\0\0", "utf-32"),
        (b"\0\0\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            try:
                return data.decode(name), name.upper()
            except UnicodeDecodeError:
                return None
    if len(data) > 3 and data[1:2] == b"\0" == data[3:4] and data[0:1] != b"\0":
        try:
            return data.decode("utf-16-le"), "UTF-16"
        except UnicodeDecodeError:
            return None
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape"), ""


def around(text: str) -> Iterator[Layer]:
    """Candidates for the text without one layer, most likely first."""
    if "\x1b" in text:
        yield Layer("terminal colours", to_bytes(_ANSI.sub("", text)))
    yield from _string(text)
    yield from _value(text)
    yield from _without_prefixes(text)
    yield from _python_bytes(text)
    yield from _json_log(text)
    yield from _yaml(text)
    yield from _base64(text)


def _string(text: str) -> Iterator[Layer]:
    """Content of a JSON string, or of the inside of one."""
    plain_text = text.strip()
    if plain_text.count("\\x22") > 3:
        yield Layer("access log escapes", to_bytes(_HEX.sub(lambda m: chr(int(m[1], 16)), plain_text)))
    what = "a JSON string (double-encoded)"
    if _ESCAPED.match(plain_text):
        plain_text = f'"{plain_text}"'
    if plain_text[:1] not in ("'", '"') and not re.match(r"[rRbBuU]{1,2}['\"]", plain_text):
        return
    reader = ValueReader(plain_text)
    try:
        value = reader.value(0)
    except UnreadableValue:
        return
    if plain_text[reader.at :].strip(" \t\r\n,;"):
        return
    if isinstance(value, str | bytes):
        inside = value if isinstance(value, bytes) else value.encode("utf-8", "replace")
        if inside.strip():
            yield Layer(what if isinstance(value, str) else "the repr of bytes", inside)


def _value(text: str) -> Iterator[Layer]:
    """One value that is not valid JSON: comments, commas, single quotes, unquoted names."""
    start = re.compile(r"(?:\s+|//[^\n]*|/\*.{0,4096}?\*/|#[^\n]*)*", re.DOTALL).match(text)
    at = start.end() if start else 0
    lead = re.compile(
        r"(?:(?:export[ ]+)?(?:(?:const|let|var)[ ]+)?[\w.]+[ ]*=|export default|return)[ \t]*(?=[{\[])"
    ).match(text, at)
    at = lead.end() if lead else at
    if text[at : at + 1] not in ("{", "["):
        return
    reader = ValueReader(text)
    try:
        value = reader.value(at)
    except UnreadableValue:
        return
    rest = text[reader.at :].strip()
    if rest.strip(";, \t\r\n") or (reader.is_json and not (lead or rest or text[:at].strip())):
        return
    if reader.is_json:
        yield Layer("surrounding code or a trailing comma", to_bytes(text[at : reader.at]))
        return
    try:
        content = json_bytes(json_types(value))
    except UnreadableValue:
        return
    repaired = "invalid JSON (comments, commas, quotes or names), rewritten as JSON"
    yield Layer(repaired, content, is_rebuilt=True)


def _without_prefixes(text: str) -> Iterator[Layer]:
    """Text without the line prefixes of a log, a pager or a mail program."""
    lines = text.split("\n")
    filled = [line for line in lines if line.strip()]
    if len(filled) < 2:
        return
    for what, pattern in (
        ("log line prefixes", _PREFIX),
        ("line numbers", _NUMBERED),
        ("quotation marks", _QUOTED),
    ):
        marked = sum(bool((m := pattern.match(line)) and m[0]) for line in filled)
        if marked < _MOST_SHARE * len(filled) or (pattern is _QUOTED and "< HTTP/" in text):
            continue
        yield Layer(
            what, to_bytes("\n".join(pattern.sub("", line, count=1) if pattern.match(line) else line for line in lines))
        )
    fields = [
        m for m in _STREAM.finditer(text) if not m["lead"].strip().startswith(("data:", "event:", "{", "[{", "curl"))
    ]
    if len(fields) >= 2:
        joined = "\n".join(m["field"] if m["field"].startswith("event") else m["field"] + "\n" for m in fields)
        yield Layer("log line prefixes", to_bytes(joined + "\n"))


def _python_bytes(text: str) -> Iterator[Layer]:
    """Stream lines printed as Python bytes: ``b'data: {…}'``."""
    found = list(_PRINTED.finditer(text))
    if len(found) < 2:
        return
    lines: list[bytes] = []
    for match in found:
        try:
            value = ValueReader(match[0]).value(match.start(1) - 1 - match.start())
        except UnreadableValue:
            return
        lines.append(value if isinstance(value, bytes) else b"")
    is_apart = any(not line for line in lines)
    yield Layer("the repr of bytes on each line", (b"\n" if is_apart else b"\n\n").join(lines) + b"\n\n")


def _json_log(text: str) -> Iterator[Layer]:
    """JSON log lines with the text in one member, as container runtimes and log services write them."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 1 or not lines[0].lstrip().startswith("{"):
        return
    found: list[str] = []
    key = ""
    for line in lines:
        try:
            value = loads(to_bytes(line))
        except WireError:
            return
        if not isinstance(value, dict):
            return
        key = key or next((k for k in _LOG_KEYS if isinstance(value.get(k), str)), "")
        if not key or not isinstance(value.get(key), str):
            return
        found.append(value[key])
    joined = "".join(found) if all(piece.endswith("\n") for piece in found) else "\n".join(found)
    yield Layer(f"log records with the text in {key!r}", joined.encode("utf-8", "replace"))


def _yaml(text: str) -> Iterator[Layer]:
    if text.lstrip()[:1] in ("{", "[", "<", "") or not _YAML.search(text[:65536]):
        return
    try:
        value = safeyaml.load(text.encode("utf-8", "replace"), name="the text")
    except UnreadableInput:
        return
    if isinstance(value, dict | list):
        yield Layer("YAML, rewritten as JSON", dumps(json_types(value)), is_rebuilt=True)


def _base64(text: str) -> Iterator[Layer]:
    compact = text.strip()
    if len(compact) < 16 or not _BASE64.match(compact):
        return
    packed = "".join(compact.split())
    try:
        inside = base64.b64decode(packed, altchars=b"-_" if "-" in packed or "_" in packed else None, validate=True)
    except (binascii.Error, ValueError):
        return
    if inside[:1] in (b"{", b"[", b"\x1f", b"\x28") or inside[:6] in (b"data: ", b"event:") or inside[:5] == b"HTTP/":
        yield Layer("base64", inside)


_OPEN = regex.compile(
    r"^(?P<indent>[ \t>]*(?:[-*][ ])?)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)\r?$", re.MULTILINE
)


class MarkdownPiece(NamedTuple):
    """A part of a text.

    Attributes:
        start, end: of its content.
        info: info string of the fence ("json"); None outside a fence.
        content: without the fence and its common indentation.
    """

    start: int
    end: int
    info: str | None
    content: str


def pieces(text: str) -> list[MarkdownPiece]:
    """Parts of a text in order; one part without fences."""
    found: list[MarkdownPiece] = []
    at = 0
    while opened := _OPEN.search(text, at):
        fence, indent = opened["fence"], opened["indent"]
        begin = min(opened.end() + 1, len(text))
        closing = re.compile(rf"^[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*\r?$", re.MULTILINE)
        closed = closing.search(text, begin)
        end = closed.start() if closed else len(text)
        found.append(MarkdownPiece(at, opened.start(), None, text[at : opened.start()]))
        content = text[begin:end]
        if indent:
            content = re.sub(rf"(?m)^(?:{re.escape(indent)}|[ \t>]{{0,{len(indent)}}})", "", content)
        found.append(MarkdownPiece(begin, end, opened["info"].strip(), content))
        at = closed.end() if closed else len(text)
    found.append(MarkdownPiece(at, len(text), None, text[at:]))
    return [piece for piece in found if piece.content.strip()]
