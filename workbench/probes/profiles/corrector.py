"""Applies corrections to one request, of which nothing else changes, and to the behaviour of a loop.

Applying them twice changes nothing more, because a loop continues from the request as sent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from workbench import protocols
from workbench.edits import apply_changes, insert_message, repairs, with_body
from workbench.edits.repairs import RepairCost
from workbench.edits.variants import (
    VariedRequest,
    at_level,
    drop_reasoning,
    forbid_tools,
    ignores,
    remove_tools,
    switch_off_parallel,
)
from workbench.errors import WireError, WorkbenchError
from workbench.ir import JsonValue, Message, Part, Text
from workbench.lazy_dataclass import dataclass, replace
from workbench.probes.profiles.corrections import (
    ENCODING,
    FEEDBACK,
    NO_TOOLS,
    PARSER,
    PLACEMENT,
    READ_ONLY,
    REASONING,
    SCHEMA,
    SERIAL,
    STREAMING,
    Correction,
    correction_value,
)
from workbench.probes.profiles.gating import Risk, risks_of_request
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules import Inspector
from workbench.send import NoteKind, Outgoing, SendNote, Target, with_stream
from workbench.send.loop import EVERY_TOOL, LEFT_OUT, ConversationLoop, Send, outgoing
from workbench.wire import Exchange, HttpRequest
from workbench.wire.session import MemorySession

ONE_AT_A_TIME = "Make one tool call at a time: wait for the result of a call before you make the next one."
"""Instruction to the model if the protocol has no switch for parallel calls."""

PLACES = ("closure.not-adjacent", "closure.result-not-first", "closure.wrong-role")
LOST = ("reasoning.missing",)
_MOST_REPAIRS = 32


@dataclass(frozen=True, slots=True)
class CorrectionResult:
    """A request after corrections.

    Attributes:
        done: (name of the correction, effect), of those that changed something, in order.
        failed: (name, reason) of those that could not be applied.
    """

    request: HttpRequest
    done: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()

    @property
    def notes(self) -> tuple[SendNote, ...]:
        """Effects and failures, one line each, with the name of their correction."""
        effects = (*self.done, *((name, f"failed: {why}") for name, why in self.failed))
        return tuple(SendNote(f"{name}: {what}", NoteKind.CORRECTION, name) for name, what in effects)


def correct(
    request: HttpRequest, protocol: str, corrections: Sequence[Correction], earlier: Sequence[Exchange] = ()
) -> CorrectionResult:
    """Apply the corrections that are on. ``protocol_of`` gives the protocol beforehand.

    Args:
        protocol: of the request.
        earlier: previous exchanges of its conversation, the source of lost reasoning.
    """
    outcome = CorrectionResult(request)
    for correction in corrections:
        change = _CHANGES.get(correction.name)
        if not correction.is_on or change is None:
            continue
        try:
            after, what = change(_CorrectedRequest(outcome.request, protocol, tuple(earlier)), correction.value)
        except (WorkbenchError, WireError) as error:
            outcome = replace(outcome, failed=(*outcome.failed, (correction.name, str(error))))
            continue
        if after != outcome.request:
            outcome = replace(outcome, request=after, done=(*outcome.done, (correction.name, what)))
    return outcome


def correct_outgoing(
    outgoing: Outgoing, corrections: Sequence[Correction], earlier: Sequence[Exchange] = ()
) -> Outgoing:
    """Apply corrections to an outgoing request and note each one. Unreadable requests are left unchanged."""
    if not any(each.is_on for each in corrections) or outgoing.protocol not in protocols.protocols():
        return outgoing
    outcome = correct(outgoing.request, outgoing.protocol, corrections, () if outgoing.is_converted else earlier)
    if not outcome.notes:
        return outgoing
    read = DecodedExchange(0, Exchange("corrected", outcome.request), outgoing.protocol).request
    is_stream = read.stream if read else outgoing.is_stream
    return replace(outgoing, request=outcome.request, notes=(*outgoing.notes, *outcome.notes), is_stream=is_stream)


def correct_send(
    step: Send, target: Target, corrections: Sequence[Correction], earlier: Sequence[Exchange] = (), model: str = ""
) -> Outgoing:
    """The request of a loop step, corrected and prepared. Raises LocalProtocolError, UsageError."""
    protocol = protocol_of(corrections, target.protocols)
    return correct_outgoing(outgoing(step, target, model, protocol), corrections, earlier)


def protocol_of(corrections: Sequence[Correction], supported: Collection[str] = ()) -> str:
    """Protocol to write requests in; empty to keep theirs.

    Args:
        spoken: protocols of the target; () for any.
    """
    encoding = correction_value(corrections, ENCODING)
    return encoding if isinstance(encoding, str) and (not supported or encoding in supported) else ""


def correct_loop(loop: ConversationLoop, corrections: Sequence[Correction]) -> ConversationLoop:
    """The loop with corrections applied: parser, limits of errors, and policy."""
    request = loop.decoded_exchange.request
    tools = request.tools if request else ()
    level = correction_value(corrections, SCHEMA)
    policy = replace(
        loop.policy,
        is_serial=loop.policy.is_serial or bool(correction_value(corrections, SERIAL)),
        reasoning=correction_value(corrections, REASONING) or loop.policy.reasoning,
        closed={**loop.policy.closed, **_closed_tools(loop, corrections)},
    )
    if isinstance(level, str):
        schemas = {t.name: t.schema for t in tools if t.kind == "client" and t.name and isinstance(t.schema, dict)}
        policy = replace(policy, level=level, schemas={**schemas, **loop.policy.schemas})
    parser, errors = correction_value(corrections, PARSER), correction_value(corrections, FEEDBACK)
    limits = loop.limits
    if isinstance(errors, int):
        repeats = max(limits.repeats, errors + 2) if limits.repeats else 0
        limits = replace(limits, errors=errors, repeats=repeats)
    return replace(loop, policy=policy, parser=loop.parser or (parser or ""), limits=limits)


def _closed_tools(loop: ConversationLoop, corrections: Sequence[Correction]) -> Mapping[str, str]:
    if correction_value(corrections, NO_TOOLS):
        return {EVERY_TOOL: "this model cannot use tools"}
    user_risks = correction_value(corrections, READ_ONLY)
    request = loop.decoded_exchange.request
    if user_risks is None or request is None:
        return {}
    found = risks_of_request(request.tools, user_risks)
    return {t.name: f"only read-only tools are enabled ({t.why})" for t in found if t.risk is not Risk.READ_ONLY}


# -- requests


@dataclass(frozen=True, slots=True)
class _CorrectedRequest:
    """A request while it is corrected."""

    http: HttpRequest
    protocol: str
    earlier: tuple[Exchange, ...]

    @property
    def subject(self) -> VariedRequest:
        return VariedRequest.alone(self.http, self.protocol)

    @property
    def decode(self) -> DecodedExchange:
        return DecodedExchange(0, Exchange("corrected", self.http), self.protocol)


Made = tuple[HttpRequest, str]
"""The request, and the effect of the correction."""


def _stream(corrected_request: _CorrectedRequest, value: JsonValue) -> Made:
    request = corrected_request.decode.request
    if request is None or not request.stream or not request.tools:
        return corrected_request.http, ""
    return with_stream(corrected_request.decode, False), "streaming switched off because the request declares tools"


def _level(corrected_request: _CorrectedRequest, value: JsonValue) -> Made:
    variant = at_level(corrected_request.subject, str(value))
    return variant.request or corrected_request.http, variant.title


def _serial(corrected_request: _CorrectedRequest, value: JsonValue) -> Made:
    subject = corrected_request.subject
    if not subject.request.tools:
        return corrected_request.http, ""
    (variant,) = switch_off_parallel(subject)
    if subject.adapter.capabilities.tools.parallel_switch and not ignores(subject, "parallel_tool_calls"):
        return variant.request or corrected_request.http, variant.title
    return _with_system_text(corrected_request, subject, ONE_AT_A_TIME), "system prompt: one tool call at a time"


def _with_system_text(corrected_request: _CorrectedRequest, subject: VariedRequest, words: str) -> HttpRequest:
    """The request with an instruction in its system prompt."""
    request = subject.request
    if words.encode() in subject.text:
        return corrected_request.http
    systems = [m for m in request.messages if m.role in ("system", "developer")]
    system_texts = [p for p in (*request.system, *(p for m in systems[:1] for p in m.parts)) if isinstance(p, Text)]
    if not system_texts:
        first = request.messages[0].pointer if request.messages else ""
        return apply_changes(
            corrected_request.http, subject.text, insert_message(corrected_request.decode, "system", words, first)
        )

    def more(parts: Iterable[Part]) -> tuple[Part, ...]:
        return tuple(replace(p, text=f"{p.text}\n\n{words}") if p is system_texts[-1] else p for p in parts)

    def add_text(message: Message) -> Message:
        return replace(message, parts=more(message.parts)) if message in systems[:1] else message

    longer = replace(request, system=more(request.system), messages=tuple(map(add_text, request.messages)))
    return with_body(corrected_request.http, subject.adapter.encode_request(longer, subject.text), subject.text)


def _reasoning(corrected_request: _CorrectedRequest, value: JsonValue) -> Made:
    if value == LEFT_OUT:
        (variant,) = drop_reasoning(corrected_request.subject)
        return variant.request or corrected_request.http, variant.title
    return _repair(corrected_request, LOST, ""), "lost reasoning restored"


def _placement(corrected_request: _CorrectedRequest, value: JsonValue) -> Made:
    return _repair(corrected_request, PLACES, str(value)), "tool results moved directly after their calls"


def _repair(corrected_request: _CorrectedRequest, rules: Collection[str], label: str) -> HttpRequest:
    """Apply every lossless repair of findings of some rules."""
    session = MemorySession("corrected", (*corrected_request.earlier, Exchange("corrected", corrected_request.http)))
    inspector, index, http = (
        Inspector(session, protocol=corrected_request.protocol),
        len(corrected_request.earlier),
        corrected_request.http,
    )
    for _ in range(_MOST_REPAIRS):
        found = inspector.trial(index, http, provider=label).findings
        wrong = [f for f in found if f.side == REQUEST and f.rule in rules]
        trials = (t for f in wrong for t in repairs.checked_repairs(inspector, index, f, request=http, provider=label))
        best = next((t for t in trials if t.proposal.cost is RepairCost.NONE), None)
        if best is None:
            break
        http = best.request
    return http


def _read_only(corrected_request: _CorrectedRequest, value: JsonValue) -> Made:
    subject = corrected_request.subject
    found = risks_of_request(subject.request.tools, value)
    variant = remove_tools(subject, {tool.name for tool in found if tool.risk is not Risk.READ_ONLY})
    return variant.request or corrected_request.http, variant.title


def _none(corrected_request: _CorrectedRequest, value: JsonValue) -> Made:
    variant = forbid_tools(corrected_request.subject)
    return variant.request or corrected_request.http, variant.title


_CHANGES: Mapping[str, Callable[[_CorrectedRequest, JsonValue], Made]] = {
    STREAMING: _stream,
    SCHEMA: _level,
    SERIAL: _serial,
    REASONING: _reasoning,
    PLACEMENT: _placement,
    READ_ONLY: _read_only,
    NO_TOOLS: _none,
}
