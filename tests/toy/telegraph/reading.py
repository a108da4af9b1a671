"""Requests and whole responses, from JSON to the IR. Each node keeps the pointer that it was read from."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import ProtocolMismatch
from workbench.ir import (
    ApiError,
    JsonValue,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    Source,
    Text,
    ToolCallIR,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols.common.error_body import read_answer_body
from workbench.protocols.common.reading import ITSELF, BlockReader, Notes, read_messages
from workbench.protocols.known_messages import KnownMessages
from workbench.wire import type_name

PARAMS: Mapping[str, str] = {"limit": "max_tokens", "warmth": "temperature"}
"""Key of the request → common name of the parameter."""

ROLES: Mapping[str, str] = {"caller": "user", "operator": "assistant", "errand": "tool"}
"""Who wrote an entry of the log → role."""

ENDS: Mapping[str, str] = {"done": "stop", "errands": "tool_calls", "full": "length"}
"""Why a telegram ended → the common finish reason."""

_OWN = ("operator", "brief", "log", "live", "can")


def read_request(value: JsonValue, known: KnownMessages | None = None) -> ModelRequest:
    """The request in a parsed body. Raises ProtocolMismatch."""
    if not isinstance(value, dict) or "log" not in value:
        raise ProtocolMismatch("a telegraph request has a log")
    notes = Notes()
    brief, operator = value.get("brief"), value.get("operator")
    return ModelRequest(
        protocol="telegraph",
        model=operator if isinstance(operator, str) else None,
        messages=read_messages(value["log"], notes, read_entry, known, "log"),
        system=(Text(brief, source=Source("/brief", ITSELF)),) if isinstance(brief, str) else (),
        tools=tuple(_tool(tool, f"/can/{n}") for n, tool in enumerate(_objects(value.get("can")))),
        stream=value.get("live") is True,
        params={key: inner for key, inner in value.items() if key not in _OWN},
        anomalies=tuple(notes.anomalies),
    )


def read_entry(value: JsonValue, pointer: str, notes: Notes) -> Message:
    """One entry of a log, or the reply of a telegram (which names nobody)."""
    notes.base = pointer
    if not isinstance(value, dict):
        notes.shape(f"an entry that is {type_name(value)}", "")
        return Message("", (), pointer=pointer)
    entry = BlockReader(value, "", notes)
    role = ROLES.get(str(entry.take("role", "who") or "operator"), str(value.get("who")))
    if role == "tool":
        ticket = entry.string("tool_call_id", "ticket")
        words = entry.string("words", "words")
        content = () if words is None else (Text(words, source=Source("/words", ITSELF)),)
        source = Source("", {"tool_call_id": "/ticket"})
        return Message(role, (ToolResultIR(ticket, content, source=source),), entry.extra(), pointer)
    words = entry.string("text", "words")
    said: list[Part] = [Text(words, source=Source("/words", ITSELF))] if words else []
    calls = [read_errand(call, f"/errands/{n}", notes) for n, call in enumerate(entry.elements("errands"))]
    return Message(role, (*said, *calls), entry.extra(), pointer)


def read_errand(value: JsonValue, at: str, notes: Notes) -> ToolCallIR:
    """A tool call."""
    call = BlockReader(value if isinstance(value, dict) else {}, at, notes)
    id, name, given = call.string("id", "ticket"), call.string("name", "do"), call.take("input", "with")
    return ToolCallIR(id, name, given, "telegraph", extra=call.extra(), source=call.source())


def read_response(body: bytes, status: int) -> ModelResponse:
    """The response in a whole body, or the error in its place. Raises WireError, ProtocolMismatch."""
    return read_answer_body(body, status, "telegraph", read_telegram, "'telegram'", read_fault)


def read_fault(value: JsonValue) -> ApiError | None:
    """The error that a body or an event is: ``{"fault": {"kind": …, "message": …}}``."""
    fault = value.get("fault") if isinstance(value, dict) else None
    if not isinstance(fault, dict):
        return None
    return ApiError(str(fault.get("message")), type=fault.get("kind"), raw=value, pointer="/fault/message")


def read_telegram(value: JsonValue) -> ModelResponse | None:
    """The response that a parsed body is; None for another body."""
    if not isinstance(value, dict) or "telegram" not in value:
        return None
    notes = Notes()
    message = read_entry(value.get("reply", {}), "/reply", notes)
    return describe(value, (message,), notes)


def describe(value: Mapping[str, JsonValue], messages: tuple[Message, ...], notes: Notes) -> ModelResponse:
    """A response from its members; the same for a body and for the events of a stream put together."""
    ended, toll = value.get("ended"), value.get("toll")
    counts = toll if isinstance(toll, dict) else {}
    return ModelResponse(
        protocol="telegraph",
        id=value.get("telegram"),
        model=value.get("operator"),
        messages=messages,
        finish_reason=ended,
        stop=ENDS.get(ended, "other") if isinstance(ended, str) else None,
        usage=Usage(counts.get("heard"), counts.get("sent"), raw=counts) if counts else None,
        anomalies=tuple(notes.anomalies),
    )


def _tool(value: Mapping[str, JsonValue], pointer: str) -> ToolDef:
    return ToolDef(value.get("do"), value.get("about"), value.get("takes"), pointer=pointer)


def _objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [inner for inner in value if isinstance(inner, dict)] if isinstance(value, list) else []
