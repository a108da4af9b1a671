"""Pointers of the parts of a message, and the changes that remove parts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench import regex
from workbench.ir import Message, NodeRef, Part, Reasoning, Text
from workbench.wire import Change, Remove, Replace

if TYPE_CHECKING:
    from workbench.edits.fault import Fault

_ELEMENT = regex.compile(r"[^0-9]*?/\d+(?=/|$)")


def element_pointer(part: Part) -> str:
    """Pointer, below its message, of the element or member that is the part; empty for the message itself."""
    found = _ELEMENT.match(part.source.pointer)
    return found.group() if found else part.source.pointer


def list_position(part: Part) -> tuple[str, int] | None:
    """Pointer (below its message) of the list that contains a part, and its index; None if it is in no list."""
    at = element_pointer(part)
    parent, _, step = at.rpartition("/")
    return (parent, int(step)) if step.isdecimal() else None


def remove_parts(fault: Fault, refs: Iterable[NodeRef]) -> tuple[Change, ...]:
    """Changes that remove parts; a message that is empty without them is removed as well."""
    by_message: defaultdict[int, set[int]] = defaultdict(set)
    for ref in refs:
        by_message[ref.message].add(ref.part)
    return tuple(
        change for n, indices in sorted(by_message.items()) for change in _remove_from_message(fault, n, indices)
    )


def _remove_from_message(fault: Fault, number: int, indices: set[int]) -> list[Change]:
    message = fault.messages[number]
    rest = [p for k, p in enumerate(message.parts) if k not in indices]
    parts = [message.parts[k] for k in sorted(indices)]
    if fault.request.itemized or any(element_pointer(p) == "" for p in parts) or all(_is_empty_text(p) for p in rest):
        return [Remove(message.pointer)]
    return [
        *_remove_members(message, parts, rest),
        *_remove_elements(fault, message, parts, rest),
        *_remove_slices(fault, message, parts),
    ]


def _is_empty_text(part: Part) -> bool:
    return isinstance(part, Text) and not part.text


def _remove_members(message: Message, parts: list[Part], rest: list[Part]) -> list[Change]:
    """Remove parts that are members of the message, or of a part that stays (a signature on a call)."""
    changes: list[Change] = []
    staying = {element_pointer(p) for p in rest}
    for part in parts:
        at = element_pointer(part)
        if part.source.slices:
            continue
        if at in staying and isinstance(part, Reasoning):
            changes += [Remove(message.pointer + at + suffix) for suffix in part.source.fields.values() if suffix]
        elif list_position(part) is None:
            changes.append(Remove(message.pointer + at))
    return changes


def _remove_elements(fault: Fault, message: Message, parts: list[Part], rest: list[Part]) -> list[Change]:
    """Remove parts that are list elements; a list next to the content is removed with its last element."""
    staying = {element_pointer(p) for p in rest}
    arrays: defaultdict[str, set[str]] = defaultdict(set)
    for part in parts:
        place = list_position(part)
        if place and element_pointer(part) not in staying and not part.source.slices:
            arrays[place[0]].add(element_pointer(part))
    changes: list[Change] = []
    for parent, elements in arrays.items():
        array = fault.value(message.pointer + parent)
        if isinstance(array, list) and len(array) == len(elements):
            changes.append(Remove(message.pointer + parent))
        else:
            changes += [Remove(message.pointer + at) for at in sorted(elements)]
    return changes


def _remove_slices(fault: Fault, message: Message, parts: list[Part]) -> list[Change]:
    """Remove parts that are slices of a text."""
    pieces: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for part in parts:
        for name, piece in part.source.slices.items():
            pieces[message.absolute(part, name)].append(piece)
    changes: list[Change] = []
    for pointer, cuts in pieces.items():
        text = fault.value(pointer)
        if isinstance(text, str):
            for start, end in sorted(cuts, reverse=True):
                text = text[:start] + text[end:]
            changes.append(Replace(pointer, re.sub(r"<think(?:ing)?>\s*</think(?:ing)?>\s*", "", text)))
    return changes
