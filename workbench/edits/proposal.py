"""Proposals of repair families: changes to a request, not checked yet; and the changes between two JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from enum import IntEnum

from workbench.contracts import Edit
from workbench.edits import HEADERS, Change, SetHeader
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.provenance import escape
from workbench.wire import Change as JsonChange
from workbench.wire import HttpRequest, Insert, JsonIndex, Remove, Replace, dumps, loads, patch


def changes_between(old: JsonValue, new: JsonValue, pointer: str = "") -> tuple[JsonChange, ...]:
    """Changes that turn ``old`` into ``new``; equal parts are not touched."""
    if dumps(old) == dumps(new):
        return ()
    if isinstance(old, dict) and isinstance(new, dict):
        return tuple(_members(old, new, pointer))
    if isinstance(old, list) and isinstance(new, list):
        return tuple(_elements(old, new, pointer))
    return (Replace(pointer, new),)


def _members(old: dict[str, JsonValue], new: dict[str, JsonValue], pointer: str) -> Iterator[JsonChange]:
    for name in (*old, *(name for name in new if name not in old)):
        at = f"{pointer}/{escape(name)}"
        if name not in new:
            yield Remove(at)
        elif name not in old:
            yield Insert(at, new[name])
        else:
            yield from changes_between(old[name], new[name], at)


def _elements(old: list[JsonValue], new: list[JsonValue], pointer: str) -> Iterator[JsonChange]:
    before, after = ([dumps(value) for value in values] for values in (old, new))
    for word, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if word == "replace" and end - start == last - first:
            for at, value in zip(range(start, end), new[first:last], strict=True):
                yield from changes_between(old[at], value, f"{pointer}/{at}")
        elif word != "equal":
            yield from (Insert(f"{pointer}/{start}", value) for value in new[first:last])
            yield from (Remove(f"{pointer}/{at}") for at in range(start, end))


class RepairCost(IntEnum):
    """Cost of a repair for the conversation, the least first."""

    NONE = 0  # the same content, in an accepted form
    REORDERED = 1  # the same content, in another order
    STAND_IN = 2  # a placeholder is added that says so itself
    DROPPED = 3  # content is removed that the model may miss
    MODE = 4  # the request asks for less: no thinking, no forced tool
    CUT = 5  # the conversation ends earlier


@dataclass(frozen=True, slots=True)
class Proposal:
    """Changes that may repair a finding. ``title`` describes them in the imperative."""

    title: str
    changes: tuple[Change, ...]
    cost: RepairCost = RepairCost.NONE


def repair_edits(http: HttpRequest, text: bytes, changes: tuple[Change, ...]) -> tuple[Edit, ...]:
    """The changes as single edits in body order; a move is a removal and an insertion."""
    index = JsonIndex(text)
    edits = [edit for change in changes for edit in _edits_of(http, text, index, change)]
    return tuple(sorted(edits, key=lambda e: e.span or (0, 0)))


def _edits_of(http: HttpRequest, text: bytes, index: JsonIndex, change: Change) -> list[Edit]:
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
            return [Edit(change.pointer, _insertion_span(index, change.pointer), None, change.value, "insert")]
        case patch.Move():
            value = read_at(index, change.source)
            removal = Edit(change.source, index.span(change.source), value, None, "remove")
            return [removal, Edit(change.pointer, _insertion_span(index, change.pointer), None, value, "insert")]


def read_at(index: JsonIndex, pointer: str) -> JsonValue:
    """Value at a pointer, also inside strings; None if there is none."""
    place = index.find(pointer)
    if place is None or index.span(pointer) is None:
        return None
    return loads(place.layer.text[place.node.start : place.node.end])


def _insertion_span(index: JsonIndex, pointer: str) -> tuple[int, int] | None:
    """The empty range at which a value is inserted; None if its container is absent."""
    there = index.span(pointer)
    if there:
        return (there[0], there[0])
    around = index.span(patch.parent_of(pointer)[0])
    return (around[1] - 1, around[1] - 1) if around else None
