"""Caches for content that requests repeat, since each one contains its history.

They change the time an export takes, never its result.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import Generic, TypeVar

from workbench.lazy_dataclass import dataclass, field
from workbench.limits import MAX_KNOWN_MESSAGES
from workbench.wire import ObjectList, Redaction, Redactor, is_open, runs
from workbench.wire.secrets import StreamedTexts

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ValueCache(Generic[K, V]):
    """Results by the value they were computed from.

    Two generations, as for decoded messages: when the newer is full, entries that it did not use are dropped.

    Args:
        most: bytes in a generation.
    """

    __slots__ = ("_most", "_new", "_old", "_size")

    def __init__(self, most: int = MAX_KNOWN_MESSAGES) -> None:
        self._most = most
        self._size = 0
        self._new: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def get(self, key: K, size: int, make: Callable[[K], V]) -> V:
        """Return ``make(key)``, computed once and never None. ``size``: approximate bytes of both."""
        found = self._new.get(key)
        if found is None:
            found = self._old.get(key)
            if found is None:
                found = make(key)
            if self._size and self._size + size > self._most:
                self._old, self._new, self._size = self._new, {}, 0
            self._size += size
            self._new[key] = found
        return found

    def forget(self) -> None:
        """Drop everything."""
        self._new, self._old, self._size = {}, {}, 0


@dataclass(frozen=True, slots=True)
class _SearchedElement:
    """A searched element of a list. ``is_open``: a secret could continue after it."""

    text: bytes
    found: tuple[Redaction, ...]
    is_open: bool


@dataclass(slots=True)
class CachingRedactor(Redactor):
    """A redactor that searches repeated elements of requests once."""

    _known: ValueCache[bytes, _SearchedElement] = field(default_factory=ValueCache, repr=False)
    _count_at_search: int = 0
    _cut: tuple[bytes, Sequence[ObjectList]] = (b"", ())

    def runs(self, text: bytes) -> Sequence[ObjectList]:
        """``jsontext.runs`` of a text; cached for the text redacted last."""
        if text is not self._cut[0]:
            self._cut = text, runs(text)
        return self._cut[1]

    def text(self, text: bytes, stream: StreamedTexts | None = None) -> tuple[bytes, list[Redaction]]:
        """Redact a text, as every redactor does."""
        if self._count_at_search != len(self.seen):
            self._known.forget()
            self._count_at_search = len(self.seen)
        object_lists = self.runs(text)
        if not object_lists or any(b"{" in secret or b"}" in secret for secret in self.seen):
            return Redactor.text(self, text, stream)
        return self._pieces(text, object_lists) or Redactor.text(self, text)

    def _pieces(self, text: bytes, object_lists: Sequence[ObjectList]) -> tuple[bytes, list[Redaction]] | None:
        """Redact element by element; None if a secret may span two elements."""
        outer = self._around(text, object_lists)
        if outer is None:
            return None
        changes = [(mark, bytes(new)) for mark, new in outer]
        for run in object_lists:
            for start, end in run.spans:
                known = self._known.get(text[start:end], end - start, self._look)
                if known.is_open:
                    return None
                for mark in known.found:
                    there = Redaction(mark.where, start + mark.start, start + mark.end, mark.kind)
                    changes.append((there, known.text[mark.start : mark.end]))
        if not changes:
            return text, []
        changes.sort(key=lambda change: change[0].start)
        pieces, at = list[bytes](), 0
        for mark, new in changes:
            pieces += (text[at : mark.start], new)
            at = mark.end
        new_text = b"".join((*pieces, text[at:]))
        self._cut = new_text, object_lists  # a stand-in is as long as what it stands for
        return new_text, [mark for mark, _ in changes]

    def _look(self, element: bytes) -> _SearchedElement:
        text, found = Redactor.text(self, element)
        return _SearchedElement(text, tuple(found), is_open(element))

    def _around(self, text: bytes, object_lists: Sequence[ObjectList]) -> list[tuple[Redaction, bytes]] | None:
        """Secrets in the text around the lists: position in the whole, and stand-in."""
        cuts = [0, *(end for run in object_lists for end in (run.start, run.end)), len(text)]
        gaps = [(start, end) for start, end in list(pairwise(cuts))[::2]]
        new_text, found = Redactor.text(self, b"{}".join(text[start:end] for start, end in gaps))
        starts = [0]
        for start, end in gaps:
            starts.append(starts[-1] + end - start + len(b"{}"))
        redactions = list[tuple[Redaction, bytes]]()
        for mark in found:
            n = bisect_right(starts, mark.start) - 1
            shift = gaps[n][0] - starts[n]
            if mark.end + shift > gaps[n][1]:
                return None
            there = Redaction(mark.where, mark.start + shift, mark.end + shift, mark.kind)
            redactions.append((there, new_text[mark.start : mark.end]))
        return redactions
