"""Provenance leaves: the wire scalars that IR fields were read from, each with its JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeGuard

from workbench.ir import JsonValue, Message, Part, ToolResultIR
from workbench.named_tuple import NamedTuple


class Leaf(NamedTuple):
    """A wire scalar that an IR field was read from.

    Attributes:
        pointer: absolute JSON pointer; continues inside JSON strings (arguments).
        value: the decoded value.
        part: its part.
        name: the field of that part.
    """

    pointer: str
    value: JsonValue
    part: Part
    name: str


def leaves(message: Message) -> Iterator[Leaf]:
    """Every field of every part of a message that was on the wire, containers opened down to scalars.

    No two leaves share a pointer: if arguments travel as text that is one scalar or ``{}``, the text is the leaf.
    """
    for part in message.parts:
        for leaf, name, suffix, value in _scalars_of(part):
            yield Leaf(message.absolute(leaf, name) + suffix, value, leaf, name)


def texts(part: Part) -> list[tuple[Part, str, str, str]]:
    """(part, field, last step of the pointer, text) of the leaves of a part that are texts."""
    source, found = part.source, list[tuple[Part, str, str, str]]()
    for name, at in source.fields.items():
        value = getattr(part, name)
        if isinstance(value, str):  # as nearly all are: nothing is opened
            if not (name == "input" and "raw" in source.fields):
                found.append((part, name, (at or source.pointer).rpartition("/")[2], value))
        elif isinstance(value, dict | list):
            found += [(part, name, step, text) for step, text in _texts_below(value)]
    for inner in part.content if isinstance(part, ToolResultIR) else ():
        found += texts(inner)
    return found


def _texts_below(value: JsonValue) -> list[tuple[str, str]]:
    """(last step of the pointer, text) of the texts in a container."""
    found, stack = list[tuple[str, str]](), [("", value)]
    while stack:
        step, node = stack.pop()
        if isinstance(node, str):
            found.append((step, node))
        elif isinstance(node, dict):
            stack += [(key, node[key]) for key in reversed(node)]
        elif isinstance(node, list):
            stack += [(str(n), node[n]) for n in range(len(node) - 1, -1, -1)]
    return [(escape(step), text) if "~" in step or "/" in step else (step, text) for step, text in found]


def _scalars_of(part: Part) -> Iterator[tuple[Part, str, str, JsonValue]]:
    """(part, field, pointer below the field, scalar) of a part, and of those in it."""
    for name in part.source.fields:
        yield from _scalars_of_field(part, name, getattr(part, name))
    if _is_result(part):
        for inner in part.content:
            yield from _scalars_of(inner)


def _scalars_of_field(part: Part, name: str, value: JsonValue) -> Iterator[tuple[Part, str, str, JsonValue]]:
    """The same of one field, without the parts that are in it. Of parsed text only what is below it."""
    if name == "content" and _is_result(part):
        return
    is_parsed = name == "input" and "raw" in part.source.fields
    for suffix, scalar in scalars(value):
        if suffix or not is_parsed:
            yield part, name, suffix, scalar


def _is_result(part: Part) -> TypeGuard[ToolResultIR]:
    return isinstance(part, ToolResultIR)


def scalars(value: JsonValue, pointer: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Yield (pointer, scalar) for every scalar in a JSON value; empty containers count as scalars."""
    stack = [(pointer, value)]
    while stack:
        at, node = stack.pop()
        if isinstance(node, Mapping) and node:
            stack.extend((f"{at}/{escape(k)}", v) for k, v in reversed(list(node.items())))
        elif isinstance(node, list | tuple) and node:
            stack.extend((f"{at}/{n}", v) for n, v in reversed(list(enumerate(node))))
        else:
            yield at, node


def escape(key: str) -> str:
    """Escape a key for a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def unescape(step: str) -> str:
    """The key that a step of a JSON pointer is."""
    return step.replace("~1", "/").replace("~0", "~")
