"""Streaming: does a streamed call say the same as one that comes whole, and say it cleanly."""

from __future__ import annotations

from typing import NamedTuple

from workbench import adapters, textcalls
from workbench.decode import Decoded
from workbench.ir import JsonValue
from workbench.loop import Limits
from workbench.probes._drive import Driven, Played, drive
from workbench.probes._script import Probe, Sample, Script, failed, partly, passed, unclear
from workbench.probes._subject import Subject
from workbench.probes._tools import ECHO, Toolbox

SPOKEN = "naïve 東京 🗂️"
"""Characters of two, three and four bytes, and one that is two."""


class Call(NamedTuple):
    """What a call says."""

    name: str | None
    input: JsonValue


def script(subject: Subject) -> Script:
    """The same request twice: whole, and as a stream."""
    whole = yield from _asked(subject, stream=False)
    streamed = yield from _asked(subject, stream=True)
    return judged(whole, streamed, subject.parser)


def _asked(subject: Subject, *, stream: bool) -> Driven:
    words = f"Call the tool probe_echo with exactly this text: {subject.nonce} {SPOKEN}"
    request = subject.request(words, (ECHO,), stream=stream)
    title = "a call as a stream" if stream else "a call in one piece"
    return (yield from drive(subject, request, title, Toolbox(subject.nonce).run, limits=Limits(1)))


def judged(whole: Played, streamed: Played, parser: str = "") -> Sample:
    """Whether the stream is sound, and its call is the one of the whole answer."""
    decoded = streamed.answers[0]
    answer = decoded.response
    if streamed.is_refused:
        return failed(f"streaming is refused: {streamed.ended.text}", supports_streaming_tool_use=False)
    if answer is None or not answer.is_stream:
        return failed("no stream came, although one was asked for", supports_streaming_tool_use=False)
    faults = [f"{a.slug}: {a.message}" for a in answer.anomalies]
    if not answer.is_complete:
        return failed(f"the stream is not whole: {'; '.join(faults)}", supports_streaming_tool_use=False)
    plain, flown = _calls(whole, parser), _calls(streamed, parser)
    if plain and not flown:
        return failed("the call is lost in the stream", supports_streaming_tool_use=False)
    if not flown:
        return unclear("the model made no call")
    if any(call.input is None for call in flown):
        return failed("the streamed arguments are broken", supports_streaming_tool_use=False)
    if len(plain) == len(flown) and any(a.name != b.name for a, b in zip(plain, flown, strict=True)):
        return failed("the streamed call is another one", supports_streaming_tool_use=False)
    return _finer(decoded, faults, _facts(decoded), is_native=not parser)


def _finer(decoded: Decoded, faults: list[str], facts: dict[str, bool], *, is_native: bool) -> Sample:
    if faults:
        return partly(
            f"the call is whole, the stream is not clean: {faults[0]}", supports_streaming_tool_use=True, **facts
        )
    answer = decoded.response
    if answer and answer.stop != "tool_calls" and is_native and not _says_stop_only(decoded):
        words = f"the finish reason is {answer.finish_reason!r}, although there is a call"
        return partly(words, supports_streaming_tool_use=True, **facts)
    return passed("the streamed call is whole, with its finish reason", supports_streaming_tool_use=True, **facts)


def _says_stop_only(decoded: Decoded) -> bool:
    """Protocols in which the finish reason does not tell of calls."""
    return adapters.get(decoded.protocol or "").capabilities.stop_by_calls


def _facts(decoded: Decoded) -> dict[str, bool]:
    usage = decoded.response.usage if decoded.response else None
    return {"streams_usage": usage is not None, "streams_deltas": len(decoded.events) > 3}


def _calls(played: Played, parser: str) -> list[Call]:
    """Name and arguments of every call of the first answer; the arguments are None where they cannot be read."""
    answer = played.answers[0].response
    native = [call for m in (answer.messages if answer else ()) for _, call in m.tool_calls()]
    if native or not parser:
        return [Call(call.name, None if call.error else call.input) for call in native]
    texts = (played.text(0), *(part.text or "" for part in played.reasoning(0)))
    found = (call for text in texts for call in textcalls.find(text, (ECHO,), (parser,)))
    return [Call(call.name, None if call.problems else call.input) for call in found]


probe = Probe("streaming", "whether a streamed call is whole and clean", 2, script, is_core=True, tokens=1500)
