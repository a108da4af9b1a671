"""Where the parts of a message stand in it, and the changes that take them away."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.chain.closure import NodeRef
from workbench.ir import Message, Part, Reasoning, Text
from workbench.wire.patch import Change, Remove, Replace

if TYPE_CHECKING:
    from workbench.edits.fault import Fault

_ELEMENT = re.compile(r"[^0-9]*?/\d+(?=/|$)")


def element(part: Part) -> str:
    """Pointer, below its message, of the element or member that is the part; "" for the message itself."""
    found = _ELEMENT.match(part.source.pointer)
    return found.group() if found else part.source.pointer


def array_of(part: Part) -> tuple[str, int] | None:
    """The list a part is an element of, below its message, and its index; None for a part that is none."""
    at = element(part)
    parent, _, step = at.rpartition("/")
    return (parent, int(step)) if step.isdecimal() else None


def drop(fault: Fault, refs: Iterable[NodeRef]) -> tuple[Change, ...]:
    """The changes that take parts away; a message that says nothing without them goes too."""
    by_message: defaultdict[int, set[int]] = defaultdict(set)
    for ref in refs:
        by_message[ref.message].add(ref.part)
    return tuple(change for n, gone in sorted(by_message.items()) for change in _drop(fault, n, gone))


def _drop(fault: Fault, number: int, gone: set[int]) -> list[Change]:
    message = fault.messages[number]
    rest = [p for k, p in enumerate(message.parts) if k not in gone]
    taken = [message.parts[k] for k in sorted(gone)]
    if fault.request.itemized or any(element(p) == "" for p in taken) or all(_is_nothing(p) for p in rest):
        return [Remove(message.pointer)]
    return [*_fields(message, taken, rest), *_elements(fault, message, taken, rest), *_slices(fault, message, taken)]


def _is_nothing(part: Part) -> bool:
    return isinstance(part, Text) and not part.text


def _fields(message: Message, taken: list[Part], rest: list[Part]) -> list[Change]:
    """Parts that are members of the message, or of a part that stays (a signature on a call)."""
    made: list[Change] = []
    staying = {element(p) for p in rest}
    for part in taken:
        at = element(part)
        if part.source.slices:
            continue
        if at in staying and isinstance(part, Reasoning):
            made += [Remove(message.pointer + at + suffix) for suffix in part.source.fields.values() if suffix]
        elif array_of(part) is None:
            made.append(Remove(message.pointer + at))
    return made


def _elements(fault: Fault, message: Message, taken: list[Part], rest: list[Part]) -> list[Change]:
    """Parts that are elements of a list; a list beside the content goes with its last element."""
    staying = {element(p) for p in rest}
    arrays: defaultdict[str, set[str]] = defaultdict(set)
    for part in taken:
        place = array_of(part)
        if place and element(part) not in staying and not part.source.slices:
            arrays[place[0]].add(element(part))
    made: list[Change] = []
    for parent, gone in arrays.items():
        held = fault.value(message.pointer + parent)
        if isinstance(held, list) and len(held) == len(gone):
            made.append(Remove(message.pointer + parent))
        else:
            made += [Remove(message.pointer + at) for at in sorted(gone)]
    return made


def _slices(fault: Fault, message: Message, taken: list[Part]) -> list[Change]:
    """Parts that are a piece of a text."""
    pieces: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for part in taken:
        for name, piece in part.source.slices.items():
            pieces[message.absolute(part, name)].append(piece)
    made: list[Change] = []
    for pointer, cuts in pieces.items():
        text = fault.value(pointer)
        if isinstance(text, str):
            for start, end in sorted(cuts, reverse=True):
                text = text[:start] + text[end:]
            made.append(Replace(pointer, re.sub(r"<think(?:ing)?>\s*</think(?:ing)?>\s*", "", text)))
    return made
