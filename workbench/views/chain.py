"""Lines of the chain: tool calls with their results, and the reasoning that a request must send back and sent."""

from __future__ import annotations

from workbench.chain import CallLine, CallState, Closure, Entry, Ledger, ReplayOutcome
from workbench.ir import NodeRef
from workbench.views.lines import Line, Span, line, wrap
from workbench.views.words import RESPONSE, count, event_range

CALL_LOOK: dict[CallState, tuple[str, str]] = {
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
    glyph, style = CALL_LOOK[call.state]
    name = Span(f"{call.name} " if call.name else "", "strong")
    return line(
        Span(f"{glyph} ", style),
        Span(str(call.state), style, max(9, len(call.state))),
        name,
        Span(f"{_id(call)} ", "muted"),
        *_answers(call),
    )


def call_body(call: CallLine, width: int) -> list[Line]:
    """The remark on a call, below its line, which names the messages of its results."""
    return wrap(call.remark, width, "muted", indent=2) if call.remark else []


def closure_summary(closure: Closure) -> str:
    """``closed 1 of 2``; where nothing but pending calls is open, ``1 closed, 1 pending``."""
    if not closure.lines:
        return ""
    pending = sum(call.state is CallState.PENDING for call in closure.lines)
    if pending and closure.closed_count + pending == closure.calls:
        return f"{closure.closed_count} closed, {pending} pending" if closure.closed_count else f"{pending} pending"
    return f"closed {closure.closed_count} of {closure.calls}"


def _id(call: CallLine) -> str:
    return "no id" if call.id is None else call.id or "empty id"


def _answers(call: CallLine) -> Line:
    if call.call is None and not call.is_remembered:
        return line(Span("no call", "error"))
    return line("→ " + ", ".join(_where(r) for r in call.results)) if call.results else line()


def _where(ref: NodeRef) -> str:
    return "response" if ref.side == RESPONSE else f"message {ref.message + 1}"


REPLAY_LOOK: dict[ReplayOutcome, tuple[str, str]] = {
    ReplayOutcome.SENT: ("✓", "ok"),
    ReplayOutcome.MISSING: ("✗", "error"),
    ReplayOutcome.EMPTY: ("✗", "error"),
    ReplayOutcome.ALTERED: ("✗", "error"),
    ReplayOutcome.NOT_OWED: ("·", "muted"),
}
"""Outcome of a request for reasoning → glyph and style; the word is shown next to them."""


def entry_line(entry: Entry) -> Line:
    """Line of one turn: its outcome, and if reasoning is required."""
    glyph, style = REPLAY_LOOK[entry.sent]
    if not entry.owed and entry.sent not in (ReplayOutcome.SENT, ReplayOutcome.NOT_OWED):
        glyph, style = "!", "warning"
    word = "not required" if entry.sent is ReplayOutcome.NOT_OWED else str(entry.sent)
    return line(
        Span(f"{glyph} ", style),
        Span(f"{word} ", style, max(9, len(word) + 1)),
        Span(f"turn {entry.turn + 1}", "strong"),
        Span(
            "" if entry.sent is ReplayOutcome.NOT_OWED else "  required" if entry.owed else "  not required",
            "" if entry.owed else "muted",
        ),
    )


def entry_body(entry: Entry, width: int) -> list[Line]:
    """Reason for the requirement, place and carrier of the reasoning, and its beginning."""
    lines: list[Line] = []
    if entry.why:
        lines += wrap(entry.why, width, indent=2)
    where = "turn not in this request" if entry.message is None else f"message {entry.message + 1}"
    facts = [where, entry.carrier, _origin(entry)] if entry.carrier else [where, "no reasoning known"]
    lines += wrap(" · ".join(facts), width, "muted", indent=2)
    if entry.text:
        lines += wrap(entry.text[: 4 * width], width, "reasoning", indent=2, most=3)
    return lines


def reasoning_summary(ledger: Ledger) -> str:
    """``sent 0 of 1``."""
    owed = [e for e in ledger.entries if e.owed]
    if not owed:
        return "none required" if ledger.entries else ""
    return f"sent {sum(e.sent is ReplayOutcome.SENT for e in owed)} of {len(owed)}"


def received_words(ledger: Ledger) -> str:
    """Number of reasoning parts in the response, in words; empty if there are none."""
    return f"the response contains {count(len(ledger.came_in), 'part')} of reasoning" if ledger.came_in else ""


def _origin(entry: Entry) -> str:
    if entry.received_in is None:
        return "received before this session"
    size = f", {count(len(entry.text), 'character')}" if entry.text else ""
    events = f", {event_range(entry.received_events)}" if entry.received_events else ""
    return f"from exchange {entry.received_in + 1}{events}{size}"
