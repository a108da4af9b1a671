"""Provenance leaves: the wire scalars that IR fields were read from, each with its JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
        yield from _part_leaves(message, part)


def _part_leaves(message: Message, part: Part) -> Iterator[Leaf]:
    for name in part.source.fields:
        value = getattr(part, name)
        if name == "content" and isinstance(part, ToolResultIR):
            continue
        is_parsed = name == "input" and "raw" in part.source.fields
        for suffix, scalar in scalars(value):
            if is_parsed and not suffix:
                continue
            yield Leaf(message.absolute(part, name) + suffix, scalar, part, name)
    if isinstance(part, ToolResultIR):
        for inner in part.content:
            yield from _part_leaves(message, inner)


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
