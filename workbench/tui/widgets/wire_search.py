"""Searches the bytes of the wire pane: a match is a byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.tui.models.wire import BodySearch
from workbench.tui.widgets.item_search import ItemSearch
from workbench.views import RESPONSE

if TYPE_CHECKING:
    from workbench.tui.widgets.wire import WirePane


class WireSearch(ItemSearch):
    """Search in all bytes, laid out or not; also for the text escaped as JSON or split over stream events."""

    def __init__(self, pane: WirePane) -> None:
        super().__init__(pane)
        self.pane = pane
        self._body_search: BodySearch | None = None

    def begin(self, wanted: str) -> Iterator[tuple[int | None, float]]:
        pane, self._body_search = self.pane, BodySearch(wanted)
        if pane.rows is None or pane.opened is None:
            return iter(())
        is_streamed = pane.side == RESPONSE and not pane.content.is_received
        return self._body_search.run(pane.rows.body, pane.opened.decoded if is_streamed else None)

    def show(self) -> None:
        self._mark(tuple(self._body_search.spans) if self._body_search else ())

    def end(self) -> None:
        self._body_search = None
        if self.pane.opened:
            self._mark(())
        super().end()

    def _mark(self, spans: tuple[tuple[int, int], ...]) -> None:
        self.pane.marks.match = spans
        self.pane.mark_related(self.pane.marks.related)
