"""Items: what ``input`` and ``output`` are lists of. Each is one message of the IR.

Facts: ``types/responses/response_input_item_param.py`` and ``response_output_item.py`` of the official ``openai`` SDK
3.54. What the model said (its messages, calls, reasoning) has the role ``assistant``, whatever the item; what answers a
client's call has the role ``tool``. An item of another type is kept verbatim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir import NOTHING, Carrier, JsonValue, Message, Opaque, Part, Reasoning, Source
from workbench.protocols.common.reading import VERBATIM, BlockReader, Notes, kind_of
from workbench.protocols.families.items.calls import CALLS, RESULTS, read_call, read_result
from workbench.protocols.families.items.content import SAID, TOLD, read_content

_ROLES: Mapping[str, str] = {
    "item_reference": "assistant",  # what is worth a reference was said by the model
    "compaction": "assistant",
    "mcp_list_tools": "assistant",
    "mcp_approval_request": "assistant",
    "mcp_approval_response": "user",
    "additional_tools": "developer",
    "configuration_update": "developer",
}
"""Type of an item that is kept verbatim → whose it is."""

_TEXTS = ("summary", "content")
"""Lists of a reasoning item that hold readable text."""


def read_item(value: JsonValue, pointer: str, notes: Notes) -> Message:
    """One item of a request; what it should not be is kept and noted."""
    return _read(value, pointer, notes, is_answer=False)


def read_output(value: JsonValue, pointer: str, notes: Notes) -> Message:
    """One item of an answer: all of it was made by the provider."""
    return _read(value, pointer, notes, is_answer=True)


def kind_of_item(value: Mapping[str, JsonValue]) -> str | None:
    """Type of an item. Messages may leave it out, and so may references (``easy_input_message_param.py``)."""
    kind = value.get("type")
    if kind is None and ("role" in value or "content" in value):
        return "message"
    if kind is None and value.keys() == {"id"}:
        return "item_reference"
    return kind if isinstance(kind, str) else None


def _read(value: JsonValue, pointer: str, notes: Notes, *, is_answer: bool) -> Message:
    notes.base = pointer
    if not isinstance(value, dict):
        notes.shape(f"an item is {kind_of(value)}, not an object", "")
        return Message("", (Opaque(kind_of(value), value, Source("", VERBATIM)),), pointer=pointer)
    kind = kind_of_item(value)
    block = BlockReader(value, "", notes)
    if kind == "message":
        return _message(block, pointer, is_answer=is_answer)
    if kind in CALLS:
        return Message("assistant", read_call(block), pointer=pointer)
    if kind in RESULTS:
        is_server = is_answer or kind == "program_output" or value.get("execution") == "server"
        parts = read_result(block, is_server=is_server)
        return Message("assistant" if is_server else "tool", parts, pointer=pointer)
    if kind == "reasoning":
        return Message("assistant", tuple(_reasoning(block)), pointer=pointer)
    if kind is None:
        notes.shape("an item without a type", "")
    role = _ROLES.get(kind or "") or value.get("role", "assistant" if is_answer else "")
    parts = (Opaque(kind or "", value, Source("", VERBATIM)),)
    return Message(role if isinstance(role, str) else "", parts, pointer=pointer)


def _message(block: BlockReader, pointer: str, *, is_answer: bool) -> Message:
    value = block.value
    role = value.get("role")
    if isinstance(role, str):
        block.taken.add("role")
    elif not is_answer:
        block.notes.shape(
            "a message without a role" if role is None else f"the role is {kind_of(role)}, not a string", ""
        )
    role = role if isinstance(role, str) else "assistant" if is_answer else ""
    block.taken.add("content")
    parts: tuple[Part, ...] = ()
    if value.get("content") is not None:
        parts = read_content(value["content"], "/content", block.notes, SAID if role == "assistant" else TOLD)
    else:
        block.notes.shape("a message without content", "/content" if "content" in value else "")
    return Message(role, parts, block.extra(typed="type" in value), pointer)


def _reasoning(block: BlockReader) -> Iterator[Part]:
    """The texts of an item, one part each; the first holds what there is beside them.

    Its ``extra`` has the lists of the texts too, without the texts, so that the item can be written again as it was.
    """
    texts = list[tuple[str, str]]()
    lists: dict[str, JsonValue] = {}
    for key in _TEXTS:
        entries = block.value.get(key)
        if isinstance(entries, list) and all(isinstance(entry, dict) and "type" in entry for entry in entries):
            block.taken.add(key)
            readable = [isinstance(entry.get("text"), str) for entry in entries]
            lists[key] = [
                {k: v for k, v in entry.items() if k != "text" or not is_text}
                for entry, is_text in zip(entries, readable, strict=True)
            ]
            texts += (
                (f"/{key}/{n}/text", entry["text"])
                for n, (entry, is_text) in enumerate(zip(entries, readable, strict=True))
                if is_text
            )
        elif entries is not None:
            block.notes.shape(f"{key!r} of a reasoning item is not a list of objects with a type", f"/{key}")
    data = block.string("data", "encrypted_content")
    first = texts[0] if texts else None
    if first:
        block.pairs.append(("text", first[0]))
    said = first[1] if first else None
    yield Reasoning(Carrier.ENCRYPTED_ITEM, said, None, data, block.extra(**lists), block.source())
    for at, text in texts[1:]:
        yield Reasoning(Carrier.ENCRYPTED_ITEM, text, extra=NOTHING, source=Source("", {"text": at}))
