"""State of the open exchange in one line, for windows that cannot show every pane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.chain import CallState, ReplayOutcome
from workbench.contracts import Severity
from workbench.safetext import cells
from workbench.views import SEVERITY_GLYPH, Line, Span, closure_summary, count, reasoning_summary

if TYPE_CHECKING:
    from workbench.chain import Closure, Ledger
    from workbench.rules import Detail, InspectedExchange

_FAULTS = (Severity.ERROR, Severity.WARNING)
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
    said = [*parts, Span(request, "muted")] if request else parts
    shown = said if _columns(said) <= width else _fitting(parts, width)
    return tuple(span for part in shown for span in (Span("  " if part is not shown[0] else " "), part))


def _columns(parts: Sequence[Span]) -> int:
    return sum(cells(part.text) + 2 for part in parts) - 1


def _fitting(parts: Sequence[Span], width: int) -> list[Span]:
    """The parts for which there is room: the faults first, in the order in which all are shown."""
    kept: list[Span] = []
    for part in sorted(parts, key=lambda part: part.style not in _FAULTS):
        if _columns([*kept, part]) <= width:
            kept.append(part)
    return [part for part in parts if part in kept]


def _reasoning(ledger: Ledger) -> Span:
    outcomes = Counter[str](
        entry.sent for entry in ledger.entries if entry.owed and entry.sent is not ReplayOutcome.SENT
    )
    if outcomes:
        return Span(f"✗ reasoning {_numbers(outcomes)}", "error")
    if any(entry.owed for entry in ledger.entries):
        return Span(f"✓ reasoning {reasoning_summary(ledger)}", "ok")
    if ledger.came_in:
        return Span(f"∴ {len(ledger.came_in)} new reasoning, none required", "reasoning")
    return Span("· no reasoning required" if ledger.entries else "· no reasoning", "muted")


def _closure(closure: Closure) -> Span:
    if not closure.lines:
        return Span("· no tool calls", "muted")
    faults = Counter[str](call.state for call in closure.lines if call.state not in _WAITING)
    if faults:
        return Span(f"✗ closure {_numbers(faults)}", "error")
    pending = sum(call.state is CallState.PENDING for call in closure.lines)
    return (
        Span(f"○ {count(pending, 'call')} to answer next", "info")
        if pending
        else Span(f"✓ {closure_summary(closure)}", "ok")
    )


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
