"""Reasoning of answers that somebody kept, put back into a request that came without it, or with other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.chain.closure import Closure
from workbench.chain.conversations import Conversation
from workbench.chain.ledger import Ledger
from workbench.contracts import Contract, Finding, Severity
from workbench.edits.fault import Fault
from workbench.edits.repairs import _recorded
from workbench.ir import Part
from workbench.protocols.decode import REQUEST, DecodedExchange
from workbench.rules import RuleContext
from workbench.wire.patch import Change


def put_back(decoded: DecodedExchange, contract: Contract, came: Mapping[int, Sequence[Part]]) -> tuple[Change, ...]:
    """The changes that make the reasoning of turns of a request what it was when it came in.

    Args:
        decoded: the request.
        contract: that it is judged by.
        came: number of a message of the turn → the parts of the answer that it repeats, in order.
    """
    case = RuleContext(decoded, contract, Closure(), Ledger(), Conversation(-1))
    fault = Fault(Finding("reasoning.missing", Severity.ERROR, decoded.index, REQUEST, "", ""), case)
    return tuple(change for number, parts in came.items() for change in _recorded.put_back(fault, number, parts))
