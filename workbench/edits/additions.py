"""Additions to a request: messages, texts, tools and results, in the shape and place its protocol expects.

The protocol's adapter writes the shapes. Otherwise these work like ``operations``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.edits import shape
from workbench.edits.message_parts import element_pointer, list_position
from workbench.edits.operations import Splices, ValueRange, adapter_of, value_of
from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, Message, ModelRequest, Part, Text, ToolCallIR, ToolDef, ToolResultIR
from workbench.protocols import REQUEST, Adapter, DecodedExchange
from workbench.wire import dumps, parent_of, value_at

ROLES = ("user", "assistant", "system")
"""Roles of new messages, whatever a protocol calls them; for tool results use ``insert_result``."""


def insert_message(decoded: DecodedExchange, role: str, text: str, before: str = "") -> Splices:
    """Insert a message of one of ``ROLES``, in the form of its protocol.

    Args:
        before: pointer of the message after it; empty for the end.
    """
    adapter = adapter_of(decoded)
    if role not in ROLES:
        raise LocalProtocolError(f"a new message cannot have role {role!r}", hint=f"known: {', '.join(ROLES)}")
    if role == "system" and not adapter.capabilities.request.mid_system:
        return _insert_system(decoded, adapter, text)
    return _put_message(decoded, before, shape.message(adapter, role, (Text(text),)))


def insert_text(decoded: DecodedExchange, message: str, text: str, at: int | None = None) -> Splices:
    """Insert a text into a message.

    Args:
        message: pointer of it.
        at: index in its list, None to append; if the message is one text, 0 means before it.
    """
    adapter, target = adapter_of(decoded), _message(decoded, message)
    role = "assistant" if any(target.tool_calls()) or target.role in ("assistant", "model") else "user"
    if any(element_pointer(part) == "" for part in target.parts):
        raise LocalProtocolError("this item cannot contain text", where=message, hint="insert a message")
    body, sample = shape.round_trip(adapter, (Message(role, (Text(text),)),))
    part = sample.messages[0].parts[0]
    place = list_position(part)
    key = place[0] if place else element_pointer(part)
    if decoded.request_index.span(message + key) is None:
        return _insert_member(value_of(decoded, message), key[1:], value_at(body, sample.messages[0].pointer + key))
    value = value_of(decoded, message + key)
    if value.is_list:
        count = len(value.children)
        return (
            value.insert_element(
                count if at is None else min(at, count), value.format_child(_block(decoded, target, text))
            ),
        )
    old = value.parsed_value
    if not isinstance(old, str) or not old:
        return value.set_text(text)
    if role in adapter.capabilities.request.one_text:
        raise LocalProtocolError(
            "in this protocol, a message is a single string",
            where=message,
            hint="edit that text, or insert a new message",
        )
    blocks = [_block(decoded, target, old), _block(decoded, target, text)]
    return (value.replace(value_of(decoded, message).format_child(blocks if at != 0 else blocks[::-1])),)


def insert_tool(decoded: DecodedExchange, name: str, schema: JsonValue) -> Splices:
    """Append a tool."""
    adapter = adapter_of(decoded)
    tools = decoded.request.tools if decoded.request else ()
    sample = ModelRequest(adapter.name, "-", (Message("user", (Text("-"),)),), tools=(ToolDef(name, None, schema),))
    body = adapter.write_request(sample)
    pointer = adapter.decode_request(dumps(body)).tools[0].pointer
    known = [t.pointer for t in tools if t.pointer.rpartition("/")[2].isdecimal()]
    if known:
        parent = value_of(decoded, parent_of(known[-1])[0])
        return (parent.insert_element(len(parent.children), parent.format_child(value_at(body, pointer))),)
    root, at = _root(decoded), ""
    for step in pointer.split("/")[1:]:
        parent = value_of(decoded, root + at)
        at = f"{at}/{step}"
        if decoded.request_index.span(root + at) is None:
            new = parent.format_child(value_at(body, at))
            return (parent.insert_element(0, new) if parent.is_list else parent.insert_member(step, new),)
    raise LocalProtocolError(
        "the list of tools contains an entry that is not a tool", where=root + at, hint="edit the list as JSON"
    )


def insert_result(decoded: DecodedExchange, call: str, text: str, *, is_error: bool = False) -> Splices:
    """Insert the result of a call where its protocol expects it, in the order of the calls.

    Args:
        call: pointer of the call.
        is_error: set the protocol's error flag, if it has one.
    """
    adapter = adapter_of(decoded)
    messages = decoded.messages(REQUEST)
    number, tool_call = _call(decoded, call)
    able = adapter.capabilities
    name = tool_call.name if able.tools.result_names or not able.tools.call_ids or able.tools.ids_optional else None
    result = ToolResultIR(tool_call.id, (Text(text),), True if is_error and able.tools.error_flag else None, name)
    nodes = shape.results(adapter, [tool_call], [result])
    calls, at = _turn(decoded, number)
    behind = _ResultSlot(tool_call.id, next(n for n, c in enumerate(calls) if c is tool_call), calls)
    if nodes[0].is_element:
        whole = shape.result_message(adapter, [tool_call], [result])
        return _into_turn(decoded, at, whole, nodes[0].at or "", nodes[0].value, behind)
    found = (k for k in range(at, len(messages)) if any(map(behind.is_before, enumerate(messages[k].parts, k - at))))
    place = next(found, len(messages))
    return _put_message(decoded, messages[place].pointer if place < len(messages) else "", nodes[0].value)


class _ResultSlot(NamedTuple):
    """Position of a new result: before results of later calls of its turn, and before anything that is no result.

    Attributes:
        number: of its call in the turn.
    """

    id: str | None
    number: int
    calls: Sequence[ToolCallIR]

    def is_before(self, numbered: tuple[int, Part]) -> bool:
        """The result belongs before this part, which has that index after the calls."""
        number, part = numbered
        if not isinstance(part, ToolResultIR):
            return True
        if self.id is None:
            return number >= self.number
        return part.tool_call_id in {call.id for call in self.calls[self.number + 1 :]}


def _turn(decoded: DecodedExchange, number: int) -> tuple[list[ToolCallIR], int]:
    """Calls of the turn that a message with calls belongs to, and the index of the message after the turn."""
    messages = decoded.messages(REQUEST)
    first, last = number, number + 1
    if decoded.request and decoded.request.itemized:
        while first and any(messages[first - 1].tool_calls()):
            first -= 1
        while last < len(messages) and any(messages[last].tool_calls()):
            last += 1
    return [call for message in messages[first:last] for _, call in message.tool_calls()], last


def _call(decoded: DecodedExchange, pointer: str) -> tuple[int, ToolCallIR]:
    """Index of the message that contains a call, and the call."""
    for number, message in enumerate(decoded.messages(REQUEST)):
        for _, call in message.tool_calls():
            if message.pointer + element_pointer(call) == pointer:
                return number, call
    raise LocalProtocolError("no client tool call at this pointer", where=pointer or "the whole text")


def _into_turn(
    decoded: DecodedExchange, number: int, whole: JsonValue, key: str, value: JsonValue, behind: _ResultSlot
) -> Splices:
    """A result that is an element: in the message after the calls if that is the user's, else in a new one."""
    messages = decoded.messages(REQUEST)
    following = messages[number] if number < len(messages) else None
    if following is None or following.role != whole["role"]:
        return _put_message(decoded, following.pointer if following else "", whole)
    content = value_of(decoded, following.pointer + key)
    if content.is_list:
        others = (list_position(part) for n, part in enumerate(following.parts) if behind.is_before((n, part)))
        first = min((place[1] for place in others if place), default=len(content.children))
        return (content.insert_element(first, content.format_child(value)),)
    old = content.parsed_value
    blocks = [value, _block(decoded, following, old)] if isinstance(old, str) and old else [value]
    return (content.replace(value_of(decoded, following.pointer).format_child(blocks)),)


def _insert_system(decoded: DecodedExchange, adapter: Adapter, text: str) -> Splices:
    (key, value), root = next(iter(shape.system(adapter, text).items())), _root(decoded)
    if decoded.request_index.span(f"{root}/{key}"):
        raise LocalProtocolError(
            "the request already has a system prompt", where=f"{root}/{key}", hint="edit the list as JSON"
        )
    return _insert_member(value_of(decoded, root), key, value)


def _put_message(decoded: DecodedExchange, before: str, value: JsonValue) -> Splices:
    """Insert a message into the list of messages, which may be absent, or be one text."""
    adapter, messages = adapter_of(decoded), decoded.messages(REQUEST)
    place = parent_of(messages[0].pointer)[0] if messages else ""
    if messages and not value_of(decoded, place).is_list:
        return _put_beside(decoded, adapter, messages[0], before, value)
    if not messages:
        _, sample = shape.round_trip(adapter, (Message("user", (Text("-"),)),))
        place = parent_of(sample.messages[0].pointer)[0]
        if decoded.request_index.span(place) is None:
            return _insert_member(value_of(decoded, parent_of(place)[0]), place.rpartition("/")[2], [value])
    message_list = value_of(decoded, place)
    at = int(parent_of(_message(decoded, before).pointer)[1]) if before else len(message_list.children)
    return (message_list.insert_element(at, message_list.format_child(value)),)


def _put_beside(decoded: DecodedExchange, adapter: Adapter, only: Message, before: str, value: JsonValue) -> Splices:
    """Insert a message next to the only one, which is not in a list."""
    content = value_of(decoded, only.pointer)
    old = content.parsed_value
    first = shape.message(adapter, "user", (Text(old),)) if isinstance(old, str) else old
    both = [value, first] if before else [first, value]
    return (content.replace(value_of(decoded, parent_of(only.pointer)[0]).format_child(both)),)


def _insert_member(value_range: ValueRange, key: str, value: JsonValue) -> Splices:
    return (value_range.insert_member(key, value_range.format_child(value)),)


def _block(decoded: DecodedExchange, message: Message, text: str) -> JsonValue:
    """A text as an element of a message's content: as the adapter writes it, else like an existing one."""
    role = "assistant" if message.role in ("assistant", "model") else "user"
    element = shape.block(adapter_of(decoded), Text(text), role)
    if isinstance(element, dict):
        return element
    like = next(
        (p for p in message.parts if isinstance(p, Text) and list_position(p) and "text" in p.source.fields), None
    )
    if like is None:
        raise LocalProtocolError(
            "a message of this role cannot have a second text part", where=message.pointer, hint="insert a new message"
        )
    sibling = value_of(decoded, message.pointer + element_pointer(like)).parsed_value
    return {**sibling, like.source.fields["text"][1:]: text}


def _message(decoded: DecodedExchange, pointer: str) -> Message:
    found = next((m for m in decoded.messages(REQUEST) if m.pointer == pointer), None)
    if found is None:
        raise LocalProtocolError("no message at this pointer", where=pointer or "the whole text")
    return found


def _root(decoded: DecodedExchange) -> str:
    """Pointer of the object that contains the messages."""
    messages = decoded.messages(REQUEST)
    return parent_of(parent_of(messages[0].pointer)[0])[0] if messages and messages[0].pointer.count("/") > 1 else ""
