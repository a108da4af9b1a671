"""Finds keys that are repeated in an object of the arguments: every parser silently drops a value then."""

from __future__ import annotations

from workbench.toolcalls.arguments._schema import snippet
from workbench.wire import JsonIndex

__all__ = ["repeated_keys"]

MOST_NAMED = 4
"""Limit of repeated keys named in one note."""


def repeated_keys(text: str) -> str:
    """Describe keys of a JSON text repeated in one object, so that a value is lost; empty if none."""
    pointers = JsonIndex(text.encode("utf-8", "surrogatepass")).duplicates()
    said = []
    for pointer in pointers[:MOST_NAMED]:
        holder, _, step = pointer.rpartition("/")
        key = snippet(step.replace("~1", "/").replace("~0", "~"))
        said.append(f"key {key}{f' of {snippet(holder)}' if holder else ''} is repeated; the last one is used")
    more = len(pointers) - MOST_NAMED
    return "; ".join([*said, *([f"and {more} more keys"] if more > 0 else [])])
