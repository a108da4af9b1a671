"""Finds every secret of a text, in one pass per detection method."""

from __future__ import annotations

import codecs
import re
import zlib
from base64 import b64decode
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Final

from workbench import regex
from workbench.named_tuple import NamedTuple
from workbench.wire.secrets import named_values, shapes
from workbench.wire.secrets.escapes import BASE64, FILL, decode_escapes, runs
from workbench.wire.secrets.named_values import find_named
from workbench.wire.secrets.names import is_made_up, is_uuid, is_wordy
from workbench.wire.secrets.shapes import REACH, find_shaped

_DEEPEST: Final = 2
"""Limit of base64 nested in base64."""
_HEAD: Final = 24
_LINE: Final = (56, 128)
"""Line length of base64 that continues on the next line."""
_NEXT_LINE: Final = regex.compile(rb"[\r\n]{1,4}[ \t]{0,60}([A-Za-z0-9+/_-]+)(?=={0,2}(?:[^A-Za-z0-9+/_=.-]|\Z))")
_GZIP: Final = b"H4sI"
_MOST_UNZIPPED: Final = 1_000_000
_DIGITS: Final = regex.compile(rb"[0-9a-f]+|[0-9A-F]+")
_CONTROLS: Final = regex.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]")
_SEALED: Final = regex.compile(rb"[A-Za-z0-9+/_-]{24,}")
_FEWEST: Final = 8
"""Minimum of different characters of a word that may be a secret."""
_TEXT: Final = regex.compile(rb"[\t\n\r -~]*+\Z")
_ALONE: Final = regex.compile(rb"[A-Za-z0-9_.+/~=-]{20,512}")
_ID: Final = regex.compile(rb"[a-z]{2,16}[_-][A-Za-z0-9_-]*|[0-9a-f]{32,128}|[0-9.]+")
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")
_RUN: Final = b"a" * shapes.SHORTEST
"""A run of base64 characters, as ``BASE64`` marks them."""
_SIGNS: Final = regex.AnyOf(sign.lower() for sign in (*shapes.SIGNS, *named_values.SIGNS))


class Secret(NamedTuple):
    """A secret in a text: its range and kind (``"api-key"``, ``"bearer"``, ``"password"`` …)."""

    start: int
    end: int
    kind: str


class _InnerText(NamedTuple):
    """Text that was encoded: so many bytes of it are so many characters; zero if they do not correspond."""

    text: bytes
    per: int
    chars: int


def find(text: bytes, seen: Collection[bytes] = ()) -> list[Secret]:
    """Secrets of a text, in order; overlapping ones are joined.

    Args:
        text: without content coding.
        seen: known secrets, of any shape.
    """
    if not seen and not may_have(text):
        return []
    return join_overlapping(one for one in search(text, seen) if one.kind != REACH)


def may_have(text: bytes) -> bool:
    """False for a text without secrets: most texts are known for that after two passes, and need no forty.

    Of texts with line ends between them it is false only if it is false of each.
    """
    plain = decode_escapes(text).replace(FILL, b"")
    return _RUN in plain.translate(BASE64) or _SIGNS.is_in(plain.lower())


def search(text: bytes, seen: Collection[bytes] = ()) -> Iterator[Secret]:
    """Secrets of a text in no order, and long ranges of the kind ``REACH`` that were read as one thing."""
    return _all(text, seen, 0)


def has_known(text: bytes, known: Collection[bytes]) -> bool:
    """True if a text has one of these secrets, in any form that ``find`` reads."""
    return _has_known(text, known, 0)


def _has_known(text: bytes, known: Collection[bytes], depth: int) -> bool:
    plain = decode_escapes(text).replace(FILL, b"")
    if any(secret in text or secret in plain for secret in known):
        return True
    sealed = (b"".join(plain[start:end] for start, end in lines) for lines in _sealed_texts(plain))
    return depth < _DEEPEST and any(
        _has_known(opened.text, known, depth + 1) for run in sealed if (opened := _inner_text(run)) is not None
    )


def _all(text: bytes, seen: Collection[bytes], depth: int) -> Iterator[Secret]:
    yield from _find_known(text, seen)
    whole = decode_escapes(text)
    plain = whole.replace(FILL, b"") if FILL in whole else whole
    found = [*_find_direct(plain, seen if plain is not text else ())]
    if depth < _DEEPEST:
        found += _find_encoded(plain, seen, depth)
    if plain is whole or not found:
        yield from found
        return
    places = [n for n, char in enumerate(whole) if char != FILL[0]]
    for start, end, kind in found:
        yield Secret(places[start - 1] + 1 if start else 0, places[end - 1] + 1, kind)


def _find_direct(text: bytes, seen: Collection[bytes]) -> Iterator[Secret]:
    for start, end, kind in chain(find_shaped(text), find_named(text)):
        yield Secret(start, end, kind)
    yield from _find_known(text, seen)


def _find_known(text: bytes, seen: Collection[bytes]) -> Iterator[Secret]:
    for secret in seen:
        at = text.find(secret)
        while at >= 0:
            yield Secret(at, at + len(secret), "api-key")
            at = text.find(secret, at + len(secret))


def _find_encoded(text: bytes, seen: Collection[bytes], depth: int) -> Iterator[Secret]:
    """Secrets inside base64 of text, as ranges of the base64 characters."""
    for lines in _sealed_texts(text):
        sealed = b"".join(text[start:end] for start, end in lines)
        for secret in _inside(sealed, seen, depth):
            yield Secret(_place(lines, secret.start), _place(lines, secret.end - 1) + 1, secret.kind)


def _inside(sealed: bytes, seen: Collection[bytes], depth: int) -> Iterator[Secret]:
    """Secrets in the text of one run of base64 or hexadecimal digits, as ranges of the run."""
    opened = _inner_text(sealed)
    if opened is None:
        return
    found = [one for one in _all(opened.text, seen, depth + 1) if one.kind != REACH]
    if not opened.per:
        if found:
            yield Secret(0, len(sealed), "api-key")
        return
    for one in found or _alone(opened.text):
        start, end = one.start * opened.chars // opened.per, -(-one.end * opened.chars // opened.per)
        yield Secret(start, min(end, len(sealed)), one.kind)


def _inner_text(sealed: bytes) -> _InnerText | None:
    """Text of one run of base64 or hexadecimal digits; None if it has none."""
    if sealed.startswith(_GZIP):
        return _InnerText(_gunzip(sealed), 0, 0)
    if (inner := decode_base64(sealed)) is not None:
        return _InnerText(inner, 3, 4)
    inner = _of_digits(sealed)
    return None if inner is None else _InnerText(inner, 1, 2)


def _sealed_texts(text: bytes) -> Iterator[list[tuple[int, int]]]:
    """Runs of base64; consecutive lines of one text together."""
    searched_to = 0
    for start, end in runs(text, BASE64, _HEAD):
        if start < searched_to:
            continue
        lines = [(start, end)]
        if _LINE[0] <= end - start <= _LINE[1] and text[end : end + 1] in (b"\n", b"\r"):
            lines += _more_lines(text, end, end - start)
        searched_to = lines[-1][1]
        yield lines


def _more_lines(text: bytes, at: int, width: int) -> Iterator[tuple[int, int]]:
    """Lines after one that have its length, and a last shorter one."""
    while (found := _NEXT_LINE.match(text, at)) and found.end() - found.start(1) <= width:
        yield found.span(1)
        at = found.end()
        if at - found.start(1) < width:
            return


def _place(lines: list[tuple[int, int]], offset: int) -> int:
    """Offset in the text of a character in the joined lines."""
    for start, end in lines:
        if offset < end - start:
            return start + offset
        offset -= end - start
    return lines[-1][1]


def decode_base64(sealed: bytes) -> bytes | None:
    """Text encoded in base64; None if it is not text."""
    if not _is_text(b64decode(sealed[:_HEAD].translate(_STANDARD))):
        return None
    whole = sealed.translate(_STANDARD)
    inner = b64decode(whole[: len(whole) - (len(whole) % 4 == 1)] + b"=" * (-len(whole) % 4 % 3))
    return inner if _is_text(inner) else None


def _is_text(inner: bytes) -> bool:
    """True for ASCII or mostly UTF-8; the last character may be cut."""
    if _TEXT.match(inner):
        return True
    try:
        characters = codecs.utf_8_decode(inner)[0]
    except UnicodeDecodeError:
        return False
    return 2 * sum(map(str.isascii, characters[:_HEAD])) > len(characters[:_HEAD]) and not _CONTROLS.search(characters)


def _of_digits(sealed: bytes) -> bytes | None:
    """Text encoded in hexadecimal digits; None if it is not text."""
    if len(sealed) % 2 or not _DIGITS.fullmatch(sealed):
        return None
    inner = bytes.fromhex(sealed[:_HEAD].decode())
    return bytes.fromhex(sealed.decode()) if _TEXT.match(inner) else None


def _gunzip(sealed: bytes) -> bytes:
    """Content of gzip inside base64, as far as it can be read."""
    whole = sealed.translate(_STANDARD)
    try:
        data = b64decode(whole[: len(whole) // 4 * 4])
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, _MOST_UNZIPPED)
    except (ValueError, zlib.error):
        return b""


def _alone(inner: bytes) -> Iterator[Secret]:
    """True if one word was encoded that is neither an id nor a digest."""
    word = inner.strip()
    if _ALONE.fullmatch(word) and not (_ID.fullmatch(word) or is_uuid(word) or is_wordy(word) or is_made_up(word)):
        if len(set(word)) <= _FEWEST or (_SEALED.fullmatch(word) and decode_base64(word) is not None):
            return
        at = inner.index(word)
        if not any(map(is_wordy, re.split(rb"[/.:=]", word)[:-1])):
            yield Secret(at, at + len(word), "api-key")


def join_overlapping(found: Iterable[Secret]) -> list[Secret]:
    """Sort, and join overlapping ones."""
    apart = list[Secret]()
    for one in sorted(found):
        if apart and one.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = Secret(last.start, max(last.end, one.end), last.kind)
        else:
            apart.append(one)
    return apart
