"""What a family proposes: changes to a request, not judged yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from workbench.contracts import Edit
from workbench.edits import HEADERS, Change, SetHeader
from workbench.ir import JsonValue
from workbench.leaves import escape
from workbench.wire import patch
from workbench.wire.exchange import HttpRequest
from workbench.wire.json_index import split
from workbench.wire.jsontext import JsonIndex, loads


class Loss(IntEnum):
    """What a repair costs the conversation; the least comes first."""

    NONE = 0  # the same is said, in a form that is taken
    STAND_IN = 1  # something is added that says of itself that it is a stand-in
    DROPPED = 2  # something goes that the model may miss
    MODE = 3  # the request asks for less: no thinking, no forced tool
    CUT = 4  # the conversation ends earlier


@dataclass(frozen=True, slots=True)
class Proposal:
    """Changes that may repair a finding. ``title`` says what is done, in the imperative."""

    title: str
    changes: tuple[Change, ...]
    loss: Loss = Loss.NONE


def edits(http: HttpRequest, text: bytes, changes: tuple[Change, ...]) -> tuple[Edit, ...]:
    """The changes one by one, in order of their place: a move is a removal and an insertion."""
    index = JsonIndex(text)
    made = [edit for change in changes for edit in _edits(http, text, index, change)]
    return tuple(sorted(made, key=lambda e: e.span or (0, 0)))


def _edits(http: HttpRequest, text: bytes, index: JsonIndex, change: Change) -> list[Edit]:
    match change:
        case SetHeader():
            old = http.headers.get(change.name)
            return [
                Edit(HEADERS + change.name, None, old, change.value, "remove" if change.value is None else "replace")
            ]
        case patch.Replace():
            span = index.span(change.pointer)
            return [Edit(change.pointer, span, read_at(index, change.pointer), change.value, "replace")]
        case patch.Remove():
            span = index.span(change.pointer)
            return [Edit(change.pointer, span, read_at(index, change.pointer), None, "remove")]
        case patch.Insert():
            return [Edit(change.pointer, _slot(index, change.pointer), None, change.value, "insert")]
        case patch.Move():
            value = read_at(index, change.source)
            gone = Edit(change.source, index.span(change.source), value, None, "remove")
            return [gone, Edit(change.pointer, _slot(index, change.pointer), None, value, "insert")]


def read_at(index: JsonIndex, pointer: str) -> JsonValue:
    """The value at a pointer, also inside strings."""
    place = index.find(pointer)
    if place is None or index.span(pointer) is None:
        return None
    return loads(place.layer.text[place.node.start : place.node.end])


def _slot(index: JsonIndex, pointer: str) -> tuple[int, int] | None:
    """The empty range at which something is inserted."""
    there = index.span(pointer)
    if there:
        return (there[0], there[0])
    around = index.span(patch.parent_of(pointer)[0])
    return (around[1] - 1, around[1] - 1) if around else None


def value_at(body: JsonValue, pointer: str) -> JsonValue:
    """What stands at a pointer of a parsed body, None for nothing."""
    for step in split(pointer) or ():
        if isinstance(body, dict):
            body = body.get(step)
        elif isinstance(body, list) and step.isdecimal() and int(step) < len(body):
            body = body[int(step)]
        else:
            return None
    return body


def difference(at: str, old: JsonValue, new: JsonValue) -> Iterator[patch.Change]:
    """The changes that make one value of the other, as few as there are."""
    if isinstance(old, dict) and isinstance(new, dict):
        yield from (patch.Remove(f"{at}/{escape(key)}") for key in old if key not in new)
        for key, value in new.items():
            if key not in old:
                yield patch.Insert(f"{at}/{escape(key)}", value)
            else:
                yield from difference(f"{at}/{escape(key)}", old[key], value)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from difference(f"{at}/{number}", before, after)
    elif type(old) is not type(new) or old != new:
        yield patch.Replace(at, new)
