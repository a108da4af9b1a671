"""What a gateway did to a body of one protocol, as changes that rules and people can weigh."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.diff.damage._grouped import Texts, grouped
from workbench.diff.damage._spelling import respelled
from workbench.diff.damage._texts import kind_of
from workbench.diff.damage._values import Change, Fingerprints, changes
from workbench.diff.damage.kinds import Damage, Kind
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.leaves import escape
from workbench.wire import JsonIndex, loads

__all__ = ["CONVERSATION", "SPELLING", "Change", "changes_of", "is_inside", "of_bodies"]

CONVERSATION = frozenset(
    {
        *("messages", "input", "contents", "system", "tools", "instructions", "systemInstruction", "toolConfig"),
        *("choices", "content", "output", "candidates", "message"),
    }
)
"""Members that hold what is said and what may be called."""

SPELLING = frozenset({Kind.KEY_ORDER, Kind.NUMBER_SPELLING, Kind.ESCAPES, Kind.WHITESPACE, Kind.RESPELLED})
"""The same value in other bytes."""


def is_inside(change: Change) -> bool:
    """In the conversation, its instructions or its tools, and no parameter beside them."""
    return (change.was or change.at).split("/")[1:2] != [] and (change.was or change.at).split("/")[1] in CONVERSATION


def of_bodies(side: str, before: bytes, after: bytes) -> list[Damage]:
    """What happened between two bodies (content-decoded), one of each kind and place; [] for equal bytes."""
    if before == after:
        return []
    return grouped(side, changes_of(before, after), Texts(before, after))


def changes_of(before: bytes, after: bytes) -> list[Change]:
    """The same place by place; of spellings one change for each kind.

    A body that is no JSON, or that became none, is one change of the whole.
    """
    if before == after:
        return []
    old, new = _read(before), _read(after)
    if old is None or new is None:
        return [_unread(before, after, is_old=old is not None, is_new=new is not None)]
    prints = Fingerprints(old.value, new.value)
    wrapped = _wrapped(old.value, new.value, prints)
    if wrapped is not None:
        return [wrapped]
    found = [*changes(old.value, new.value, prints), *_lost_keys(before, after)]
    found += _spelled(before, after)
    return found or [Change(Kind.RESPELLED, "", "", words="other bytes", is_same_meaning=True)]


class _Value:
    """A body that was read: None is a value, too."""

    def __init__(self, value: JsonValue) -> None:
        self.value = value


def _read(text: bytes) -> _Value | None:
    try:
        return _Value(loads(text))
    except WireError:
        return None


def _unread(before: bytes, after: bytes, *, is_old: bool, is_new: bool) -> Change:
    """What happened to a body of which one side at least is no JSON."""
    if not before:
        return Change(Kind.FIELD_ADDED, "", "", words="a body where there was none")
    if before.startswith(after):
        return Change(Kind.TRUNCATED, "", "", words=f"{len(before):,} bytes became {len(after):,}")
    if before.split() == after.split():
        return Change(Kind.WHITESPACE, "", "", is_same_meaning=not is_old and not is_new)
    if is_old != is_new:
        words = "JSON became something else" if is_old else "it became JSON"
        return Change(Kind.RESHAPED, "", "", words=words)
    return Change(Kind.VALUE_CHANGED, "", "", words="it is no JSON")


def _wrapped(old: JsonValue, new: JsonValue, prints: Fingerprints) -> Change | None:
    """The whole body became a member of another one, or a member of it stands alone now."""
    if type(old) is not type(new) and not (isinstance(old, dict) and isinstance(new, dict)):
        return Change(Kind.RESHAPED, "", "", words=f"{kind_of(old)} became {kind_of(new)}")
    if not isinstance(old, dict) or not isinstance(new, dict):
        return None
    for key, value in new.items():
        if isinstance(value, dict) and value and prints.key(value) == prints.key(old):
            return Change(Kind.RESHAPED, "", f"/{escape(key)}", words=f"the whole body became its member {key!r}")
    for key, value in old.items():
        if isinstance(value, dict) and value and prints.key(value) == prints.key(new):
            return Change(Kind.RESHAPED, f"/{escape(key)}", "", words=f"its member {key!r} became the whole body")
    return None


def _lost_keys(before: bytes, after: bytes) -> Iterator[Change]:
    """Keys that stood twice in an object, and do not any more."""
    olds = JsonIndex(before).duplicates()
    kept = set(JsonIndex(after).duplicates()) if olds else set()
    for pointer in olds:
        if pointer not in kept:
            yield Change(Kind.DUPLICATES_LOST, pointer, pointer, words="the last one stayed", is_same_meaning=True)


def _spelled(before: bytes, after: bytes) -> Iterator[Change]:
    texts = Texts(before, after)
    for found in respelled(before, after):
        was, at = texts.old.pointer_at(found.was), texts.new.pointer_at(found.at)
        spans = (found.was, found.at)
        yield Change(found.kind, was, at, None, None, found.words, True, places=found.places, bytes=spans)
