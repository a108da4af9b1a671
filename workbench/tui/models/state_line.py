"""State of the open exchange in one line, for windows that cannot show every pane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.chain import CallState, ReplayOutcome
from workbench.contracts import Severity
from workbench.safetext import cells
from workbench.views import SEVERITY_GLYPH, Line, Span, closure_summary, count, reasoning_summary
from workbench.wire import ExchangeKind

if TYPE_CHECKING:
    from workbench.chain import Closure, Ledger
    from workbench.rules import Detail, InspectedExchange

_FAULTS = (Severity.ERROR, Severity.WARNING)
_WAITING = {CallState.CLOSED, CallState.PENDING}


class StatePart(NamedTuple):
    """A fact in words, and in few words for a narrow window."""

    text: str
    style: str
    short: str

    def span(self, *, is_short: bool = False) -> Span:
        """The fact as painted."""
        return Span(self.short if is_short else self.text, self.style)


def state_line(detail: Detail, request: str, width: int) -> Line:
    """Reasoning, closure, verdict of the contract, and which request is shown.

    Where there is no room what is right is said in fewer words, then the faults; what still does not fit is left out.
    Traffic with a tool server has a verdict alone: it belongs to no model and no contract.

    Args:
        request: the request that is shown, such as "recorded" or "constructed"; empty if another line says it.
    """
    parts = [_verdict(detail.row)]
    if not _is_of_tools(detail.row):
        parts = [_reasoning(detail.ledger), _closure(detail.closure), *parts]
    shown = [*(part.span() for part in parts), *([Span(request, "muted")] if request else [])]
    if _columns(shown) > width:
        shown = _fitting(parts, width)
    return tuple(span for part in shown for span in (Span("  " if part is not shown[0] else " "), part))


def _columns(spans: Sequence[Span]) -> int:
    return sum(cells(span.text) + 2 for span in spans) - 1


def _fitting(parts: Sequence[StatePart], width: int) -> list[Span]:
    """The parts in words for which there is room: the faults first, in the order in which all are shown."""
    spans = [part.span() for part in parts]
    by_weight = sorted(range(len(parts)), key=lambda n: parts[n].style in _FAULTS)
    for number in by_weight:
        if _columns(spans) > width:
            spans[number] = parts[number].span(is_short=True)
    for number in by_weight:
        if _columns([span for span in spans if span.text]) > width:
            spans[number] = Span("")
    return [span for span in spans if span.text]


def _reasoning(ledger: Ledger) -> StatePart:
    outcomes = Counter[str](
        entry.sent for entry in ledger.entries if entry.owed and entry.sent is not ReplayOutcome.SENT
    )
    if outcomes:
        return StatePart(f"✗ reasoning {_numbers(outcomes)}", "error", "✗ reasoning")
    if any(entry.owed for entry in ledger.entries):
        return StatePart(f"✓ reasoning {reasoning_summary(ledger)}", "ok", "✓ reasoning")
    if ledger.came_in:
        return StatePart(f"∴ {len(ledger.came_in)} new reasoning, none required", "reasoning", "∴ reasoning")
    return StatePart("· no reasoning required" if ledger.entries else "· no reasoning", "muted", "· no reasoning")


def _closure(closure: Closure) -> StatePart:
    if not closure.lines:
        return StatePart("· no tool calls", "muted", "· no calls")
    faults = Counter[str](call.state for call in closure.lines if call.state not in _WAITING)
    if faults:
        return StatePart(f"✗ closure {_numbers(faults)}", "error", "✗ closure")
    pending = sum(call.state is CallState.PENDING for call in closure.lines)
    if pending:
        calls = count(pending, "call")
        return StatePart(f"○ {calls} to answer next", "info", f"○ {calls}")
    return StatePart(f"✓ {closure_summary(closure)}", "ok", "✓ closed")


def _numbers(counted: Counter[str]) -> str:
    return ", ".join(f"{number} {state}" for state, number in counted.most_common())


def _is_of_tools(row: InspectedExchange) -> bool:
    """Only exchanges with tool servers are judged without a conversation."""
    return row.is_judged and row.conversation is None


def _verdict(row: InspectedExchange) -> StatePart:
    if row.summary.kind is ExchangeKind.WEBSOCKET and row.protocol is None:
        return StatePart("· a connection, its exchanges follow", "muted", "· connection")
    if not row.is_judged:
        return StatePart("? not decoded", "warning", "? not decoded")
    whose = "tool server" if _is_of_tools(row) else row.provider or "no contract"
    severities = Counter[Severity](finding.severity for finding in row.findings)
    for severity in (Severity.ERROR, Severity.WARNING):
        if severities[severity]:
            words = f"{SEVERITY_GLYPH[severity]} {whose}"
            return StatePart(f"{words}: {count(severities[severity], severity)}", severity, words)
    return StatePart(f"✓ {whose}: no findings", "ok", f"✓ {whose}")
