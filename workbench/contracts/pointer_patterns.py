"""Places: JSON pointers with wildcards, as the relations of contracts use them.

``*`` is every element of a list or every member of an object, ``**`` any number of steps, ``*[type=tool_use]`` every
element whose member ``type`` is that text, ``$`` the last element of a list and ``$-1`` the one before it. A place that
begins with ``..`` is relative to another one: each ``..`` goes one step up. A place that begins with a name
(``tool.parameters/**/pattern``) is where the protocol has it (``Traits.places``). Keys of JSON that is mapped from
protocol buffers are found in both of their spellings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import TypeAlias, TypeGuard

from workbench import regex
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple
from workbench.provenance import escape

_FILTER = regex.compile(r"\*\[([^=\]]+)=([^\]]*)\]")
_INDEX = regex.compile("0|[1-9][0-9]{0,8}")
_FROM_END = regex.compile(r"\$(?:-([1-9]))?")
_NAMED = regex.compile(r"([a-z_]+(?:\.[a-z_]+)+)(/.*)?")


MOST_STEPS = 24
"""Depth to which ``**`` descends: schemas are rarely deeper than ten levels."""

ALIKE = (
    *("sampling.temperature", "sampling.top_p", "sampling.top_k", "sampling.seed", "sampling.stop"),
    *("sampling.presence_penalty", "sampling.frequency_penalty", "request.max_tokens"),
    *("tool.name", "tool.description", "tool.parameters", "output.schema", "call.name"),
    *("request.tools", "call.id", "result.id", "content.text", "content.image_url"),
)
"""Named places whose values have the same form in every protocol; a tool choice, for example, has a different form in
each."""


class PlacedValue(NamedTuple):
    """A value at a place. ``pointer`` is relative to the node at which the search began."""

    pointer: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a request body.

    Attributes:
        steps: keys and wildcards, below the root or below the node that ``up`` leads to.
        up: steps up from another place; -1 for a place that begins at the root of the body.
        name: name of the place at which the steps begin, if the protocol has to resolve it; else empty.
    """

    steps: tuple[str, ...]
    up: int = -1
    name: str = ""

    @property
    def first(self) -> str:
        """Top-level key of an absolute place."""
        return self.steps[0] if self.steps else ""

    @property
    def last(self) -> str:
        """The key that the place ends with; empty if it ends with a wildcard."""
        last = self.steps[-1] if self.steps else ""
        return "" if last.startswith("*") else last

    def __str__(self) -> str:
        if self.name:
            return "/".join((self.name, *self.steps))
        return "/".join(("",) * (self.up < 0) + ("..",) * max(self.up, 0) + self.steps)

    def resolved_for(self, wire: Mapping[str, str]) -> Place:
        """The same place, resolved with the named places of a protocol. Raises KeyError if it has none of this name."""
        return Place(read_place(wire[self.name]).steps + self.steps) if self.name else self

    def by_name(self, wire: Mapping[str, str], names: Iterable[str] = ALIKE) -> Place:
        """The same place by its name, if it is in one of the named places; else the place itself.

        Args:
            wire: the named places of the protocol.
            names: those that count: usually the ones whose values are alike in every protocol.
        """
        if self.name or self.up >= 0:
            return self
        bases = ((name, read_place(wire[name]).steps) for name in names if name in wire)
        fits = [(len(base), name) for name, base in bases if self.steps[: len(base)] == base]
        length, name = max(fits, default=(0, ""))
        return Place(self.steps[length:], name=name) if name else self

    def below(self, count: int) -> Place:
        """The rest of the place after this many steps."""
        return Place(self.steps[count:])

    def find(
        self, value: JsonValue, pointer: str = "", *, passes: Callable[[JsonValue], bool] | None = None
    ) -> list[PlacedValue]:
        """Every value at the place, nulls too, in the order of the text.

        Args:
            value: the node at which the search begins.
            pointer: its own pointer.
            passes: leaves out values for which it is false; None to leave out none.
        """
        return _find(value, pointer, self.steps, passes)

    def missing(self, value: JsonValue, pointer: str = "") -> Iterator[str]:
        """Pointer of the last step wherever its parent is an object without it, or with null in its place."""
        *parents, last = self.steps
        for place, parent in _find(value, pointer, tuple(parents)):
            if isinstance(parent, Mapping) and all(parent.get(key) is None for key in _spellings(last)):
                yield f"{place}/{escape(last)}"


@lru_cache(maxsize=4096)
def read_place(text: str) -> Place:
    """The place of a text: ``/messages/*/role``, ``../role`` or ``tool.name``. Raises ValueError."""
    if parts := _NAMED.fullmatch(text):
        rest = read_place(parts[2]).steps if parts[2] else ()
        return Place(rest, name=parts[1])
    up = 0
    while text == ".." or text.startswith("../"):
        up, text = up + 1, text[3:]
    text = f"/{text}" if up and text else text
    steps = text.split("/")[1:]
    if (not up and not (text.startswith("/") and steps)) or not all(steps):
        raise ValueError(f"not a path such as /messages/*/role, ../type or tool.name: {text!r}")
    return Place(tuple(step.replace("~1", "/").replace("~0", "~") for step in steps), up or -1)


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


_Child: TypeAlias = "tuple[str | int, JsonValue]"
_Path: TypeAlias = "tuple[str | int, ...]"
_Placed: TypeAlias = "tuple[_Path, JsonValue]"
_Children: TypeAlias = "Callable[[JsonValue], Iterable[_Child]]"


class _ChildrenAt(NamedTuple):
    """The children of a value at a step.

    Attributes:
        names: of the children of an object; () for a wildcard.
        find: finds those of any value.
        key, text: of a filter; empty for other steps.
        is_of_objects: a list has no such child.
    """

    names: tuple[str, ...]
    find: _Children
    key: str = ""
    text: str = ""
    is_of_objects: bool = False


def _find(
    value: JsonValue, pointer: str, steps: tuple[str, ...], passes: Callable[[JsonValue], bool] | None = None
) -> list[PlacedValue]:
    level: list[_Placed] = [((), value)]
    for step in steps:
        names, children, key, text, is_of_objects = _children_at(step)
        found: list[_Placed] = []
        for path, each in level:  # most steps as ``children``, without a call
            kind = type(each)
            if names and kind is dict:
                for name in names:
                    if name in each:
                        found.append(((*path, name), each[name]))
            elif step == "**":
                found += _descend(path, each, 0)
            elif key and kind is list:
                for n, child in enumerate(each):
                    if (type(child) is dict or _is_object(child)) and child.get(key) == text:
                        found.append(((*path, n), child))
            elif kind is not str and not (is_of_objects and kind is list):
                for at, child in children(each):
                    found.append(((*path, at), child))
        if not found:
            return []
        level = found
    if passes is not None:
        found = []
        for placed in level:
            if passes(placed[1]):
                found.append(placed)
        level = found
    return [PlacedValue(_pointer_of(pointer, path), each) for path, each in level] if level else []


def _pointer_of(pointer: str, path: _Path) -> str:
    return "".join((pointer, *[f"/{escape(str(key))}" for key in path]))


def _descend(path: _Path, value: JsonValue, depth: int) -> Iterator[tuple[_Path, JsonValue]]:
    """A value and all that is below it, each before what is in it."""
    yield path, value
    if depth < MOST_STEPS:
        for key, child in _children(value):
            yield from _descend((*path, key), child, depth + 1)


def _children(value: JsonValue) -> Iterable[_Child]:
    if isinstance(value, list):
        return enumerate(value)
    return value.items() if _is_object(value) else ()


def _is_object(value: JsonValue) -> TypeGuard[Mapping[str, JsonValue]]:
    """As ``isinstance(value, Mapping)``, which takes longer for what is none."""
    return isinstance(value, dict) or (type(value) not in _OTHERS and isinstance(value, Mapping))


_OTHERS = (str, list, int, float, bool, type(None))


def names_of(step: str) -> list[str]:
    """Spellings of a key that a step can find in an object; none for a wildcard or an index."""
    is_name = not (step.startswith("*") or _INDEX.fullmatch(step) or _FROM_END.fullmatch(step))
    return list(_spellings(step)) if is_name else []


def index_of(step: str, size: int) -> int | None:
    """The element of a list of this size that a step without wildcard selects; None if there is no such element."""
    if found := _FROM_END.fullmatch(step):
        index = size - 1 - int(found[1] or 0)
    else:
        index = int(step) if _INDEX.fullmatch(step) else -1
    return index if 0 <= index < size else None


@lru_cache(maxsize=4096)
def _children_at(step: str) -> _ChildrenAt:
    if step in ("*", "**"):
        return _ChildrenAt((), _children)
    if filtered := _FILTER.fullmatch(step):
        key, text = filtered[1], filtered[2]
        return _ChildrenAt((), partial(_with_text, key, text), key, text)
    is_index = _INDEX.fullmatch(step) or _FROM_END.fullmatch(step)
    return _ChildrenAt(_spellings(step), partial(_by_name, step, _spellings(step)), is_of_objects=not is_index)


def _with_text(key: str, text: str, value: JsonValue) -> Iterable[_Child]:
    return [
        (n, each) for n, each in _children(value) if (type(each) is dict or _is_object(each)) and each.get(key) == text
    ]


def _by_name(step: str, names: tuple[str, ...], value: JsonValue) -> Iterable[_Child]:
    if type(value) is dict or _is_object(value):
        return [(name, value[name]) for name in names if name in value]
    index = index_of(step, len(value)) if isinstance(value, list) else None
    return () if index is None else ((index, value[index]),)


def passes_filter(step: str, element: JsonValue) -> bool:
    """True if the step is not a filter, or the element matches it: ``*[type=reasoning]``."""
    filtered = _FILTER.fullmatch(step)
    return not filtered or (isinstance(element, Mapping) and element.get(filtered[1]) == filtered[2])


@lru_cache(maxsize=4096)
def _spellings(key: str) -> tuple[str, ...]:
    snake = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda upper: "_" + upper[1].lower(), key)
    return tuple(dict.fromkeys((key, snake)))
