"""Choice: values of tool_choice that are honoured, ignored, or refused.

``tool_choice``: mode → ``honoured``, ``ignored``, ``refused``, ``unsayable`` (the protocol has no such mode),
``unseen`` (the model makes no calls by default, so that "none" shows nothing).
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir import JsonValue, ToolChoice
from workbench.probes._drive import PlayedConversation, drive, without_call
from workbench.probes._script import Probe, Sample, Script, Subject, failed, partly, passed, unclear
from workbench.probes._tools import ADD, ECHO, Toolbox
from workbench.send.loop import Limits

HONOURED, IGNORED, REFUSED, UNSAYABLE, UNSEEN = "honoured", "ignored", "refused", "unsayable", "unseen"
MODES = ("auto", "none", "any", "tool")


def script(subject: Subject) -> Script:
    """Requests each mode where the model's default would differ."""
    wants = f"Call probe_echo with the text {subject.nonce}."
    wants_not = f"What is the codeword? The codeword is {subject.nonce}. Answer with it alone, and call no tool."
    fates: dict[str, str] = {}
    for mode in MODES:
        if mode not in subject.adapter.capabilities.tools.choices:
            fates[mode] = UNSAYABLE
            continue
        choice = ToolChoice(mode, ADD.name if mode == "tool" else None)
        request = subject.request(wants if mode in ("auto", "none") else wants_not, (ECHO, ADD), choice=choice)
        title = f"tool_choice {mode}"
        played = yield from drive(subject, request, title, Toolbox(subject.nonce).run, limits=Limits(1))
        fates[mode] = _mode_result(mode, played)
    if REFUSED in fates.values() and HONOURED not in fates.values():
        request = subject.request(wants, (ECHO, ADD))
        played = yield from drive(subject, request, "no tool_choice", Toolbox(subject.nonce).run, limits=Limits(1))
        if played.is_refused:
            return (yield from without_call(subject, played))
    if fates["auto"] == IGNORED:
        fates["auto"] = UNSEEN
        fates["none"] = UNSEEN if fates["none"] == HONOURED else fates["none"]
    return evaluate(fates)


def _mode_result(mode: str, conversation: PlayedConversation) -> str:
    if conversation.is_refused:
        return REFUSED
    names = {call.call.name for call in conversation.calls}
    honoured_by_mode = {"auto": bool(names), "none": not names, "any": bool(names), "tool": names == {ADD.name}}
    return HONOURED if honoured_by_mode[mode] else IGNORED


def evaluate(fates: Mapping[str, str]) -> Sample:
    """Verdict from the results of all modes."""
    facts: dict[str, JsonValue] = {"tool_choice": dict(fates)}
    tested_modes = {mode: fate for mode, fate in fates.items() if fate not in (UNSAYABLE, UNSEEN)}
    if not tested_modes:
        known = UNSEEN in fates.values()
        return unclear("the model made no tool call" if known else "the protocol has no tool choice", **facts)
    good_modes = [mode for mode, fate in tested_modes.items() if fate == HONOURED]
    if len(good_modes) == len(tested_modes):
        return passed(f"honoured: {', '.join(good_modes)}", **facts)
    rest = ", ".join(f"{mode} {fate}" for mode, fate in tested_modes.items() if fate != HONOURED)
    if any(mode != "auto" for mode in good_modes):
        return partly(f"{rest}; honoured: {', '.join(good_modes)}", **facts)
    return failed(rest, **facts)


probe = Probe("choice", "which tool_choice values are honoured?", 6, script, tokens=2400)
