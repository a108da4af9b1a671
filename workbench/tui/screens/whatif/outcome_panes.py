"""Outcome of the cell under the cursor of the what-if screen, and the response that it got."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.tui.models import whatif
from workbench.views import Line

if TYPE_CHECKING:
    from workbench.trials.whatif import VariantOutcome
    from workbench.tui.screens.whatif.screen import WhatIfScreen


class OutcomePanes:
    """Fills the panes below the table of variants."""

    def __init__(self, screen: WhatIfScreen) -> None:
        self.screen = screen
        self._open_outcome: tuple[int | None, VariantOutcome | bool] = (None, False)

    def show(self) -> None:
        """Show the outcome of the variant under the cursor at the chosen target, and its response."""
        screen, here = self.screen, self.screen.here
        outcome = False if here is None else screen.outcome(here, screen.column)
        is_same, self._open_outcome = (here, outcome) == self._open_outcome, (here, outcome)
        screen.cell.show(self._details, is_same=is_same)
        screen.response.show(partial(whatif.response_lines, outcome), is_same=is_same)

    def _details(self, width: int) -> list[Line]:
        screen, here = self.screen, self.screen.here
        if not screen.variants or not screen.targets:
            return []
        if here is None:
            return whatif.folded_details([screen.variants[n] for n in screen.rows.hidden], width)
        outcome = screen.outcome(here, screen.column)
        return whatif.details(screen.variants[here], screen.targets[screen.column], outcome, width)
