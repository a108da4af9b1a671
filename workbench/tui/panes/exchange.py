"""The panes that show one view of the open exchange."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from workbench.tui.panes.pane import Pane
from workbench.views import Line, behind, wrap

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.models.view import View
    from workbench.tui.selection import ExchangeSelection, Lights


class ExchangePane(Pane):
    """Shows the view of the exchange that its row of ``session_panes`` names."""

    view: View | None = None
    noted: Mapping[int, Line] = MappingProxyType({})
    """Marks and notes, by item."""

    def open(self, exchange_view: ExchangeView | None, why_not: str = "") -> None:
        self.view = exchange_view.views[self.id or ""] if exchange_view else None
        self.hangs = self.view is not None and self.view.hangs
        super().open(exchange_view, why_not)
        if self.view:
            self.entitle(*self.view.facts)
            self.opened_items |= self.view.open_at_first
            self.reload()

    def grow(self, exchange_view: ExchangeView) -> None:
        self.view = exchange_view.views[self.id or ""]
        super().grow(exchange_view)
        self.entitle(*self.view.facts)

    def count(self) -> int:
        return self.view.count() if self.view else 0

    def head(self, item: int, width: int) -> Line:
        assert self.view
        noted = self.noted.get(item)
        line = self.view.line(item, width)
        return behind(line, noted, width) if noted else line

    def further(self, item: int, width: int) -> list[Line]:
        assert self.view
        return self.view.body(item, width)

    def nothing(self, width: int) -> list[Line]:
        return self.view.nothing(width) if self.view else wrap(self.why_not, width, "muted")

    def is_selected(self, item: int) -> bool:
        return item in self.lit or bool(self.view and not self.view.needs_selection)

    def selection(self) -> ExchangeSelection | None:
        return self.view.selection(self.cursor) if self.view and self.view.count() else None

    def light(self, selection: ExchangeSelection, lights: Lights, *, is_source: bool) -> None:
        assert self.view
        self.light_items(*self.view.highlights(lights), is_source=is_source)

    def origin(self) -> tuple[int, tuple[int, ...]] | None:
        """Exchange and response events that the item under the cursor came from; None if unknown."""
        return self.view.origin(self.cursor) if self.view and self.view.count() else None
