"""Reasoning that is dropped, emptied, cut short or in another place: what is needed, and what is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from workbench.chain.closure import NodeRef
from workbench.edits.places import array_of, drop, element
from workbench.ir import Message, Part, Reasoning
from workbench.trials.whatif._subject import Subject, Variant
from workbench.wire.patch import Change, Insert, Move, Remove, Replace

NONE = "the request sends no reasoning back"
UNREADABLE = "the reasoning it sends back holds no readable text"


def dropped(subject: Subject) -> Iterable[Variant]:
    """Without any of it."""
    refs = [ref for ref, _ in subject.fault.parts(Reasoning)]
    yield subject.changed("reasoning=dropped", "no reasoning is sent back", drop(subject.fault, refs), NONE)


def emptied(subject: Subject) -> Iterable[Variant]:
    """Its place stays, its text goes."""
    yield _other_text(subject, "reasoning=emptied", "reasoning is sent back empty", lambda text: "")


def trimmed(subject: Subject) -> Iterable[Variant]:
    """Half of its text: what a client that saves tokens makes of it."""
    title = "of all reasoning the first half is sent back"
    yield _other_text(subject, "reasoning=trimmed", title, lambda text: text[: len(text) // 2])


def moved(subject: Subject) -> Iterable[Variant]:
    """Behind what it led to; of a field of its own, into the content."""
    changes: list[Change] = []
    for ref, _ in subject.fault.parts(Reasoning):
        changes += _moved(subject, ref)
    title = "reasoning is sent back in another place"
    yield subject.changed("reasoning=moved", title, changes, _why_not_moved(subject))


VARIANTS = (dropped, emptied, trimmed, moved)


def _other_text(subject: Subject, name: str, title: str, change: Callable[[str], str]) -> Variant:
    def changed(part: Part) -> Part:
        if isinstance(part, Reasoning) and part.text:
            return replace(part, text=change(part.text))
        return part

    is_there = any(True for _ in subject.fault.parts(Reasoning))
    return subject.rewritten(name, title, changed, UNREADABLE if is_there else NONE)


def _why_not_moved(subject: Subject) -> str:
    return "there is no other place for it" if any(True for _ in subject.fault.parts(Reasoning)) else NONE


def _moved(subject: Subject, ref: NodeRef) -> list[Change]:
    message = subject.request.messages[ref.message]
    part = message.parts[ref.part]
    if subject.request.itemized:
        return _behind_next(subject, ref)
    place = array_of(part)
    if place and not part.source.slices:
        last = max(place_of[1] for p in message.parts if (place_of := array_of(p)) and place_of[0] == place[0])
        is_alone = element(part) in {element(p) for p in message.parts if p is not part}  # it is on another part
        at = message.pointer + place[0]
        return [] if is_alone or last == place[1] else [Move(message.pointer + element(part), f"{at}/-")]
    return _into_content(subject, message, part) if isinstance(part, Reasoning) and not part.source.slices else []


def _behind_next(subject: Subject, ref: NodeRef) -> list[Change]:
    """An item behind the one that follows it, if that is of the same answer."""
    messages = subject.request.messages
    at = messages[ref.message].pointer
    follower = next((m for m in messages[ref.message + 1 :] if m.pointer != at), None)
    if follower is None or follower.role != messages[ref.message].role or any(follower.reasoning()):
        return []
    parent, _, step = follower.pointer.rpartition("/")
    return [Move(at, f"{parent}/{int(step) + 1}")]


def _into_content(subject: Subject, message: Message, part: Reasoning) -> list[Change]:
    """A string beside the content goes into it, in the tags in which templates write it."""
    at = f"{message.pointer}/content"
    held = subject.fault.value(at)
    if not part.text or not (held is None or isinstance(held, str)):
        return []
    text = f"<think>\n{part.text}\n</think>\n\n{held or ''}"
    body = subject.fault.value(message.pointer)
    is_there = isinstance(body, dict) and "content" in body
    return [Remove(message.pointer + element(part)), Replace(at, text) if is_there else Insert(at, text)]
