"""Closure: reading of tool results. The receipt in the result is a number that no model can compute."""

from __future__ import annotations

import re

from workbench.probes._drive import PlayedConversation, drive, without_call
from workbench.probes._script import Probe, Sample, Script, Subject, failed, partly, passed, unclear
from workbench.probes._tools import ADD, Toolbox, digits, numbers
from workbench.send.loop import EndReason


def script(subject: Subject) -> Script:
    """A call, its result, and an answer that has to use it."""
    a, b = 17, 10 + len(subject.nonce)
    words = f"Add {a} and {b} with the tool probe_add, then tell me the sum and the receipt number that it returns."
    box = Toolbox(subject.nonce)
    played = yield from drive(
        subject, subject.request(words, (ADD,)), "a tool call whose result is needed for the answer", box.run
    )
    if not played.calls:
        return (yield from without_call(subject, played))
    return evaluate(played, box)


def evaluate(conversation: PlayedConversation, box: Toolbox) -> Sample:
    """Verdict from the use of the result in the last answer."""
    if conversation.is_refused:
        return failed(f"the tool result is refused: {conversation.ended.text}", closes=False)
    argument_values = [call.step.arguments for call in conversation.calls]
    receipts, response_digits = box.receipts(argument_values), digits(conversation.text())
    if any(receipt in response_digits for receipt in receipts):
        return passed("the response contains the receipt number, so the result was read", closes=True)
    if conversation.is_cut:
        return unclear("the response reached the token limit")
    if conversation.ended.reason is not EndReason.DONE:
        return failed(f"the model did not respond: {conversation.ended.text}", closes=False)
    sums = {str(sum(both)) for arguments in argument_values if (both := numbers(arguments))}
    if any(re.search(rf"\b{n}\b", response_digits) for n in sums):
        return partly(
            "the response contains the sum but not the receipt number, so the model may have computed it", closes=False
        )
    return failed("the response does not use the tool result", closes=False)


probe = Probe("closure", "does the model read tool results?", 4, script, is_core=True, tokens=2000)
