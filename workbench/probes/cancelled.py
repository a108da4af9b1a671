"""Cancelled: continuation of the conversation after the user cancelled a call.

``cancelled_calls``: ``taken``, ``repeated`` (the model calls again against the instruction), ``refused``.
"""

from __future__ import annotations

from workbench.probes._drive import PlayedConversation, drive, follow, without_call
from workbench.probes._script import Probe, Sample, Script, Subject, failed, partly, passed, unclear
from workbench.probes._tools import ECHO, Toolbox
from workbench.send.loop import AnswerCall, CallResult, EndReason, Limits, Say
from workbench.wire import dumps

TOLD = {"error": {"code": "cancelled", "message": "The user cancelled this call. Do not make it again."}}
AGAIN = 3
"""Most requests with results."""


def script(subject: Subject) -> Script:
    """A call, the message that it was cancelled, and another question."""
    request = subject.request(f"Call probe_echo with the text {subject.nonce}.", (ECHO,))
    first = yield from drive(subject, request, "a call", Toolbox(subject.nonce).run, limits=Limits(1))
    if not first.calls:
        return (yield from without_call(subject, first))
    loop = first.before_results().with_limits(Limits(1 + AGAIN, repeats=0))
    second = yield from follow(loop, "the call was cancelled", _cancelled_result)
    if second.is_refused:
        plain = yield from follow(
            first.before_results(), "a result instead of the cancellation", Toolbox(subject.nonce).run
        )
        if plain.is_refused:
            return unclear(f"every result is refused: {plain.ended.text}")
        return failed(f"the result of the cancelled call is refused: {second.ended.text}", cancelled_calls="refused")
    if second.ended.reason is EndReason.TURNS:
        return failed("the model repeats the call after every cancellation", cancelled_calls="repeated")
    if second.ended.reason not in (EndReason.DONE, EndReason.TEXT_CALL):
        return unclear(second.ended.text)
    question = f"The codeword is {subject.nonce}-on. What is the codeword? Answer with it alone, and call no tool."
    loop = second.loop.with_limits(Limits(second.loop.turns + 1)).after(Say(question))
    after = yield from follow(loop, "the conversation continues", _cancelled_result)
    return evaluate(subject, second, after)


def evaluate(subject: Subject, played_conversation: PlayedConversation, after: PlayedConversation) -> Sample:
    """Verdict from the answer to the cancelled call, and from the one to the next question."""
    if after.is_refused:
        return failed(f"the conversation cannot continue: {after.ended.text}", cancelled_calls="refused")
    if f"{subject.nonce}-on" not in after.text():
        return partly(
            "the result of the cancelled call is accepted, but the model does not answer the next question",
            cancelled_calls="taken",
        )
    if len(played_conversation.answers) > 1:
        return partly("the model repeats the call before giving up", cancelled_calls="repeated")
    return passed(
        "the result of the cancelled call is accepted, and the conversation continues", cancelled_calls="taken"
    )


def _cancelled_result(_: AnswerCall) -> CallResult:
    return CallResult(dumps(TOLD).decode(), is_error=True)


probe = Probe("cancelled", "does the conversation continue after a cancelled call?", 3 + AGAIN, script, tokens=2500)
