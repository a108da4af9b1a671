"""Decodes the inside of JSON strings, and maps each inner byte to its outer byte."""

from __future__ import annotations

import codecs
import re
from array import array
from bisect import bisect_right
from itertools import accumulate, chain, zip_longest
from operator import add
from typing import Final

from workbench import regex

ERRORS: Final = "workbench-wire"
"""Codec error handler that makes any bytes text, reversibly: surrogates in UTF-8 stay lone surrogates.

Other stray bytes become U+DC80 … U+DCFF, which in turn are never read from UTF-8.
"""

ESCAPE: Final = regex.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)",
    re.DOTALL,
)
_SIMPLE: Final = {
    b'\\"': b'"',
    b"\\\\": b"\\",
    b"\\/": b"/",
    b"\\b": b"\b",
    b"\\f": b"\f",
    b"\\n": b"\n",
    b"\\r": b"\r",
    b"\\t": b"\t",
}


def _handle(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeEncodeError):
        code = ord(error.object[error.start])
        stray = 0xDC80 <= code <= 0xDCFF
        return bytes((code & 0xFF,)) if stray else chr(code).encode("utf-8", "surrogatepass"), error.start + 1
    escape = codecs.lookup_error("surrogateescape")
    try:
        said, after = codecs.lookup_error("surrogatepass")(error)
    except UnicodeError:
        return escape(error)
    return escape(error) if "\udc80" <= str(said) <= "\udcff" else (said, after)


codecs.register_error(ERRORS, _handle)


def decode(raw: bytes) -> str:
    """Wire bytes as text. Never fails; ``encode`` reverses it."""
    return raw.decode("utf-8", ERRORS)


def encode(text: str) -> bytes:
    """Bytes of a decoded text."""
    return text.encode("utf-8", ERRORS)


def meaning(escape: bytes) -> bytes:
    r"""Character of one escape (``\n``, ``\u00e9``, a surrogate pair), in UTF-8 as ``ERRORS`` writes it."""
    simple = _SIMPLE.get(escape)
    if simple is not None:
        return simple
    if len(escape) == 12:
        high, low = int(escape[2:6], 16), int(escape[8:], 16)
        return chr(0x10000 + ((high & 0x3FF) << 10 | low & 0x3FF)).encode()
    return encode(chr(int(escape[2:], 16))) if len(escape) == 6 else escape[1:]


class _Meanings(dict[bytes, bytes]):
    """Cache of the escapes of one string, most of which repeat."""

    def __missing__(self, escape: bytes) -> bytes:
        said = self[escape] = meaning(escape)
        return said


class StringText:
    """Text in a JSON string, with the mapping back to its outer bytes.

    Args:
        outer: the text that contains the string.
        start, end: range of the string there, without its quotes.
    """

    def __init__(self, outer: bytes, start: int, end: int) -> None:
        raw = outer[start:end]
        literals = ESCAPE.split(raw)
        escapes = ESCAPE.findall(raw)
        said = list(map(_Meanings().__getitem__, escapes))
        self.text = b"".join(chain.from_iterable(zip_longest(literals, said, fillvalue=b"")))
        # Run n is literal text, at inner byte _inner[n] and outer bytes _outer[n] to _stop[n]. An escape follows it.
        lengths = array("q", map(len, literals))
        self._inner: array[int] = array("q", accumulate(map(add, lengths, map(len, said)), initial=0))
        self._outer: array[int] = array("q", accumulate(map(add, lengths, map(len, escapes)), initial=start))
        self._stop: array[int] = array("q", map(add, self._outer, lengths))

    def outer(self, offset: int, *, is_end: bool = False) -> int:
        """Outer byte of an inner one; inside an escape its start, or its end if ``is_end``."""
        run = bisect_right(self._inner, offset) - 1
        at = self._outer[run] + offset - self._inner[run]
        if at <= self._stop[run]:
            return at
        return self._outer[run + 1] if is_end else self._stop[run]

    def inner(self, offset: int) -> int:
        """Inner byte of an outer one."""
        run = bisect_right(self._outer, offset) - 1
        return self._inner[run] + min(offset, self._stop[run]) - self._outer[run]
