"""The closure pane: every call with what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.chain.closure import CallLine, CallState, Closure, NodeRef
from workbench.tui.models.view import Items, View
from workbench.tui.selection import Lights, Selection
from workbench.views.lines import Line, Span, line, wrap
from workbench.views.words import RESPONSE

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView

LOOK: dict[CallState, tuple[str, str]] = {
    CallState.CLOSED: ("●", "ok"),
    CallState.PENDING: ("○", "info"),
    CallState.MISSING: ("✗", "error"),
    CallState.MISPLACED: ("✗", "error"),
    CallState.OUT_OF_ORDER: ("✗", "error"),
    CallState.DUPLICATE: ("✗", "error"),
    CallState.ORPHAN: ("✗", "error"),
}
"""State → glyph and style; the word of the state stands beside them."""


class ClosureView(View):
    """Calls and their results."""

    def __init__(self, opened: ExchangeView) -> None:
        self.opened = opened
        self.lines = opened.detail.closure.lines
        self.facts = (summary(opened.detail.closure),)

    def count(self) -> int:
        return len(self.lines)

    def head(self, item: int) -> Line:
        return call_line(self.lines[item])

    def body(self, item: int, width: int) -> list[Line]:
        return call_body(self.lines[item], width)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.opened.silence("no tool calls in the history or the response"), width, "muted")

    def selection(self, item: int) -> Selection:
        return self.opened.at_call(self.lines[item])

    def lit(self, lights: Lights) -> tuple[Items, Items]:
        return lights.calls, frozenset()


def call_line(call: CallLine) -> Line:
    """One call, or one result without a call."""
    glyph, style = LOOK[call.state]
    name = Span(f"{call.name} " if call.name else "", "strong")
    return line(
        Span(f"{glyph} ", style),
        Span(str(call.state), style, max(9, len(call.state))),
        name,
        Span(f"{_id(call)} ", "muted"),
        *_answers(call),
    )


def call_body(call: CallLine, width: int) -> list[Line]:
    """Further lines of a call: its note."""
    return wrap(call.note, width, "muted", indent=2) if call.note else []


def summary(closure: Closure) -> str:
    """``closed 1 of 2``."""
    return f"closed {closure.closed} of {closure.calls}" if closure.lines else ""


def _id(call: CallLine) -> str:
    return "no id" if call.id is None else call.id or "empty id"


def _answers(call: CallLine) -> Line:
    if call.call is None and not call.is_remembered:
        return line(Span("no call", "error"))
    return line("→ " + ", ".join(_where(r) for r in call.results)) if call.results else line()


def _where(ref: NodeRef) -> str:
    return "answer" if ref.side == RESPONSE else f"message {ref.message + 1}"
