"""Structural edits of JSON text: members and elements added, removed, replaced and moved.

All pointers refer to the original text: a patch is applied at once, and the order of its changes matters only for
insertions at one position. Bytes outside the changes stay the same. New values are formatted like their neighbours:
indented or on one line.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from workbench import regex
from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.wire.json_index import JsonChild, split_pointer
from workbench.wire.jsontext import JsonIndex, dumps, replace, writer_like

__all__ = ["Change", "Insert", "Move", "Remove", "Replace", "apply", "parent_of"]

END: Final = "-"
_CONTAINERS: Final = b"[{"
_SEPARATOR: Final = regex.compile(rb"\s*,\s*")
_SIGN: Final = regex.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"(?P<colon>\s*:\s*)?|(?P<comma>,\s*)', re.DOTALL)
"""A string, with the colon behind it if it is a key; or a comma."""
_BREAK: Final = regex.compile(rb"\r?\n[ \t]*")


@dataclass(frozen=True, slots=True)
class Insert:
    """Add an element before ``pointer`` ("…/-" or the length: at the end), or a new last member."""

    pointer: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove the element or member at ``pointer``."""

    pointer: str


@dataclass(frozen=True, slots=True)
class Replace:
    """Replace the value at ``pointer``, which may go through strings that contain JSON."""

    pointer: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Move:
    """Move the bytes of the value at ``source`` to ``pointer``."""

    source: str
    pointer: str


Change: TypeAlias = Insert | Remove | Replace | Move


def apply(text: bytes, changes: Iterable[Change]) -> bytes:
    """Apply all changes to a text.

    Raises:
        LocalProtocolError: no value at a pointer, or two changes conflict.
        WireError: the text is not JSON.
    """
    index, wanted = JsonIndex(text), list(changes)
    inside = {c.pointer: c.value for c in wanted if isinstance(c, Replace) and _is_in_string(index, c.pointer)}
    outside = [c for c in wanted if not (isinstance(c, Replace) and c.pointer in inside)]
    for change in wanted:
        if isinstance(change, Replace):
            _refuse_overlap(change.pointer, outside)
        if isinstance(change, Replace | Remove):
            _refuse_insertion(change.pointer, outside)
    edited = replace(text, inside) if inside else text
    if not outside:
        return edited
    span = JsonIndex(edited).span("")
    if span is None:
        raise LocalProtocolError("not a complete JSON value", where="the whole text", hint="check the text")
    return edited[: span[0]] + _Editor(edited, outside).render("", _ContainerLayout(b"", b"")) + edited[span[1] :]


def parent_of(pointer: str) -> tuple[str, str]:
    """Pointer of the container, and the last step (still escaped). Raises LocalProtocolError for the root."""
    if not pointer.startswith("/"):
        raise LocalProtocolError("the root has no parent", where=pointer or "the whole text")
    parent, _, step = pointer.rpartition("/")
    return parent, step


def _is_in_string(index: JsonIndex, pointer: str) -> bool:
    place = index.find(pointer)
    return place is not None and bool(place.strings)


def _refuse_overlap(pointer: str, changes: Sequence[Change]) -> None:
    for change in changes:
        target = change.pointer if isinstance(change, Remove | Replace) else ""
        is_other = not (isinstance(change, Replace) and target == pointer)
        if target and is_other and (f"{pointer}/".startswith(f"{target}/") or target.startswith(f"{pointer}/")):
            raise LocalProtocolError("two changes conflict", where=f"{pointer}, {target}")


def _refuse_insertion(pointer: str, changes: Sequence[Change]) -> None:
    """Refuse an insertion into a removed value."""
    for change in changes:
        if isinstance(change, Insert | Move) and change.pointer.startswith(f"{pointer}/"):
            raise LocalProtocolError("two changes conflict", where=f"{pointer}, {change.pointer}")


class _ContainerLayout(NamedTuple):
    """Layout of a container: text before each child, and indentation per level."""

    before: bytes  # line break and indentation, b"" on one line
    unit: bytes

    @property
    def deeper(self) -> _ContainerLayout:
        return _ContainerLayout(self.before + self.unit, self.unit) if self.before else self


class _WrittenChild(NamedTuple):
    """A child as written. ``number``: its index among the old children; None for a new one."""

    text: bytes
    number: int | None = None


@dataclass(slots=True)
class _ContainerEdits:
    """Changes of one container. ``added``: step → values inserted before it."""

    removed: set[str] = field(default_factory=set)
    added: defaultdict[str, list[Insert | Move]] = field(default_factory=lambda: defaultdict(list))


class _Editor:
    def __init__(self, text: bytes, changes: Sequence[Change]) -> None:
        self.text = text
        self.index = JsonIndex(text)
        self.write = writer_like(text)
        self.work: defaultdict[str, _ContainerEdits] = defaultdict(_ContainerEdits)
        self.replaced: dict[str, JsonValue] = {}
        for change in changes:
            self._plan(change)
        self.touched = {p for pointer in (*self.work, *self.replaced) for p in _ancestors(pointer)}
        self.colon, self.comma = _signs(text)

    def _plan(self, change: Change) -> None:
        source = change.source if isinstance(change, Move) else change.pointer
        if not isinstance(change, Insert):
            if self.index.span(source) is None or _is_in_string(self.index, source):
                raise LocalProtocolError("no value at this pointer", where=source, hint="check the pointer")
            if isinstance(change, Replace):
                self.replaced[source] = change.value
                return
            parent, step = parent_of(source)
            if step in self.work[parent].removed:
                raise LocalProtocolError("two changes conflict", where=source)
            self.work[parent].removed.add(step)
        if isinstance(change, Insert | Move):
            parent, step = parent_of(change.pointer)
            if isinstance(change, Move) and f"{parent}/".startswith(f"{source}/"):
                raise LocalProtocolError("a value cannot be moved into itself", where=source)
            if self.index.span(parent) is None:
                raise LocalProtocolError("no value at this pointer", where=parent, hint="check the pointer")
            self.work[parent].added[step].append(change)

    def render(self, pointer: str, layout: _ContainerLayout) -> bytes:
        """Bytes of a value after the changes. ``layout``: of its container."""
        span = self.index.span(pointer)
        if span is None:
            raise LocalProtocolError(
                "no value at this pointer", where=pointer or "the whole text", hint="check the pointer"
            )
        if pointer in self.replaced:
            return self._laid_out(self.replaced[pointer], layout)
        if pointer not in self.touched:
            return self.text[slice(*span)]
        start, end = span
        if self.text[start] not in _CONTAINERS:
            raise LocalProtocolError("neither an object nor an array", where=pointer, hint="check the pointer")
        children = self._children(pointer, span)
        own = self._layout(children, span, layout)
        new_children = self._edited_children(pointer, children, own)
        if not new_children:
            return self.text[start : start + 1] + self.text[end - 1 : end]
        return self._join(new_children, children, span, own)

    def _children(self, pointer: str, span: tuple[int, int]) -> list[JsonChild]:
        """Every child. Raises LocalProtocolError if a key repeats."""
        found = self.index.children(pointer)
        for before, child in pairwise(found):
            if not _SEPARATOR.fullmatch(self.text, before.end, child.start):
                raise LocalProtocolError(
                    "a key is repeated here", where=f"{pointer}/{child.step}", hint="edit the text by hand"
                )
        if found and self.text[span[0] + 1 : found[0].start].strip():
            raise LocalProtocolError(
                "a key is repeated here", where=f"{pointer}/{found[0].step}", hint="edit the text by hand"
            )
        return found

    def _layout(self, children: list[JsonChild], span: tuple[int, int], outer: _ContainerLayout) -> _ContainerLayout:
        """Layout of this container; without own layout that of the surrounding one."""
        if not children:
            return outer.deeper
        lead = self.text[span[0] + 1 : children[0].start]
        trail = self.text[children[-1].end : span[1] - 1]
        if not _BREAK.fullmatch(lead):
            return _ContainerLayout(b"", b"")
        unit = lead[len(trail) :] if lead.startswith(trail) and _BREAK.fullmatch(trail) else b"  "
        return _ContainerLayout(lead, unit)

    def _edited_children(
        self, pointer: str, children: list[JsonChild], layout: _ContainerLayout
    ) -> list[_WrittenChild]:
        """Children after the changes, in order."""
        work, new_children = self.work[pointer], list[_WrittenChild]()
        is_object = self.text[self.index.span(pointer)[0]] == ord("{")  # type: ignore[index]
        places = {child.step for child in children} if not is_object else set()
        for number, child in enumerate(children):
            if not is_object:
                new_children += (
                    _WrittenChild(self._new(change, child.step, layout, is_object))
                    for change in work.added.get(child.step, ())
                )
            if child.step not in work.removed:
                new_children.append(_WrittenChild(self._old(f"{pointer}/{child.step}", child, layout), number))
        for step, changes in work.added.items():
            if step in places:
                continue
            if not is_object and step not in (END, str(len(children))):
                raise LocalProtocolError("no such position", where=f"{pointer}/{step}", hint="check the pointer")
            if is_object and any(step == child.step for child in children) and step not in work.removed:
                raise LocalProtocolError("the key already exists", where=f"{pointer}/{step}", hint="replace the key")
            new_children += (_WrittenChild(self._new(change, step, layout, is_object)) for change in changes)
        return new_children

    def _old(self, pointer: str, child: JsonChild, layout: _ContainerLayout) -> bytes:
        """Text of a child that stays, with its key in an object."""
        if pointer not in self.touched:
            return self.text[child.start : child.end]
        return self.text[child.start : child.value] + self.render(pointer, layout)

    def _new(self, change: Insert | Move, step: str, layout: _ContainerLayout, is_object: bool) -> bytes:
        """Text of an inserted value, with its key in an object."""
        if isinstance(change, Move):
            span = self.index.span(change.source)
            assert span is not None  # planned
            old = _indentation(self.text, span[0])
            value = self.render(change.source, _ContainerLayout(old, layout.unit))
            value = value.replace(old, layout.before) if old and layout.before else value
        else:
            value = self._laid_out(change.value, layout)
        if not is_object:
            return value
        key = (split_pointer(f"/{step}") or [""])[0]
        return self.write(key) + self.colon + value

    def _laid_out(self, value: JsonValue, layout: _ContainerLayout) -> bytes:
        """JSON text of a value inside a container of this layout."""
        if not isinstance(value, dict | list) or not value:
            return self.write(value)
        inner = layout.deeper
        if isinstance(value, dict):
            dumps(value)  # refuses what is no JSON value
            parts = [
                self.write(key) + self.colon + self._laid_out(inner_value, inner) for key, inner_value in value.items()
            ]
        else:
            parts = [self._laid_out(inner_value, inner) for inner_value in value]
        opening, closing = (b"{", b"}") if isinstance(value, dict) else (b"[", b"]")
        between = b"," + inner.before if layout.before else self.comma
        return opening + inner.before + between.join(parts) + layout.before + closing

    def _join(
        self,
        new_children: list[_WrittenChild],
        children: list[JsonChild],
        span: tuple[int, int],
        layout: _ContainerLayout,
    ) -> bytes:
        """The container with its children; the text between two old neighbours is kept."""
        start, end = span
        closing = layout.before[: len(layout.before) - len(layout.unit)] if layout.before else b""
        lead = self.text[start + 1 : children[0].start] if children else layout.before
        trail = self.text[children[-1].end : end - 1] if children else closing
        usual = self._usual(children, layout)
        pieces = [self.text[start : start + 1], lead, new_children[0].text]
        for before, child in pairwise(new_children):
            pieces += (self._gap(before, child, children, usual), child.text)
        return b"".join((*pieces, trail, self.text[end - 1 : end]))

    def _usual(self, children: list[JsonChild], layout: _ContainerLayout) -> bytes:
        if len(children) > 1:
            return self.text[children[0].end : children[1].start]
        return b"," + layout.before if layout.before else self.comma

    def _gap(self, before: _WrittenChild, child: _WrittenChild, children: list[JsonChild], usual: bytes) -> bytes:
        if before.number is None or child.number is None or child.number != before.number + 1:
            return usual
        return self.text[children[before.number].end : children[child.number].start]


def _signs(text: bytes) -> tuple[bytes, bytes]:
    """The colon and the comma of a text, with the space behind them; what is inside its strings does not count."""
    colon, comma = b"", b""
    for found in _SIGN.finditer(text):
        colon = colon or found["colon"] or b""
        comma = comma or found["comma"] or b""
        if colon and comma:
            break
    is_wide = colon.endswith((b" ", b"\n", b"\r", b"\t"))
    return (b": " if is_wide else b":"), (b", " if (comma == b", " if comma else is_wide) else b",")


def _indentation(text: bytes, at: int) -> bytes:
    """Line break and indentation of the line at an offset; empty on the first line."""
    line = text.rfind(b"\n", 0, at)
    found = _BREAK.match(text, line - 1 if line > 0 and text[line - 1 : line] == b"\r" else line) if line >= 0 else None
    return found.group() if found else b""


def _ancestors(pointer: str) -> list[str]:
    steps = pointer.split("/")
    return ["/".join(steps[:n]) for n in range(1, len(steps) + 1)]
