"""Differences between two readings of the same messages, narrowed down to the smallest JSON values.

Messages and parts have to be the same in number, kind and order; the values of their fields may differ. ``extra`` holds
keys of the wire at their places, so a change in it has a pointer like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.errors import LocalProtocolError, WireError
from workbench.ir import JsonValue, Message, Part, Segment, ToolCallIR, ToolChoice, ToolDef, ToolResultIR
from workbench.lazy_dataclass import field_names
from workbench.named_tuple import NamedTuple
from workbench.provenance import escape
from workbench.wire import dumps, loads, replace

_DERIVED = frozenset({"error", "is_error", "media_type", "type", "kind"})
"""Fields that follow from others where they were not on the wire themselves."""


class LeafChange(NamedTuple):
    """A JSON value that differs.

    Attributes:
        pointer: absolute pointer of the field it is in.
        below: the rest of the pointer, down to the value.
        segments: for a streamed field, the pieces it was joined from.
        slice: the characters the field is, where it is a part of its string (of its joined segments, in a stream).
    """

    pointer: str
    below: str
    old: JsonValue
    new: JsonValue
    segments: tuple[Segment, ...] = ()
    slice: tuple[int, int] | None = None


def leaf_changes(before: Sequence[Message], after: Sequence[Message]) -> Iterator[LeafChange]:
    """Every difference.

    Raises:
        LocalProtocolError: a message or part was added, removed or turned into another kind, a field was set that is
            not on the wire, or the argument text and its parsed form say different things.
    """
    if len(before) != len(after):
        raise _unlike(f"{len(before)} messages became {len(after)}", "")
    for old, new in zip(before, after, strict=True):
        if old is new:
            continue
        if old.role != new.role:
            yield LeafChange(old.pointer, "/role", old.role, new.role)
        yield from _extra(old.pointer, old.extra, new.extra)
        yield from _parts(old, old.parts, new.parts)


def differences(old: JsonValue, new: JsonValue) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    """(pointer, old, new) of the smallest values that differ. ``1``, ``1.0`` and ``true`` are different values."""
    stack = [("", old, new)]
    while stack:
        at, a, b = stack.pop()
        if a is b:
            continue
        if isinstance(a, Mapping) and isinstance(b, Mapping) and a.keys() == b.keys():
            stack.extend((f"{at}/{escape(key)}", a[key], b[key]) for key in a)
        elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
            stack.extend((f"{at}/{n}", *pair) for n, pair in enumerate(zip(a, b, strict=True)))
        elif type(a) is not type(b) or (a != b and (a == a or b == b)):  # NaN is not equal to itself
            yield at, a, b


def differs(old: object, new: object) -> bool:
    """Two values of IR fields say different things. Nothing in them is too deep to be compared."""
    if isinstance(old, tuple) and isinstance(new, tuple):
        return len(old) != len(new) or any(differs(*pair) for pair in zip(old, new, strict=True))
    if isinstance(old, ToolDef) and isinstance(new, ToolDef):
        return any(differs(getattr(old, name), getattr(new, name)) for name in _names(ToolDef) if name != "pointer")
    if isinstance(old, ToolChoice) and isinstance(new, ToolChoice):
        return (old.mode, old.name) != (new.mode, new.name)
    return any(True for _ in differences(old, new))


def _parts(message: Message, before: Sequence[Part], after: Sequence[Part]) -> Iterator[LeafChange]:
    if len(before) != len(after):
        raise _unlike(f"{len(before)} parts became {len(after)}", message.pointer)
    for old, new in zip(before, after, strict=True):
        if type(old) is not type(new):
            raise _unlike(f"{type(old).__name__} became {type(new).__name__}", message.absolute(old))
        if old is not new:
            yield from _part(message, old, new)


def _part(message: Message, old: Part, new: Part) -> Iterator[LeafChange]:
    names = _names(type(old))
    found = [change for name in names for change in _field(message, old, new, name)]
    yield from found
    loose = (n for n in names if not _is_written(old, n) and getattr(old, n) != getattr(new, n))
    wrong = next((n for n in loose if not (found and n in _DERIVED)), None)
    if wrong:
        raise _unlike(f"{wrong!r} is not part of the body and cannot be set", message.absolute(old))


def _is_written(part: Part, name: str) -> bool:
    """A change of the field can be written: it has a place on the wire, or parts or keys that have one."""
    inside = name == "extra" or (name == "content" and isinstance(part, ToolResultIR))
    return inside or name in part.source.fields


def _names(kind: type) -> tuple[str, ...]:
    return tuple(name for name in field_names(kind) if name not in ("source", "copies"))


def _field(message: Message, old: Part, new: Part, name: str) -> Iterator[LeafChange]:
    """The differences in one field of a part."""
    a, b = getattr(old, name), getattr(new, name)
    if name == "extra":
        yield from _extra(message.absolute(old), a, b)
    elif name == "content" and isinstance(old, ToolResultIR):
        yield from _parts(message, a, b)
    elif name == "raw" and isinstance(old, ToolCallIR) and isinstance(new, ToolCallIR) and old.raw is not None:
        yield from _locate(message, old, name, a, _argument_text(old, new, message.absolute(old, name)))
    elif name in old.source.fields and not (name == "input" and isinstance(old, ToolCallIR) and old.raw is not None):
        yield from _locate(message, old, name, a, b)  # what is parsed from argument text is written into that text


def _locate(message: Message, part: Part, name: str, old: JsonValue, new: JsonValue) -> Iterator[LeafChange]:
    source, pointer = part.source, message.absolute(part, name)
    for below, a, b in differences(old, new):
        yield LeafChange(pointer, below, a, b, source.segments.get(name, ()), source.slices.get(name))


def _extra(pointer: str, old: Mapping[str, JsonValue], new: Mapping[str, JsonValue]) -> Iterator[LeafChange]:
    if old is not new and old.keys() != new.keys():
        raise _unlike("keys were added or removed", pointer)
    return (LeafChange(pointer, below, a, b) for below, a, b in differences(old, new))


def _argument_text(old: ToolCallIR, new: ToolCallIR, pointer: str) -> str | None:
    """The argument text after the change, whichever of text and parsed form was changed."""
    edits = {below: b for below, _, b in differences(old.input, new.input)}
    if new.raw != old.raw:
        if edits and not _means(new.raw, new.input):
            raise LocalProtocolError(
                "argument text and parsed arguments were changed to different values",
                where=pointer,
                hint="change only one",
            )
        return new.raw
    if not edits:
        return old.raw
    raw = (old.raw or "").encode("utf-8", "surrogatepass")
    text = replace(raw, edits) if old.error is None else dumps(new.input)
    return text.decode("utf-8", "surrogatepass")


def _means(raw: str | None, value: JsonValue) -> bool:
    try:
        return raw is not None and not any(differences(loads(raw), value))
    except WireError:
        return value is None


def _unlike(what: str, pointer: str) -> LocalProtocolError:
    what = f"this edit changes the structure: {what}"
    return LocalProtocolError(what, where=pointer or None, hint="only values can be changed in place")
