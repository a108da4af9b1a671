"""Arguments: escaping of quotes, backslashes, line breaks, JSON and fences.

``argument_text``: ``strict`` (the text of the arguments is JSON), ``double-encoded``, ``fenced``, ``trailing text``,
``repaired`` (other syntax was repaired), ``broken``. ``argument_values``: kind of text → ``kept`` or ``changed``.
"""

from __future__ import annotations

from workbench.ir import ToolDef
from workbench.probes._drive import AnsweredCall, drive, without_call
from workbench.probes._script import Probe, Sample, Script, Subject, failed, partly, passed
from workbench.probes._tools import Toolbox
from workbench.send.loop import Limits
from workbench.toolcalls import JsonTracker
from workbench.toolcalls.arguments import ArgumentStep

TEXTS = {
    "quotes": "She said \"no\" and 'yes'.",
    "backslashes": "C:\\new\\table \\d+ \\u0041",
    "lines": "first\n\tsecond\n\nlast",
    "json": '{"a": [1, "two"], "b": "\\"q\\""}',
    "fences": "```json\n{}\n```",
    "emoji": "naïve 東京 🗂️",
}
"""Property → its text, followed by the sample's nonce."""

ECHO = ToolDef(
    "probe_echo",
    "Returns the texts that it is given.",
    {
        "type": "object",
        "properties": {name: {"type": "string"} for name in TEXTS},
        "required": list(TEXTS),
    },
)


def script(subject: Subject) -> Script:
    """One call with all of them."""
    texts = {name: f"{text} {subject.nonce}" for name, text in TEXTS.items()}
    listed = "\n".join(f"{name}: <text>{text}</text>" for name, text in texts.items())
    words = f"Call probe_echo once. Give each argument the text between its tags, character by character.\n{listed}"
    request = subject.request(words, (ECHO,))
    played = yield from drive(
        subject, request, "quotes, backslashes and fences", Toolbox(subject.nonce).run, limits=Limits(1)
    )
    if not played.calls:
        return (yield from without_call(subject, played))
    return evaluate(played.calls[0], texts)


def evaluate(answered_call: AnsweredCall, texts: dict[str, str]) -> Sample:
    """Verdict from the form of the argument text, and the texts in it."""
    how = argument_text(answered_call)
    if how == "broken":
        return failed("the argument text is unreadable", argument_text=how)
    arguments = answered_call.step.arguments if isinstance(answered_call.step.arguments, dict) else {}
    values = {name: "kept" if arguments.get(name) == text else "changed" for name, text in texts.items()}
    changed = [name for name, fate in values.items() if fate == "changed"]
    if how == "strict" and not changed:
        return passed("every text arrives unchanged in the arguments", argument_text=how, argument_values=values)
    problems = [f"the argument text is {how}"] if how != "strict" else []
    problems += [f"changed: {', '.join(changed)}"] if changed else []
    sample = failed if len(changed) == len(texts) else partly
    return sample("; ".join(problems), argument_text=how, argument_values=values)


def argument_text(answered_call: AnsweredCall) -> str:
    """The way in which the argument text had to be read."""
    read, raw = answered_call.step.ladder, (answered_call.call.raw or "").strip()
    if read is None or not read.rungs:
        return "broken"
    if ArgumentStep.UNWRAPPED in read.rungs:
        return "double-encoded"
    if ArgumentStep.REPAIRED not in read.rungs:
        return "strict"
    if raw.startswith("```"):
        return "fenced"
    end = JsonTracker().find(raw) if raw.startswith("{") else -1
    return "trailing text" if 0 < end < len(raw) else "repaired"


probe = Probe("arguments", "can the model write quotes, backslashes and fences?", 2, script, tokens=900)
