"""What a pane shows: the interface between a pane and its items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from workbench.tui.selection import ExchangeSelection, Lights
from workbench.views import Line

if TYPE_CHECKING:
    from workbench.tui.models.http import HttpRow

Items = frozenset[int]


class PaneContent(ABC):
    """Items of one exchange; each has one line, and further lines while it is open.

    Attributes:
        facts: texts next to the pane's name.
        needs_selection: True if enter first selects the item under the cursor in every pane.
        open_at_first: items that are open from the beginning.
        hangs: the line of an open item takes as many rows as it needs.
    """

    facts: tuple[str, ...] = ()
    needs_selection = True
    open_at_first: Items = frozenset()
    hangs = False

    @abstractmethod
    def count(self) -> int:
        """Number of items."""

    @abstractmethod
    def head(self, item: int) -> Line:
        """The line of an item."""

    def line(self, item: int, width: int) -> Line:
        """The line of an item for a width; override it if the width matters."""
        return self.head(item)

    def row(self, item: int) -> HttpRow | None:
        """The header or fact of an item that is not part of a body; None for others."""
        return None

    @abstractmethod
    def body(self, item: int, width: int) -> list[Line]:
        """The further lines of an item."""

    @abstractmethod
    def nothing(self, width: int) -> list[Line]:
        """Lines shown if there are no items: the reason."""

    @abstractmethod
    def selection(self, item: int) -> ExchangeSelection | None:
        """Selection of an item; None if it is not part of a body."""

    def origin(self, item: int) -> tuple[int, tuple[int, ...]] | None:
        """Exchange index and stream events of an item's origin, if that is another exchange; else None."""
        return None

    @abstractmethod
    def highlights(self, lights: Lights) -> tuple[Items, Items]:
        """Selected items, and related items."""
