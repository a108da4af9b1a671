r"""Decodes the escapes of a text at unchanged byte offsets.

JSON inside JSON, percent-encoding and HTML write one character as several. The decoded text has the same length as the
original: an escape becomes fill plus the character, line ends become line ends, everything else is unchanged. Offsets
found in it are valid in the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from workbench import regex

FILL: Final = b"\x7f"

_LINE_ENDS: Final = ((b"\\n", b"\n\n"), (b"\\r", b"\r\r"), (b"\\t", b"\t\t"))
_UNICODE: Final = regex.compile(rb"\\+u00(?:[2-7][0-9a-fA-F]|0[9aAdD])")
_SLASH: Final = regex.compile(rb"\\+/")
_PERCENT: Final = regex.compile(rb"%(?:[2-7][0-9a-fA-F]|0[9aAdD])")
_ENTITY: Final = regex.compile(rb"&(?:quot|apos|amp|#39|#34|#x27|#x22);")
_ENTITIES: Final = {b"&quot;": b'"', b"&apos;": b"'", b"&amp;": b"&", b"&#39;": b"'", b"&#34;": b'"'}
_ENTITIES_IN_HEX: Final = {b"&#x27;": b"'", b"&#x22;": b'"'}
_INVISIBLE: Final = b"&;,#"
"""Characters that would end a parameter's value if they were not encoded."""


def decode_escapes(text: bytes) -> bytes:
    """The text with escapes decoded; same length."""
    if b"\\" in text:
        for ending, newline in _LINE_ENDS:
            text = text.replace(ending, newline)
        if b"\\u00" in text:
            text = _UNICODE.sub(_of_unicode, text)
        if b"\\/" in text:
            text = _SLASH.sub(_of_slash, text)
    if b"%" in text:
        text = _PERCENT.sub(_of_percent, text)
    if b"&" in text:
        text = _ENTITY.sub(_of_entity, text)
    return text


def _fill(escape: bytes, char: bytes) -> bytes:
    return FILL * (len(escape) - 1) + char


def _of_unicode(found: re.Match[bytes]) -> bytes:
    return _fill(found[0], bytes((int(found[0][-2:], 16),)))


def _of_slash(found: re.Match[bytes]) -> bytes:
    return _fill(found[0], b"/")


def _of_percent(found: re.Match[bytes]) -> bytes:
    char = bytes((int(found[0][1:], 16),))
    return FILL * 3 if char in _INVISIBLE else _fill(found[0], char)


def _of_entity(found: re.Match[bytes]) -> bytes:
    return _fill(found[0], (_ENTITIES | _ENTITIES_IN_HEX)[found[0]])


def _table(members: bytes) -> bytes:
    return bytes(ord("a") if n in members else ord(" ") for n in range(256))


_ALNUM: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
BASE64: Final = _table(_ALNUM + b"_-+/")


def runs(text: bytes, table: bytes, least: int) -> Iterator[tuple[int, int]]:
    """Runs of at least this many characters of a table. Fast: short words are skipped."""
    mask, wanted, at = text.translate(table), b"a" * least, 0
    while (start := mask.find(wanted, at)) >= 0:
        end = mask.find(b" ", start)
        at = end if end >= 0 else len(text)
        yield start, at
