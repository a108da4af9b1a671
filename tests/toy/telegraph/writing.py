"""New bodies from the IR in normal form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from telegraph.reading import ENDS, PARAMS, ROLES

from workbench.ir import JsonValue, Message, ModelRequest, ModelResponse, Part, Text, ToolCallIR, ToolResultIR
from workbench.wire.jsontext import dumps

_WHO = {role: who for who, role in ROLES.items()}
_ENDED = {stop: ended for ended, stop in ENDS.items()}
_KEYS = {name: key for key, name in PARAMS.items()}


def write_request(request: ModelRequest) -> JsonValue:
    """The body of a request."""
    body: dict[str, JsonValue] = {"operator": request.model or ""}
    if request.system:
        body["brief"] = _words(request.system)
    body["log"] = [entry for message in request.messages for entry in _entries(message)]
    if request.tools:
        body["can"] = [{"do": tool.name, "about": tool.description, "takes": tool.schema} for tool in request.tools]
    if request.stream:
        body["live"] = True
    return body | {_KEYS[name]: value for name, value in request.params.items()}


def write_response(response: ModelResponse) -> JsonValue:
    """The body of a response, or of an error."""
    if response.error is not None:
        return _fault(response)
    parts = response.messages[0].parts if response.messages else ()
    return {**_opening(response), "reply": _said(parts), **_ending(response)}


class StreamWriter:
    """Writes the events of a stream."""

    content_type = "text/event-stream"

    def start(self, response: ModelResponse) -> bytes:
        return _event("open", _opening(response))

    def choice(self, number: int) -> bytes:
        return b""

    def open(self, part: Part) -> bytes:
        self._kind = "orders" if isinstance(part, ToolCallIR) else "words"
        return _event("errand", {"ticket": part.id, "do": part.name}) if isinstance(part, ToolCallIR) else b""

    def grow(self, text: str) -> bytes:
        return _event(self._kind, {"add": text})

    def close(self, part: Part) -> bytes:
        return b""

    def end(self, response: ModelResponse) -> bytes:
        if response.error is not None:
            return _event("fault", _fault(response))
        return _event("close", _ending(response)) if response.is_complete else b""


def _event(name: str, value: JsonValue) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), dumps(value))


def _entries(message: Message) -> Iterator[JsonValue]:
    """The entries of a message; each tool result is an entry of its own."""
    if message.role != "tool":
        yield {"who": _WHO[message.role], **_said(message.parts)}
    for part in message.parts:
        if isinstance(part, ToolResultIR):
            yield {"who": "errand", "ticket": part.tool_call_id, "words": _words(part.content)}


def _said(parts: Iterable[Part]) -> dict[str, JsonValue]:
    held = tuple(parts)
    calls = [{"ticket": p.id, "do": p.name, "with": p.input} for p in held if isinstance(p, ToolCallIR)]
    words = _words(held)
    return ({"words": words} if words else {}) | ({"errands": calls} if calls else {})


def _words(parts: Iterable[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text))


def _opening(response: ModelResponse) -> dict[str, JsonValue]:
    return {"telegram": response.id or "", "operator": response.model or ""}


def _ending(response: ModelResponse) -> dict[str, JsonValue]:
    toll = {} if response.usage is None else {"toll": {"heard": response.usage.input, "sent": response.usage.output}}
    return {"ended": _ENDED.get(response.stop or "stop", "done"), **toll}


def _fault(response: ModelResponse) -> JsonValue:
    error = response.error
    return {"fault": {"kind": error.type, "message": error.message}} if error else {}
