"""Canary: perception of replayed reasoning. A codeword is inserted into it, and the model is asked for it.

``reasoning_seen``: ``{"turn": …, "later": …}``, each ``seen``, ``unseen`` or ``refused``: between a call and the answer
to its result, and after a new user message. Signed or encrypted reasoning cannot be changed: inconclusive.
"""

from __future__ import annotations

from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, Part, Reasoning
from workbench.lazy_dataclass import replace
from workbench.probes._drive import Change, follow, without_call
from workbench.probes._script import Probe, Sample, Script, Subject, failed, passed, unclear
from workbench.probes._tools import Toolbox
from workbench.probes._variants import rewrite_parts, thinking
from workbench.send.loop import CallResult, EndReason, Limits, LoopEnd, Say
from workbench.wire import HttpRequest

_NOTE = "Noted for later: the codeword is {}"
SEEN, UNSEEN, REFUSED = "seen", "unseen", "refused"


def script(subject: Subject) -> Script:
    """A call made while thinking; its result is sent with reasoning that contains a codeword."""
    words = (
        f"Think first. Then add 21 and {20 + len(subject.nonce)} with probe_add. When its result is there, answer with "
        "the codeword that you noted in your thoughts, or with the word none if you noted none."
    )
    first = yield from thinking(subject, words)
    if not first.calls:
        return (yield from without_call(subject, first))
    parts = first.reasoning(0)
    if not parts:
        return unclear("the tool call has no reasoning")
    if not all(part.text and not part.signature and not part.data for part in parts):
        return unclear(f"{parts[0].carrier} is signed or encrypted, so nothing can be inserted")
    box, code = Toolbox(subject.nonce), f"{subject.nonce}-seen"
    with_code = yield from follow(
        first.before_results(), "a codeword in the reasoning", box.run, change=_with(subject, code)
    )
    seen = {"turn": REFUSED if with_code.is_refused else SEEN if code in with_code.text() else UNSEEN}
    plain = yield from follow(first.before_results(), "the reasoning unchanged", box.run)
    if plain.ended.reason is EndReason.DONE:
        again = Say("Look at the thoughts that you had before the call. What is the codeword that you noted in them?")
        loop = plain.loop.with_limits(Limits(plain.loop.turns + 1)).after(again)
        if not isinstance(loop.step, LoopEnd):
            later = yield from follow(
                loop, "the same question one user message later", box.run, change=_with(subject, code)
            )
            seen["later"] = REFUSED if later.is_refused else SEEN if code in later.text() else UNSEEN
    if seen["turn"] == UNSEEN:
        call = yield from follow(
            first.before_results(), "a codeword in the result", lambda _: CallResult(_NOTE.format(code))
        )
        if code not in call.text():
            return unclear("the model does not repeat a codeword in a tool result either, so the probe is inconclusive")
    return evaluate(seen)


def _with(subject: Subject, code: str) -> Change:
    def add_note(part: Part) -> Part:
        if isinstance(part, Reasoning) and part.text:
            return replace(part, text=f"{part.text}\n{_NOTE.format(code)}")
        return part

    def change(_: int, request: HttpRequest) -> HttpRequest:
        new_request = rewrite_parts(request, subject.protocol, add_note)
        if new_request is None:
            raise LocalProtocolError("the reasoning cannot be changed")
        return new_request

    return change


def evaluate(seen: dict[str, JsonValue]) -> Sample:
    """Verdict from the answers."""
    later = f"; after a new user message: {seen['later']}" if "later" in seen else ""
    if seen["turn"] == REFUSED:
        return unclear(
            "the provider refuses changed reasoning, so the probe cannot tell whether the model uses it",
            reasoning_seen=seen,
        )
    if seen["turn"] == SEEN:
        return passed(f"the response uses content from the replayed reasoning{later}", reasoning_seen=seen)
    return failed(f"the response shows no trace of the replayed reasoning{later}", reasoning_seen=seen)


probe = Probe("canary", "does the model see replayed reasoning?", 7, script, tokens=6000)
