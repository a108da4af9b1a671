"""Requests of Ollama's own API: ``/api/chat`` and its older sister ``/api/generate``.

Facts: ``api/types.go`` (``ChatRequest``, ``GenerateRequest``, ``Options``) and ``docs/api.md`` of Ollama, ``_types.py``
of the ``ollama`` client 0.6. ``stream`` counts as true where it is absent. Neither tools can be chosen nor parallel
calls be switched off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.errors import ProtocolMismatch
from workbench.ir import NOTHING, JsonValue, Message, ModelRequest, Opaque, Part, Source, Text
from workbench.protocols._params import Param, read_params
from workbench.protocols.common.reading import ITSELF, VERBATIM, BlockReader, Notes, read_messages
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.ollama.message import read_content, read_images, read_message
from workbench.protocols.shapes.chat.tools import read_tools, tool_json
from workbench.wire import type_name, type_words

PROTOCOL = "ollama"

_IR_KEYS: Mapping[str, type] = {"model": str, "messages": list, "tools": list, "stream": bool}
_IR_KEYS_OF_PROMPT: Mapping[str, type] = {
    "model": str,
    "prompt": object,
    "system": object,
    "images": list,
    "stream": bool,
}
"""Keys that have a field of the IR to themselves, and the type they have to be of to fit into it."""

PLACES: Mapping[str, str] = {
    "/options/num_predict": "max_tokens",
    "/options/temperature": "temperature",
    "/options/top_p": "top_p",
    "/options/top_k": "top_k",
    "/options/stop": "stop",
    "/options/seed": "seed",
    "/options/frequency_penalty": "frequency_penalty",
    "/options/presence_penalty": "presence_penalty",
}
"""Pointer of a parameter → its common name. ``think`` and ``format`` hold more than one thing."""


def read_request(body: JsonValue, known: KnownMessages | None = None) -> ModelRequest:
    """The request that a parsed body is; with ``known``, it holds the texts of its messages.

    Raises:
        ProtocolMismatch: it has neither ``messages`` nor ``prompt``.
    """
    if not isinstance(body, dict) or ("messages" not in body and "prompt" not in body):
        raise ProtocolMismatch("not a request of this protocol: expected an object with 'messages' or 'prompt'")
    notes, model = Notes(), body.get("model")
    is_chat = "messages" in body
    messages = read_messages(body["messages"], notes, read_message, known) if is_chat else (_prompt(body, notes),)
    ir_keys = _IR_KEYS if is_chat else _IR_KEYS_OF_PROMPT
    return ModelRequest(
        protocol=PROTOCOL,
        model=model if isinstance(model, str) else None,
        messages=messages,
        system=() if is_chat else _system(body.get("system"), notes),
        tools=tuple(read_tools(body, "tools", notes)) if is_chat else (),
        stream=body.get("stream") is not False,
        thinking=_thinking(body.get("think")),
        params={k: v for k, v in body.items() if v is None or not isinstance(v, ir_keys.get(k, ()))} or NOTHING,
        anomalies=tuple(notes.anomalies),
    )


def find_params(request: ModelRequest) -> Iterator[Param]:
    """Every parameter that has no field of the request."""
    for param in read_params(request.params, PLACES):
        if param.name == "max_tokens" and isinstance(param.value, int) and param.value < 0:
            yield Param(param.pointer, param.value)  # -1: no limit, -2: until the context is full
        elif param.pointer == "/think" and isinstance(param.value, str):
            yield Param("/think", param.value, "effort")
        elif param.pointer == "/format" and isinstance(param.value, dict):
            yield Param("/format", {"schema": param.value}, "response_schema")
        elif param.pointer == "/format" and param.value == "json":
            yield Param("/format", True, "response_json")
        elif not (param.pointer == "/think" and isinstance(param.value, bool)):
            yield param


def _prompt(body: Mapping[str, JsonValue], notes: Notes) -> Message:
    """The prompt of ``/api/generate`` as the message that it is."""
    block = BlockReader({k: v for k, v in body.items() if k in ("prompt", "images")}, "", notes)
    return Message("user", (*read_content(block, "prompt", is_said=False), *read_images(block)))


def _system(value: JsonValue, notes: Notes) -> tuple[Part, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (Text(value, source=Source("/system", ITSELF)),)
    notes.shape(f"'system' is {type_words(value)}, not a string", "/system")
    return (Opaque(type_name(value), value, Source("/system", VERBATIM)),)


def _thinking(value: JsonValue) -> str | None:
    """``think`` is a switch, or thinking effort."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return "on" if isinstance(value, str) and value else None


def request_nodes(request: ModelRequest) -> tuple[Message, ...]:
    """A request as nodes that can be compared: its keys and its tools in the form of messages."""
    keys = ({} if request.model is None else {"model": request.model}) | dict(request.params)
    tools = (Message("", (), extra=tool_json(tool), pointer=tool.pointer) for tool in request.tools)
    return (Message("", request.system, extra=keys), *tools, *request.messages)
