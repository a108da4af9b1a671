"""The request after an answer: the bytes of the previous one with the answer and the results inserted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from workbench import protocols
from workbench.edits import with_body
from workbench.errors import LocalProtocolError
from workbench.ir import NOTHING, JsonValue, Media, Message, Opaque, Part, Text, ToolCallIR, ToolResultIR
from workbench.protocols import Adapter, DecodedExchange
from workbench.send.loop.answer_values import normal_calls, value_at, write_messages
from workbench.send.loop.steps import CallResult
from workbench.toolcalls import formats
from workbench.wire import HttpRequest, dumps, loads, patch

LEGACY = "openai-function-call"
"""Format of the single call of a message from before calls had ids."""


class NextRequest(NamedTuple):
    """A request with its additions: the new elements, and the pointer of their list."""

    request: HttpRequest
    pointer: str
    added: tuple[JsonValue, ...]


def next_request(decoded: DecodedExchange, said: Sequence[JsonValue], told: Sequence[JsonValue]) -> NextRequest:
    """The next request.

    Args:
        decoded: the previous exchange.
        said: elements of the answer.
        told: elements for the model: results, or a user message. A request that refers to the previous response by id,
            instead of repeating the history, gets only these.

    Raises:
        LocalProtocolError: nothing can be inserted into the body.
    """
    request, http = decoded.request, decoded.exchange.request
    assert request is not None and http is not None
    adapter, text = protocols.get(request.protocol), decoded.request_text
    pointer = _list_of(adapter)
    held = value_at(loads(text), pointer)
    if request.previous_id is not None:
        made = patch.apply(_after_answer(adapter, decoded), [patch.Replace(pointer, list(told))])
        return NextRequest(with_body(http, made, text), pointer, tuple(told))
    new = (*said, *told)
    if isinstance(held, list):
        changes: list[patch.Change] = [patch.Insert(f"{pointer}/-", value) for value in new]
    elif held is None:
        is_there = decoded.request_index.span(pointer) is not None
        changes = [(patch.Replace if is_there else patch.Insert)(pointer, list(new))]
    else:
        asked = [held] if isinstance(held, dict) else user_values(adapter, str(held))
        changes = [patch.Replace(pointer, [*asked, *new])]
    return NextRequest(with_body(http, patch.apply(text, changes), text), pointer, new)


def _list_of(adapter: Adapter) -> str:
    """Pointer of a protocol's list of messages: "/messages"."""
    _, request = write_messages(adapter, (Message("user", (Text("-"),)),))
    return "/" + request.messages[0].pointer.split("/")[1]


def _after_answer(adapter: Adapter, decoded: DecodedExchange) -> bytes:
    """The body with the id of this response in place of the previous one; a conversation id stays."""
    request, response = decoded.request, decoded.response
    assert request is not None
    if response is None or response.id is None:
        raise LocalProtocolError("the response has no id, but the request refers to the previous response by id")
    try:
        return adapter.encode_request(replace(request, previous_id=response.id), decoded.request_text)
    except LocalProtocolError:
        return decoded.request_text


def result_values(adapter: Adapter, calls: Sequence[ToolCallIR], results: Sequence[CallResult]) -> list[JsonValue]:
    """Results of the calls of one answer, in order, as elements of the protocol."""
    plain = [(c, r) for c, r in zip(calls, results, strict=True) if r.element is None]
    made = [_result(adapter, call, result) for call, result in plain]
    asked = Message("assistant", normal_calls([call for call, _ in plain]))
    body, request = write_messages(adapter, (asked, Message("tool", tuple(made))))
    holders = [m for m in request.messages if any(m.tool_results())]
    values = [value_at(body, message.pointer) for message in holders]
    if any(call.format == LEGACY for call in calls):
        values = [_legacy(value, call) for value, (call, _) in zip(values, plain, strict=True)]
    for number, (call, result) in enumerate(zip(calls, results, strict=True)):
        if result.element is not None:
            values.insert(number, _of_call(result.element, call))
    return values


def _legacy(value: JsonValue, call: ToolCallIR) -> JsonValue:
    """Result of the deprecated call without an id: it names the function."""
    return {**value, "role": "function", "name": call.name}


def _of_call(element: JsonValue, call: ToolCallIR) -> JsonValue:
    """A recorded element with the id of the call that it answers now."""
    named = isinstance(element, dict) and "call_id" in element and call.id is not None
    return {**element, "call_id": call.id} if named else element


def text_result_values(
    adapter: Adapter, parser: str, calls: Sequence[ToolCallIR], results: Sequence[CallResult]
) -> list[JsonValue]:
    """Results of calls made in text: rendered by their format, as a user message."""
    made = (
        ToolResultIR(call.id, tuple(_as_text(p) for p in result.content), result.is_error or None, call.name)
        for call, result in zip(calls, results, strict=True)
    )
    return user_values(adapter, formats.get(parser).render_results(list(made)))


def user_values(adapter: Adapter, text: str) -> list[JsonValue]:
    """A user message, as elements of the list."""
    body, request = write_messages(adapter, (Message("user", (Text(text),)),))
    return [value_at(body, message.pointer) for message in request.messages]


def _result(adapter: Adapter, call: ToolCallIR, result: CallResult) -> ToolResultIR:
    able = adapter.capabilities
    content = tuple(_fit_part(adapter, part) for part in result.content)
    if (
        result.is_error
        and not able.tools.error_flag
        and not result.parts
        and not result.text.startswith(("{", "Error"))
    ):
        content = (Text(f"Error: {result.text}"),)
    return ToolResultIR(call.id, content, True if result.is_error and able.tools.error_flag else None, call.name)


def _fit_part(adapter: Adapter, part: Part) -> Part:
    """A part of a recorded result in a form that this protocol supports; else as text."""
    able = adapter.capabilities
    if isinstance(part, Text):
        return Text(part.text)
    if isinstance(part, Media) and part.kind in able.media.in_results:
        return replace(part, extra=NOTHING)
    if isinstance(part, Opaque) and part.type == "json" and able.tools.json_results:
        return part
    return _as_text(part)


def _as_text(part: Part) -> Text:
    if isinstance(part, Text):
        return Text(part.text)
    if isinstance(part, Opaque):
        return Text(dumps(part.value).decode("utf-8", "replace"))
    return Text(f"({getattr(part, 'kind', 'something')} removed: not supported in a result here)")
