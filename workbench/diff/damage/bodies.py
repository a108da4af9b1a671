"""Changes that a gateway made to a body of one protocol, for rules and people to judge."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.diff.damage._grouping import TextOffsets, group_changes
from workbench.diff.damage._spelling import spelling_changes
from workbench.diff.damage._texts import kind_of
from workbench.diff.damage._values import Fingerprints, ValueChange, changes
from workbench.diff.damage.kinds import Damage, DamageKind
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.provenance import escape
from workbench.wire import JsonIndex, loads

__all__ = ["CONVERSATION", "SPELLING", "ValueChange", "body_damages", "changes_of", "is_inside"]

CONVERSATION = frozenset(
    {
        *("messages", "input", "contents", "system", "tools", "instructions", "systemInstruction", "toolConfig"),
        *("choices", "content", "output", "candidates", "message"),
    }
)
"""Members with the conversation and the tools."""

SPELLING = frozenset(
    {DamageKind.KEY_ORDER, DamageKind.NUMBER_SPELLING, DamageKind.ESCAPES, DamageKind.WHITESPACE, DamageKind.RESPELLED}
)
"""Kinds that keep the value and change its bytes."""


def is_inside(change: ValueChange) -> bool:
    """True for a change in the conversation, its instructions or its tools; False for other parameters."""
    return (change.was or change.at).split("/")[1:2] != [] and (change.was or change.at).split("/")[1] in CONVERSATION


def body_damages(side: str, before: bytes, after: bytes) -> list[Damage]:
    """Damages between two bodies (content-decoded), one for each kind and place; [] for equal bytes."""
    if before == after:
        return []
    return group_changes(side, changes_of(before, after), TextOffsets(before, after))


def changes_of(before: bytes, after: bytes) -> list[ValueChange]:
    """The same place by place; one change for each kind of spelling.

    A body that is no JSON before or after is one change of the whole.
    """
    if before == after:
        return []
    old, new = _read(before), _read(after)
    if old is None or new is None:
        return [_unparsed_change(before, after, is_old=old is not None, is_new=new is not None)]
    prints = Fingerprints(old.value, new.value)
    wrapped = _wrapping_change(old.value, new.value, prints)
    if wrapped is not None:
        return [wrapped]
    found = [*changes(old.value, new.value, prints), *_lost_keys(before, after)]
    found += _spelling_changes(before, after)
    return found or [ValueChange(DamageKind.RESPELLED, "", "", words="other bytes", is_same_meaning=True)]


class _ParsedBody:
    """A parsed body, so that the value None differs from no value."""

    def __init__(self, value: JsonValue) -> None:
        self.value = value


def _read(text: bytes) -> _ParsedBody | None:
    try:
        return _ParsedBody(loads(text))
    except WireError:
        return None


def _unparsed_change(before: bytes, after: bytes, *, is_old: bool, is_new: bool) -> ValueChange:
    """Change of a body if at least one side is not JSON."""
    if not before:
        return ValueChange(DamageKind.FIELD_ADDED, "", "", words="a body was added")
    if before.startswith(after):
        return ValueChange(DamageKind.TRUNCATED, "", "", words=f"{len(before):,} bytes became {len(after):,}")
    if before.split() == after.split():
        return ValueChange(DamageKind.WHITESPACE, "", "", is_same_meaning=not is_old and not is_new)
    if is_old != is_new:
        words = "the body was JSON and no longer is" if is_old else "the body was not JSON and is now"
        return ValueChange(DamageKind.RESHAPED, "", "", words=words)
    return ValueChange(DamageKind.VALUE_CHANGED, "", "", words="the body is not JSON")


def _wrapping_change(old: JsonValue, new: JsonValue, prints: Fingerprints) -> ValueChange | None:
    """Change if the whole body became a member of another one, or one member became the whole body."""
    if type(old) is not type(new) and not (isinstance(old, dict) and isinstance(new, dict)):
        return ValueChange(DamageKind.RESHAPED, "", "", words=f"{kind_of(old)} became {kind_of(new)}")
    if not isinstance(old, dict) or not isinstance(new, dict):
        return None
    for key, value in new.items():
        if isinstance(value, dict) and value and prints.key(value) == prints.key(old):
            return ValueChange(
                DamageKind.RESHAPED, "", f"/{escape(key)}", words=f"the whole body became member {key!r} of an object"
            )
    for key, value in old.items():
        if isinstance(value, dict) and value and prints.key(value) == prints.key(new):
            return ValueChange(
                DamageKind.RESHAPED, f"/{escape(key)}", "", words=f"member {key!r} became the whole body"
            )
    return None


def _lost_keys(before: bytes, after: bytes) -> Iterator[ValueChange]:
    """Changes for keys that were duplicate in an object and are no longer."""
    olds = JsonIndex(before).duplicates()
    kept = set(JsonIndex(after).duplicates()) if olds else set()
    for pointer in olds:
        if pointer not in kept:
            yield ValueChange(
                DamageKind.DUPLICATES_LOST, pointer, pointer, words="only the last one was kept", is_same_meaning=True
            )


def _spelling_changes(before: bytes, after: bytes) -> Iterator[ValueChange]:
    texts = TextOffsets(before, after)
    for found in spelling_changes(before, after):
        was, at = texts.old.pointer_at(found.was), texts.new.pointer_at(found.at)
        spans = (found.was, found.at)
        yield ValueChange(found.kind, was, at, None, None, found.words, True, places=found.places, bytes=spans)
