"""The closure pane: every tool call with its state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.models.pane_content import Items, PaneContent
from workbench.tui.selection import ExchangeSelection, Lights
from workbench.views import Line, call_body, call_line, closure_summary, passage_words, wrap

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView


class ClosureContent(PaneContent):
    """Calls and their results."""

    def __init__(self, exchange_view: ExchangeView) -> None:
        self.opened = exchange_view
        self.lines = exchange_view.detail.closure.lines
        self.facts = (
            exchange_view.provisional_word,
            closure_summary(exchange_view.detail.closure),
        )

    def count(self) -> int:
        return len(self.lines)

    def head(self, item: int) -> Line:
        return call_line(self.lines[item])

    def body(self, item: int, width: int) -> list[Line]:
        call = self.lines[item]
        links = [link for link in self.opened.row.tool_links if link.call_id == call.id]
        return [*call_body(call, width), *(each for link in links for each in passage_words(link, width))]

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.opened.silence("no tool calls in the history or the response"), width, "muted")

    def selection(self, item: int) -> ExchangeSelection:
        return self.opened.at_call(self.lines[item])

    def highlights(self, lights: Lights) -> tuple[Items, Items]:
        return lights.calls, frozenset()
