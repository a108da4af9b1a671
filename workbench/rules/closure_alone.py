"""Results stand alone in their message, where the provider counts everything beside them."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.chain.closure import NodeRef
from workbench.decode import REQUEST
from workbench.ir import Message, Reasoning, ToolResultIR
from workbench.rules._case import Case
from workbench.rules._finding import Finding
from workbench.rules._words import by_term
from workbench.rules.closure import NOT_FIRST

RULES = ()


def check(case: Case) -> Iterator[Finding]:
    """The first part that stands behind the results of a message; what stands before them is found elsewhere."""
    if case.contract.term("closure.results-alone") is not True:
        return
    for n, message in case.suspects(_is_mixed):
        first = next(k for k, _ in message.tool_results())
        behind = next((k for k, p in enumerate(message.parts) if k > first and not _may_stay(p)), None)
        if behind is not None and all(_may_stay(p) for p in message.parts[:first]):
            pointer = case.pointer(NodeRef(REQUEST, n, behind))
            text = "this stands beside results: nothing but results may be in their message"
            yield by_term(case, NOT_FIRST, "closure.results-alone", pointer, text)


def _is_mixed(message: Message) -> bool:
    return any(message.tool_results()) and not all(map(_may_stay, message.parts))


def _may_stay(part: object) -> bool:
    return isinstance(part, ToolResultIR | Reasoning)
