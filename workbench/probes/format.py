"""Format: form of calls: the protocol's own, text, or none."""

from __future__ import annotations

from workbench import protocols
from workbench.ir import ToolCallIR
from workbench.lazy_dataclass import replace
from workbench.probes._drive import PlayedConversation, drive, without_call
from workbench.probes._script import Outcome, Probe, Sample, Script, Subject, failed, partly, passed, unclear
from workbench.probes._tools import ECHO, Toolbox
from workbench.send.loop import Limits
from workbench.toolcalls import formats


def script(subject: Subject) -> Script:
    """One tool, one call."""
    words = f"Call the tool probe_echo with the text {subject.nonce}. Do not answer yourself."
    request = subject.request(words, (ECHO,))
    played = yield from drive(subject, request, "a request with one tool", Toolbox(subject.nonce).run, limits=Limits(1))
    if played.is_refused:
        sample = yield from without_call(subject, played)
        return replace(sample, facts={"tool_call_format": "none"}) if sample.outcome is Outcome.FAIL else sample
    return evaluate(subject, played)


def evaluate(subject: Subject, conversation: PlayedConversation) -> Sample:
    """Verdict from the first answer."""
    answer = conversation.answers[0].response
    native = [call for m in (answer.messages if answer else ()) for _, call in m.tool_calls()]
    if native:
        name = protocols.get(subject.protocol).traits.call_format or subject.protocol
        if _says(native[0], subject.nonce):
            return passed(f"the tool call has the format of {subject.protocol}", tool_call_format=name, parser="")
        return partly("the tool call does not contain the requested text", tool_call_format=name, parser="")
    reasoning = "\n".join(part.text or "" for part in conversation.reasoning(0))
    for place, text in (("text", conversation.text(0)), ("reasoning", reasoning)):
        found = formats.find_calls(text, (ECHO,))
        if found:
            parser = found[0].format
            words = f"the call is in the {place}, as {parser}: the server did not parse the call"
            return partly(words, tool_call_format=style(parser), parser=parser, parsed_from=place)
    if conversation.is_cut:
        return unclear("the response reached the token limit before any tool call")
    return failed("the model answered without a tool call", tool_call_format="none")


def style(parser: str) -> str:
    """Name of a text format in a profile: ``"json-text"`` if arguments are JSON, else ``"xml"``."""
    sample_call = formats.get(parser).render([ToolCallIR("call_1", "f", {"key": "value"}, "function")])
    return "json-text" if '"key"' in sample_call else "xml"


def _says(call: ToolCallIR, nonce: str) -> bool:
    return call.name == ECHO.name and isinstance(call.input, dict) and nonce in str(call.input.get("text"))


probe = Probe(
    "format", "does the model call tools in the protocol's format, as text, or not at all?", 2, script, is_core=True
)
