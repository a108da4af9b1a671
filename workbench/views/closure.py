"""Lines of tool calls with their results, and the faults between them."""

from __future__ import annotations

from workbench.chain import CallLine, CallState, Closure
from workbench.ir import NodeRef
from workbench.views.lines import Line, Span, line, wrap
from workbench.views.words import RESPONSE

LOOK: dict[CallState, tuple[str, str]] = {
    CallState.CLOSED: ("●", "ok"),
    CallState.PENDING: ("○", "info"),
    CallState.MISSING: ("✗", "error"),
    CallState.MISPLACED: ("✗", "error"),
    CallState.OUT_OF_ORDER: ("✗", "error"),
    CallState.DUPLICATE: ("✗", "error"),
    CallState.ORPHAN: ("✗", "error"),
}
"""State → glyph and style; the word of the state is shown next to them."""


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
    """The note of a call, below its line."""
    return wrap(call.note, width, "muted", indent=2) if call.note else []


def closure_summary(closure: Closure) -> str:
    """``closed 1 of 2``."""
    return f"closed {closure.closed_count} of {closure.calls}" if closure.lines else ""


def _id(call: CallLine) -> str:
    return "no id" if call.id is None else call.id or "empty id"


def _answers(call: CallLine) -> Line:
    if call.call is None and not call.is_remembered:
        return line(Span("no call", "error"))
    return line("→ " + ", ".join(_where(r) for r in call.results)) if call.results else line()


def _where(ref: NodeRef) -> str:
    return "response" if ref.side == RESPONSE else f"message {ref.message + 1}"
