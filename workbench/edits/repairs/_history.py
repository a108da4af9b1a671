"""The last resort: end the conversation before the damage."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.edits.fault import Fault
from workbench.edits.proposal import Proposal, RepairCost
from workbench.wire import Remove


def cut_back(fault: Fault, start: int) -> Iterator[Proposal]:
    """Remove everything from a turn of the model on; the history ends with the message that it answered."""
    while start > 0 and fault.messages[start - 1].role == fault.contract.closure.call_role:
        start -= 1
    if start <= 0 or start >= len(fault.messages):
        return
    gone = fault.messages[start:]
    if any(m.role != "system" for m in fault.messages[:start]):
        title = f"cut the conversation after message {start}, before the damaged turn"
        yield Proposal(title, tuple(Remove(m.pointer) for m in gone), RepairCost.CUT)
