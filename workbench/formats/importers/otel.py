"""Importer for OpenTelemetry spans of model calls (OTLP JSON, one document or one a line): one exchange per call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench import protocols, regex
from workbench.errors import WireError
from workbench.formats.importers._lines import ImportDamage, objects
from workbench.formats.importers._otel_messages import MESSAGES, Talk, talk_of
from workbench.formats.importers._otlp import Attributes, OtelSpan, first, parse_structured, spans_of
from workbench.formats.importers._transcript import (
    SharedHistory,
    TranscriptSession,
    TranscriptTurn,
    answer_of,
    extend_history,
    protocol_of,
    reconstructed_exchange,
)
from workbench.formats.importers._values import as_list, count, mapping, text
from workbench.ir import JsonValue, ModelResponse, Usage
from workbench.wire import State, loads

NAME = "otel"
TITLE = "OpenTelemetry spans"
LACKS = ("headers", "streaming", "original bytes")

_START = regex.compile(rb'\s*\{\s*"resource(?:Spans|Logs)"\s*:\s*\[')
_OPERATIONS = ("chat", "completion", "text_completion", "generate_content")
_OTHERS = ("execute_tool", "invoke_agent", "create_agent", "embeddings", "embedding", "rerank", "tool", "agent")
_STOPS = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_call": "tool_calls",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "filter",
}
_PARAMETERS = ("temperature", "top_p", "top_k", "max_tokens", "frequency_penalty", "presence_penalty", "seed")
_NO_CONTENT = "the span has no messages: content capture was off"


def sniff(head: bytes) -> float:
    """A document of spans or log records."""
    return 0.95 if _START.match(head) else 0.0


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange per model call span. Raises UnreadableInput if there are none."""
    damage = ImportDamage()
    turns = [_turn(span) for span in spans_of(_documents(data, damage), damage) if _is_model(span.attributes)]
    if not turns:
        raise damage.refuse("no span of a model call")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def _documents(data: bytes, damage: ImportDamage) -> Iterable[dict[str, JsonValue]]:
    try:
        return [mapping(loads(data))]
    except WireError:
        return (line.value for line in objects(data, damage))


def _is_model(held: Attributes) -> bool:
    """True for a span of a model call, by its operation, its kind, or its request attributes."""
    said = first(held, "gen_ai.operation.name", "openinference.span.kind", "llm.request.type", "traceloop.span.kind")
    kind = text(said).lower()
    if kind in _OPERATIONS or kind == "llm":
        return True
    asks = any(name in held for name in ("gen_ai.request.model", "llm.request.model", "llm.model_name"))
    return asks and kind not in _OTHERS


def _turn(span: OtelSpan) -> TranscriptTurn:
    held = span.attributes
    model = text(first(held, "gen_ai.request.model", "llm.model_name", "llm.request.model"))
    provider = text(first(held, "gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "llm.vendor"))
    protocol = protocol_of(provider, model)
    talk = talk_of(span, protocol)
    is_empty = not talk.asked and talk.answer is None
    notes = (_NO_CONTENT if is_empty else "", f"failed: {span.error[:200]}" if span.error else "")
    like = reconstructed_exchange(
        span.id or "span",
        lacks=("messages", *LACKS) if is_empty else LACKS,
        note="; ".join(note for note in notes if note),
        started_at=span.start,
        client=text(span.resource.get("service.name")),
        state=State.COMPLETE if talk.answer is not None else State.INCOMPLETE,
        meta={"span": span.about, "attributes": _other_attributes(held), "resource": span.resource},
    )
    if span.start and span.end and span.end >= span.start:
        like = replace(like, duration=span.end - span.start)
    heard: SharedHistory | None = None
    for message in talk.asked:
        heard = extend_history(heard, message)
    return TranscriptTurn(
        like,
        protocol,
        heard,
        model or None,
        system=talk.system,
        tools=talk.tools,
        members=_parameters(held, protocol),
        answer=None if talk.answer is None else _answer(held, talk, protocol, model),
    )


def _answer(held: Attributes, talk: Talk, protocol: str, model: str) -> ModelResponse:
    reasons = parse_structured(first(held, "gen_ai.response.finish_reasons", "llm.response.finish_reason"))
    reason = talk.finish or text(next(iter(as_list(reasons)), reasons))
    return answer_of(
        protocol,
        talk.answer or (),
        model=text(held.get("gen_ai.response.model")) or model or None,
        id=text(held.get("gen_ai.response.id")) or None,
        stop=_STOPS.get(reason.lower()),
        usage=_usage(held),
    )


def _usage(held: Attributes) -> Usage | None:
    """Token counts; input includes cache reads, by the conventions."""
    asked = count(first(held, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"))
    said = count(
        first(held, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
    )
    read = count(first(held, "gen_ai.usage.cache_read.input_tokens", "llm.token_count.prompt_details.cache_read"))
    if asked is None and said is None:
        return None
    return Usage(None if asked is None else max(asked - (read or 0), 0), said, read)


def _parameters(held: Attributes, protocol: str) -> dict[str, JsonValue]:
    """Request parameters, for protocols that have them at the top level of the body."""
    if not protocols.get(protocol).import_hints.has_plain_params:
        return {}
    found = {name: held.get(f"gen_ai.request.{name}") for name in _PARAMETERS}
    return {name: value for name, value in found.items() if isinstance(value, int | float)}


def _other_attributes(held: Attributes) -> dict[str, JsonValue]:
    """Attributes that the exchange does not contain otherwise."""
    return {k: v for k, v in held.items() if not any(k == m or k.startswith(f"{m}.") for m in MESSAGES)}
