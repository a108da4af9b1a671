"""Finds the ends of JSON values by regular expressions, at the speed of C and without recursion; decodes strings.

A regular expression cannot count brackets, but it can match a fixed number of nested levels: ``VALUE`` skips a value
with up to ``SHALLOW`` levels in one match. Deeper values are walked bracket by bracket, once: the ends found are
cached. All quantifiers are possessive, so that nothing is scanned twice by backtracking.
"""

from __future__ import annotations

import codecs
import re
from array import array
from bisect import bisect_right
from itertools import accumulate, chain, zip_longest
from operator import add
from typing import Final

from workbench import regex
from workbench.limits import MAX_JSON_DEPTH

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
        surrogate, after = codecs.lookup_error("surrogatepass")(error)
    except UnicodeError:
        return escape(error)
    return escape(error) if "\udc80" <= str(surrogate) <= "\udcff" else (surrogate, after)


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
        character = self[escape] = meaning(escape)
        return character


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
        characters = list(map(_Meanings().__getitem__, escapes))
        self.text = b"".join(chain.from_iterable(zip_longest(literals, characters, fillvalue=b"")))
        # Run n is literal text, at inner byte _inner[n] and outer bytes _outer[n] to _stop[n]. An escape follows it.
        lengths = array("q", map(len, literals))
        self._inner: array[int] = array("q", accumulate(map(add, lengths, map(len, characters)), initial=0))
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


SHALLOW: Final = 10
"""Nested levels that one match skips. Requests have about six above their schemas."""

_SPACE: Final = rb"[ \t\r\n]*+"
_STRING: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SCALAR: Final = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null|NaN|-?Infinity"
_BACK: Final = rb"|(?!)"
"""Never matches. Takes a possessive group back to the start of its failed last round, which Python < 3.11.5 forgets."""


def _nested_pattern(levels: int) -> bytes:
    inside = rb'(?:[^\[\]{}"]++|' + _STRING + _BACK + rb")*+"
    for _ in range(levels - 1):
        inside = rb'(?:[^\[\]{}"]++|' + _STRING + rb"|[\[{]" + inside + rb"[\]}]" + _BACK + rb")*+"
    return inside


_CONTAINER: Final = rb"[\[{]" + _nested_pattern(SHALLOW) + rb"[\]}]"
SPACE: Final = regex.compile(_SPACE)
VALUE: Final = regex.compile(rb"(?:" + _STRING + rb"|" + _CONTAINER + rb"|" + _SCALAR + rb")", re.DOTALL)
KEY: Final = regex.compile(_SPACE + rb"(" + _STRING + rb")" + _SPACE + rb":" + _SPACE, re.DOTALL)
_MEMBER: Final = regex.compile(
    KEY.pattern + rb"(?P<value>" + VALUE.pattern + rb")" + _SPACE + rb"(?P<after>[,}])", re.DOTALL
)
_ELEMENT: Final = regex.compile(
    _SPACE + rb"(?P<value>" + VALUE.pattern + rb")" + _SPACE + rb"(?P<after>[,\]])", re.DOTALL
)
_AFTER: Final = regex.compile(_SPACE + rb"([,\]}])")
_DELIMITER: Final = regex.compile(rb"[ \t\r\n,\]}]")
_FLAT: Final = regex.compile(rb'(?:[^\[\]{}"]++|' + _STRING + rb"|" + _CONTAINER + _BACK + rb")*+", re.DOTALL)
_OPEN_OBJECT: Final = ord("{")
CUT: Final = -1
"""End of a value that is incomplete or broken."""


class ChildTable:
    """Children of one array or object.

    Attributes:
        values: start and end of each child in turn; the end of an incomplete last child is ``CUT``.
        keys: start and end of each member's key, quotes included; empty for arrays.
        names: key → number of its last member; None for arrays.
        repeated: offset and name of each repeated key.
    """

    __slots__ = ("keys", "names", "repeated", "values")

    def __init__(self, *, is_object: bool) -> None:
        self.values = array("q")
        self.keys = array("q")
        self.names: dict[str, int] | None = {} if is_object else None
        self.repeated: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self.values) // 2

    def add_key(self, text: bytes, start: int, end: int) -> None:
        """Start a member; its value is added next."""
        raw = text[start + 1 : end - 1]
        self.add(decode(StringText(raw, 0, len(raw)).text if b"\\" in raw else raw), start, end)

    def add(self, name: str, start: int, end: int) -> None:
        """Start a member of this name."""
        assert self.names is not None
        if name in self.names:
            self.repeated.append((start, name))
        self.names[name] = len(self.keys) // 2
        self.keys.extend((start, end))


class Scanner:
    """Finds the ends of values in one text, and caches the expensive ones."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._ends: dict[int, int] = {}

    def value_end(self, start: int) -> int:
        """End of the value that starts at an offset, or ``CUT``."""
        if start in self._ends:
            return self._ends[start]
        found = VALUE.match(self.text, start)
        if found:
            return found.end()
        return self._deep_end(start) if self.text[start : start + 1] in (b"[", b"{") else CUT

    def _deep_end(self, start: int) -> int:
        text, open_, at = self.text, [start], start + 1
        while open_ and len(open_) <= MAX_JSON_DEPTH:
            found = _FLAT.match(text, at)
            at = found.end() if found else at
            bracket = text[at : at + 1]
            at += 1
            if bracket in (b"[", b"{"):
                open_.append(at - 1)
            elif bracket in (b"]", b"}"):
                self._ends[open_.pop()] = at
            else:
                break
        self._ends.update(dict.fromkeys(open_, CUT))
        return self._ends[start]

    def table(self, start: int) -> ChildTable:
        """Children of the array or object at an offset, as far as it is well-formed."""
        text, is_object = self.text, self.text[start] == _OPEN_OBJECT
        table = ChildTable(is_object=is_object)
        pattern, closer = (_MEMBER, b"}") if is_object else (_ELEMENT, b"]")
        at: int | None = start + 1
        values = table.values
        if text.startswith(closer, self.skip_space(start + 1)):
            return table
        while at is not None:
            found = pattern.match(text, at)
            if found is None:
                at = self._odd_child(table, at)
                continue
            if is_object:
                table.add_key(text, *found.span(1))
            values.extend(found.span("value"))
            at = found.end() if found["after"] == b"," else None
        return table

    def _odd_child(self, table: ChildTable, at: int) -> int | None:
        """Add a child too deep, cut or broken for a single match; return the start of the next one, if any."""
        text = self.text
        key = KEY.match(text, at) if table.names is not None else None
        start = key.end() if key else self.skip_space(at)
        if start >= len(text) or (key is None and table.names is not None):
            return None
        if key:
            table.add_key(text, *key.span(1))
        end = self.value_end(start)
        after = _AFTER.match(text, end) if end != CUT else None
        if end != CUT and text[end - 1] not in b'"]}' and not _DELIMITER.match(text, end):
            end = CUT  # the text goes on as no number does, or ends where more digits may have followed
        table.values.extend((start, end))
        return after.end() if after and after[1] == b"," else None

    def root(self) -> int | None:
        """Offset of the value of the text, after a byte order mark; None for a blank text."""
        start = self.skip_space(3 if self.text.startswith(b"\xef\xbb\xbf") else 0)
        return start if start < len(self.text) else None

    def skip_space(self, at: int) -> int:
        found = SPACE.match(self.text, at)
        return found.end() if found else at
