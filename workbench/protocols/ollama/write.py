"""Requests, answers and streams in the form of Ollama's own API, written from normal form.

Facts as in ``request`` and ``response``. The content of a message is one string.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

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
from workbench.protocols.ollama.message import CALLER, RESULT
from workbench.protocols.ollama.request import PLACES
from workbench.protocols.shapes.chat.tools import tool_json
from workbench.wire import dumps

_REASONS = {"stop": "stop", "tool_calls": "stop", "length": "length"}
_PLACES = {name: pointer for pointer, name in PLACES.items()}
UNKNOWN: Mapping[str, JsonValue] = {"model": "", "created_at": "1970-01-01T00:00:00Z"}
"""Fields that clients expect in a response → default value."""


def write_request(request: ModelRequest) -> JsonValue:
    """The body of a request to ``/api/chat``."""
    body: dict[str, JsonValue] = {} if request.model is None else {"model": request.model}
    system = [{"role": "system", **_message(request.system)}] if request.system else []
    body["messages"] = [*system, *(value for message in request.messages for value in _messages(message))]
    if request.tools:
        body["tools"] = [{"type": "function", **tool_json(tool)} for tool in request.tools]
    body["stream"] = request.stream
    params = dict(request.params)
    if request.thinking is not None:
        body["think"] = request.thinking == "on"
    effort = params.pop("effort", None)
    if effort is not None and request.thinking != "off":
        body["think"] = effort
    if params.pop("response_json", None):
        body["format"] = "json"
    schema = params.pop("response_schema", None)
    if schema is not None:
        body["format"] = schema["schema"]
    write_params(params, _PLACES, body)
    return body


def write_response(response: ModelResponse) -> JsonValue:
    """The body of a whole answer, or of an error."""
    if response.error is not None:
        return {"error": response.error.message}
    parts = response.messages[0].parts if response.messages else ()
    return {**_envelope(response), "message": _piece(parts), **_end(response)}


class LineWriter:
    """Writes the lines of a stream: pieces of thinking and text, whole calls, then the line that is done."""

    content_type = "application/x-ndjson"

    def __init__(self) -> None:
        self._about: dict[str, JsonValue] = {}
        self._key = ""
        self._has_said = False

    def start(self, response: ModelResponse) -> bytes:
        self._about = _envelope(response)
        return b""

    def choice(self, number: int) -> bytes:
        return b""

    def open(self, part: Part) -> bytes:
        is_thought = isinstance(part, Reasoning) and not _is_inside(part)
        self._key = "thinking" if is_thought else "content" if isinstance(part, Text | Reasoning) else ""
        return self._line({"content": "<think>"}) if _is_inside(part) else b""

    def grow(self, text: str) -> bytes:
        return self._line({self._key: text}) if self._key else b""

    def close(self, part: Part) -> bytes:
        if _is_inside(part):
            return self._line({"content": "</think>"})
        return b"" if self._key else self._line(_message((part,)))

    def end(self, response: ModelResponse) -> bytes:
        if response.error is not None:
            return dumps({"error": response.error.message}) + b"\n"
        self._about = _envelope(response)
        if response.is_complete:
            return dumps({**self._about, "message": _piece(()), **_end(response)}) + b"\n"
        return b"" if self._has_said else self._line({})

    def _line(self, message: Mapping[str, JsonValue]) -> bytes:
        self._has_said = True
        return dumps({**self._about, "message": {**_piece(()), **message}, "done": False}) + b"\n"


def _piece(parts: Iterable[Part]) -> dict[str, JsonValue]:
    """An answer, or what one line of it carries; servers never leave out the content."""
    return {"role": CALLER, "content": "", **_message(parts)}


def _envelope(response: ModelResponse) -> dict[str, JsonValue]:
    return {**UNKNOWN, **({} if response.model is None else {"model": response.model})}


def _end(response: ModelResponse) -> dict[str, JsonValue]:
    reason = {} if response.stop is None else {"done_reason": _REASONS[response.stop]}
    return {"done": response.is_complete, **reason, **_counts(response.usage)}


def _counts(usage: Usage | None) -> dict[str, JsonValue]:
    if usage is None:
        return {}
    read = [n for n in (usage.input, usage.cache_read, usage.cache_write) if n is not None]
    found = {"prompt_eval_count": sum(read) if read else None, "eval_count": usage.output}
    return {name: count for name, count in found.items() if count is not None}


def _messages(message: Message) -> Iterator[Mapping[str, JsonValue]]:
    """A message; of the results of one answer, a message each, in their order."""
    if message.role != RESULT:
        yield {"role": message.role, **_message(message.parts)}
        return
    for part in message.parts:
        if isinstance(part, ToolResultIR):
            name = {} if part.name is None else {"tool_name": part.name}
            yield {"role": RESULT, "content": "", **_message(part.content), **name}


def _message(parts: Iterable[Part]) -> dict[str, JsonValue]:
    """Members of a message, each kind of part at its key."""
    content = tuple(parts)
    texts = [_text(part) for part in content if isinstance(part, Text) or _is_inside(part)]
    thoughts = [part.text or "" for part in content if isinstance(part, Reasoning) and not _is_inside(part)]
    message: dict[str, JsonValue] = {}
    if texts:
        message["content"] = "".join(texts)
    if thoughts:
        message["thinking"] = "".join(thoughts)
    images = [part.data for part in content if isinstance(part, Media)]
    if images:
        message["images"] = images
    calls = [_call(part) for part in content if isinstance(part, ToolCallIR)]
    if calls:
        message["tool_calls"] = calls
    return message


def _is_inside(part: Part) -> bool:
    """Reasoning that is inside the text."""
    return isinstance(part, Reasoning) and part.carrier is Carrier.THINK_TEXT


def _text(part: Part) -> str:
    text = part.text or "" if isinstance(part, Text | Reasoning) else ""
    return f"<think>{text}</think>" if _is_inside(part) else text


def _call(call: ToolCallIR) -> JsonValue:
    return {"function": {"name": call.name, "arguments": call.input}}
