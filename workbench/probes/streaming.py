"""Streaming: a streamed call compared with that of a whole response, and the form of its stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from workbench import protocols
from workbench.contracts import Severity
from workbench.edits import apply_changes
from workbench.ir import JsonValue
from workbench.probes._drive import DriveSteps, PlayedConversation, drive, without_call
from workbench.probes._script import Probe, Sample, Script, Subject, failed, partly, passed, unclear
from workbench.probes._tools import ECHO, Toolbox
from workbench.protocols import DecodedExchange
from workbench.protocols.clients import NAIVE, where_they_differ
from workbench.rules import Inspector
from workbench.send.loop import Limits
from workbench.toolcalls import formats
from workbench.wire import HttpRequest, Insert
from workbench.wire.session import MemorySession

SPOKEN = "naïve 東京 🗂️"
"""Characters of two, three and four bytes, and one that is two."""


class CallContent(NamedTuple):
    """Name and arguments of a call."""

    name: str | None
    input: JsonValue


def script(subject: Subject) -> Script:
    """The same request twice: whole, and as a stream."""
    whole = yield from _ask(subject, stream=False)
    if whole.is_refused:
        return (yield from without_call(subject, whole))
    streamed = yield from _ask(subject, stream=True)
    return evaluate(whole, streamed, subject)


def _ask(subject: Subject, *, stream: bool) -> DriveSteps:
    words = f"Call the tool probe_echo with exactly this text: {subject.nonce} {SPOKEN}"
    request = subject.request(words, (ECHO,), stream=stream)
    request = _with_usage(request, subject.protocol) if stream else request
    title = "a streamed tool call" if stream else "a tool call in a single body"
    return (yield from drive(subject, request, title, Toolbox(subject.nonce).run, limits=Limits(1)))


def _with_usage(request: HttpRequest, protocol: str) -> HttpRequest:
    """The request with token counts requested, if streams contain them only on request."""
    usage_params = protocols.get(protocol).traits.usage_request
    if not usage_params:
        return request
    return apply_changes(request, request.body.raw, [Insert(f"/{name}", value) for name, value in usage_params.items()])


def evaluate(whole: PlayedConversation, streamed: PlayedConversation, subject: Subject) -> Sample:
    """Verdict: the stream is well-formed, and its call equals that of the whole response."""
    decoded, parser = streamed.answers[0], subject.parser
    answer = decoded.response
    if streamed.is_refused:
        return _failure(f"a streamed request is refused: {streamed.ended.text}")
    if answer is None or not answer.is_stream:
        return _failure("the response is not a stream, although one was requested")
    faults = _stream_findings(decoded)
    if not answer.is_complete:
        return _failure(f"the stream is incomplete: {'; '.join(faults)}")
    plain, streamed_calls = _calls(whole, parser), _calls(streamed, parser)
    if not streamed_calls and streamed.is_cut:
        return unclear("the response reached the token limit before any tool call")
    if plain and not streamed_calls:
        return _failure("the stream does not contain the tool call")
    if not streamed_calls:
        return unclear("the model made no tool call")
    if any(call.input is None for call in streamed_calls):
        return _failure("the streamed arguments are damaged", streams_arguments_whole=False)
    if len(plain) == len(streamed_calls) and any(a.name != b.name for a, b in zip(plain, streamed_calls, strict=True)):
        return _failure("the streamed call differs")
    facts = _facts(decoded)
    faults += _flaws(decoded, streamed_calls, subject, facts)
    if faults:
        return partly(f"the call is complete, but the stream is flawed: {faults[0]}", **facts)
    return passed("the streamed call is complete, with its finish reason", **facts)


def _stream_findings(decoded: DecodedExchange) -> list[str]:
    """Findings on the stream."""
    inspector = Inspector(MemorySession("probe", (decoded.exchange,)), provider="generic", protocol=decoded.protocol)
    found = (finding for row in inspector.run().rows for finding in row.findings)
    return [f"{f.rule}: {f.message}" for f in found if f.rule.startswith("stream.") and f.severity is not Severity.INFO]


def _failure(words: str, **facts: JsonValue) -> Sample:
    return failed(words, supports_streaming_tool_use=False, **facts)


def _flaws(
    decoded: DecodedExchange, streamed_calls: list[CallContent], subject: Subject, facts: Mapping[str, JsonValue]
) -> Iterator[str]:
    """Flaws of a stream whose call is complete, the worst first."""
    if not facts["streams_stable"]:
        yield "clients assemble different messages from the stream"
    texts = [str(call.input.get("text")) for call in streamed_calls if isinstance(call.input, dict)]
    if any("\ufffd" in text for text in texts):
        yield "characters outside ASCII are damaged"
    answer = decoded.response
    if answer and answer.stop != "tool_calls" and not subject.parser and not _says_stop_only(decoded):
        yield f"the finish reason is {answer.finish_reason!r}, although the response contains a tool call"


def _says_stop_only(decoded: DecodedExchange) -> bool:
    """The protocol's finish reason does not depend on calls."""
    return protocols.get(decoded.protocol or "").capabilities.answer.stop_by_calls


def _facts(decoded: DecodedExchange) -> dict[str, JsonValue]:
    answer = decoded.response
    differing = [group for group in where_they_differ(decoded) if group.is_seen and {*group.policies} - {NAIVE}]
    return {
        "supports_streaming_tool_use": True,
        "streams_arguments_whole": True,
        "streams_finish_reason": answer.finish_reason if answer else None,
        "streams_usage": answer is not None and answer.usage is not None,
        "streams_deltas": len(decoded.events) > 3,
        "streams_stable": not differing,
    }


def _calls(conversation: PlayedConversation, parser: str) -> list[CallContent]:
    """Name and arguments of every call of the first answer; arguments are None if unreadable."""
    answer = conversation.answers[0].response
    native = [call for m in (answer.messages if answer else ()) for _, call in m.tool_calls()]
    if native or not parser:
        return [CallContent(call.name, None if call.error else call.input) for call in native]
    texts = (conversation.text(0), *(part.text or "" for part in conversation.reasoning(0)))
    found = (call for text in texts for call in formats.find_calls(text, (ECHO,), (parser,)))
    return [CallContent(call.name, None if call.problems else call.input) for call in found]


probe = Probe("streaming", "are streamed tool calls complete and well-formed?", 2, script, is_core=True, tokens=1500)
