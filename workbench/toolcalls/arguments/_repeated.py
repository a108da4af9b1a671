"""Keys that stand more than once in an object of the arguments: every reader drops a value then, and says nothing."""

from __future__ import annotations

from workbench.toolcalls.arguments._schema import snippet
from workbench.wire.jsontext import JsonIndex

__all__ = ["repeated_keys"]

MOST_NAMED = 4
"""Repeated keys named in one note."""


def repeated_keys(text: str) -> str:
    """Which keys of a JSON text stand more than once in one object, so that a value is not read; "" for none."""
    pointers = JsonIndex(text.encode("utf-8", "surrogatepass")).duplicates()
    said = []
    for pointer in pointers[:MOST_NAMED]:
        holder, _, step = pointer.rpartition("/")
        key = snippet(step.replace("~1", "/").replace("~0", "~"))
        said.append(f"key {key}{f' of {snippet(holder)}' if holder else ''} stands twice, the last one is used")
    more = len(pointers) - MOST_NAMED
    return "; ".join([*said, *([f"and {more} more keys"] if more > 0 else [])])
