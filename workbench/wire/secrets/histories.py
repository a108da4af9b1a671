"""Finds the secrets of texts that repeat earlier ones, and reads only their new parts.

What is found in the part that a text has in common with an earlier one is known. The rest is searched with so much text
around it as any pattern reads, and from quote to quote, because runs and values end there. What reaches further (a
table, a private key, a long value) is noted as a range, in which no search begins or ends. Where a range crosses the
border between known and new, the whole text is searched: so the result is always that of ``find``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.wire.predecessors import Predecessors, Repetition
from workbench.wire.secrets.search import Secret, has_known, join_overlapping, search
from workbench.wire.secrets.shapes import REACH

SMALL: Final = 16 * 1024
"""Texts below this size are searched whole."""
AROUND: Final = 4300
"""Bytes around a secret that any pattern reads: a row of a table is the longest, with 4,096."""
_WORTH: Final = 0.7
"""Share of a text from which on searching the whole text is as fast."""


class _Result(NamedTuple):
    """Secrets of a text, the ranges that were read as one thing (secrets too), and the number of known secrets."""

    secrets: list[Secret]
    reaches: list[Secret]
    known: frozenset[bytes]


class _Window(NamedTuple):
    """A part of a text that is searched, and the part of it where the result counts."""

    first: int
    start: int
    end: int
    last: int


@dataclass(slots=True)
class HistorySearch:
    """Searches texts one after the other."""

    _earlier: Predecessors[_Result] = field(default_factory=Predecessors)
    _known: frozenset[bytes] = frozenset()

    def find(self, text: bytes, seen: Collection[bytes]) -> list[Secret]:
        """Secrets of a text, as ``search.find`` finds them."""
        if len(self._known) != len(seen):
            self._known = frozenset(seen)
        repeated = self._earlier.closest(text) if len(text) >= SMALL else None
        result = self._continue(text, repeated) if repeated else None
        if result is None:
            result = _result_of(search(text, self._known), self._known)
        if len(text) >= SMALL:
            self._earlier.remember(text, result, repeated)
        return result.secrets

    def _continue(self, text: bytes, repeated: Repetition[_Result]) -> _Result | None:
        """Result for a text of which an earlier one is known; None if the whole text must be searched."""
        known = repeated.before.known
        window = _window(text, repeated)
        if window is None:
            return None
        learned = self._known - known.known if self._known is not known.known else frozenset[bytes]()
        if learned and has_known(text, learned):
            return None
        found = search(text[window.first : window.last], self._known)
        new = [Secret(one.start + window.first, one.end + window.first, one.kind) for one in found]
        if not _is_apart(new, window):
            return None
        inside = [one for one in new if window.start <= one.start and one.end <= window.end]
        moved = len(text) - len(repeated.before.body)
        around = [*_outside(known.secrets, window, moved), *_outside(known.reaches, window, moved)]
        return _result_of((*inside, *around), self._known)


def _result_of(found: Iterable[Secret], known: frozenset[bytes]) -> _Result:
    secrets, reaches = list[Secret](), list[Secret]()
    for one in found:
        (reaches if one.kind == REACH else secrets).append(one)
    return _Result(join_overlapping(secrets), reaches, known)


def _window(text: bytes, repeated: Repetition[_Result]) -> _Window | None:
    """Ranges of a text to search; None if they are nearly all of it."""
    before, same, size = repeated.before, repeated.start, len(text)
    moved = size - len(before.body)
    ranges = [*before.known.secrets, *before.known.reaches]
    start = _quiet_before(text, same - AROUND, ranges)
    first = _quiet_before(text, start - AROUND, ranges)
    later = [one for one in (Secret(s + moved, e + moved, k) for s, e, k in ranges) if one.end > size - repeated.end]
    end = _quiet_after(text, size - repeated.end + AROUND, later)
    last = _quiet_after(text, end + AROUND, later)
    return _Window(first, start, end, last) if last - first < _WORTH * size else None


def _quiet_before(text: bytes, at: int, ranges: Sequence[Secret]) -> int:
    """Offset after the last quote before an offset that is in none of these ranges; 0 if there is none."""
    while at > 0:
        at = text.rfind(b'"', 0, at) + 1
        start = min((one.start for one in ranges if one.start < at < one.end), default=at)
        if start == at:
            return at
        at = start
    return 0


def _quiet_after(text: bytes, at: int, ranges: Sequence[Secret]) -> int:
    """Offset of the next quote after an offset that is in none of these ranges; the length of the text if none."""
    while at < len(text):
        at = text.find(b'"', at)
        if at < 0:
            break
        end = max((one.end for one in ranges if one.start < at < one.end), default=at)
        if end == at:
            return at
        at = end
    return len(text)


def _is_apart(found: Iterable[Secret], window: _Window) -> bool:
    """True if no range crosses a border of the part that counts."""
    return not any(start < edge < end for start, end, _ in found for edge in (window.start, window.end))


def _outside(ranges: Iterable[Secret], window: _Window, moved: int) -> Iterator[Secret]:
    """Known ranges before and after the part that counts, where they are in the new text."""
    for start, end, kind in ranges:
        if end <= window.start:
            yield Secret(start, end, kind)
        elif start + moved >= window.end:
            yield Secret(start + moved, end + moved, kind)
