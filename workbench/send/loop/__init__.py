"""The tool loop without I/O: a conversation with a model continues step by step; the caller performs each step.

In: an exchange, and the outcome of each step. Out: the next step (*send this request*, *answer this call*, *it has
ended*). The caller shows the step, changes it, performs it, or stops; no tool is ever run. A loop is an immutable
value: keep the previous one to step back; ``plain`` writes it as JSON. It may import what ``send`` may.

    loop = ConversationLoop(exchange, contract="deepseek")
    while not isinstance(step := loop.step, LoopEnd):
        loop = loop.after(send(step.request) if isinstance(step, Send) else CallResult("42"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy
from workbench.send.loop.machine import ConversationLoop
from workbench.send.loop.recorded_results import RecordedResult, RecordedResults
from workbench.send.loop.steps import (
    AS_IT_COMES,
    AnswerCall,
    CallResult,
    EndReason,
    Limits,
    LoopEnd,
    LoopPolicy,
    Outcome,
    Say,
    Send,
    Step,
    refusal_result,
)

if TYPE_CHECKING:
    from workbench.send.loop.machine import DEFAULT_LIMITS
    from workbench.send.loop.next_request import user_values
    from workbench.send.loop.recorded_results import call_key
    from workbench.send.loop.steps import EVERY_TOOL, LEFT_OUT, VERBATIM, outgoing, with_sent_body
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "AS_IT_COMES",
    "DEFAULT_LIMITS",
    "EVERY_TOOL",
    "LEFT_OUT",
    "VERBATIM",
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
    "call_key",
    "outgoing",
    "refusal_result",
    "user_values",
    "with_sent_body",
]
