"""Requests and responses of the Realtime API: the items of Responses, with other content parts.

Facts: ``types/realtime`` of the official ``openai`` SDK 3.54. Audio is a content part of type ``output_audio`` or
``input_audio`` (``audio`` before the API left beta), with a transcript, and in events without its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbench.ir import (
    NOTHING,
    ApiError,
    JsonValue,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Opaque,
    Part,
    Source,
    Text,
    Usage,
)
from workbench.protocols._params import Param, read_params
from workbench.protocols.common.error_body import read_answer_body, read_error, verbatim
from workbench.protocols.common.reading import VERBATIM, BlockReader, Notes, count_at, nested_usage, string_or_none
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.openai_realtime.declaration import PROTOCOL
from workbench.protocols.shapes.items.item import Reader, read_item, read_output
from workbench.protocols.shapes.items.request import read_items_request

SPOKEN = ("output_audio", "audio")
"""Types of a content part that holds what the model spoke."""

PLACES: Mapping[str, str] = {
    "/max_output_tokens": "max_tokens",
    "/max_response_output_tokens": "max_tokens",
}
"""Pointer of each parameter → common name."""

_LENGTHS = ("/max_output_tokens", "/max_response_output_tokens")
_REASONS = {"max_output_tokens": "length", "content_filter": "filter"}
_IR_KEYS = ("id", "output", "usage", "error", "status")


def _audio(block: BlockReader, default_type: str) -> Part | None:
    """The transcript of spoken audio; else the audio, or its description."""
    kind = block.value["type"]
    if isinstance(block.value.get("transcript"), str):
        text = block.take("text", "transcript")
        return Text(text, extra=block.extra(typed=True), source=block.source())
    if isinstance(block.value.get("audio"), str):
        data = block.string("data", "audio")
        return Media("audio", None, data, extra=block.extra(typed=True), source=block.source())
    return Opaque(kind, block.value, Source(block.at, VERBATIM))


_AUDIO: Mapping[str, Reader] = dict.fromkeys((*SPOKEN, "input_audio"), _audio)


def read_conversation_item(value: JsonValue, pointer: str, notes: Notes) -> Message:
    """One item of a conversation."""
    return read_item(value, pointer, notes, _AUDIO)


def read_output_item(value: JsonValue, pointer: str, notes: Notes) -> Message:
    """One item of a response."""
    return read_output(value, pointer, notes, _AUDIO)


def read_request(body: JsonValue, known: KnownMessages | None = None) -> ModelRequest:
    """The request that a parsed body is; with ``known``, it holds the texts of its items. Raises ProtocolMismatch."""
    return read_items_request(body, known, PROTOCOL, read_conversation_item)


def params_of(request: ModelRequest) -> Iterator[Param]:
    """Each parameter of a request. No limit is written ``"inf"``."""
    own = {key: value for key, value in request.params.items() if not (f"/{key}" in _LENGTHS and value == "inf")}
    return iter(read_params(own, dict(PLACES)))


def read_response(body: bytes, status: int) -> ModelResponse:
    """The response in a whole body, or the error in its place. Raises WireError, ProtocolMismatch."""
    return read_answer_body(body, status, PROTOCOL, _read, "'output'")


def _read(body: JsonValue) -> ModelResponse | None:
    if not isinstance(body, dict) or not isinstance(body.get("output"), list):
        return None
    notes = Notes()
    messages = tuple(read_output_item(item, f"/output/{n}", notes) for n, item in enumerate(body["output"]))
    is_complete = body.get("status") != "in_progress"
    error, found = failure_of(body), tuple(notes.anomalies)
    return describe(body, messages, is_complete=is_complete, error=error, anomalies=found)


def failure_of(body: Mapping[str, JsonValue]) -> ApiError | None:
    """The error of a response that failed."""
    details = body.get("status_details")
    error = details.get("error") if isinstance(details, dict) else None
    if not error:
        return None
    return read_error({"error": error}) or verbatim(error)


def describe(body: Mapping[str, JsonValue], messages: tuple[Message, ...], **fields: Any) -> ModelResponse:
    """A response: its items and the keys next to them."""
    reason = _finish_reason(body)
    return ModelResponse(
        PROTOCOL,
        id=string_or_none(body.get("id")),
        messages=messages,
        finish_reason=reason,
        stop=_stop(body, reason, messages),
        usage=_usage(body.get("usage")),
        params=_rest(body, reason),
        itemized=True,
        **fields,
    )


def _finish_reason(body: Mapping[str, JsonValue]) -> str | None:
    """Why a response ended, where it says so; else its status."""
    details = body.get("status_details")
    reason = string_or_none(details.get("reason")) if isinstance(details, dict) else None
    return string_or_none(body.get("status")) if reason is None else reason


def _stop(body: Mapping[str, JsonValue], reason: str | None, messages: Iterable[Message]) -> str | None:
    if reason is None or body.get("status") == "in_progress":
        return None
    if reason != "completed":
        return _REASONS.get(reason, "other")
    return "tool_calls" if any(True for message in messages for _ in message.tool_calls()) else "stop"


def _rest(body: Mapping[str, JsonValue], reason: str | None) -> Mapping[str, JsonValue]:
    """Every key without a field in the IR."""
    rest = {key: value for key, value in body.items() if key not in _IR_KEYS}
    details, status = body.get("status_details"), body.get("status")
    if isinstance(details, dict):
        rest["status_details"] = {key: value for key, value in details.items() if key not in ("reason", "error")}
    if status is not None and status != reason:
        rest["status"] = status
    return rest or NOTHING


def _usage(value: JsonValue) -> Usage | None:
    """Token counts: cached tokens are counted into the input."""
    if not isinstance(value, dict):
        return None
    asked, output, total = (count_at(value, f"{name}_tokens") for name in ("input", "output", "total"))
    cached = count_at(value.get("input_token_details"), "cached_tokens")
    reasoning = count_at(value.get("output_token_details"), "reasoning_tokens")
    return nested_usage(value, asked, output, cached=cached, cache_writes=None, reasoning=reasoning, total=total)


def response_nodes(response: ModelResponse) -> tuple[Message, ...]:
    """The keys of a response, its items."""
    keys = dict(response.params) | ({} if response.id is None else {"id": response.id})
    details = response.params.get("status_details")
    if isinstance(details, dict) and "status" in response.params:
        keys["status_details"] = {**details, "reason": response.finish_reason}
    elif response.finish_reason is not None:
        keys["status"] = response.finish_reason
    if response.usage:
        keys["usage"] = response.usage.raw
    return (Message("", (), keys), *response.messages)
