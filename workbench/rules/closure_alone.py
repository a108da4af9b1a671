"""Results alone in their message, where the provider counts everything beside them; calls that the history left out."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.contracts import Finding
from workbench.fingerprint import ANSWERING, call_digest, visible_text
from workbench.ir import Media, Message, ModelResponse, NodeRef, Reasoning, ToolResultIR
from workbench.protocols import REQUEST, asked_of
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.wording import as_unproved, by_term, quote
from workbench.rules.closure import MISSING, NOT_FIRST

RULES = ()

USUAL = (ToolResultIR, Reasoning)
"""Parts that may always be beside results."""


LOOKED_BACK = 8
"""Messages at the end of a history among which the turn of the last answer is."""


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on results that are not alone, and on calls of the last answer that this history does not have."""
    yield from _results(case)
    for exchange, answer in case.earlier.answers[-1:]:
        yield from _forgotten_calls(case, exchange, answer)


def _forgotten_calls(case: RuleContext, exchange: int, answer: ModelResponse) -> Iterator[Finding]:
    """The history shows the text of an answer without its calls: the model does not know that it made them."""
    if case.request is None or case.request.previous_id or answer.error or not answer.is_complete:
        return
    calls = [call for message in answer.messages for _, call in message.tool_calls()]
    recent, ids = case.messages[-LOOKED_BACK:], {call.id for call in calls if call.id}
    if not calls or any(r.tool_call_id in ids for message in reversed(recent) for _, r in message.tool_results()):
        return
    answer_text, digests = "".join(filter(None, map(visible_text, answer.messages))).strip(), {*map(call_digest, calls)}
    sent_calls = (call for message in recent for _, call in message.tool_calls())
    if not answer_text or any(call.id in ids or call_digest(call) in digests for call in sent_calls):
        return
    turn = next(
        (m for m in reversed(recent) if m.role in ANSWERING and (visible_text(m) or "").strip() == answer_text), None
    )
    if turn is not None:
        names = ", ".join(quote(call.name, 40) for call in calls[:3])
        text = (
            f"exchange {exchange + 1} called {names}; this history contains the text of that response, but not the "
            "tool call and its result"
        )
        yield as_unproved(case.finding(MISSING, REQUEST, turn.pointer, text))


@of_messages
def _results(case: RuleContext) -> Iterator[Finding]:
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
            text = "other content in a message of tool results, which may contain only tool results"
            text += " and media" if Media in allowed else ""
            yield by_term(case, NOT_FIRST, "closure.results-alone", pointer, text)


@asked_of(ToolResultIR)
def _is_mixed(message: Message) -> bool:
    return any(message.tool_results()) and not all(isinstance(part, USUAL) for part in message.parts)
