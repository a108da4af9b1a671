"""Characters that hide, act, or look like others, and their names.

They are not faults by themselves; a text that is compared, copied or run may contain one that nobody sees.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from workbench import regex
from workbench.named_tuple import NamedTuple

INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u06dd\u070f\u0600-\u0605\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Of a character class: format characters, fillers and selectors, all without ink."""

ODD_SPACES: Final = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""Of a character class: blanks that are no U+0020."""

COMBINING: Final = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
"""Of a character class: marks drawn over the letter before them."""

_LOOKALIKE: Final = "\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u13a0-\u13f5\uff01-\uff5e"
_LATIN: Final = "A-Za-z0-9_"

_ODD: Final = (
    f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{INVISIBLE}{ODD_SPACES}\ud800-\udfff\ue000-\uf8ff]"
    "|\r(?!\n)"
    f"|(?<=[{COMBINING}]{{2}})[{COMBINING}]"
    f"|(?<=[{_LATIN}])[{_LOOKALIKE}]|[{_LOOKALIKE}](?=[{_LATIN}])"
)
_ESCAPE: Final = regex.compile(
    rb"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\.", re.DOTALL
)
_CONTROLS: Final = {
    0x00: "NULL", 0x07: "BELL", 0x08: "BACKSPACE", 0x0B: "LINE TABULATION", 0x0C: "FORM FEED",
    0x0D: "CARRIAGE RETURN", 0x1B: "ESCAPE", 0x7F: "DELETE", 0x85: "NEXT LINE", 0x9B: "CONTROL SEQUENCE INTRODUCER",
    0x9D: "OPERATING SYSTEM COMMAND",
}  # fmt: skip
_LONGEST_RUN: Final = 64
"""Limit of backslashes examined before a byte to find out if an escape starts there."""


class Odd(NamedTuple):
    """An unusual character: its byte range and name (``U+200B ZERO WIDTH SPACE``)."""

    start: int
    end: int
    words: str


@cache
def _odd() -> re.Pattern[str]:
    """Compiled on first use: the app imports this file before its first paint."""
    return re.compile(_ODD)


def name_of_character(character: str) -> str:
    """The code and name of a character."""
    import unicodedata

    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        name = "lone surrogate"
    elif 0xE000 <= code <= 0xF8FF:
        name = "private-use character"
    else:
        name = unicodedata.name(character, "") or _CONTROLS.get(code, "control character" if code < 0xA0 else "unnamed")
    return f"U+{code:04X} {name}"


def unusual(text: str) -> list[str]:
    """Unusual characters of a short text such as a name; each once, in text order."""
    return list(dict.fromkeys(name_of_character(m[0]) for m in _odd().finditer(text)))


def odd_ones(data: bytes, start: int = 0, end: int | None = None) -> list[Odd]:
    r"""Unusual characters in a byte range, literal or as JSON escapes (``\u200b``)."""
    piece = data[start:end]
    found = _literal_names(piece, start)
    if b"\\u" in piece:
        found = sorted([*found, *_escapes_in(piece, start)])
    return found


def odd_at(data: bytes, offset: int) -> Odd | None:
    """The unusual character that a byte belongs to; None for a usual one."""
    if offset >= len(data):
        return None
    start = max(0, offset - 16)
    for _ in range(_LONGEST_RUN):
        if start == 0 or (data[start - 1] != 0x5C and data[start] & 0xC0 != 0x80):
            break
        start -= 1
    return next((odd for odd in odd_ones(data, start, offset + 16) if odd.start <= offset < odd.end), None)


def bounds(data: bytes, offset: int) -> tuple[int, int]:
    """Byte range of the character that a byte belongs to; an undecodable byte is a range of its own."""
    for start in range(offset, max(-1, offset - 4), -1):
        lead = data[start : start + 1]
        if lead and lead[0] & 0xC0 != 0x80:
            length = 1 if lead[0] < 0xC0 else 2 if lead[0] < 0xE0 else 3 if lead[0] < 0xF0 else 4
            try:
                data[start : start + length].decode()
            except UnicodeDecodeError:
                break
            return (start, start + length) if offset < start + length else (offset, offset + 1)
    return offset, offset + 1


def _literal_names(piece: bytes, base: int) -> list[Odd]:
    if piece.isascii() and piece.decode("ascii").isprintable():
        return []
    text = piece.decode("utf-8", "surrogateescape")
    found, at, before = list[Odd](), base, 0
    for m in _odd().finditer(text):
        at += len(text[before : m.start()].encode("utf-8", "surrogateescape"))
        size = len(m[0].encode("utf-8", "surrogateescape"))
        found.append(Odd(at, at + size, _words(m[0])))
        at, before = at + size, m.end()
    return found


def _words(character: str) -> str:
    code = ord(character)
    return f"byte 0x{code - 0xDC00:02X}, not UTF-8" if 0xDC80 <= code <= 0xDCFF else name_of_character(character)


def _escapes_in(piece: bytes, base: int) -> list[Odd]:
    found = []
    for m in _ESCAPE.finditer(piece):
        if m[1]:
            character = chr(0x10000 + ((int(m[1], 16) & 0x3FF) << 10 | int(m[2], 16) & 0x3FF))
        elif m[3]:
            character = chr(int(m[3], 16))
        else:
            continue
        if character not in "\n\t" and _odd().match(character):
            found.append(Odd(base + m.start(), base + m.end(), f"{name_of_character(character)}, written as an escape"))
    return found
