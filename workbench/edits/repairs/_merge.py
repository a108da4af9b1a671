"""Merging of messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.edits import shape
from workbench.edits.fault import Fault
from workbench.edits.message_parts import list_position
from workbench.edits.proposal import Proposal
from workbench.ir import JsonValue, Message, Text
from workbench.wire import Change, Insert, Move, Remove, Replace

BETWEEN = "\n\n"


def message_text(fault: Fault, number: int) -> str | None:
    """Text of a message; None if it contains other parts."""
    parts = fault.messages[number].parts
    texts = [p.text for p in parts if isinstance(p, Text)]
    return BETWEEN.join(texts) if len(texts) == len(parts) else None


def join_messages(fault: Fault, first: int, others: Sequence[int]) -> tuple[Change, ...]:
    """Join messages into one: texts to one text, lists to one list. Empty if that is not possible."""
    messages = [fault.messages[n] for n in (first, *others)]
    gone = [Remove(m.pointer) for m in messages[1:]]
    own = _strings(fault, messages)
    if own is not None:
        pointer, texts = own
        return (Replace(pointer, BETWEEN.join(texts)), *gone)
    lists = [{place[0] for p in m.parts if (place := list_position(p))} for m in messages]
    if any(len(found) > 1 for found in lists) or not lists[0] or not messages[0].parts:
        return ()
    if any(list_position(p) is None for p in messages[0].parts):
        return ()
    target = f"{messages[0].pointer}{next(iter(lists[0]))}/-"
    changes: list[Change] = []
    for message in messages[1:]:
        held = _elements(fault, message)
        if held is None:
            return ()
        changes += [Insert(target, e) if not isinstance(e, str) else Move(e, target) for e in held]
    return (*changes, *gone)


def _strings(fault: Fault, messages: Sequence[Message]) -> tuple[str, list[str]] | None:
    """Pointer of the first text, and all texts, if each message is one string besides its role; else None."""
    places = [m.pointer + m.parts[0].source.pointer if len(m.parts) == 1 else "" for m in messages]
    texts = [fault.value(p) if p else None for p in places]
    if not all(isinstance(t, str) for t in texts) or any(list_position(m.parts[0]) for m in messages if m.parts):
        return None
    return places[0], [str(t) for t in texts]


def _elements(fault: Fault, message: Message) -> list[JsonValue] | None:
    """Pointers of the elements of a message's list, or its text as an element; None if neither applies."""
    places = [list_position(p) for p in message.parts]
    if all(places):
        return [f"{message.pointer}{place[0]}/{place[1]}" for place in places if place]
    if len(message.parts) == 1 and isinstance(message.parts[0], Text):
        return [shape.block(fault.adapter, message.parts[0])]
    return None


def move_to_system(fault: Fault, message: Message, text: str) -> Iterator[Proposal]:
    """Move the text of a system message into the request's system text, if that is not a message."""
    body = shape.system(fault.adapter, text)
    for key, value in body.items():
        held = fault.value(f"/{key}")
        gone = Remove(message.pointer)
        title = "move the system message into the system prompt of the request"
        if held is None and key not in (fault.body or ()):
            yield Proposal(title, (Insert(f"/{key}", value), gone))
        elif isinstance(held, str):
            yield Proposal(title, (Replace(f"/{key}", held + BETWEEN + text), gone))
        elif isinstance(held, list):
            element = value[0] if isinstance(value, list) else shape.block(fault.adapter, Text(text))
            yield Proposal(title, (Insert(f"/{key}/-", element), gone))
        elif isinstance(held, dict) and isinstance(held.get("parts"), list) and isinstance(value, dict):
            yield Proposal(title, (Insert(f"/{key}/parts/-", value["parts"][0]), gone))
