"""New parts and messages in the shape of a protocol: its adapter writes them, and they are cut out of the body."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.edits.message_parts import element_pointer, list_position
from workbench.ir import (
    NOTHING,
    JsonValue,
    Message,
    ModelRequest,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
)
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import Adapter
from workbench.wire import dumps, value_at

NOT_RUN = "No result: this call was not carried out."
"""Text of a stand-in for a tool result."""


@dataclass(frozen=True, slots=True)
class EncodedNode:
    """A part as the adapter writes it.

    Attributes:
        at: pointer of its list or member below the message ("/content", "/reasoning_content"); empty if the value is
            a message of its own; None if it is a member (``suffix``) of the following part.
        value: the encoded value.
        is_element: ``at`` is a list, and this is one element.
        before: number of parts of other kinds before it.
    """

    at: str | None
    value: JsonValue
    is_element: bool = False
    suffix: str = ""
    before: int = 0


def normal_call(adapter: Adapter, call: ToolCallIR) -> ToolCallIR:
    """A call as adapters write it, whatever it was read from."""
    is_text = adapter.capabilities.tools.arguments == "string"
    arguments = {} if call.input is None else call.input
    raw = (call.raw if call.raw is not None else dumps(arguments).decode("utf-8", "surrogatepass")) if is_text else None
    kind = "custom" if "custom" in call.format else "function"
    return ToolCallIR(call.id, call.name, arguments, kind, raw)


def stand_in(adapter: Adapter, call: ToolCallIR) -> ToolResultIR:
    """A result that says that there is none, with the protocol's error flag if it has one."""
    able = adapter.capabilities
    name = call.name if able.tools.result_names or not able.tools.call_ids or able.tools.ids_optional else None
    text = NOT_RUN if able.tools.error_flag else f"Error: {NOT_RUN[0].lower()}{NOT_RUN[1:]}"
    return ToolResultIR(call.id, (Text(text),), True if able.tools.error_flag else None, name)


def results(
    adapter: Adapter, calls: Sequence[ToolCallIR], tool_result_irs: Sequence[ToolResultIR]
) -> list[EncodedNode]:
    """Encoded results: messages of their own (``at`` is empty), or elements of a user message."""
    call_message = Message("assistant", tuple(normal_call(adapter, c) for c in calls))
    body, decoded = round_trip(adapter, (call_message, Message("tool", tuple(tool_result_irs))))
    found = []
    for message in decoded.messages:
        for _, part in message.tool_results():
            place = list_position(part)
            value = value_at(body, message.pointer + element_pointer(part))
            found.append(EncodedNode(place[0] if place else "", value, is_element=place is not None))
    return found


def result_message(adapter: Adapter, calls: Sequence[ToolCallIR], results: Sequence[ToolResultIR]) -> JsonValue:
    """The message that holds results, for protocols in which results are elements of a message."""
    call_message = Message("assistant", tuple(normal_call(adapter, c) for c in calls))
    body, decoded = round_trip(adapter, (call_message, Message("tool", tuple(results))))
    holder = next(m for m in decoded.messages if any(m.tool_results()))
    return value_at(body, holder.pointer)


def foreign_result(foreign: JsonValue, id_key: str) -> ToolResultIR | None:
    """Read a result in the form of another protocol: an object with an id and text content."""
    content, call_id = foreign.get("content"), foreign.get(id_key)
    if isinstance(content, list):
        texts = [b.get("text") if isinstance(b, dict) else None for b in content]
        content = "\n".join(str(t) for t in texts) if all(isinstance(t, str) for t in texts) else None
    if not isinstance(content, str) or not isinstance(call_id, str):
        return None
    return ToolResultIR(call_id, (Text(content),), foreign.get("is_error") if foreign.get("is_error") else None)


def message(adapter: Adapter, role: str, parts: Sequence[Part]) -> JsonValue:
    """A message of a role in normal form ("user", "assistant", "system"); None if it becomes several messages."""
    body, decoded = round_trip(adapter, (Message(role, tuple(parts)),))
    return value_at(body, decoded.messages[0].pointer) if len(decoded.messages) == 1 else None


def block(adapter: Adapter, part: Part, role: str = "user") -> JsonValue:
    """A text or media part as an element of a message's content, for the role "tool" of a result's content."""
    parts = (Text("-"), replace(part, source=Text("").source))
    if role != "tool":
        body, decoded = round_trip(adapter, (Message(role, parts),))
        holder = decoded.messages[0]
        return value_at(body, holder.pointer + element_pointer(holder.parts[-1]))
    call = normal_call(adapter, ToolCallIR("call_1", "tool", {}, "function"))
    result = ToolResultIR(call.id, parts, name=call.name)
    body, decoded = round_trip(adapter, (Message("assistant", (call,)), Message("tool", (result,))))
    holder = decoded.messages[-1]
    ((_, written),) = holder.tool_results()
    return value_at(body, holder.absolute(written.content[-1]))


def reasoning(adapter: Adapter, parts: Sequence[Part]) -> list[EncodedNode] | None:
    """Reasoning of an answer as a request carries it; None if this protocol has no field for it.

    Args:
        parts: the answer's parts in order; parts that are no reasoning only give the position.
    """
    plain = tuple(normal_call(adapter, p) if isinstance(p, ToolCallIR) else _without_extra(p) for p in parts)
    body, decoded = round_trip(adapter, (Message("assistant", plain),))
    listed = [(m, p) for m in decoded.messages for p in m.parts]
    blocks = [p for p in plain if isinstance(p, Reasoning)]
    if [p for _, p in listed if isinstance(p, Reasoning)] != blocks:
        return None
    nodes, others = list[EncodedNode](), 0
    for n, (owner, part) in enumerate(listed):
        if not isinstance(part, Reasoning):
            others += 1
            continue
        follower = listed[n + 1][1] if n + 1 < len(listed) else None
        node = _encoded_reasoning(body, owner, part, follower, others)
        if node not in nodes:
            nodes.append(node)
    return nodes


def _without_extra(part: Part) -> Part:
    return replace(part, extra=NOTHING) if isinstance(part, Text) else part


def _encoded_reasoning(
    body: JsonValue, message: Message, part: Reasoning, follower: Part | None, others: int
) -> EncodedNode:
    at, place = element_pointer(part), list_position(part)
    if follower is not None and at and element_pointer(follower) == at and not part.source.slices:
        suffix = next(iter(part.source.fields.values()))
        return EncodedNode(None, value_at(body, message.pointer + at + suffix), suffix=suffix, before=others)
    if place and place[0] not in ("/content", "/parts"):
        return EncodedNode(place[0], value_at(body, message.pointer + place[0]), before=others)
    if place:
        return EncodedNode(place[0], value_at(body, message.pointer + at), is_element=True, before=others)
    if part.source.slices:
        return EncodedNode(at, f"<think>{part.text}</think>", suffix="text", before=others)
    return EncodedNode(at, value_at(body, message.pointer + at), before=others)


def thinking_off(adapter: Adapter) -> dict[str, JsonValue]:
    """Top-level members of a body that say that thinking is off; {} where the protocol cannot say it."""
    if "off" not in adapter.capabilities.reasoning.switches:
        return {}
    sample = ModelRequest(adapter.name, None, (), thinking="off")
    with_it = adapter.write_request(sample)
    without = adapter.write_request(replace(sample, thinking=None))
    return {key: value for key, value in with_it.items() if key not in without}


def system(adapter: Adapter, text: str) -> dict[str, JsonValue]:
    """The top-level member that holds a system text; {} if it is a message."""
    sample = ModelRequest(adapter.name, None, ())
    with_it = adapter.write_request(replace(sample, system=(Text(text),)))
    without = adapter.write_request(sample)
    return {key: value for key, value in with_it.items() if key not in without}


def choice(adapter: Adapter, mode: str) -> dict[str, JsonValue]:
    """Top-level members that say a choice of tools ("auto", "any"); {} where the protocol cannot say it."""
    if mode not in adapter.capabilities.tools.choices:
        return {}
    sample = ModelRequest(adapter.name, None, (), tools=(ToolDef("f", None, {"type": "object"}),))
    with_it = adapter.write_request(replace(sample, tool_choice=ToolChoice(mode)))
    without = adapter.write_request(sample)
    return {key: value for key, value in with_it.items() if with_it[key] != without.get(key)}


def tool(adapter: Adapter, name: str, schema: JsonValue) -> tuple[str, JsonValue]:
    """Name of the member that holds the tools, and the list with one declaration in it."""
    body = adapter.write_request(ModelRequest(adapter.name, None, (), tools=(ToolDef(name, None, schema),)))
    bare = adapter.write_request(ModelRequest(adapter.name, None, ()))
    key = next(k for k in body if k not in bare)
    return key, body[key]


def round_trip(adapter: Adapter, messages: Sequence[Message]) -> tuple[JsonValue, ModelRequest]:
    """A body with these messages in normal form, and the request that it decodes to."""
    body = adapter.write_request(ModelRequest(adapter.name, "-", tuple(messages)))
    return body, adapter.decode_request(dumps(body))
