"""Repair: correction of a call after a structured error."""

from __future__ import annotations

from workbench.probes._drive import PlayedConversation, drive, without_call
from workbench.probes._script import Probe, Sample, Script, Subject, failed, partly, passed, unclear
from workbench.probes._tools import FAIL_ONCE, Toolbox
from workbench.send.loop import Limits

MOST = 4
"""Calls after which the probe stops."""


def script(subject: Subject) -> Script:
    """A path that has to be absolute, which is not stated."""
    words = f"Use probe_fail_once to read the file notes-{subject.nonce}.txt, and tell me how many lines it has."
    request = subject.request(words, (FAIL_ONCE,))
    box = Toolbox(subject.nonce)
    limits = Limits(turns=MOST + 1, repeats=0)
    played = yield from drive(subject, request, "a call that needs correction", box.run, limits=limits)
    if not played.calls:
        return (yield from without_call(subject, played))
    return evaluate(played)


def evaluate(conversation: PlayedConversation) -> Sample:
    """Verdict from the number of errors."""
    rounds = _rounds(conversation)
    if conversation.is_refused and rounds[-1]:
        return failed(f"an error result is refused: {conversation.ended.text}", error_repair="none")
    if not rounds[0]:
        return unclear("the first call was correct, so there was nothing to correct")
    if all(rounds):
        how = "the model gave up" if len(rounds) == 1 else f"{len(rounds)} failed attempts"
        return failed(
            f"the call was not corrected: {how}", error_repair="none", repair_tries=len(rounds), repair_limit=MOST
        )
    tries = rounds.index(False)
    if tries == 1:
        return passed("the call was corrected immediately", error_repair="reliable", repair_tries=1)
    return partly(f"the call was corrected after {tries} errors", error_repair="limited", repair_tries=tries)


def _rounds(conversation: PlayedConversation) -> list[bool]:
    """For each answer with calls: True if all of them failed. Parallel calls count as one attempt."""
    found: list[bool] = []
    for call in conversation.calls:
        if call.step.number == 0:
            found.append(True)
        found[-1] &= call.result.is_error
    return found


probe = Probe(
    "repair", "does the model correct its tool call after a structured error?", 5, script, is_core=True, tokens=2500
)
