"""The HTTP pane: rows that are no part of a body, and so need no selection to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from workbench.tui.panes.exchange import ExchangePane
from workbench.views.lines import Line

if TYPE_CHECKING:
    from workbench.tui.models.http import HttpView, Row


class HttpPane(ExchangePane):
    """Its cursor opens the row it stands on; only a row that stands in a body is selected everywhere."""

    def is_selected(self, item: int) -> bool:
        return True

    def head(self, item: int, width: int) -> Line:
        return cast("HttpView", self.view).head(item, width)

    def row(self) -> Row | None:
        """What the cursor stands on."""
        view = cast("HttpView | None", self.view)
        return view.rows[self.cursor] if view and view.rows else None
