"""Importer for OpenTelemetry spans of model calls (OTLP JSON, one document or one a line): one exchange per call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench import protocols, regex
from workbench.errors import WireError
from workbench.formats.importers._files import ImportDamage, objects
from workbench.formats.importers._logged_messages import logged_response, request_in
from workbench.formats.importers._otlp import (
    CHOICE,
    DETAILS,
    MESSAGE_EVENTS,
    Attributes,
    OtelSpan,
    below,
    first,
    objects_in,
    parse_structured,
    spans_of,
)
from workbench.formats.importers._side_of_value import REQUEST, side_of
from workbench.formats.importers._transcript import (
    SharedHistory,
    TranscriptSession,
    TranscriptTurn,
    answer_of,
    extend_history,
    protocol_of,
    reasoning,
    reconstructed_exchange,
)
from workbench.formats.importers._values import as_list, content_parts, mapping, mappings, text, token_count
from workbench.ir import JsonValue, Media, Message, ModelResponse, Part, Text, ToolCallIR, ToolDef, ToolResultIR, Usage
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import DecodedExchange
from workbench.wire import Body, Exchange, Fidelity, HttpRequest, HttpResponse, State, dumps, loads

_ROLES = {"model": "assistant", "ai": "assistant", "human": "user", "function": "tool", "developer": "system"}
_MOST_OPEN = 1000
MESSAGES = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
    "gen_ai.request.messages",
    "gen_ai.request.available_tools",
    "gen_ai.response.text",
    "gen_ai.response.tool_calls",
    "gen_ai.prompt",
    "gen_ai.completion",
    "llm.input_messages",
    "llm.output_messages",
    "llm.tools",
    "llm.request.functions",
    "ai.prompt.messages",
    "ai.prompt.tools",
    "ai.response.text",
    "ai.response.toolCalls",
)
"""Names and name prefixes of attributes that an exchange already contains."""


@dataclass(slots=True)
class Talk:
    """Messages of one span. ``answer`` is None if the span has none."""

    system: tuple[Part, ...] = ()
    messages: list[Message] = field(default_factory=list)
    answer: tuple[Part, ...] | None = None
    finish: str = ""
    tools: tuple[ToolDef, ...] = ()


def talk_of(span: OtelSpan, protocol: str) -> Talk:
    """Input and output messages of a span."""
    attributes = dict(span.attributes)
    for event in span.events:
        if event.name == DETAILS:
            attributes |= event.attributes
    inputs, outputs = _attributes(attributes)
    if not inputs and not outputs:
        inputs, outputs = _events(span)
    if not inputs and not outputs and (bodies := _bodies(attributes)):
        return bodies
    talk = Talk(tools=tuple(_tools(attributes)))
    instructions = parse_structured(attributes.get("gen_ai.system_instructions"))
    for part in as_list(instructions) or ([instructions] if instructions else []):
        talk.system += tuple(_parts(part, protocol))
    for value in inputs:
        message = _message(value, protocol)
        if message.role == "system" and not talk.messages:
            talk.system += message.parts
        elif message.parts:
            talk.messages.append(message)
    for value in outputs[:1]:
        talk.answer = _message({**value, "role": "assistant"}, protocol).parts
        talk.finish = text(value.get("finish_reason"))
    _number(talk)
    return talk


def _number(talk: Talk) -> None:
    """Add ids to calls and results without one; a result answers the first open call of its name."""
    messages = [*talk.messages, Message("assistant", talk.answer or ())]
    waiting: list[tuple[str | None, str]] = []
    result: list[Message] = []
    count = 0
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCallIR) and part.id is None:
                count += 1
                part = replace(part, id=f"call_{count}")
                waiting.append((part.name, f"call_{count}"))
            elif isinstance(part, ToolResultIR) and part.tool_call_id is None:
                named = next((n for n, (name, _) in enumerate(waiting[:_MOST_OPEN]) if part.name in (None, name)), None)
                part = part if named is None else replace(part, tool_call_id=waiting.pop(named)[1])
            parts.append(part)
        result.append(replace(message, parts=tuple(parts)))
    talk.messages = result[:-1]
    talk.answer = talk.answer and result[-1].parts


Values = list[dict[str, JsonValue]]


def _attributes(attributes: dict[str, JsonValue]) -> tuple[Values, Values]:
    """(input, output) messages from attributes, in the first form that is used."""
    parts = objects_in(attributes.get("gen_ai.input.messages")), objects_in(attributes.get("gen_ai.output.messages"))
    if any(parts):
        return parts
    inference = tuple(
        [mapping(m.get("message")) or m for m in mappings(below(attributes, f"llm.{side}_messages."))]
        for side in ("input", "output")
    )
    if any(inference):
        return inference[0], inference[1]
    if "ai.prompt.messages" in attributes:
        return _sdk_messages(attributes)
    if sent := objects_in(attributes.get("gen_ai.request.messages")):  # docs.sentry.io, AI agents
        calls = objects_in(attributes.get("gen_ai.response.tool_calls"))
        content = attributes.get("gen_ai.response.text")
        return sent, [{"content": content, "tool_calls": list[JsonValue](calls)}] if content or calls else []
    whole = _whole(attributes.get("gen_ai.prompt"), "user"), _whole(attributes.get("gen_ai.completion"), "assistant")
    if any(whole):
        return whole
    return list(mappings(below(attributes, "gen_ai.prompt."))), list(mappings(below(attributes, "gen_ai.completion.")))


_BODIES = (
    ("request_data", "response_data"),
    ("input.value", "output.value"),
    ("mlflow.spanInputs", "mlflow.spanOutputs"),
    ("langfuse.observation.input", "langfuse.observation.output"),
    ("span.input", "span.output"),
    ("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"),
    ("traceloop.entity.input", "traceloop.entity.output"),
)
"""Attributes with what was sent and received as a whole (Logfire, OpenInference, MLflow, Langfuse, Google ADK …)."""


def _bodies(attributes: Attributes) -> Talk | None:
    """The exchange of a span that holds the request and the response as JSON; None for another span."""
    for sent, received in _BODIES:
        value = parse_structured(attributes.get(sent))
        request = request_in(value, {}) or (value if side_of(value) == REQUEST else None)
        asked = DecodedExchange(0, Exchange("", HttpRequest(body=Body(dumps(request))) if request else None)).request
        if asked is None or not asked.messages:
            continue
        answer = _response_of(logged_response(parse_structured(attributes.get(received)), {}))
        parts = tuple(part for message in answer.messages for part in message.parts) if answer else None
        return Talk(asked.system, list(asked.messages), parts, "", asked.tools)
    return None


def _response_of(answer: dict[str, JsonValue] | None) -> ModelResponse | None:
    return (
        DecodedExchange(0, Exchange("", response=HttpResponse(200, body=Body(dumps(answer))))).response
        if answer
        else None
    )


def _sdk_messages(attributes: dict[str, JsonValue]) -> tuple[Values, Values]:
    """Messages of a span of the Vercel AI SDK (ai-sdk.dev/docs/ai-sdk-core/telemetry)."""
    prompt = request_in(parse_structured(attributes.get("ai.prompt.messages")), {}) or {}
    calls = [
        {"id": call.get("toolCallId"), "name": call.get("toolName"), "arguments": first(call, "input", "args")}
        for call in objects_in(attributes.get("ai.response.toolCalls"))
    ]
    content = attributes.get("ai.response.text")
    answer = [{"content": content, "tool_calls": list[JsonValue](calls)}] if content or calls else []
    return list(mappings(prompt.get("messages"))), list[dict[str, JsonValue]](answer)


def _whole(attribute: JsonValue, role: str) -> Values:
    """Messages in one attribute: a list, an object around it, an object with the completion, or plain text."""
    value = parse_structured(attribute)
    if isinstance(value, list):
        return objects_in(value)
    if isinstance(value, dict):
        inner = value.get("messages", value.get("choices"))
        if isinstance(inner, list):
            return [mapping(m.get("message")) or m for m in mappings(inner)]
        content = first(value, "completion", "content", "text", "prompt")
        return [{"role": role, **value, "content": content}] if content is not None or "tool_calls" in value else []
    return [{"role": role, "content": value}] if isinstance(value, str) and value else []


def _events(span: OtelSpan) -> tuple[Values, Values]:
    inputs: Values = []
    outputs: Values = []
    for event in span.events:
        attributes = event.attributes
        if event.name in MESSAGE_EVENTS:
            role = text(attributes.get("role")) or MESSAGE_EVENTS[event.name]
            inputs.append(
                {**attributes, **mapping(parse_structured(attributes.get("gen_ai.event.content"))), "role": role}
            )
        elif event.name == CHOICE:
            whole = attributes | mapping(parse_structured(attributes.get("gen_ai.event.content")))
            message = mapping(parse_structured(whole.get("message"))) or mapping(below(whole, "message."))
            outputs.append({**whole, **message})
        elif event.name == "gen_ai.content.prompt":
            inputs += objects_in(attributes.get("gen_ai.prompt"))
        elif event.name == "gen_ai.content.completion":
            outputs += objects_in(attributes.get("gen_ai.completion"))
    return inputs, outputs


def _message(value: dict[str, JsonValue], protocol: str) -> Message:
    role = _ROLES.get(text(value.get("role")), text(value.get("role")) or "user")
    calls = list(_calls(value.get("tool_calls")))
    parts = [p for entry in as_list(value.get("parts")) for p in _parts(entry, protocol)]
    content = list(_content(value, protocol))
    if role == "tool":
        results = [p for p in parts if isinstance(p, ToolResultIR)]
        if not results:
            id = text(first(value, "tool_call_id", "id")) or None
            results = [ToolResultIR(id, tuple(content or parts), name=text(value.get("name")) or None)]
        return Message("tool", tuple(results))
    if any(isinstance(p, ToolResultIR) for p in parts):
        return Message("tool", tuple(p for p in parts if isinstance(p, ToolResultIR)))
    thinking = text(first(value, "reasoning_content", "reasoning", "thinking"))
    before = [reasoning(protocol, thinking)] if thinking and role == "assistant" else []
    known = role if role in ("system", "assistant") else "user"
    return Message(known, (*before, *content, *parts, *calls))


def _content(value: dict[str, JsonValue], protocol: str) -> Iterator[Part]:
    """Content as one text, as a list of typed parts, or as flattened by OpenInference."""
    inference = [mapping(c.get("message_content")) or c for c in mappings(value.get("contents"))]
    content = inference or parse_structured(value.get("content"))
    if isinstance(content, list):
        for part in content:
            yield from _parts(part, protocol)
    elif isinstance(content, dict):
        yield Text(dumps(content).decode("utf-8", "replace"))
    elif text(value.get("content")):
        yield Text(text(value["content"]))


def _parts(value: JsonValue, protocol: str) -> Iterator[Part]:
    """Parts of a message in any form."""
    if isinstance(value, str):
        yield from (Text(value),) if value else ()
        return
    part = mapping(value)
    kind = text(part.get("type"))
    if kind in ("tool_call", "tool_use"):
        yield from _calls([part])
    elif kind in ("tool_call_response", "tool_result"):
        result = parse_structured(first(part, "response", "result", "content"))
        content = content_parts(result) if isinstance(result, str | list) else ()
        result_content = content or ((Text(dumps(result).decode("utf-8", "replace")),) if result else ())
        yield ToolResultIR(text(first(part, "id", "tool_call_id", "tool_use_id")) or None, result_content)
    elif kind in ("reasoning", "thinking"):
        signature = text(part.get("signature"))
        yield reasoning(protocol, text(first(part, "content", "thinking", "text")), signature)
    elif kind in ("blob", "uri"):
        name = text(part.get("modality")) or "document"
        mime = text(part.get("mime_type")) or None
        yield Media(name, mime, data=text(part.get("content")) or None, url=text(part.get("uri")) or None)
    elif kind == "text" and isinstance(part.get("content"), str):
        yield from (Text(part["content"]),) if part["content"] else ()
    elif part:
        image = mapping(mapping(part.get("image")).get("image")) or below(part, "image.image.")
        yield from content_parts([{"type": "image", **image}] if isinstance(image, dict) and image else [part])


def _calls(value: JsonValue) -> Iterator[ToolCallIR]:
    """Tool calls: flat, under ``function``, or under ``tool_call`` (OpenInference)."""
    for entry in objects_in(value):
        call = mapping(entry.get("tool_call")) or entry
        function = mapping(call.get("function"))
        name = text(first(function, "name") or first(call, "name")) or None
        arguments = first(function, "arguments") if "arguments" in function else first(call, "arguments", "input")
        yield _call(text(call.get("id")) or None, name, arguments)


def _call(id: str | None, name: str | None, arguments: JsonValue) -> ToolCallIR:
    if not isinstance(arguments, str):
        return ToolCallIR(id, name, arguments, "function")
    try:
        return ToolCallIR(id, name, loads(arguments) if arguments else {}, "function", raw=arguments)
    except WireError as error:
        return ToolCallIR(id, name, None, "function", raw=arguments, error=error.what)


def _tools(attributes: dict[str, JsonValue]) -> Iterator[ToolDef]:
    inference = [
        parse_structured(first(mapping(t.get("tool")), "json_schema"))
        for t in mappings(below(attributes, "llm.tools."))
    ]
    found: Iterable[JsonValue] = (
        objects_in(attributes.get("gen_ai.tool.definitions"))
        or inference
        or list(mappings(below(attributes, "llm.request.functions.")))
        or objects_in(attributes.get("ai.prompt.tools"))
        or objects_in(attributes.get("gen_ai.request.available_tools"))
    )
    for tool in mappings(list(found)):
        inner = mapping(tool.get("function")) or tool
        schema = parse_structured(first(inner, "parameters", "input_schema", "inputSchema"))
        yield ToolDef(text(inner.get("name")) or None, text(inner.get("description")) or None, schema)


NAME = "otel"
TITLE = "OpenTelemetry spans"
LACKS = ("headers", "streaming", "original bytes")

_START = regex.compile(
    rb'\s*\{\s*"(?:resource(?:Spans|Logs|_spans|_logs)|batches"\s*:\s*\[\s*\{\s*"resource)"\s*:\s*[\[{]'
)
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
    turns = [turn_of(span) for span in spans_of(_documents(data, damage), damage) if is_model(span.attributes)]
    if not turns:
        raise damage.refuse("no model call spans")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def _documents(data: bytes, damage: ImportDamage) -> Iterable[dict[str, JsonValue]]:
    try:
        return [mapping(loads(data))]
    except WireError:
        return (line.value for line in objects(data, damage))


def is_model(attributes: Attributes) -> bool:
    """True for a span of a model call, by its operation, its kind, or its request attributes."""
    operation = first(
        attributes, "gen_ai.operation.name", "openinference.span.kind", "llm.request.type", "traceloop.span.kind"
    )
    kind = text(operation).lower()
    if kind in _OPERATIONS or kind == "llm":
        return True
    asks = any(name in attributes for name in ("gen_ai.request.model", "llm.request.model", "llm.model_name"))
    return asks and kind not in _OTHERS


def turn_of(span: OtelSpan) -> TranscriptTurn:
    """The exchange of a model call, to be built."""
    attributes = span.attributes
    model = text(first(attributes, "gen_ai.request.model", "llm.model_name", "llm.request.model"))
    provider = text(
        first(attributes, "gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "llm.vendor")
    )
    protocol = protocol_of(provider, model)
    talk = talk_of(span, protocol)
    is_empty = not talk.messages and talk.answer is None
    notes = (_NO_CONTENT if is_empty else "", f"failed: {span.error[:200]}" if span.error else "")
    like = reconstructed_exchange(
        span.id or "span",
        lacks=("messages", *LACKS) if is_empty else LACKS,
        note="; ".join(note for note in notes if note),
        started_at=span.start,
        client=text(span.resource.get("service.name")),
        state=State.COMPLETE if talk.answer is not None else State.INCOMPLETE,
        meta={
            "span": span.about,
            "attributes": _other_attributes(attributes),
            "resource": span.resource,
            **_conversation(span),
            **({"fidelity": Fidelity.SAMPLED.value} if is_empty else {}),
        },
    )
    if is_empty:
        like = replace(like, damage=(_NO_CONTENT,))
    if span.start and span.end and span.end >= span.start:
        like = replace(like, duration=span.end - span.start)
    history: SharedHistory | None = None
    for message in talk.messages:
        history = extend_history(history, message)
    return TranscriptTurn(
        like,
        protocol,
        history,
        model or None,
        system=talk.system,
        tools=talk.tools,
        members=_parameters(attributes, protocol),
        answer=None if talk.answer is None else _answer(attributes, talk, protocol, model),
    )


def _conversation(span: OtelSpan) -> dict[str, JsonValue]:
    """The conversation or session that a span names, or else its trace."""
    named = first(span.attributes, "gen_ai.conversation.id", "session.id")
    found = text(named) or text(span.about.get("traceId"))
    return {"conversation": found[:200]} if found else {}


def _answer(attributes: Attributes, talk: Talk, protocol: str, model: str) -> ModelResponse:
    reasons = parse_structured(first(attributes, "gen_ai.response.finish_reasons", "llm.response.finish_reason"))
    reason = talk.finish or text(next(iter(as_list(reasons)), reasons))
    return answer_of(
        protocol,
        talk.answer or (),
        model=text(attributes.get("gen_ai.response.model")) or model or None,
        id=text(attributes.get("gen_ai.response.id")) or None,
        stop=_STOPS.get(reason.lower()),
        usage=_usage(attributes),
    )


def _usage(attributes: Attributes) -> Usage | None:
    """Token counts; input includes cache reads, by the conventions."""
    input_tokens = token_count(
        first(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
    )
    output_tokens = token_count(
        first(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
    )
    read = token_count(
        first(attributes, "gen_ai.usage.cache_read.input_tokens", "llm.token_count.prompt_details.cache_read")
    )
    if input_tokens is None and output_tokens is None:
        return None
    return Usage(None if input_tokens is None else max(input_tokens - (read or 0), 0), output_tokens, read)


def _parameters(attributes: Attributes, protocol: str) -> dict[str, JsonValue]:
    """Request parameters, for protocols that have them at the top level of the body."""
    if not protocols.get(protocol).import_hints.has_plain_params:
        return {}
    found = {name: attributes.get(f"gen_ai.request.{name}") for name in _PARAMETERS}
    return {name: value for name, value in found.items() if isinstance(value, int | float)}


def _other_attributes(attributes: Attributes) -> dict[str, JsonValue]:
    """Attributes that the exchange does not contain otherwise."""
    return {k: v for k, v in attributes.items() if not any(k == m or k.startswith(f"{m}.") for m in MESSAGES)}
