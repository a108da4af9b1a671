"""New bodies and streams made of steps, from requests and answers in normal form.

Facts: the types of the ``google-genai`` SDK 3.4 and the order of recorded streams. The texts of neighbouring thoughts
are summaries of one, which ends with its signature; a step of output holds one part, so that no texts run together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench.errors import LocalProtocolError
from workbench.ir import (
    ApiError,
    JsonValue,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Opaque,
    Part,
    Reasoning,
    Segment,
    Text,
    ToolCallIR,
    ToolResultIR,
    Usage,
)
from workbench.protocols.common.changes import LeafChange
from workbench.protocols.common.codec import edit_stream
from workbench.protocols.gemini_interactions.request import (
    KEY,
    PREVIOUS,
    READ_OF_ANSWERS,
    response_nodes,
    tool_json,
    write_config,
)
from workbench.protocols.gemini_interactions.stream import StepStreamDecoder
from workbench.protocols.shapes.items.stream_parts import order, value_or_missing
from workbench.wire import SseEvent, dumps

Json = dict[str, JsonValue]
_STATUSES = {
    "stop": "completed",
    "tool_calls": "requires_action",
    "length": "incomplete",
    "pause": "requires_continuation",
}


def write_request(request: ModelRequest) -> Json:
    """The body of a request."""
    body: Json = {} if request.model is None else {"model": request.model}
    if request.system:
        body["system_instruction"] = "\n\n".join(part.text for part in request.system if isinstance(part, Text))
    body[KEY] = [step for message in request.messages for step in _steps(message)]
    if request.tools:
        body["tools"] = [{"type": "function", **tool_json(tool)} for tool in request.tools]
    if request.previous_id is not None:
        body[PREVIOUS] = request.previous_id
    if request.stream:
        body["stream"] = True
    write_config(request, body)
    return body


def _steps(message: Message) -> Iterator[Json]:
    if message.role == "assistant":
        yield from _output(message.parts)
    elif message.role == "tool":
        yield from (_result(part) for _, part in message.tool_results())
    else:
        yield {"type": "user_input", "content": [_content(part) for part in message.parts]}


def _output(parts: Iterable[Part]) -> Iterator[Json]:
    """The steps of an answer."""
    reasoning: list[Reasoning] = []
    for part in parts:
        if reasoning and (reasoning[-1].signature is not None or not isinstance(part, Reasoning)):
            yield _write_thought(reasoning)
            reasoning = []
        if isinstance(part, Reasoning):
            reasoning.append(part)
        elif isinstance(part, ToolCallIR):
            yield _call(part)
        else:
            yield {"type": "model_output", "content": [_content(part)]}
    if reasoning:
        yield _write_thought(reasoning)


def _write_thought(parts: Sequence[Reasoning]) -> Json:
    """Summaries, and the signature behind them."""
    texts = [{"type": "text", "text": part.text} for part in parts if part.text is not None]
    signature = parts[-1].signature
    return {
        "type": "thought",
        **({} if signature is None else {"signature": signature}),
        **({"summary": texts} if texts else {}),
    }


def _call(call: ToolCallIR) -> Json:
    own = {"id": call.id, "name": call.name, "arguments": {} if call.input is None else call.input}
    return {"type": "function_call", **_known_keys(own)}


def _result(part: ToolResultIR) -> Json:
    own = {"call_id": part.tool_call_id, "name": part.name, "is_error": part.is_error}
    return {"type": "function_result", **_known_keys(own), "result": _write_result(part.content)}


def _write_result(parts: Sequence[Part]) -> JsonValue:
    """A text or an object where that is all there is, else a list of content; other JSON values are text there."""
    if not parts:
        return ""
    first = parts[0]
    if len(parts) == 1 and isinstance(first, Text):
        return first.text
    if len(parts) == 1 and isinstance(first, Opaque) and isinstance(first.value, dict):
        return first.value
    return [_content(part) for part in parts]


def _content(part: Part) -> Json:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Media):
        own = {"mime_type": part.media_type, "data": part.data, "uri": part.url if part.data is None else None}
        return {"type": part.kind, **_known_keys(own)}
    value = part.value if isinstance(part, Opaque) else None
    return {"type": "text", "text": dumps(value).decode("utf-8", "surrogatepass")}


def write_response(response: ModelResponse) -> Json:
    """A new body for an answer in normal form; for an error without an answer, an error body."""
    if response.error and not response.messages:
        return {"error": _error(response.error)}
    parts = response.messages[0].parts if response.messages else ()
    return {**_about(response), **_end(response), "steps": [*_output(parts)]}


def _about(response: ModelResponse) -> Json:
    return {"object": "interaction", **_known_keys({"id": response.id, "model": response.model})}


def _end(response: ModelResponse) -> Json:
    status = "failed" if response.error else _STATUSES.get(response.stop or "stop", "completed")
    usage = {} if response.usage is None else {"usage": _usage(response.usage)}
    return {"status": status, **usage, **({"errors": [_error(response.error)]} if response.error else {})}


def _usage(usage: Usage) -> Json:
    """Counts as this protocol has them: cached tokens inside the input, thoughts outside the output."""
    read = (usage.input, usage.cache_read, usage.cache_write)
    counts = {
        "total_input_tokens": None if usage.input is None else sum(n or 0 for n in read),
        "total_cached_tokens": usage.cache_read,
        "total_output_tokens": None if usage.output is None else max(usage.output - (usage.reasoning or 0), 0),
        "total_thought_tokens": usage.reasoning,
    }
    known = _known_keys(counts)
    if usage.input is not None and usage.output is not None:
        known["total_tokens"] = known["total_input_tokens"] + usage.output
    return known


def _error(error: ApiError) -> Json:
    return _known_keys({"code": error.code, "message": error.message})


def _known_keys(keys: Json) -> Json:
    return {key: value for key, value in keys.items() if value is not None}


class StepWriter:
    """Writes the events of one stream. A thought stays open for further summaries and for its signature."""

    content_type = "text/event-stream"

    def __init__(self) -> None:
        self._about: Json = {}
        self._is_started = False
        self._index = -1
        self._thinks = False  # a thought is open
        self._kind = ""  # of the deltas of the open part
        self._is_open = False

    def start(self, response: ModelResponse) -> bytes:
        self._is_started = True
        self._about = _about(response)
        opening = _event("interaction.created", interaction={**self._about, "status": "in_progress"})
        update = {"interaction_id": response.id} if response.id is not None else {}
        return opening + _event("interaction.status_update", **update, status="in_progress")

    def choice(self, number: int) -> bytes:
        return b""

    def open(self, part: Part) -> bytes:
        self._is_open = True
        if isinstance(part, Reasoning):
            self._kind = "thought_summary"
            return b"" if self._thinks else self._begin({"type": "thought"}, thinks=True)
        ending = self._end_thought()
        if isinstance(part, ToolCallIR):
            self._kind = "arguments_delta"
            return ending + self._begin({**_call(part), "arguments": {}})
        self._kind = "text" if isinstance(part, Text) else ""
        return ending + self._begin({"type": "model_output"})

    def grow(self, text: str) -> bytes:
        if self._kind == "thought_summary":
            return self._delta({"type": self._kind, "content": {"type": "text", "text": text}})
        key = "arguments" if self._kind == "arguments_delta" else "text"
        return self._delta({"type": self._kind, key: text}) if self._kind else b""

    def close(self, part: Part) -> bytes:
        self._is_open = False
        if isinstance(part, Reasoning):
            if part.signature is None:
                return b""
            return self._delta({"type": "thought_signature", "signature": part.signature}) + self._end_thought()
        delta = self._delta(_content(part)) if isinstance(part, Media) else b""
        return delta + self._stop()

    def end(self, response: ModelResponse) -> bytes:
        """The last event says the status; without it the answer is not complete."""
        encoded = b"" if self._is_started or (response.error and not response.messages) else self.start(response)
        encoded += b"" if self._is_open and not response.is_complete else self._end_thought()
        if response.error:
            return encoded + _event("error", error=_error(response.error))
        if response.is_complete:
            encoded += _event("interaction.completed", interaction={**self._about, **_end(response)})
            encoded += b"event: done\ndata: [DONE]\n\n"
        return encoded

    def _begin(self, step: Json, *, thinks: bool = False) -> bytes:
        self._index += 1
        self._thinks = thinks
        return _event("step.start", index=self._index, step=step)

    def _delta(self, delta: Json) -> bytes:
        return _event("step.delta", index=self._index, delta=delta)

    def _stop(self) -> bytes:
        return _event("step.stop", index=self._index)

    def _end_thought(self) -> bytes:
        was, self._thinks = self._thinks, False
        return self._stop() if was else b""


def _event(kind: str, **value: JsonValue) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), dumps({**value, "event_type": kind}))


def encode_stream(response: ModelResponse, original: bytes) -> bytes:
    """The stream ``original``, saying ``response``. Raises LocalProtocolError."""
    return edit_stream(StepStreamDecoder, _everywhere, response_nodes, response, original, READ_OF_ANSWERS)


def _everywhere(change: LeafChange, decoder: StepStreamDecoder, events: Sequence[SseEvent]) -> Iterator[LeafChange]:
    """The change at each place that says the old value."""
    pointer = change.pointer + change.below
    if change.segments and not change.below and isinstance(change.old, str):
        places = [change.segments, *_places(pointer, change.old, decoder)]
        places = list(dict.fromkeys(places))
    else:
        places = list(_places(pointer, change.old, decoder))
    if not places:
        raise LocalProtocolError("this value cannot be changed in a stream", where=pointer)
    for segments in places:
        if isinstance(change.old, str) and isinstance(change.new, str):
            yield LeafChange(pointer, "", change.old, change.new, segments)
            continue
        event, place = segments[0]  # a value of another type is put below the object that holds it
        holder, _, key = place.rpartition("/")
        yield LeafChange(pointer, f"/{key}", change.old, change.new, (Segment(event, holder),))


def _places(pointer: str, old: JsonValue, decoder: StepStreamDecoder) -> Iterator[tuple[Segment, ...]]:
    _, first, *rest = pointer.split("/")
    if first != decoder.key or not rest:
        for value, event in decoder.interactions:
            found = value_or_missing(value, pointer)
            if type(found) is type(old) and found == old:
                yield (Segment(event, f"/interaction{pointer}"),)
        if pointer == "/id":
            yield from ((Segment(number, "/interaction_id"),) for number in decoder.mentions)
        return
    yield from order(decoder.steps)[int(rest[0])].places("".join(f"/{step}" for step in rest[1:]), old)
