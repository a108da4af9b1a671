"""Line numbers of a list whose items may be open: from item to line and back."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

from workbench.views import Line


class ItemLines:
    """Maps items to lines: every item has one line, an open item further ones below it.

    Attributes:
        further: item → its further lines, for the open items, in order.
    """

    def __init__(self) -> None:
        self.measure({})

    def measure(self, further: Mapping[int, list[Line]]) -> None:
        """Set the open items."""
        self.further = further
        self._open = list(further)
        self._before = [0, *accumulate(len(lines) for lines in further.values())]

    @property
    def extra(self) -> int:
        """Number of lines that the open items have beyond their first."""
        return self._before[-1]

    def first(self, item: int) -> int:
        """Number of an item's first line."""
        return item + self._before[bisect_right(self._open, item - 1)]

    def last(self, item: int) -> int:
        """Number of an item's last line."""
        return self.first(item) + len(self.further.get(item, ()))

    def at(self, number: int) -> tuple[int, int]:
        """(item, index of the line in the item) of a line."""
        after = bisect_right(self._open, number, key=self.first)
        if after:
            item = self._open[after - 1]
            inside = number - self.first(item)
            if inside <= len(self.further[item]):
                return item, inside
        return number - self._before[after], 0
