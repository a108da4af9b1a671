"""Requests, answers and streams of Cohere's second API, written from normal form. Facts as in ``request``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.ir import (
    Carrier,
    JsonValue,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolResultIR,
    Usage,
)
from workbench.protocols._params import write_params
from workbench.protocols.cohere_v2.request import CHOICES, PLACES, SWITCH
from workbench.protocols.shapes.chat.tools import tool_json
from workbench.wire import dumps

_CHOICES = {mode: sent for sent, mode in CHOICES.items()}
_PLACES = {name: pointer for pointer, name in PLACES.items()}
_SWITCH = {mode: sent for sent, mode in SWITCH.items()}
_REASONS = {"stop": "COMPLETE", "tool_calls": "TOOL_CALL", "length": "MAX_TOKENS"}


def write_request(request: ModelRequest) -> JsonValue:
    """The body of a request."""
    body: dict[str, JsonValue] = {} if request.model is None else {"model": request.model}
    system = [{"role": "system", "content": _content(request.system)}] if request.system else []
    body["messages"] = [*system, *(value for message in request.messages for value in _messages(message))]
    if request.tools:
        body["tools"] = [{"type": "function", **tool_json(tool)} for tool in request.tools]
    if request.tool_choice is not None:
        body["tool_choice"] = _CHOICES[request.tool_choice.mode]
    if request.stream:
        body["stream"] = True
    if request.thinking is not None or "thinking_budget" in request.params:
        body["thinking"] = {"type": _SWITCH[request.thinking or "on"]}
    params = dict(request.params)
    schema, is_json = params.pop("response_schema", None), params.pop("response_json", None)
    if schema is not None or is_json:
        body["response_format"] = {"type": "json_object", **({"json_schema": schema["schema"]} if schema else {})}
    write_params(params, _PLACES, body)
    return body


def write_response(response: ModelResponse) -> JsonValue:
    """The body of a whole answer, or of an error."""
    if response.error is not None:
        return {"message": response.error.message}
    message = _answer(response.messages[0].parts if response.messages else (), is_answer=True)
    own = {} if response.id is None else {"id": response.id}
    return {**own, **_end(response), "message": message}


class EventWriter:
    """Writes the events of one stream, ended by ``message-end`` where the answer is complete or has failed."""

    content_type = "text/event-stream"

    def __init__(self) -> None:
        self._is_started = False
        self._contents = self._calls = -1
        self._kind = ""

    def start(self, response: ModelResponse) -> bytes:
        self._is_started = True
        own = {} if response.id is None else {"id": response.id}
        start = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        return _frame({**own, **_event("message-start", start)})

    def choice(self, number: int) -> bytes:
        return b""

    def open(self, part: Part) -> bytes:
        if isinstance(part, ToolCallIR):
            self._kind = "call"
            self._calls += 1
            call = _call(part)
            opening = {**call, "function": {**call["function"], "arguments": ""}}
            return _frame(_event("tool-call-start", {"tool_calls": opening}, self._calls))
        if isinstance(part, Reasoning) and part.carrier is Carrier.TOOL_PLAN:
            self._kind = "plan"
            return b""
        self._kind = kind = "thinking" if isinstance(part, Reasoning) else "text"
        self._contents += 1
        return _frame(_event("content-start", {"content": {"type": kind, kind: ""}}, self._contents))

    def grow(self, text: str) -> bytes:
        if self._kind == "plan":
            return _frame(_event("tool-plan-delta", {"tool_plan": text}))
        if self._kind == "call":
            return _frame(_event("tool-call-delta", {"tool_calls": {"function": {"arguments": text}}}, self._calls))
        return _frame(_event("content-delta", {"content": {self._kind: text}}, self._contents))

    def close(self, part: Part) -> bytes:
        if self._kind == "plan":
            return b""
        is_call = self._kind == "call"
        index = self._calls if is_call else self._contents
        return _frame({"type": "tool-call-end" if is_call else "content-end", "index": index})

    def end(self, response: ModelResponse) -> bytes:
        started = b"" if self._is_started else self.start(response)
        if response.error is not None:
            failed = {"error": response.error.message, "finish_reason": "ERROR"}
            return started + _frame({"type": "message-end", "delta": failed})
        return started + (_frame({"type": "message-end", "delta": _end(response)}) if response.is_complete else b"")


def _frame(event: dict[str, JsonValue]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (str(event["type"]).encode(), dumps(event))


def _event(kind: str, message: JsonValue, index: int | None = None) -> dict[str, JsonValue]:
    place = {} if index is None else {"index": index}
    return {"type": kind, **place, "delta": {"message": message}}


def _end(response: ModelResponse) -> dict[str, JsonValue]:
    reason = {} if response.stop is None else {"finish_reason": _REASONS[response.stop]}
    return {**reason, **({} if response.usage is None else {"usage": _usage(response.usage)})}


def _usage(usage: Usage) -> JsonValue:
    read = [n for n in (usage.input, usage.cache_read, usage.cache_write) if n is not None]
    tokens = {"input_tokens": sum(read) if read else None, "output_tokens": usage.output}
    cached = {} if usage.cache_read is None else {"cached_tokens": usage.cache_read}
    return {"tokens": {name: count for name, count in tokens.items() if count is not None}, **cached}


def _messages(message: Message) -> Iterator[JsonValue]:
    """A message; of the results of one answer, a message each, in their order."""
    if message.role == "assistant":
        yield _answer(message.parts)
    elif message.role != "tool":
        yield {"role": message.role, "content": _content(message.parts)}
    else:
        for part in message.parts:
            if isinstance(part, ToolResultIR):
                answered = {} if part.tool_call_id is None else {"tool_call_id": part.tool_call_id}
                yield {"role": "tool", **answered, "content": _content(part.content)}


def _answer(parts: Iterable[Part], *, is_answer: bool = False) -> dict[str, JsonValue]:
    """A message of the model; only in answers a single text is in a list, too."""
    message, content = dict[str, JsonValue](role="assistant"), list[Part]()
    calls, plans = list[JsonValue](), list[str]()
    for part in parts:
        if isinstance(part, ToolCallIR):
            calls.append(_call(part))
        elif isinstance(part, Reasoning) and part.carrier is Carrier.TOOL_PLAN:
            plans.append(part.text or "")
        else:
            content.append(part)
    if plans:
        message["tool_plan"] = "".join(plans)
    if content:
        message["content"] = [_block(part) for part in content] if is_answer else _content(content)
    if calls:
        message["tool_calls"] = calls
    return message


def _content(parts: Iterable[Part]) -> JsonValue:
    """A single text as a string, else a list of parts."""
    content = tuple(parts)
    if not content:
        return ""
    return content[0].text if len(content) == 1 and isinstance(content[0], Text) else [_block(part) for part in content]


def _block(part: Part) -> JsonValue:
    if isinstance(part, Media):
        url = part.url if part.data is None else f"data:{part.media_type or ''};base64,{part.data}"
        return {"type": "image_url", "image_url": {"url": url}}
    if isinstance(part, Reasoning):
        return {"type": "thinking", "thinking": part.text or ""}
    assert isinstance(part, Text)  # normal form has nothing else here
    return {"type": "text", "text": part.text}


def _call(call: ToolCallIR) -> JsonValue:
    own = {} if call.id is None else {"id": call.id}
    name = {} if call.name is None else {"name": call.name}
    return {**own, "type": "function", "function": {**name, "arguments": call.raw or ""}}
