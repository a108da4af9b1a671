"""Restoring remembered reasoning in a request that lacks it or has it altered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.chain import Closure, Conversation, Ledger
from workbench.contracts import Contract, Finding, Severity
from workbench.edits.fault import Fault
from workbench.edits.repairs import _recorded_reasoning
from workbench.ir import Part
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules import RuleContext
from workbench.wire import Change


def restore_reasoning(
    decoded: DecodedExchange, contract: Contract, received: Mapping[int, Sequence[Part]]
) -> tuple[Change, ...]:
    """Changes that restore the reasoning of turns of a request.

    Args:
        decoded: the request.
        contract: to judge by.
        received: index of a message of the turn → the parts of the answer that it repeats, in order.
    """
    case = RuleContext(decoded, contract, Closure(), Ledger(), Conversation(-1))
    fault = Fault(Finding("reasoning.missing", Severity.ERROR, decoded.index, REQUEST, "", ""), case)
    return tuple(
        change
        for number, parts in received.items()
        for change in _recorded_reasoning.restore_parts(fault, number, parts)
    )
