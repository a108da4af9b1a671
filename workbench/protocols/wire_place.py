"""Places of nodes on the wire."""

from __future__ import annotations

from operator import itemgetter

from workbench.lazy_dataclass import dataclass
from workbench.wire import loads, string_slice_span

_FIRST, _LAST = itemgetter(0), itemgetter(1)


@dataclass(frozen=True, slots=True)
class WirePlace:
    """Place of a node on the wire: every byte range it was built from, and the stream blocks it came in."""

    spans: tuple[tuple[int, int], ...] = ()
    events: tuple[int, ...] = ()

    @property
    def span(self) -> tuple[int, int] | None:
        """The range from the first to the last byte."""
        return (min(map(_FIRST, self.spans)), max(map(_LAST, self.spans))) if self.spans else None

    def cut(self, text: bytes, start: int, end: int) -> WirePlace:
        """Place of characters ``start`` to ``end`` of the text that the strings at this place add up to."""
        spans, at = [], 0
        for span in self.spans:
            length = len(loads(text[slice(*span)]))
            first, last = max(start - at, 0), min(end - at, length)
            if first < last or (start == end and first == last):
                spans.append(string_slice_span(text, span, first, last))
            at += length
        return WirePlace(tuple(spans), self.events)
