"""Closure: is the result of a call read. The receipt in it is a number that nobody can compute."""

from __future__ import annotations

import re

from workbench.probes._drive import Done, Played, drive
from workbench.probes._script import Probe, Sample, Script, failed, partly, passed, unclear
from workbench.probes._subject import Subject
from workbench.probes._tools import ADD, Toolbox


def script(subject: Subject) -> Script:
    """A call, its result, and an answer that has to use it."""
    a, b = 17, 10 + len(subject.nonce)
    words = f"Add {a} and {b} with the tool probe_add, then tell me the sum and the receipt number that it returns."
    box = Toolbox(subject.nonce)
    played = yield from drive(subject, subject.request(words, (ADD,)), "a call whose result is needed", box.run)
    return judged(played, box)


def judged(played: Played, box: Toolbox) -> Sample:
    """What the last answer says of the result."""
    if not played.calls:
        return unclear("the model made no call") if not played.is_refused else failed(f"refused: {played.ended.text}")
    if played.is_refused:
        return failed(f"the result is refused: {played.ended.text}", closes=False)
    receipts = [str(box.receipt(a, b)) for a, b in map(_numbers, played.calls) if a is not None and b is not None]
    said = re.sub(r"(?<=\d)[ ,._](?=\d)", "", played.text())
    if any(receipt in said for receipt in receipts):
        return passed("the answer names the receipt: the result was read", closes=True)
    if len(played.answers) == 1:
        return failed("there was no answer behind the result", closes=False)
    sums = [str(a + b) for a, b in map(_numbers, played.calls) if a is not None and b is not None]
    if any(re.search(rf"\b{n}\b", said) for n in sums):
        return partly("the answer has the sum, but not the receipt: it may have been computed", closes=False)
    return failed("the answer does not use the result", closes=False)


def _numbers(done: Done) -> tuple[int | None, int | None]:
    held = done.step.arguments if isinstance(done.step.arguments, dict) else {}
    a, b = held.get("a"), held.get("b")
    return (a, b) if isinstance(a, int) and isinstance(b, int) else (None, None)


probe = Probe("closure", "whether the result of a call is read", 4, script, is_core=True, tokens=2000)
