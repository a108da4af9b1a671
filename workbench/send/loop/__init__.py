"""The tool loop without I/O: a conversation with a model continues step by step; nothing here does a step.

In: an exchange, and the outcome of each step. Out: the next step (*send this request*, *answer this call*, *it has
ended*). Whoever drives it shows the step, changes it, does it, or stops; no tool is ever run. A loop is a value: to
step back is to keep the one before, and ``plain`` writes it as JSON. It may import what ``send`` may.

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
