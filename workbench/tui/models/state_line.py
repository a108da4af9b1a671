"""State of the open exchange in one line, for windows that cannot show every pane."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from workbench.chain import CallState, ReplayOutcome
from workbench.contracts import Severity
from workbench.safetext import cells
from workbench.views import SEVERITY_GLYPH, Line, Span, closure_summary, count, reasoning_summary

if TYPE_CHECKING:
    from workbench.chain import Closure, Ledger
    from workbench.rules import Detail, InspectedExchange

_WAITING = {CallState.CLOSED, CallState.PENDING}


def state_line(detail: Detail, request: str, width: int) -> Line:
    """Reasoning, closure, verdict of the contract, and which request is shown; what does not fit is left out.

    Traffic with a tool server has a verdict alone: it belongs to no model and no contract.

    Args:
        request: the request that is shown, such as "recorded" or "constructed"; empty if another line says it.
    """
    parts = [_verdict(detail.row)]
    if not _is_of_tools(detail.row):
        parts = [_reasoning(detail.ledger), _closure(detail.closure), *parts]
    if request:
        parts.append(Span(request, "muted"))
    fitting: list[Span] = []
    used = 1
    for part in parts:
        used += cells(part.text) + 2
        if used - 2 <= width:
            fitting += [Span("  "), part] if fitting else [Span(" "), part]
    return tuple(fitting)


def _reasoning(ledger: Ledger) -> Span:
    outcomes = Counter[str](
        entry.sent for entry in ledger.entries if entry.owed and entry.sent is not ReplayOutcome.SENT
    )
    if outcomes:
        return Span(f"✗ reasoning {_numbers(outcomes)}", "error")
    if any(entry.owed for entry in ledger.entries):
        return Span(f"✓ reasoning {reasoning_summary(ledger)}", "ok")
    return Span("· no reasoning required" if ledger.entries else "· no reasoning", "muted")


def _closure(closure: Closure) -> Span:
    if not closure.lines:
        return Span("· no tool calls", "muted")
    faults = Counter[str](call.state for call in closure.lines if call.state not in _WAITING)
    if faults:
        return Span(f"✗ closure {_numbers(faults)}", "error")
    pending = sum(call.state is CallState.PENDING for call in closure.lines)
    return Span(f"○ closure {pending} pending", "info") if pending else Span(f"✓ {closure_summary(closure)}", "ok")


def _numbers(counted: Counter[str]) -> str:
    return ", ".join(f"{number} {state}" for state, number in counted.most_common())


def _is_of_tools(row: InspectedExchange) -> bool:
    """Only exchanges with tool servers are judged without a conversation."""
    return row.is_judged and row.conversation is None


def _verdict(row: InspectedExchange) -> Span:
    if not row.is_judged:
        return Span("? not decoded", "warning")
    whose = "tool server" if _is_of_tools(row) else row.provider or "no contract"
    severities = Counter[Severity](finding.severity for finding in row.findings)
    for severity in (Severity.ERROR, Severity.WARNING):
        if severities[severity]:
            return Span(f"{SEVERITY_GLYPH[severity]} {whose}: {count(severities[severity], severity)}", severity)
    return Span(f"✓ {whose}: no findings", "ok")
