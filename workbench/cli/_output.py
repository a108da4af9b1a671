"""Printing: JSON and lines to stdout, complaints to stderr in one line, untrusted text made visible."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.cli._streams import is_muted, mute
from workbench.limits import SNIPPET
from workbench.safetext import HIDDEN, cells, visible
from workbench.views import count

if TYPE_CHECKING:
    import re

    from workbench.ir import JsonValue

MUCH = 256 * 1024
"""Characters of JSON that are laid out more slowly by the standard library than msgspec is imported and does it."""

PLAIN = str.maketrans({"·": "-", "✗": "x", "✓": "v", "○": "o", "●": "*", "–": "-", "…": "...", "─": "-", "⏎": "|"})
"""ASCII stand-ins for our own signs, for an output encoding without them."""


def emit_json(value: JsonValue) -> None:
    """Print one JSON object. Control characters, hidden characters and surrogates are written as escapes."""
    import json

    is_ascii = not _holds_unicode()
    line = json.dumps(value, ensure_ascii=is_ascii)
    laid_out = _lay_out(HIDDEN.sub(_json_escape, line)) if len(line) > MUCH or "msgspec" in sys.modules else ""
    write((laid_out or HIDDEN.sub(_json_escape, json.dumps(value, ensure_ascii=is_ascii, indent=2))) + "\n")


def _lay_out(line: str) -> str:
    """JSON with a line for each member; empty if it holds what is no JSON, such as NaN.

    The standard library does it in Python, in twenty times the time.
    """
    from msgspec import MsgspecError
    from msgspec.json import format

    try:
        return format(line, indent=2)
    except (MsgspecError, RecursionError):
        return ""


def _json_escape(found: re.Match[str]) -> str:
    import json

    char = found.group()
    return char if char == "\n" else json.dumps(char)[1:-1] if char != "\x7f" else "\\u007f"


def _holds_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "utf16", "utf32")


def emit(text: str = "") -> None:
    """Print a line for people. Control and invisible characters in it are made visible."""
    write(visible(text) + "\n")


def write(text: str) -> None:
    """Print text unchanged, but for characters that the output encoding lacks. Silent once the pipe is closed."""
    if not is_muted():
        try:
            sys.stdout.write(_encodable(text, sys.stdout.encoding))
        except BrokenPipeError:
            mute()


def complain(line: str, status: int) -> int:
    """Print one line on stderr and return the status, so that a command can return it."""
    text = visible(" ".join(line.split("\n")))
    with suppress(OSError):
        sys.stderr.write(_encodable(f"workbench: {text}\n", sys.stderr.encoding))
    return status


def point_at(text: str, start: int, end: int) -> None:
    """Print a line on stderr with carets under some of its characters."""
    before, marked = visible(text[:start]), visible(text[start:end])
    line, marks = before + marked + visible(text[end:]), " " * cells(before) + "^" * max(1, cells(marked))
    with suppress(OSError):
        sys.stderr.write(_encodable(f"  {line}\n  {marks}\n", sys.stderr.encoding))


def _encodable(text: str, encoding: str | None) -> str:
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return text


def describe_os_error(error: OSError) -> str:
    """``file: reason`` without errno noise."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def cut(text: str, width: int = SNIPPET) -> str:
    """At most ``width`` characters; a longer text ends in an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def about_lines(about: Mapping[str, str]) -> Iterator[str]:
    """Notes in the session file: its story, the source, how it was made."""
    return (f"  {cut(name)}: {cut(value)}" for name, value in about.items())


number = count
