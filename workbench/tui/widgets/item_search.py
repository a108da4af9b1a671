"""Search in the lines of a list; a match is an item."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.views import plain

if TYPE_CHECKING:
    from workbench.tui.widgets.lineview import LineView

WHOLE = 10_000
"""Columns in which a line is searched: more than a screen has, and no megabyte."""


class ItemSearch:
    """Searches for a text in the lines of a list. A list with other places than items has a search of its own.

    Attributes:
        needle: pattern of the text; None without a search.
    """

    def __init__(self, view: LineView) -> None:
        self.view = view
        self.needle: re.Pattern[str] | None = None

    def begin(self, wanted: str) -> Iterator[tuple[int | None, float]]:
        """Begin a search. Yields steps: (item that contains the text or None, share of the list searched)."""
        return self._matches(self.set_needle(wanted))

    def show(self) -> None:
        """Paint again: more matches were found."""
        self.view.refresh()

    def end(self) -> None:
        """Remove all marks of the search."""
        self.needle = None
        self.view.refresh()

    def set_needle(self, wanted: str) -> re.Pattern[str]:
        """Set the text of the search; a capital letter in it matches case."""
        from workbench.filters import is_exact, str_pattern

        self.needle = str_pattern(wanted, exact=is_exact(wanted))
        return self.needle

    def _matches(self, needle: re.Pattern[str]) -> Iterator[tuple[int | None, float]]:
        view = self.view
        for item in range(view.count()):
            lines = (view.head(item, WHOLE), *view.further(item, WHOLE))
            is_found = any(needle.search(plain(line)) for line in lines)
            yield item if is_found else None, item / view.count()

    def is_in_head(self, item: int) -> bool:
        """True if the first line of an item contains the text."""
        width = self.view.text_width
        return self.needle is not None and self.needle.search(plain(self.view.head(item, width))[:width]) is not None

    def line_inside(self, item: int) -> int:
        """Number of the line of an open item that contains the text; 0 if it is the first, or none."""
        further = self.view.lines_of.further
        if self.needle is None or item not in further or self.is_in_head(item):
            return 0
        return next((n for n, line in enumerate(further[item], 1) if self.needle.search(plain(line))), 0)
