"""Repairs of message content: empty texts, prefill, role order, system messages, media in results.

Merging of messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.chain import mark_of
from workbench.edits import shape
from workbench.edits.fault import Fault
from workbench.edits.message_parts import list_position, remove_parts
from workbench.edits.proposal import Proposal, RepairCost
from workbench.edits.repairs._search import Proposer
from workbench.ir import JsonValue, Media, Message, Text, ToolResultIR
from workbench.rules import quote
from workbench.wire import Change, Insert, Move, Remove, Replace

EMPTY = "(empty)"
GO_ON = "Continue."
MOVED = "(media: in the next message)"
NOT_SENT = "({}: not sent)"
"""Text in the place of media that a model does not accept."""


def empty(fault: Fault) -> Iterator[Proposal]:
    """Remove empty content, or fill it with a placeholder."""
    if fault.number is None:
        return
    message, ref = fault.messages[fault.number], fault.ref
    part = fault.part(ref) if ref else None
    if ref and isinstance(part, Text) and (list_position(part) or len(message.parts) > 1):
        yield Proposal("remove the empty text", remove_parts(fault, [ref]))
    at = message.pointer + (part.source.pointer + part.source.fields.get("text", "") if part else "/content")
    if not part and "content" in (fault.value(message.pointer) or ()) and fault.value(at) is None:
        yield Proposal('use "" instead of null', (Replace(at, ""),))
    if fault.value(at) is not None:
        yield Proposal(f"replace the empty text with {quote(EMPTY)}", (Replace(at, EMPTY),), RepairCost.STAND_IN)
    yield Proposal(f"remove the empty {message.role} message", (Remove(message.pointer),), RepairCost.DROPPED)


def assistant_last(fault: Fault) -> Iterator[Proposal]:
    """Remove the prefill, or add a user message that asks to continue."""
    if not fault.messages:
        return
    last = fault.messages[-1]
    yield Proposal("remove the prefilled assistant message", (Remove(last.pointer),), RepairCost.DROPPED)
    question = shape.message(fault.adapter, "user", [Text(GO_ON)])
    change = Insert(f"{fault.list_pointer}/-", question)
    yield Proposal(f"add a user message {quote(GO_ON)}", (change,), RepairCost.MODE)


def trailing(fault: Fault) -> Iterator[Proposal]:
    """Remove trailing whitespace."""
    text = fault.value(fault.finding.pointer)
    if isinstance(text, str):
        change = Replace(fault.finding.pointer, text.rstrip())
        yield Proposal("remove the trailing whitespace", (change,))


def media_in_result(fault: Fault) -> Iterator[Proposal]:
    """Move media into a user message after the results; the result keeps its text."""
    ref = fault.ref
    result = fault.part(ref) if ref else None
    if ref is None or not isinstance(result, ToolResultIR):
        return
    media = [p for p in result.content if isinstance(p, Media)]
    message = fault.messages[ref.message]
    title = "move the media from the result into a user message"
    place = list_position(result)
    if place:
        values = [shape.block(fault.adapter, p) for p in media]
        changes = [Insert(f"{message.pointer}{place[0]}/-", value) for value in values]
    else:
        behind = ref.message + 1
        while behind < len(fault.messages) and any(fault.messages[behind].tool_results()):
            behind += 1
        user_message = shape.message(fault.adapter, "user", media)
        changes = [Insert(f"{fault.list_pointer}/{behind}", user_message)] if user_message else []
    if changes:
        yield Proposal(title, (*_remove_media(fault, message, result, MOVED), *changes))
    text = NOT_SENT.format(media[0].kind if media else "media")
    removals = tuple(_remove_media(fault, message, result, text))
    yield Proposal("remove the media from the result", removals, RepairCost.DROPPED)


def _remove_media(fault: Fault, message: Message, result: ToolResultIR, text: str) -> Iterator[Change]:
    """Changes that remove the media of a result; one that has nothing else gets the text."""
    media = [part for part in result.content if isinstance(part, Media)]
    if len(media) < len(result.content):
        yield from (Remove(message.absolute(part)) for part in media)
        return
    at = message.absolute(result, "content")
    is_list = isinstance(fault.value(at), list)
    yield Replace(at, [shape.block(fault.adapter, Text(text), "tool")] if is_list else text)


def unsupported_media(fault: Fault) -> Iterator[Proposal]:
    """Replace media that are not accepted with a text that says so: alone, those of the same role, all of their kind.

    Or remove them. A text keeps the cache breakpoint of what it replaces.
    """
    if fault.number is None:
        return
    at = f"{fault.finding.pointer}/"
    here = [found for found in _media(fault, fault.number) if at.startswith(f"{found[0]}/")]
    for where, part, role in here or list(_media(fault, fault.number))[:1]:
        text = NOT_SENT.format(part.kind)
        alike = {
            other: (Text(text, extra=mark_of(one)), role_there)
            for n in range(len(fault.messages))
            for other, one, role_there in _media(fault, n)
            if one.kind == part.kind
        }
        of_role = tuple(other for other in alike if alike[other][1] == role)
        scopes = {(where,): "", of_role: f"every {part.kind} of role {role}", tuple(alike): f"every {part.kind}"}
        scopes[(where,)] = f"the {part.kind}"  # also where it is all of them
        for places, what in scopes.items():
            changes = tuple(Replace(other, shape.block(fault.adapter, *alike[other])) for other in places)
            yield Proposal(f"replace {what} with the text {quote(text)}", changes, RepairCost.STAND_IN)
        if len(fault.messages[fault.number].parts) > 1:
            yield Proposal(f"remove the {part.kind}", (Remove(where),), RepairCost.DROPPED)


def _media(fault: Fault, number: int) -> Iterator[tuple[str, Media, str]]:
    """Media of a message and of its tool results, where they are elements of a list: pointer, part and role.

    The role is that of the message, in a tool result always "tool".
    """
    message = fault.messages[number]
    for part in message.parts:
        if isinstance(part, Media) and list_position(part):
            yield message.absolute(part), part, message.role
        elif isinstance(part, ToolResultIR):
            yield from ((message.absolute(p), p, "tool") for p in part.content if isinstance(p, Media))


def system_position(fault: Fault) -> Iterator[Proposal]:
    """Merge the system message into the first one, or move it there; or change its role to user."""
    if fault.number is None:
        return
    message, text = fault.messages[fault.number], message_text(fault, fault.number)
    first = fault.messages[0]
    strays = [m for n, m in enumerate(fault.messages) if n and m.role == message.role]
    if text is not None:
        yield from move_to_system(fault, message, text)
    if first.role == message.role and fault.number > 0:
        changes = join_messages(fault, 0, [fault.number])
        if changes:
            yield Proposal("merge the system message into the first system message", changes)
        numbers = [n for n, m in enumerate(fault.messages) if n and m.role == message.role]
        changes = join_messages(fault, 0, numbers) if len(strays) > 1 else ()
        if changes:
            yield Proposal("merge every system message into the first system message", changes)
    elif fault.number > 0:
        yield Proposal("move the system message to the front", (Move(message.pointer, first.pointer),))
    role = Replace(f"{message.pointer}/role", "user")
    yield Proposal("change the role of the message to 'user'", (role,), RepairCost.STAND_IN)
    yield Proposal("remove the system message", (Remove(message.pointer),), RepairCost.DROPPED)


def role_order(fault: Fault) -> Iterator[Proposal]:
    """Join neighbouring messages of one role."""
    number = fault.number
    if number is None:
        return
    role = fault.messages[number].role
    for first in (number - 1, number):
        if first >= 0 and _is_run(fault.messages[first : first + 2], role):
            changes = join_messages(fault, first, [first + 1])
            if changes:
                yield Proposal(f"join the two adjacent {role} messages", changes)
    run = [n for n in range(1, len(fault.messages)) if _is_run(fault.messages[n - 1 : n + 1], fault.messages[n].role)]
    changes = tuple(c for n in run if n - 1 not in run for c in join_messages(fault, n - 1, _rest(run, n)))
    if changes:
        yield Proposal("join all adjacent messages of the same role", changes)
    if number == 0 or role == fault.contract.closure.call_role:
        yield Proposal(f"remove the {role} message", (Remove(fault.messages[number].pointer),), RepairCost.DROPPED)


def _is_run(pair: Sequence[Message], role: str) -> bool:
    return len(pair) == 2 and all(m.role == role for m in pair)


def _rest(run: list[int], start: int) -> list[int]:
    numbers = [start]
    while numbers[-1] + 1 in run:
        numbers.append(numbers[-1] + 1)
    return numbers


REPAIRS: Mapping[str, tuple[Proposer, ...]] = {
    "content.empty": (empty,),
    "content.assistant-last": (assistant_last,),
    "content.trailing-whitespace": (trailing, assistant_last),
    "content.image-in-result": (media_in_result,),
    "content.unsupported-part": (unsupported_media,),
    "content.system-position": (system_position,),
    "content.role-order": (role_order,),
}


BETWEEN = "\n\n"


def message_text(fault: Fault, number: int) -> str | None:
    """Text of a message; None if it contains other parts."""
    parts = fault.messages[number].parts
    texts = [p.text for p in parts if isinstance(p, Text)]
    return BETWEEN.join(texts) if len(texts) == len(parts) else None


def join_messages(fault: Fault, first: int, others: Sequence[int]) -> tuple[Change, ...]:
    """Join messages into one: texts to one text, lists to one list. Empty if that is not possible."""
    messages = [fault.messages[n] for n in (first, *others)]
    removals = [Remove(m.pointer) for m in messages[1:]]
    own = _strings(fault, messages)
    if own is not None:
        pointer, texts = own
        return (Replace(pointer, BETWEEN.join(texts)), *removals)
    lists = [{place[0] for p in m.parts if (place := list_position(p))} for m in messages]
    if any(len(found) > 1 for found in lists) or not lists[0] or not messages[0].parts:
        return ()
    if any(list_position(p) is None for p in messages[0].parts):
        return ()
    target = f"{messages[0].pointer}{next(iter(lists[0]))}/-"
    changes: list[Change] = []
    for message in messages[1:]:
        elements = _elements(fault, message)
        if elements is None:
            return ()
        changes += [Insert(target, e) if not isinstance(e, str) else Move(e, target) for e in elements]
    return (*changes, *removals)


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
        old = fault.value(f"/{key}")
        removal = Remove(message.pointer)
        title = "move the system message into the system prompt of the request"
        if old is None and key not in (fault.body or ()):
            yield Proposal(title, (Insert(f"/{key}", value), removal))
        elif isinstance(old, str):
            yield Proposal(title, (Replace(f"/{key}", old + BETWEEN + text), removal))
        elif isinstance(old, list):
            element = value[0] if isinstance(value, list) else shape.block(fault.adapter, Text(text))
            yield Proposal(title, (Insert(f"/{key}/-", element), removal))
        elif isinstance(old, dict) and isinstance(old.get("parts"), list) and isinstance(value, dict):
            yield Proposal(title, (Insert(f"/{key}/parts/-", value["parts"][0]), removal))
