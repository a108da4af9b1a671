"""What can be added to a request: messages, texts, tools and results, in the shape and place its protocol wants.

The shapes are those that the protocol's adapter writes. Everything else is as for ``operations``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.edits import shape
from workbench.edits._ranges import Value
from workbench.edits.operations import Splices, adapter_of, value_of
from workbench.edits.places import array_of, element
from workbench.edits.proposal import value_at
from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, Message, ModelRequest, Part, Text, ToolCallIR, ToolDef, ToolResultIR
from workbench.protocols import Adapter
from workbench.protocols.decode import REQUEST, DecodedExchange
from workbench.wire.jsontext import dumps
from workbench.wire.patch import parent_of

ROLES = ("user", "assistant", "system")
"""Roles of new messages, whatever a protocol calls them; results of tools are ``insert_result``."""


def insert_message(decoded: DecodedExchange, role: str, text: str, before: str = "") -> Splices:
    """A new message of one of ``ROLES``, in the words of its protocol.

    Args:
        before: pointer of the message it is put before; "" for the end.
    """
    adapter = adapter_of(decoded)
    if role not in ROLES:
        raise LocalProtocolError(f"no role {role!r} for a new message", hint=f"known: {', '.join(ROLES)}")
    if role == "system" and not adapter.capabilities.request.mid_system:
        return _insert_system(decoded, adapter, text)
    return _put(decoded, before, shape.message(adapter, role, (Text(text),)))


def insert_text(decoded: DecodedExchange, message: str, text: str, at: int | None = None) -> Splices:
    """A new text in a message.

    Args:
        message: pointer of it.
        at: number among the elements of its list, None for behind the last; of a message that is one text, 0 is before.
    """
    adapter, held = adapter_of(decoded), _message(decoded, message)
    role = "assistant" if any(held.tool_calls()) or held.role in ("assistant", "model") else "user"
    if any(element(part) == "" for part in held.parts):
        raise LocalProtocolError("this item holds no texts", where=message, hint="insert a message")
    body, made = shape.written_of(adapter, (Message(role, (Text(text),)),))
    part = made.messages[0].parts[0]
    place = array_of(part)
    key = place[0] if place else element(part)
    if decoded.request_index.span(message + key) is None:
        return _member(value_of(decoded, message), key[1:], value_at(body, made.messages[0].pointer + key))
    value = value_of(decoded, message + key)
    if value.is_list:
        count = len(value.children)
        return (
            value.with_element(count if at is None else min(at, count), value.written(_block(decoded, held, text))),
        )
    old = value.parsed
    if not isinstance(old, str) or not old:
        return value.retold(text)
    if role in adapter.capabilities.request.one_text:
        raise LocalProtocolError("a message of this protocol is one text", where=message, hint="edit it, or insert one")
    blocks = [_block(decoded, held, old), _block(decoded, held, text)]
    return (value.replaced(value_of(decoded, message).written(blocks if at != 0 else blocks[::-1])),)


def insert_tool(decoded: DecodedExchange, name: str, schema: JsonValue) -> Splices:
    """A new tool behind the others."""
    adapter = adapter_of(decoded)
    tools = decoded.request.tools if decoded.request else ()
    asked = ModelRequest(adapter.name, "-", (Message("user", (Text("-"),)),), tools=(ToolDef(name, None, schema),))
    body = adapter.write_request(asked)
    pointer = adapter.decode_request(dumps(body)).tools[0].pointer
    known = [t.pointer for t in tools if t.pointer.rpartition("/")[2].isdecimal()]
    if known:
        held = value_of(decoded, parent_of(known[-1])[0])
        return (held.with_element(len(held.children), held.written(value_at(body, pointer))),)
    root, at = _root(decoded), ""
    for step in pointer.split("/")[1:]:
        held = value_of(decoded, root + at)
        at = f"{at}/{step}"
        if decoded.request_index.span(root + at) is None:
            new = held.written(value_at(body, at))
            return (held.with_element(0, new) if held.is_list else held.with_member(step, new),)
    raise LocalProtocolError("there is something that is no tool", where=root + at, hint="edit it")


def insert_result(decoded: DecodedExchange, call: str, text: str, *, is_error: bool = False) -> Splices:
    """The result of a call, in the place where its protocol looks for it, in the order of the calls.

    Args:
        call: pointer of the call.
        is_error: said by the protocol's flag, where it has one.
    """
    adapter = adapter_of(decoded)
    messages = decoded.messages(REQUEST)
    number, asked = _call(decoded, call)
    able = adapter.capabilities
    name = asked.name if able.tools.result_names or not able.tools.call_ids or able.tools.ids_optional else None
    result = ToolResultIR(asked.id, (Text(text),), True if is_error and able.tools.error_flag else None, name)
    written = shape.results(adapter, [asked], [result])
    calls, at = _turn(decoded, number)
    behind = _Behind(asked.id, next(n for n, c in enumerate(calls) if c is asked), calls)
    if written[0].is_element:
        whole = shape.result_message(adapter, [asked], [result])
        return _into_turn(decoded, at, whole, written[0].at or "", written[0].value, behind)
    found = (k for k in range(at, len(messages)) if any(map(behind.stops, enumerate(messages[k].parts, k - at))))
    place = next(found, len(messages))
    return _put(decoded, messages[place].pointer if place < len(messages) else "", written[0].value)


class _Behind(NamedTuple):
    """What a new result is put before: a result of a later call of its turn, or what is no result at all.

    Attributes:
        number: of its call in the turn.
    """

    id: str | None
    number: int
    calls: Sequence[ToolCallIR]

    def stops(self, numbered: tuple[int, Part]) -> bool:
        """It is put before this part, which stands at that number behind the calls."""
        number, part = numbered
        if not isinstance(part, ToolResultIR):
            return True
        if self.id is None:
            return number >= self.number
        return part.tool_call_id in {call.id for call in self.calls[self.number + 1 :]}


def _turn(decoded: DecodedExchange, number: int) -> tuple[list[ToolCallIR], int]:
    """The calls of the turn that a message with calls belongs to, and the number of the message behind it."""
    messages = decoded.messages(REQUEST)
    first, last = number, number + 1
    if decoded.request and decoded.request.itemized:
        while first and any(messages[first - 1].tool_calls()):
            first -= 1
        while last < len(messages) and any(messages[last].tool_calls()):
            last += 1
    return [call for message in messages[first:last] for _, call in message.tool_calls()], last


def _call(decoded: DecodedExchange, pointer: str) -> tuple[int, ToolCallIR]:
    """Number of the message that a call is in, and the call."""
    for number, message in enumerate(decoded.messages(REQUEST)):
        for _, call in message.tool_calls():
            if message.pointer + element(call) == pointer:
                return number, call
    raise LocalProtocolError("no call that a client answers is there", where=pointer or "the whole text")


def _into_turn(
    decoded: DecodedExchange, number: int, whole: JsonValue, key: str, value: JsonValue, behind: _Behind
) -> Splices:
    """A result that is an element: in the message behind the calls if that is the user's, else in a new one."""
    messages = decoded.messages(REQUEST)
    following = messages[number] if number < len(messages) else None
    if following is None or following.role != whole["role"]:
        return _put(decoded, following.pointer if following else "", whole)
    held = value_of(decoded, following.pointer + key)
    if held.is_list:
        others = (array_of(part) for n, part in enumerate(following.parts) if behind.stops((n, part)))
        first = min((place[1] for place in others if place), default=len(held.children))
        return (held.with_element(first, held.written(value)),)
    said = held.parsed
    blocks = [value, _block(decoded, following, said)] if isinstance(said, str) and said else [value]
    return (held.replaced(value_of(decoded, following.pointer).written(blocks)),)


def _insert_system(decoded: DecodedExchange, adapter: Adapter, text: str) -> Splices:
    (key, value), root = next(iter(shape.system(adapter, text).items())), _root(decoded)
    if decoded.request_index.span(f"{root}/{key}"):
        raise LocalProtocolError("there is a system prompt", where=f"{root}/{key}", hint="edit it")
    return _member(value_of(decoded, root), key, value)


def _put(decoded: DecodedExchange, before: str, value: JsonValue) -> Splices:
    """A message in the list of messages, which may not be there yet, or be one text."""
    adapter, messages = adapter_of(decoded), decoded.messages(REQUEST)
    place = parent_of(messages[0].pointer)[0] if messages else ""
    if messages and not value_of(decoded, place).is_list:
        return _put_beside(decoded, adapter, messages[0], before, value)
    if not messages:
        _, made = shape.written_of(adapter, (Message("user", (Text("-"),)),))
        place = parent_of(made.messages[0].pointer)[0]
        if decoded.request_index.span(place) is None:
            return _member(value_of(decoded, parent_of(place)[0]), place.rpartition("/")[2], [value])
    held = value_of(decoded, place)
    at = int(parent_of(_message(decoded, before).pointer)[1]) if before else len(held.children)
    return (held.with_element(at, held.written(value)),)


def _put_beside(decoded: DecodedExchange, adapter: Adapter, only: Message, before: str, value: JsonValue) -> Splices:
    """A message beside the only one, which stands without a list."""
    held = value_of(decoded, only.pointer)
    said = held.parsed
    first = shape.message(adapter, "user", (Text(said),)) if isinstance(said, str) else said
    both = [value, first] if before else [first, value]
    return (held.replaced(value_of(decoded, parent_of(only.pointer)[0]).written(both)),)


def _member(held: Value, key: str, value: JsonValue) -> Splices:
    return (held.with_member(key, held.written(value)),)


def _block(decoded: DecodedExchange, message: Message, text: str) -> JsonValue:
    """A text as an element of what a message says: as the adapter writes one, else like one that is there."""
    role = "assistant" if message.role in ("assistant", "model") else "user"
    made = shape.block(adapter_of(decoded), Text(text), role)
    if isinstance(made, dict):
        return made
    like = next((p for p in message.parts if isinstance(p, Text) and array_of(p) and "text" in p.source.fields), None)
    if like is None:
        raise LocalProtocolError(
            "a message of this role takes no second text", where=message.pointer, hint="insert one"
        )
    held = value_of(decoded, message.pointer + element(like)).parsed
    return {**held, like.source.fields["text"][1:]: text}


def _message(decoded: DecodedExchange, pointer: str) -> Message:
    found = next((m for m in decoded.messages(REQUEST) if m.pointer == pointer), None)
    if found is None:
        raise LocalProtocolError("no message is there", where=pointer or "the whole text")
    return found


def _root(decoded: DecodedExchange) -> str:
    """Pointer of the object that holds the messages."""
    messages = decoded.messages(REQUEST)
    return parent_of(parent_of(messages[0].pointer)[0])[0] if messages and messages[0].pointer.count("/") > 1 else ""
