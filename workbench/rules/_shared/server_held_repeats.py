"""Calls of a conversation whose history the server holds: its requests contain only results.

Responses over a WebSocket, stored responses over HTTP and Interactions: the steps that ``_repeats`` reads from the
history of one request are in the last responses and in the requests that continue them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from workbench.fingerprint import call_digest
from workbench.ir import NodeRef, ToolCallIR, ToolResultIR
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.outcomes import classify, without_echoes
from workbench.rules._shared.repeats import PastCall, is_question

MOST = 24
"""Exchanges that are looked back: more than the repetitions of any loop."""


def held_steps(case: RuleContext) -> list[PastCall]:
    """The calls of the responses before the request, with their results; empty if it sends its history itself.

    Every step is at the place of the newest result, since the others are in no request of their own.
    """
    request = case.request
    if request is None or not request.previous_id:
        return []
    newest = next((ref for ref, _ in _results(case.decoded)), None)
    if newest is None or not _is_repeated(case):
        return []
    chain = [each for each in map(case.peek, case.earlier.exchanges[-MOST:]) if each is not None]
    found: list[PastCall] = []
    question = 0
    for turn, (before, after) in enumerate(pairwise((*chain, case.decoded))):
        question += any(map(is_question, after.messages(REQUEST)))
        results = {result.tool_call_id: result for _, result in _results(after)}
        found += (_step(newest, call, results.get(call.id), question, turn) for call in _calls(before))
    return found


def _is_repeated(case: RuleContext) -> bool:
    """The last two responses made the same call: what takes no more than a look."""
    last = [{call_digest(call, is_loose=True) for m in a.messages for _, call in m.tool_calls()}
            for _, a in case.earlier.answers[-2:]]  # fmt: skip
    return len(last) == 2 and bool(last[0] & last[1])


def _step(at: NodeRef, call: ToolCallIR, result: ToolResultIR | None, question: int, turn: int) -> PastCall:
    text, kind, mark = classify(result) if result else ("", None, "")
    mark = without_echoes(mark, kind, call.input) if kind else mark
    return PastCall(at, call, call_digest(call, is_loose=True), text, mark, kind, question, turn)


def _calls(decoded: DecodedExchange) -> Iterator[ToolCallIR]:
    messages = decoded.response.messages if decoded.response else ()
    return (call for message in messages for _, call in message.tool_calls())


def _results(decoded: DecodedExchange) -> Iterator[tuple[NodeRef, ToolResultIR]]:
    for n, message in enumerate(decoded.messages(REQUEST)):
        yield from ((NodeRef(REQUEST, n, k), result) for k, result in message.tool_results())
