"""The message and the part that a pointer leads into, and items by their ids: looked up, however many a body holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from workbench.ir import JsonValue, Message, Opaque, Part, Reasoning, Text, ToolCallIR, ToolDef, ToolResultIR
from workbench.protocols import DecodedExchange, fact


def message_at(decoded: DecodedExchange, side: str, pointer: str) -> Message | None:
    """The message that a pointer leads into."""
    number = message_number(decoded, side, pointer)
    return None if number is None else decoded.messages(side)[number]


def part_at(decoded: DecodedExchange, side: str, pointer: str) -> Part | None:
    """The part that a pointer leads into."""
    message = message_number(decoded, side, pointer)
    if message is None:
        return None
    number = _first(fact(decoded, _parts, side, message), pointer)
    return None if number is None else decoded.messages(side)[message].parts[number]


def is_in(pointer: str, node: str) -> bool:
    """A pointer leads to a node, or into it."""
    return pointer == node or pointer.startswith(f"{node}/")


def ancestors(pointer: str) -> Iterator[str]:
    """Pointers of the containers around a node, from the inside out, without its own."""
    end = len(pointer)
    while (end := pointer.rfind("/", 0, end)) >= 0:
        yield pointer[:end]


def message_number(decoded: DecodedExchange, side: str, pointer: str) -> int | None:
    """Index of the message that a pointer leads into."""
    messages = decoded.messages(side)
    steps = pointer.split("/", 3)
    number = int(steps[2]) if len(steps) > 2 and re.fullmatch("[0-9]{1,9}", steps[2]) else len(messages)
    if number < len(messages) and messages[number].pointer and is_in(pointer, messages[number].pointer):
        return number
    return _first(fact(decoded, _messages, side), pointer)


def _messages(decoded: DecodedExchange, side: str) -> Mapping[str, int]:
    return _numbers(message.pointer for message in decoded.messages(side))


def _parts(decoded: DecodedExchange, side: str, number: int) -> Mapping[str, int]:
    message = decoded.messages(side)[number]
    return _numbers(message.absolute(part) for part in message.parts)


def _numbers(pointers: Iterable[str]) -> Mapping[str, int]:
    """Pointer → number of the first node there."""
    found: dict[str, int] = {}
    for number, pointer in enumerate(pointers):
        found.setdefault(pointer, number)
    return found


def _first(numbers: Mapping[str, int], pointer: str) -> int | None:
    """The first node that a pointer is in."""
    found = (numbers.get(at) for at in (pointer, *ancestors(pointer)))
    return min((number for number in found if number is not None), default=None)


def item_id(message: Message) -> str:
    """Id of an item, "" where it has none."""
    return fact(message, _item_id)


def _item_id(message: Message) -> str:
    part = message.parts[0] if message.parts else None
    fields: Mapping[str, JsonValue] = message.extra
    if isinstance(part, Opaque):
        fields = part.value if isinstance(part.value, Mapping) else {}
    elif part is not None and not isinstance(part, Text):
        fields = {**message.extra, **part.extra}
    own = part.id if isinstance(part, ToolCallIR) and part.is_server else None
    found = fields.get("id", own)
    return found if isinstance(found, str) else ""


def item_kind(message: Message) -> str:
    """Type of an item, as its wire names it."""
    part = message.parts[0] if message.parts else None
    if isinstance(part, ToolCallIR):
        return str(
            part.extra.get("type") or ("custom_tool_call" if part.format.endswith("custom") else "function_call")
        )
    if isinstance(part, Opaque):
        return part.type
    if isinstance(part, ToolResultIR):
        return str(part.extra.get("type") or "function_call_output")
    return "reasoning" if isinstance(part, Reasoning) else "message"


def by_name(tools: Iterable[ToolDef]) -> Mapping[str, ToolDef]:
    """Declared tools by their names; of two with one name the first counts."""
    found: dict[str, ToolDef] = {}
    for tool in tools:
        found.setdefault(tool.name or "", tool)
    return found
