"""Every secret of a text, by one pass for each way to tell one."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple

from workbench.wire.secrets.named import named
from workbench.wire.secrets.shapes import shaped
from workbench.wire.secrets.values import is_made_up, is_uuid, is_wordy
from workbench.wire.secrets.views import BASE64, FILL, runs, view

_DEEPEST: Final = 2
"""Base64 inside of base64."""
_HEAD: Final = 24
_SEALED: Final = re.compile(rb"[A-Za-z0-9+/_-]{24,}")
_FEWEST: Final = 8
"""Different characters of a word that says nothing."""
_TEXT: Final = re.compile(rb"[\t\n\r -~]*+\Z")
_ALONE: Final = re.compile(rb"[A-Za-z0-9_.+/~=-]{20,512}")
_ID: Final = re.compile(rb"[a-z]{2,16}[_-][A-Za-z0-9_-]*|[0-9a-f]{32,128}|[0-9.]+")
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")


class Secret(NamedTuple):
    """A secret in a text: its range, and what it is (``"api-key"``, ``"bearer"``, ``"password"`` …)."""

    start: int
    end: int
    kind: str


def find(text: bytes, seen: Collection[bytes] = ()) -> list[Secret]:
    """The secrets of a text, in order; those that overlap as one.

    Args:
        text: in no coding.
        seen: secrets that are known, whatever they look like.
    """
    return merged(_all(text, seen, 0))


def _all(text: bytes, seen: Collection[bytes], depth: int) -> Iterator[Secret]:
    yield from _known(text, seen)
    written = view(text)
    meant = written.replace(FILL, b"") if FILL in written else written
    found = [*_told(meant, seen if meant is not text else ())]
    if depth < _DEEPEST:
        found += _sealed(meant, seen, depth)
    if meant is written or not found:
        yield from found
        return
    places = [n for n, char in enumerate(written) if char != FILL[0]]
    for start, end, kind in found:
        yield Secret(places[start - 1] + 1 if start else 0, places[end - 1] + 1, kind)


def _told(text: bytes, seen: Collection[bytes]) -> Iterator[Secret]:
    for start, end, kind in chain(shaped(text), named(text)):
        yield Secret(start, end, kind)
    yield from _known(text, seen)


def _known(text: bytes, seen: Collection[bytes]) -> Iterator[Secret]:
    for secret in seen:
        at = text.find(secret)
        while at >= 0:
            yield Secret(at, at + len(secret), "api-key")
            at = text.find(secret, at + len(secret))


def _sealed(text: bytes, seen: Collection[bytes], depth: int) -> Iterator[Secret]:
    """Those inside base64, where it is base64 of text: the characters that say them."""
    for start, end in runs(text, BASE64, _HEAD):
        inner = decoded(text[start:end])
        if inner is None:
            continue
        for one in list(_all(inner, seen, depth + 1)) or list(_alone(inner)):
            first, last = one.start * 4 // 3, -(-one.end * 4 // 3)
            yield Secret(start + first, min(start + last, end), one.kind)


def decoded(sealed: bytes) -> bytes | None:
    """The text that stands in base64; None where none does."""
    if not _TEXT.match(b64decode(sealed[:_HEAD].translate(_STANDARD))):
        return None
    whole = sealed.translate(_STANDARD)
    inner = b64decode(whole[: len(whole) - (len(whole) % 4 == 1)] + b"=" * (-len(whole) % 4 % 3))
    return inner if _TEXT.match(inner) else None


def _alone(inner: bytes) -> Iterator[Secret]:
    """Somebody sealed one word that is neither an id nor a digest."""
    word = inner.strip()
    if _ALONE.fullmatch(word) and not (_ID.fullmatch(word) or is_uuid(word) or is_wordy(word) or is_made_up(word)):
        if len(set(word)) <= _FEWEST or (_SEALED.fullmatch(word) and decoded(word) is not None):
            return
        at = inner.index(word)
        if not any(map(is_wordy, re.split(rb"[/.:=]", word)[:-1])):
            yield Secret(at, at + len(word), "api-key")


def merged(found: Iterable[Secret]) -> list[Secret]:
    """In order, those that overlap as one."""
    apart = list[Secret]()
    for one in sorted(found):
        if apart and one.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = Secret(last.start, max(last.end, one.end), last.kind)
        else:
            apart.append(one)
    return apart
