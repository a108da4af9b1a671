"""The panes that show one kind of content of the open exchange."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from workbench.tui.widgets.pane import Pane
from workbench.views import Line, behind, wrap

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.models.pane_content import PaneContent
    from workbench.tui.selection import ExchangeSelection, Lights


class ExchangePane(Pane):
    """Shows the content of the exchange that its row of ``session_panes`` names."""

    content: PaneContent | None = None
    noted: Mapping[int, Line] = MappingProxyType({})
    """Marks and notes, by item."""

    def open(self, exchange_view: ExchangeView | None, why_not: str = "") -> None:
        self.content = exchange_view.contents[self.id or ""] if exchange_view else None
        self.hangs = self.content is not None and self.content.hangs
        super().open(exchange_view, why_not)
        if self.content:
            self.entitle(*self.content.facts)
            self.opened_items |= self.content.open_at_first
            self.reload()

    def grow(self, exchange_view: ExchangeView) -> None:
        self.content = exchange_view.contents[self.id or ""]
        super().grow(exchange_view)
        self.entitle(*self.content.facts)

    def count(self) -> int:
        return self.content.count() if self.content else 0

    def head(self, item: int, width: int) -> Line:
        assert self.content
        noted = self.noted.get(item)
        line = self.content.line(item, width)
        return behind(line, noted, width) if noted else line

    def further(self, item: int, width: int) -> list[Line]:
        assert self.content
        return self.content.body(item, width)

    def nothing(self, width: int) -> list[Line]:
        return self.content.nothing(width) if self.content else wrap(self.why_not, width, "muted")

    def is_selected(self, item: int) -> bool:
        return item in self.lit or bool(self.content and not self.content.needs_selection)

    def selection(self) -> ExchangeSelection | None:
        return self.content.selection(self.cursor) if self.content and self.content.count() else None

    def light(self, selection: ExchangeSelection, lights: Lights, *, is_source: bool) -> None:
        assert self.content
        self.light_items(*self.content.highlights(lights), is_source=is_source)

    def origin(self) -> tuple[int, tuple[int, ...]] | None:
        """Exchange and response events that the item under the cursor came from; None if unknown."""
        return self.content.origin(self.cursor) if self.content and self.content.count() else None
