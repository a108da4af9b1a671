"""Parallel: several calls in one answer, and acceptance of their results."""

from __future__ import annotations

from workbench.probes._drive import PlayedConversation, drive, without_call
from workbench.probes._script import Probe, Sample, Script, Subject, failed, partly, passed
from workbench.probes._tools import ECHO, Toolbox


def script(subject: Subject) -> Script:
    """Two independent tasks."""
    one, other = f"{subject.nonce}-one", f"{subject.nonce}-two"
    words = (
        f"Call probe_echo twice: once with the text {one}, once with the text {other}. The calls do not depend on "
        "each other: make both at once, in the same response."
    )
    request = subject.request(words, (ECHO,))
    played = yield from drive(subject, request, "two calls at once", Toolbox(subject.nonce).run)
    if not played.calls:
        return (yield from without_call(subject, played))
    return evaluate(played)


def evaluate(conversation: PlayedConversation) -> Sample:
    """Verdict from the number of calls in the first answer, and the acceptance of their results."""
    count = conversation.calls[0].step.of
    if count < 2:
        return failed("only one tool call per response", supports_parallel_tool_use=False)
    ids = [run.call.id for run in conversation.calls[:count]]
    if len(set(ids)) < count and any(ids):
        return partly(f"{count} calls share an id", supports_parallel_tool_use=False)
    if conversation.is_refused:
        return partly(f"the tool results are refused: {conversation.ended.text}", supports_parallel_tool_use=False)
    return passed(f"{count} calls in one response, and their results were accepted", supports_parallel_tool_use=True)


probe = Probe("parallel", "does one response contain several tool calls?", 4, script, is_core=True, tokens=2000)
