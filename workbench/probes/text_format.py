"""Text format: calls left in content or reasoning over several answers, and their format.

``text_formats``: format and position of calls → number, ``{"native": 2, "hermes in content": 1}``.
``text_format``: format of most calls in text; empty if none.
"""

from __future__ import annotations

from collections import Counter

from workbench.probes._drive import PlayedConversation, drive, without_call
from workbench.probes._script import Probe, Sample, Script, Subject, failed, partly, passed, unclear
from workbench.probes._tools import ADD, ECHO, Toolbox
from workbench.send.loop import Limits
from workbench.toolcalls import formats

NATIVE, NONE, CUT = "native", "none", "cut"


def script(subject: Subject) -> Script:
    """Three ways to request a call: one tool, one of two, and after some thought."""
    questions = (
        (f"Call probe_echo with the text {subject.nonce}.", (ECHO,)),
        ("Add 19 and 23 with one of your tools.", (ECHO, ADD)),
        (f"Think about which tool returns a text, then call it with the text {subject.nonce}.", (ADD, ECHO)),
    )
    found: list[str] = []
    for number, (words, tools) in enumerate(questions):
        request = subject.request(words, tools)
        title = f"call {number + 1} of {len(questions)}"
        played = yield from drive(subject, request, title, Toolbox(subject.nonce).run, limits=Limits(1))
        if played.is_refused:
            return (yield from without_call(subject, played))
        found.append(place(played))
    return evaluate(found)


def place(conversation: PlayedConversation) -> str:
    """Form and place of the call in the first answer."""
    answer, request = conversation.answers[0].response, conversation.answers[0].request
    if any(any(m.tool_calls()) for m in (answer.messages if answer else ())):
        return NATIVE
    reasoning = "\n".join(part.text or "" for part in conversation.reasoning(0))
    for where, text in (("content", conversation.text(0)), ("reasoning", reasoning)):
        calls = formats.find_calls(text, request.tools if request else ())
        if calls:
            return f"{calls[0].format} in {where}"
    return CUT if conversation.is_cut else NONE


def evaluate(found: list[str]) -> Sample:
    """Verdict from the calls of all answers."""
    counts = Counter(name for name in found if name != CUT)
    texts = Counter({name: n for name, n in counts.items() if name not in (NATIVE, NONE)})
    best = texts.most_common(1)[0][0].partition(" ")[0] if texts else ""
    facts = {"text_formats": dict(counts), "text_format": best}
    count_list = ", ".join(f"{name} {n}" for name, n in counts.items())
    if not counts:
        return unclear("every response reached the token limit before any tool call")
    if set(counts) == {NONE}:
        return failed(f"none of {counts[NONE]} responses contains a call", **facts)
    if set(counts) == {NATIVE}:
        return passed("every tool call has the protocol's format", **facts)
    return partly(f"calls: {count_list}", **facts)


probe = Probe("text-format", "which tool calls remain in the text, and in which format?", 4, script, tokens=1800)
