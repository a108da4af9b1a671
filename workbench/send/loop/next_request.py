"""The request after an answer: the bytes of the previous one with the answer, as received, and the results inserted."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from workbench import protocols, regex
from workbench.convert import normal_response
from workbench.edits import with_body
from workbench.errors import LocalProtocolError, ProtocolMismatch, WireError
from workbench.ir import (
    NOTHING,
    Carrier,
    JsonValue,
    Media,
    Message,
    ModelRequest,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolResultIR,
)
from workbench.lazy_dataclass import replace
from workbench.protocols import Adapter, DecodedExchange
from workbench.send.loop.steps import CallResult
from workbench.toolcalls import formats
from workbench.wire import HttpRequest, dumps, loads, patch, value_at, without_repeated_prefix

_LAST_EVENTS = 3
"""Number of events at the end of a stream that may contain the whole answer."""

_EMPTY_TAGS = regex.compile(r"<think(?:ing)?>\s*</think(?:ing)?>\s*")
_PLACEHOLDER = "\N{OBJECT REPLACEMENT CHARACTER}"


def answer_values(
    decoded: DecodedExchange, unwanted: Collection[str] = (), *, only_first_call: bool = False
) -> list[JsonValue]:
    """Elements that an answer adds to the list of messages of the next request; only of its first choice.

    Args:
        decoded: has a response without an error.
        unwanted: carriers that the provider refuses.
        only_first_call: remove the other calls.
    """
    response = decoded.response
    if response is None or not response.choices:
        return []
    messages = response.choices[0]
    body = _complete_body(decoded)
    if body is None:
        return _encode_streamed(decoded, unwanted, only_first_call=only_first_call)
    parts: list[Part] = [part for m in messages for _, part in m.reasoning() if part.carrier in unwanted]
    if only_first_call:
        parts += [call for m in messages for _, call in m.tool_calls()][1:]
    return [v for message in messages if (v := _message_without(body, message, parts)) is not None]


def _complete_body(decoded: DecodedExchange) -> JsonValue:
    """Body of the response; of a stream, the complete answer from one of its last events; None if there is none.

    None too where a request has another form for what the model said.
    """
    assert decoded.response is not None
    if protocols.traits(decoded.response.protocol).answer_form_differs:
        return None
    if not decoded.events:
        return loads(decoded.response_text)
    adapter, messages = protocols.get(decoded.response.protocol), decoded.response.messages
    for event in reversed(decoded.events[-_LAST_EVENTS:]):
        for value in _objects(event.data):
            try:
                if adapter.decode_response(dumps(value)).messages == messages:
                    return value
            except (WireError, ProtocolMismatch):
                continue
    return None


def _objects(data: bytes | None) -> Iterator[JsonValue]:
    """The data of an event, and the objects in it."""
    try:
        value = loads(without_repeated_prefix(data)) if data else None
    except WireError:
        return
    if isinstance(value, dict):
        yield value
        yield from (inner for inner in value.values() if isinstance(inner, dict))


def _message_without(body: JsonValue, message: Message, unwanted: Collection[Part]) -> JsonValue:
    """A message of the body without unwanted parts; None if nothing remains."""
    value = copy.deepcopy(value_at(body, message.pointer))
    if not isinstance(value, dict):
        return value
    if not message.pointer:  # the body is the message, and more than that
        message_keys = {"role", *(_first_key(part) for part in message.parts)}
        value = {key: inner for key, inner in value.items() if key in message_keys}
    unwanted_parts = [p for p in message.parts if any(p is other for other in unwanted)]
    if any(not p.source.pointer for p in unwanted_parts):
        return None
    for part in sorted(unwanted_parts, key=_place, reverse=True):
        _remove(value, part)
    if message.role and "role" not in value and "type" not in value:
        value["role"] = message.role
    return value


def _first_key(part: Part) -> str:
    return part.source.pointer.split("/")[1] if part.source.pointer else ""


def _place(part: Part) -> tuple[int, ...]:
    """Position of a part in its list and in its text, for sorting."""
    numbers = [int(step) for step in part.source.pointer.split("/") if step.isdecimal()]
    return (*numbers, *part.source.slices.get("text", ()))


def _remove(value: dict[str, Any], part: Part) -> None:
    """Remove a part from a message: a slice of a text, an element of a list, or a member beside the content."""
    steps = part.source.pointer.split("/")[1:]
    member = value.get(steps[0])
    if "text" in part.source.slices:
        start, end = part.source.slices["text"]
        holder, key = (member[int(steps[1])], steps[2]) if len(steps) > 2 else (value, steps[0])  # type: ignore[index]
        holder[key] = _EMPTY_TAGS.sub("", holder[key][:start] + holder[key][end:])
    elif steps[0] in ("content", "parts", "tool_calls") and isinstance(member, list) and len(steps) > 1:
        del member[int(steps[1])]
    else:
        value.pop(steps[0], None)


# -- streams


def _encode_streamed(
    decoded: DecodedExchange, unwanted: Collection[str], *, only_first_call: bool = False
) -> list[JsonValue]:
    """The message assembled from a stream, as the protocol writes it."""
    assert decoded.response is not None
    adapter = protocols.get(decoded.response.protocol)
    whole = normal_response(decoded.response).response.messages[0]
    parts = [p for p in whole.parts if not (isinstance(p, Reasoning) and p.carrier in unwanted)]
    if only_first_call:
        first = next((p for p in parts if _is_call(p)), None)
        parts = [p for p in parts if p is first or not _is_call(p)]
    as_they_came = {
        f"{_PLACEHOLDER}{n}": _first_event_value(decoded, p) for n, p in enumerate(parts) if _is_outside_normal_form(p)
    }
    marked: list[Part] = [Text(f"{_PLACEHOLDER}{n}") if _is_outside_normal_form(p) else p for n, p in enumerate(parts)]
    if not adapter.capabilities.answer.interleaved:
        marked = [p for p in marked if not (isinstance(p, Text) and p.text in as_they_came)]
    body, request = write_messages(adapter, (Message("assistant", tuple(marked)),))
    details = [p for m in decoded.response.choices[0] for _, p in m.reasoning()]
    for message in request.messages:
        for part in message.parts:
            if isinstance(part, Text) and part.text in as_they_came:
                _put(body, message.pointer + part.source.pointer, as_they_came[part.text])
        _restore_details(body, message, [p for p in details if p.carrier is Carrier.REASONING_DETAILS])
    return [value_at(body, message.pointer) for message in request.messages]


def write_messages(adapter: Adapter, messages: Sequence[Message]) -> tuple[JsonValue, ModelRequest]:
    """A body of these messages in normal form, and what it decodes to."""
    body = adapter.write_request(ModelRequest(adapter.name, "-", tuple(messages)))
    return body, adapter.decode_request(dumps(body))


def _is_outside_normal_form(part: Part) -> bool:
    """Normal form cannot express it: the provider's own tools, and opaque parts."""
    return isinstance(part, Opaque) or bool(getattr(part, "is_server", False))


def _is_call(part: Part) -> bool:
    """A call that the client has to answer."""
    return isinstance(part, ToolCallIR) and not part.is_server


def _first_event_value(decoded: DecodedExchange, part: Part) -> JsonValue:
    """A block from its first event, with the arguments that followed; an opaque part unchanged."""
    for name, segments in part.source.segments.items():
        suffix = part.source.fields.get(name, "")
        if segments and suffix and segments[0].pointer.endswith(suffix):
            data = decoded.events[segments[0].event].data
            block = value_at(loads(without_repeated_prefix(data or b"")), segments[0].pointer.removesuffix(suffix))
            if isinstance(block, dict):
                is_late = isinstance(part, ToolCallIR) and part.raw is not None and "input" in block
                return {**block, "input": part.input} if is_late and isinstance(part, ToolCallIR) else block
    return part.value if isinstance(part, Opaque) else None


def _put(body: JsonValue, pointer: str, value: JsonValue) -> None:
    parent, _, step = pointer.rpartition("/")
    if step.isdecimal():
        value_at(body, parent)[int(step)] = value


def _restore_details(body: JsonValue, message: Message, details: Sequence[Reasoning]) -> None:
    """Restore members of ``reasoning_details`` entries that normal form does not know."""
    mine = [p for _, p in message.reasoning() if p.carrier is Carrier.REASONING_DETAILS]
    for part, origin in zip(mine, details, strict=False):
        entry = value_at(body, message.pointer + part.source.pointer)
        if isinstance(entry, dict) and isinstance(origin.extra, Mapping):
            entry |= origin.extra
            if entry.get("type") == "reasoning.summary" and "text" in entry:
                entry["summary"] = entry.pop("text")


def normal_calls(calls: Sequence[ToolCallIR]) -> tuple[Part, ...]:
    """Calls in normal form."""
    kinds = ("custom" if call.format.endswith("custom") else "function" for call in calls)
    return tuple(replace(call, format=kind) for call, kind in zip(calls, kinds, strict=True))


LEGACY = "openai-function-call"
"""Format of the single call of a message from before calls had ids."""


class NextRequest(NamedTuple):
    """A request with its additions: the new elements, and the pointer of their list."""

    request: HttpRequest
    pointer: str
    added: tuple[JsonValue, ...]


def next_request(decoded: DecodedExchange, answer: Sequence[JsonValue], inputs: Sequence[JsonValue]) -> NextRequest:
    """The next request.

    Args:
        decoded: the previous exchange.
        answer: elements of the answer.
        inputs: elements for the model: results, or a user message. A request that refers to the previous response by
            id, instead of repeating the history, gets only these.

    Raises:
        LocalProtocolError: nothing can be inserted into the body.
    """
    request, http = decoded.request, decoded.exchange.request
    assert request is not None and http is not None
    adapter, text = protocols.get(request.protocol), decoded.request_text
    pointer = _list_of(adapter)
    history = value_at(loads(text), pointer)
    if request.previous_id is not None:
        body = patch.apply(_after_answer(adapter, decoded), [patch.Replace(pointer, list(inputs))])
        return NextRequest(with_body(http, body, text), pointer, tuple(inputs))
    new = (*answer, *inputs)
    if isinstance(history, list):
        changes: list[patch.Change] = [patch.Insert(f"{pointer}/-", value) for value in new]
    elif history is None:
        is_there = decoded.request_index.span(pointer) is not None
        changes = [(patch.Replace if is_there else patch.Insert)(pointer, list(new))]
    else:
        messages = [history] if isinstance(history, dict) else user_values(adapter, str(history))
        changes = [patch.Replace(pointer, [*messages, *new])]
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
    result_parts = [_result(adapter, call, result) for call, result in plain]
    call_message = Message("assistant", normal_calls([call for call, _ in plain]))
    body, request = write_messages(adapter, (call_message, Message("tool", tuple(result_parts))))
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
    result_parts = (
        ToolResultIR(call.id, tuple(_as_text(p) for p in result.content), result.is_error or None, call.name)
        for call, result in zip(calls, results, strict=True)
    )
    return user_values(adapter, formats.get(parser).render_results(list(result_parts)))


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
