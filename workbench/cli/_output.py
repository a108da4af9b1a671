"""Printing: JSON to stdout alone, complaints to stderr in one line, untrusted text through the gate."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.limits import SNIPPET
from workbench.safetext import HIDDEN, cells, visible

if TYPE_CHECKING:
    from workbench.ir import JsonValue

PLAIN = str.maketrans({"·": "-", "✗": "x", "✓": "v", "○": "o", "●": "*", "–": "-", "…": "...", "─": "-", "⏎": "|"})
"""Our own signs where the output cannot hold them."""


def emit_json(value: JsonValue) -> None:
    """One JSON object on stdout; controls, hidden characters and surrogates of hostile traffic are escapes in it."""
    text = json.dumps(value, ensure_ascii=not _holds_unicode(), indent=2)
    write(HIDDEN.sub(_json_escape, text) + "\n")


def _json_escape(found: re.Match[str]) -> str:
    char = found.group()
    return char if char == "\n" else json.dumps(char)[1:-1] if char != "\x7f" else "\\u007f"


def _holds_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "utf16", "utf32")


def emit(text: str = "") -> None:
    """A line for people. Every control and invisible character in it is made visible."""
    write(visible(text) + "\n")


def write(text: str) -> None:
    """Text as it is; what the output cannot hold becomes plain signs and escapes. Silent once the reader went away."""
    if not is_muted():
        try:
            sys.stdout.write(_encodable(text, sys.stdout.encoding))
        except BrokenPipeError:
            mute()


def complain(line: str, status: int) -> int:
    """Print one line on stderr and hand the status back, so that a command can return it."""
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


def flush() -> None:
    """Hand on what was printed. Raises OSError when it cannot be written; a reader that went away is no failure."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        mute()
    except OSError:
        mute()  # or the interpreter would complain once more on its way out
        raise


def mute() -> None:
    """Send all further output nowhere."""
    global _muted
    _muted = True
    with open(os.devnull, "w") as nowhere, suppress(OSError, ValueError):
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def is_muted() -> bool:
    """Nobody reads what is printed: a command may stop printing."""
    return _muted


_muted = False


def describe_os_error(error: OSError) -> str:
    """``file: reason`` without errno noise."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def cut(text: str, width: int = SNIPPET) -> str:
    """At most ``width`` characters, with an ellipsis where something was cut."""
    return text if len(text) <= width else text[: width - 1] + "…"


def about_lines(about: Mapping[str, str]) -> Iterator[str]:
    """What the maker of a session says of it: its story, the source, how it was made."""
    return (f"  {cut(name)}: {cut(value)}" for name, value in about.items())


def number(count: int, word: str) -> str:
    """``1 error``, ``2 errors``."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
