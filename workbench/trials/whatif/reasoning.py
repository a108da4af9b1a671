"""Reasoning dropped, emptied, shortened or moved: shows what the provider requires and reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.edits import element_pointer, list_position
from workbench.edits.variants import NO_REASONING, RequestVariant, VariedRequest, drop_reasoning
from workbench.ir import Message, NodeRef, Part, Reasoning
from workbench.lazy_dataclass import replace
from workbench.wire import Change, Insert, Move, Remove, Replace

UNREADABLE = "the reasoning of this request has no readable text"


def empty_reasoning(subject: VariedRequest) -> Iterable[RequestVariant]:
    """A copy with empty reasoning text."""
    yield _other_text(subject, "reasoning=emptied", "with empty reasoning", lambda text: "")


def trim_reasoning(subject: VariedRequest) -> Iterable[RequestVariant]:
    """A copy with half of the reasoning text, as clients that save tokens send it."""
    title = "with only the first half of each reasoning text"
    yield _other_text(subject, "reasoning=trimmed", title, lambda text: text[: len(text) // 2])


def move_reasoning(subject: VariedRequest) -> Iterable[RequestVariant]:
    """After the part that followed it; from a separate field into the content."""
    changes: list[Change] = []
    for ref, _ in subject.fault.parts(Reasoning):
        changes += _move_changes(subject, ref)
    title = "with reasoning at another position"
    yield subject.variant_by_changes("reasoning=moved", title, changes, _why_not_moved(subject))


VARIANTS = (drop_reasoning, empty_reasoning, trim_reasoning, move_reasoning)


def _other_text(subject: VariedRequest, name: str, title: str, change: Callable[[str], str]) -> RequestVariant:
    def change_part(part: Part) -> Part:
        if isinstance(part, Reasoning) and part.text:
            return replace(part, text=change(part.text))
        return part

    is_there = any(True for _ in subject.fault.parts(Reasoning))
    return subject.variant_by_parts(name, title, change_part, UNREADABLE if is_there else NO_REASONING)


def _why_not_moved(subject: VariedRequest) -> str:
    return "this reasoning cannot be moved" if any(True for _ in subject.fault.parts(Reasoning)) else NO_REASONING


def _move_changes(subject: VariedRequest, ref: NodeRef) -> list[Change]:
    message = subject.request.messages[ref.message]
    part = message.parts[ref.part]
    if subject.request.itemized:
        return _after_next_item(subject, ref)
    place = list_position(part)
    if place and not part.source.slices:
        last = max(place_of[1] for p in message.parts if (place_of := list_position(p)) and place_of[0] == place[0])
        is_alone = element_pointer(part) in {
            element_pointer(p) for p in message.parts if p is not part
        }  # it shares the element of another part
        at = message.pointer + place[0]
        return [] if is_alone or last == place[1] else [Move(message.pointer + element_pointer(part), f"{at}/-")]
    return _into_content(subject, message, part) if isinstance(part, Reasoning) and not part.source.slices else []


def _after_next_item(subject: VariedRequest, ref: NodeRef) -> list[Change]:
    """Move an item after the next one, if both belong to the same response."""
    messages = subject.request.messages
    at = messages[ref.message].pointer
    follower = next((m for m in messages[ref.message + 1 :] if m.pointer != at), None)
    if follower is None or follower.role != messages[ref.message].role or any(follower.reasoning()):
        return []
    parent, _, step = follower.pointer.rpartition("/")
    return [Move(at, f"{parent}/{int(step) + 1}")]


def _into_content(subject: VariedRequest, message: Message, part: Reasoning) -> list[Change]:
    """Move a reasoning string into the content, in the tags that templates use."""
    at = f"{message.pointer}/content"
    content = subject.fault.value(at)
    if not part.text or not (content is None or isinstance(content, str)):
        return []
    text = f"<think>\n{part.text}\n</think>\n\n{content or ''}"
    body = subject.fault.value(message.pointer)
    is_there = isinstance(body, dict) and "content" in body
    return [Remove(message.pointer + element_pointer(part)), Replace(at, text) if is_there else Insert(at, text)]
