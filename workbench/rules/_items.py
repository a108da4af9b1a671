"""Items of a list of items, by their ids and types."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir import JsonValue, Message, Opaque, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.protocols import fact


def item_id(message: Message) -> str:
    """Id of an item, "" where it has none."""
    return fact(message, _item_id)


def _item_id(message: Message) -> str:
    part = message.parts[0] if message.parts else None
    held: Mapping[str, JsonValue] = message.extra
    if isinstance(part, Opaque):
        held = part.value if isinstance(part.value, Mapping) else {}
    elif part is not None and not isinstance(part, Text):
        held = {**message.extra, **part.extra}
    own = part.id if isinstance(part, ToolCallIR) and part.is_server else None
    found = held.get("id", own)
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
