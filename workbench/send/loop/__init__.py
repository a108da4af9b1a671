"""The tool loop without I/O: a conversation with a model continues step by step; the caller performs each step.

In: an exchange, and the outcome of each step. Out: the next step (*send this request*, *answer this call*, *it has
ended*). The caller shows the step, changes it, performs it, or stops; no tool is ever run. A loop is an immutable
value: keep the previous one to step back; ``plain`` writes it as JSON. It may import what ``send`` may.

    loop = ConversationLoop(exchange, contract="deepseek")
    while not isinstance(step := loop.step, LoopEnd):
        loop = loop.after(send(step.request) if isinstance(step, Send) else CallResult("42"))
"""

from __future__ import annotations

from workbench.send.loop.machine import ConversationLoop
from workbench.send.loop.policy import AS_IT_COMES, LoopPolicy
from workbench.send.loop.recorded import RecordedResult, RecordedResults
from workbench.send.loop.steps import (
    AnswerCall,
    CallResult,
    EndReason,
    Limits,
    LoopEnd,
    Outcome,
    Say,
    Send,
    Step,
    refusal_result,
)

__all__ = [
    "AS_IT_COMES",
    "AnswerCall",
    "CallResult",
    "ConversationLoop",
    "EndReason",
    "Limits",
    "LoopEnd",
    "LoopPolicy",
    "Outcome",
    "RecordedResult",
    "RecordedResults",
    "Say",
    "Send",
    "Step",
    "refusal_result",
]
