"""Groups changes to damages: one for each kind and shape of pointer, the first divergence first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from workbench.diff.damage._values import ValueChange
from workbench.diff.damage.kinds import Damage, DamageKind
from workbench.diff.wire import common
from workbench.wire import JsonIndex

_MOST_FURTHER = 20
"""Places after the first that are listed; all are counted."""

_OF_THE_WHOLE = frozenset({DamageKind.KEY_ORDER, DamageKind.IDS_MAPPED, DamageKind.ARGUMENTS_RESPELLED})
"""Kinds that form one damage over all places."""

_BY_WORDS = frozenset({DamageKind.EVENTS_DROPPED, DamageKind.EVENTS_ADDED})
"""Kinds grouped by their words."""

Offsets = tuple[int | None, int | None]


class OffsetFinder(Protocol):
    """Finds the first bytes that differ."""

    def offsets(self, change: ValueChange) -> Offsets:
        """Offset of the first byte that differs, in the text before and in the text after."""


class TextOffsets:
    """Offsets in two JSON texts."""

    def __init__(self, before: bytes, after: bytes) -> None:
        self.old, self.new = JsonIndex(before), JsonIndex(after)

    def offsets(self, change: ValueChange) -> Offsets:
        """First byte of a change in either text."""
        if change.bytes:
            return change.bytes
        if change.kind in (DamageKind.FIELD_DROPPED, DamageKind.EMPTY_DROPPED):
            return _start(self.old, change.was), self._gap(self.old, self.new, change.was, change.at)
        if change.kind is DamageKind.FIELD_ADDED:
            return self._gap(self.new, self.old, change.at, change.was), _start(self.new, change.at)
        was, at = self.old.span(change.was), self.new.span(change.at)
        if not was or not at or change.kind is DamageKind.FIELD_RENAMED:
            return _start(self.old, change.was), _start(self.new, change.at)
        same = common(self.old.text[slice(*was)], self.new.text[slice(*at)])
        return was[0] + same, at[0] + same

    def _gap(self, here: JsonIndex, there: JsonIndex, pointer: str, place: str) -> int | None:
        """Offset in the other text where a value would be that only one text has: after its last neighbour there.

        Args:
            here, pointer: text and pointer of the value.
            there, place: the other text, and the pointer in it of the list or of the place of the value.
        """
        parent, _, step = pointer.rpartition("/")
        around = place if step.isdecimal() and there.span(place) else place.rpartition("/")[0]
        span = there.span(around)
        if span is None:
            return None
        end, spans = span[0] + 1, dict(there.elements(around))
        for name, _ in here.elements(parent):
            if name == step:
                break
            end = spans[name][1] if name in spans else end
        return min(end, span[1])


def _start(index: JsonIndex, pointer: str) -> int | None:
    span = index.key_span(pointer) or index.span(pointer)
    return span[0] if span else None


def group_changes(side: str, changes: Iterable[ValueChange], places: OffsetFinder) -> list[Damage]:
    """One damage for each kind and shape of pointer, in the order of their first bytes."""
    groups: dict[tuple[object, ...], list[ValueChange]] = {}
    for change in changes:
        shape = "" if change.kind in _OF_THE_WHOLE else change.words if change.kind in _BY_WORDS else change.shape
        groups.setdefault((change.kind, shape, change.is_same_meaning), []).append(change)
    damages = [_damage(side, group, places) for group in groups.values()]
    return sorted(damages, key=order)


def _damage(side: str, group: list[ValueChange], places: OffsetFinder) -> Damage:
    first = group[0]
    was, at = places.offsets(first)
    count = sum(change.places for change in group)
    further = tuple(change.at for change in group[1 : _MOST_FURTHER + 1])
    return Damage(first.kind, side, first.was, first.at, first.words, count, at, first.is_same_meaning, was, further)


def order(damage: Damage) -> tuple[bool, int]:
    """Sort key: position in the bytes; a damage without bytes comes last."""
    at = damage.first_was if damage.first_was is not None else damage.first
    return at is None, at or 0
