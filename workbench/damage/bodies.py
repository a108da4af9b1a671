"""What a gateway did to a body of one protocol, as changes that rules and people can weigh."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from workbench.differences import Change, Kind, compare
from workbench.differences.meaning import Detail, canonical
from workbench.differences.spelling import spellings
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.leaves import escape
from workbench.wire.jsontext import loads


class Deed(Enum):
    """What happened to a value on its way."""

    DROPPED = auto()
    ALTERED = auto()
    RESHAPED = auto()  # the same value in another place or wrapper
    ADDED = auto()
    RESPELLED = auto()  # the same value in other bytes


@dataclass(frozen=True, slots=True)
class Damage:
    """One change.

    Attributes:
        was: pointer in the body as it came in.
        at: pointer in the body as it went on; of what was dropped, where it would stand.
        words: what is special about it, "" for nothing.
    """

    deed: Deed
    was: str
    at: str
    before: JsonValue = None
    after: JsonValue = None
    words: str = ""

    @property
    def name(self) -> str:
        """Name of the member concerned, without the indices behind it."""
        steps = [step for step in self.was.split("/") if step and not step.isdecimal()]
        return steps[-1] if steps else ""

    @property
    def shape(self) -> str:
        """The pointer without indices: the same change in many places."""
        return re.sub(r"/\d+(?=/|$)", "/*", self.at)

    @property
    def is_inside(self) -> bool:
        """In the conversation, its instructions or its tools, and no parameter beside them."""
        return self.was.split("/")[1:2] != [] and self.was.split("/")[1] in CONVERSATION


CONVERSATION = frozenset(
    {
        *("messages", "input", "contents", "system", "tools", "instructions", "systemInstruction", "toolConfig"),
        *("choices", "content", "output", "candidates", "message"),
    }
)
"""Members that hold what is said and what may be called."""


def damages(before: bytes, after: bytes) -> list[Damage]:
    """What happened between two bodies (content-decoded), in the order of the second; [] for equal bytes.

    A body that is no JSON object, or that became none, is one change of the whole.
    """
    if before == after:
        return []
    wrapped = _wrapped(before, after)
    if wrapped is not None:
        return [wrapped]
    found = compare(before, after)
    if not found.is_read:
        return [Damage(Deed.RESHAPED, "", "", words="it is another kind of body")]
    made = _renamed([damage for change in found.changes for damage in _of_change(change, before, after)])
    if any(damage.deed is not Deed.RESPELLED for damage in made):
        return [*(d for d in made if d.deed is not Deed.RESPELLED), *_respelled(found.changes)]
    words = ", ".join(spellings(before, after)) or "other bytes"
    return [Damage(Deed.RESPELLED, "", "", words=words)]


def _respelled(changes: Sequence[Change]) -> Iterator[Damage]:
    """Beside other changes: that the rest is spelled otherwise too."""
    how = dict.fromkeys(word for change in changes for word in change.spelling)
    if how:
        yield Damage(Deed.RESPELLED, "", "", words=", ".join(how))


def _wrapped(before: bytes, after: bytes) -> Damage | None:
    """The whole body became a member of another one, or a member of it stands alone now."""
    try:
        old, new = loads(before), loads(after)
    except WireError:
        return None
    if not isinstance(old, dict) or not isinstance(new, dict):
        return None
    whole, rest = canonical(old), canonical(new)
    for key, value in new.items():
        if isinstance(value, dict) and value and canonical(value) == whole:
            return Damage(Deed.RESHAPED, "", f"/{escape(key)}", words=f"the whole body became its member {key!r}")
    for key, value in old.items():
        if isinstance(value, dict) and value and canonical(value) == rest:
            return Damage(Deed.RESHAPED, f"/{escape(key)}", "", words=f"its member {key!r} became the whole body")
    return None


def _of_change(change: Change, before: bytes, after: bytes) -> Iterator[Damage]:
    was, at = change.before or "", change.after or ""
    if change.kind is Kind.REMOVED:
        is_element = was.count("/") > 1
        yield Damage(Deed.DROPPED, was, was.rpartition("/")[0] if is_element else was, _value(before, was))
    elif change.kind is Kind.ADDED:
        yield Damage(Deed.ADDED, at, at, None, _value(after, at))
    elif change.kind is Kind.MOVED:
        yield Damage(Deed.RESHAPED, was, at, words=f"moved from {was}")
    elif change.kind is Kind.CHANGED:
        yield from map(_of_detail, change.details)
    else:
        yield Damage(Deed.RESPELLED, was, at, words=", ".join(change.spelling))


def _of_detail(detail: Detail) -> Damage:
    old, new = detail.before, detail.after
    if detail.kind is Kind.REMOVED:
        return Damage(Deed.DROPPED, detail.pointer, detail.place, old)
    if detail.kind is Kind.ADDED:
        return Damage(Deed.ADDED, detail.pointer, detail.pointer, None, new)
    if isinstance(old, dict | list) or isinstance(new, dict | list):
        return Damage(Deed.RESHAPED, detail.pointer, detail.pointer, old, new, _kinds(old, new))
    return Damage(Deed.ALTERED, detail.pointer, detail.pointer, old, new, _how(old, new))


def _value(text: bytes, pointer: str) -> JsonValue:
    value = loads(text)
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def _kinds(old: JsonValue, new: JsonValue) -> str:
    names: Mapping[type, str] = {dict: "an object", list: "a list", str: "a text", type(None): "null"}
    return f"{names.get(type(old), 'a value')} became {names.get(type(new), 'a value')}"


def _how(old: JsonValue, new: JsonValue) -> str:
    """What happened to a text, where it is a usual thing."""
    if not isinstance(old, str) or not isinstance(new, str):
        return ""
    if old.strip() == new.strip():
        return "white space was trimmed" if len(new) < len(old) else "white space was added"
    if new and (old.startswith(new) or old.endswith(new)):
        return f"cut from {len(old):,} to {len(new):,} characters"
    if "�" in new and "�" not in old:
        return "a character was damaged"
    try:
        if old[:1] in ("{", "[") and canonical(loads(old)) == canonical(loads(new)):
            return SAME_JSON
    except WireError:
        pass
    return ""


SAME_JSON = "the same JSON, written anew"


def _renamed(found: list[Damage]) -> list[Damage]:
    """What went under one name and came under another, in one object, was renamed."""
    came = {
        (d.at.rpartition("/")[0], canonical(d.after)): d
        for d in found
        if d.deed is Deed.ADDED and d.after not in (None, "", [], {})
    }
    made, used = list[Damage](), set[str]()
    for damage in found:
        new = came.get((damage.at.rpartition("/")[0], canonical(damage.before)))
        if damage.deed is Deed.DROPPED and new:
            words = f"{damage.name} became {new.name}"
            made.append(Damage(Deed.RESHAPED, damage.was, new.at, damage.before, new.after, words))
            used.add(new.at)
        else:
            made.append(damage)
    return [d for d in made if not (d.deed is Deed.ADDED and d.at in used)]
