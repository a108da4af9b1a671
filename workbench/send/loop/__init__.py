"""The loop without I/O: a conversation with a model goes on, one step after another, and nothing here does a step.

``Loop`` says which step is next (*send this request*, *answer this call*, *it has ended*) and makes the loop after it
of what came of it. Whoever drives it shows the step, changes it, does it, or stops; no tool is ever run. A loop is a
value: to step back is to keep the one before, and ``plain`` writes it down for another process.

    loop = Loop(exchange, contract="deepseek")
    while not isinstance(step := loop.step, Ended):
        loop = loop.after(send(step.request) if isinstance(step, Send) else Result("42"))
"""

from __future__ import annotations

from workbench.send.loop.machine import Loop
from workbench.send.loop.policy import AS_IT_COMES, Policy
from workbench.send.loop.recorded import Recorded, Recording
from workbench.send.loop.steps import Answer, Ended, Limits, Outcome, Reason, Result, Say, Send, Step, refused

__all__ = [
    "AS_IT_COMES",
    "Answer",
    "Ended",
    "Limits",
    "Loop",
    "Outcome",
    "Policy",
    "Reason",
    "Recorded",
    "Recording",
    "Result",
    "Say",
    "Send",
    "Step",
    "refused",
]
