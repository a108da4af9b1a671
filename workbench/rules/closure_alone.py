"""Results are alone in their message, where the provider counts everything beside them."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.contracts import Finding
from workbench.ir import Media, Message, NodeRef, Reasoning, ToolResultIR
from workbench.protocols import REQUEST
from workbench.rules._lasting_findings import of_messages
from workbench.rules.closure import NOT_FIRST
from workbench.rules.context import RuleContext
from workbench.rules.wording import by_term

RULES = ()

USUAL = (ToolResultIR, Reasoning)
"""Parts that may always be beside results."""


@of_messages
def check(case: RuleContext) -> Iterator[Finding]:
    """The first part that is behind the results of a message; what is before them is found elsewhere."""
    alone = case.contract.term("closure.results-alone")
    if not alone:
        return
    allowed = (*USUAL, Media) if alone == "unless-media" else USUAL
    for n, message in case.suspects(_is_mixed):
        first = next(k for k, _ in message.tool_results())
        behind = next((k for k, p in enumerate(message.parts) if k > first and not isinstance(p, allowed)), None)
        if behind is not None and all(isinstance(p, USUAL) for p in message.parts[:first]):
            pointer = case.pointer(NodeRef(REQUEST, n, behind))
            text = "other content in a message of tool results: it may contain only tool results"
            text += " and media" if Media in allowed else ""
            yield by_term(case, NOT_FIRST, "closure.results-alone", pointer, text)


def _is_mixed(message: Message) -> bool:
    return any(message.tool_results()) and not all(isinstance(part, USUAL) for part in message.parts)
