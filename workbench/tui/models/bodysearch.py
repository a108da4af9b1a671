"""A search through the bytes of one side of an exchange."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange

MOST = 100_000
"""Matches kept, at most; nobody looks through more."""


class BodySearch:
    """Finds a text in any JSON spelling; a capital letter in it makes the search case-sensitive.

    Attributes:
        spans: byte ranges of the matches so far, sorted.
    """

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.spans: list[tuple[int, int]] = []

    def run(self, body: bytes, streamed: DecodedExchange | None) -> Iterator[tuple[int | None, float]]:
        """Yield steps of the search: (first byte of a match or None, share of the body searched).

        Args:
            body: the bytes.
            streamed: exchange of a streamed ``body``, to find matches that are split over events too; else None.
        """
        from workbench.filters import text

        exact = text.is_exact(self.wanted)
        reached = 0
        for span in text.spans_in(body, text.byte_pattern(self.wanted, exact=exact), text.longest_match(self.wanted)):
            reached = span[1] if span else reached + text.WINDOW
            yield self._note(span), min(1.0, reached / len(body))
        if streamed and streamed.events:
            for span in text.streamed_spans(streamed, text.str_pattern(self.wanted, exact=exact)):
                yield self._note(span), 1.0

    def _note(self, span: tuple[int, int] | None) -> int | None:
        if span is None or len(self.spans) >= MOST:
            return None
        insort(self.spans, span)
        return span[0]
