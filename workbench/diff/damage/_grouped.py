"""Changes as damages: one for each kind and shape of place, the first divergence first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from workbench.diff.damage._values import Change
from workbench.diff.damage.kinds import Damage, Kind
from workbench.diff.wire import common
from workbench.wire import JsonIndex

_MOST_FURTHER = 20
"""Places beside the first that are listed; all are counted."""

_OF_THE_WHOLE = frozenset({Kind.KEY_ORDER, Kind.IDS_MAPPED, Kind.ARGUMENTS_RESPELLED})
"""Kinds that are one damage wherever they happened."""

_BY_WORDS = frozenset({Kind.EVENTS_DROPPED, Kind.EVENTS_ADDED})
"""Kinds whose words say of what they are."""

Offsets = tuple[int | None, int | None]


class Places(Protocol):
    """Finds the first bytes that differ."""

    def offsets(self, change: Change) -> Offsets:
        """Offset of the first byte that differs in the text before, and in the text after."""


class Texts:
    """Two JSON texts."""

    def __init__(self, before: bytes, after: bytes) -> None:
        self.old, self.new = JsonIndex(before), JsonIndex(after)

    def offsets(self, change: Change) -> Offsets:
        """Where a change is seen first in either text."""
        if change.bytes:
            return change.bytes
        if change.kind in (Kind.FIELD_DROPPED, Kind.EMPTY_DROPPED):
            return _start(self.old, change.was), self._gap(self.old, self.new, change.was, change.at)
        if change.kind is Kind.FIELD_ADDED:
            return self._gap(self.new, self.old, change.at, change.was), _start(self.new, change.at)
        was, at = self.old.span(change.was), self.new.span(change.at)
        if not was or not at or change.kind is Kind.FIELD_RENAMED:
            return _start(self.old, change.was), _start(self.new, change.at)
        same = common(self.old.text[slice(*was)], self.new.text[slice(*at)])
        return was[0] + same, at[0] + same

    def _gap(self, here: JsonIndex, there: JsonIndex, pointer: str, place: str) -> int | None:
        """Where something stands that is in one text alone, in the other one: behind its last neighbour that is there.

        Args:
            here, pointer: where it stands.
            there, place: where it would stand, in the other text: there its list, or its own place.
        """
        parent, _, step = pointer.rpartition("/")
        around = place if step.isdecimal() and there.span(place) else place.rpartition("/")[0]
        span = there.span(around)
        if span is None:
            return None
        end, left = span[0] + 1, dict(there.elements(around))
        for name, _ in here.elements(parent):
            if name == step:
                break
            end = left[name][1] if name in left else end
        return min(end, span[1])


def _start(index: JsonIndex, pointer: str) -> int | None:
    span = index.key_span(pointer) or index.span(pointer)
    return span[0] if span else None


def grouped(side: str, changes: Iterable[Change], places: Places) -> list[Damage]:
    """One damage for each kind and shape of place, in order of their first bytes."""
    groups: dict[tuple[object, ...], list[Change]] = {}
    for change in changes:
        shape = "" if change.kind in _OF_THE_WHOLE else change.words if change.kind in _BY_WORDS else change.shape
        groups.setdefault((change.kind, shape, change.is_same_meaning), []).append(change)
    made = [_damage(side, group, places) for group in groups.values()]
    return sorted(made, key=order)


def _damage(side: str, group: list[Change], places: Places) -> Damage:
    first = group[0]
    was, at = places.offsets(first)
    count = sum(change.places for change in group)
    further = tuple(change.at for change in group[1 : _MOST_FURTHER + 1])
    return Damage(first.kind, side, first.was, first.at, first.words, count, at, first.is_same_meaning, was, further)


def order(damage: Damage) -> tuple[bool, int]:
    """What comes first in the bytes comes first; what has no bytes comes last."""
    at = damage.first_was if damage.first_was is not None else damage.first
    return at is None, at or 0
