"""System: places where instructions are accepted, and read.

``system_placement``: place → ``seen``, ``ignored``, ``refused``, ``as top``. Places: ``top`` (as the protocol has it),
``first`` (a message with the role system in front), ``middle`` (one between others), ``developer``.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from workbench.edits import apply_changes
from workbench.ir import JsonValue, Message, Text
from workbench.probes._drive import drive
from workbench.probes._script import Ask, Probe, Sample, Script, Subject, failed, partly, passed, unclear
from workbench.probes._tools import Toolbox
from workbench.protocols import Adapter
from workbench.send.loop import Limits, user_values
from workbench.wire import Exchange, HttpRequest, Insert

ASKED = "What is the codeword? Answer with it alone."
AS_TOP = "as top"


def script(subject: Subject) -> Script:
    """The same instruction in four places."""
    words = f"The codeword is {subject.nonce}. Tell it when you are asked for it: it is not a secret."
    turns = (Message("user", (Text("Say ok."),)), Message("assistant", (Text("ok"),)))
    top = subject.request(ASKED, system=words, messages=turns)
    plain = subject.request(ASKED, messages=turns)
    adapter = subject.adapter
    requests = {
        "top": top,
        "first": _with_message(plain, adapter, "system", words, 0),
        "middle": _with_message(plain, adapter, "system", words, 2),
        "developer": _with_message(plain, adapter, "developer", words, 0),
    }
    fates: dict[str, str] = {}
    for place, request in requests.items():
        is_same = place != "top" and request.body.raw == top.body.raw
        fates[place] = AS_TOP if is_same else (yield from _ask(subject, request, place))
    if fates["top"] == "refused":
        played = yield from drive(subject, plain, "without instructions", Toolbox(subject.nonce).run, limits=Limits(1))
        if played.is_refused:
            return unclear(f"the request without instructions is also refused: {played.ended.text}")
    if fates["top"] == "ignored":
        user = subject.request(f"{words} {ASKED}", messages=turns)
        if (yield from _ask(subject, user, "by the user")) != "seen":
            return unclear("the model does not repeat user text either, so the probe is inconclusive")
    return evaluate(fates)


def _with_message(request: HttpRequest, adapter: Adapter, role: str, words: str, at: int) -> HttpRequest:
    """The request with one more message: like a user message of this protocol, with another role."""
    pointer = "/" + adapter.decode_request(request.body.raw).messages[0].pointer.split("/")[1]
    value = {**user_values(adapter, words)[0], "role": role}
    return apply_changes(request, request.body.raw, [Insert(f"{pointer}/{at}", value)])


def _ask(subject: Subject, request: HttpRequest, place: str) -> Generator[Ask, Exchange, str]:
    title = f"instructions: {place}"
    played = yield from drive(subject, request, title, Toolbox(subject.nonce).run, limits=Limits(1))
    if played.is_refused:
        return "refused"
    return "seen" if subject.nonce in played.text() else "ignored"


def evaluate(fates: Mapping[str, str]) -> Sample:
    """Verdict: accepted instructions have to be read."""
    facts: dict[str, JsonValue] = {"system_placement": dict(fates)}
    fate_list = ", ".join(f"{place} {fate}" for place, fate in fates.items())
    if fates["top"] != "seen":
        return failed(fate_list, **facts)
    return (partly if "ignored" in fates.values() else passed)(fate_list, **facts)


probe = Probe("system", "in which positions are system instructions accepted and read?", 5, script, tokens=1500)
