"""Printing: JSON to stdout alone, complaints to stderr in one line, untrusted text through the gate."""

from __future__ import annotations

import json
import re
import sys

from workbench.ir import JsonValue
from workbench.limits import SNIPPET
from workbench.tui.safetext import HIDDEN, visible


def emit_json(value: JsonValue) -> None:
    """One JSON object on stdout; controls, hidden characters and surrogates of hostile traffic are escapes in it."""
    write(HIDDEN.sub(_json_escape, json.dumps(value, ensure_ascii=False, indent=2)) + "\n")


def _json_escape(found: re.Match[str]) -> str:
    char = found.group()
    return char if char == "\n" else json.dumps(char)[1:-1] if char != "\x7f" else "\\u007f"


def emit(text: str = "") -> None:
    """A line for people. Every control and invisible character in it is made visible."""
    write(visible(text) + "\n")


def write(text: str) -> None:
    """Text as it is; what the terminal cannot show becomes an escape."""
    stream = sys.stdout
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def complain(line: str, status: int) -> int:
    """Print one line on stderr and hand the status back, so that a command can return it."""
    text = visible(" ".join(line.split("\n")))
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(f"workbench: {text}\n".encode(encoding, "backslashreplace").decode(encoding))
    return status


def describe_os_error(error: OSError) -> str:
    """``file: reason`` without errno noise."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def cut(text: str, width: int = SNIPPET) -> str:
    """At most ``width`` characters, with an ellipsis where something was cut."""
    return text if len(text) <= width else text[: width - 1] + "…"


def number(count: int, word: str) -> str:
    """``1 error``, ``2 errors``."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
