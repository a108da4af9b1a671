"""The reasoning pane: the reasoning ledger of a request, and the reasoning in its response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.models.pane_content import Items, PaneContent
from workbench.tui.selection import ExchangeSelection, Lights
from workbench.views import Line, entry_body, entry_line, reasoning_summary, received_words, wrap

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView


class ReasoningContent(PaneContent):
    """Ledger entries of a request: reasoning received, required and sent."""

    def __init__(self, exchange_view: ExchangeView) -> None:
        self.opened = exchange_view
        self.ledger = exchange_view.detail.ledger
        new = f"{len(self.ledger.came_in):,} new" if self.ledger.came_in else ""
        self.facts = (exchange_view.provisional_word, reasoning_summary(self.ledger), new)

    def count(self) -> int:
        return len(self.ledger.entries)

    def head(self, item: int) -> Line:
        return entry_line(self.ledger.entries[item])

    def body(self, item: int, width: int) -> list[Line]:
        return entry_body(self.ledger.entries[item], width)

    def nothing(self, width: int) -> list[Line]:
        contract = self.opened.detail.contract.label
        words = f"no model response in the history: contract {contract} requires no reasoning"
        return wrap(received_words(self.ledger), width, "reasoning") + wrap(self.opened.silence(words), width, "muted")

    def selection(self, item: int) -> ExchangeSelection:
        return self.opened.at_entry(self.ledger.entries[item])

    def origin(self, item: int) -> tuple[int, tuple[int, ...]] | None:
        entry = self.ledger.entries[item]
        came_in = entry.received_in
        return None if came_in is None or came_in == self.opened.index else (came_in, entry.received_events)

    def highlights(self, lights: Lights) -> tuple[Items, Items]:
        return lights.entries, lights.turn
