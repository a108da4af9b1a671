"""A place in a schema, in the words of the providers that refuse it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.ir import JsonValue
from workbench.toolcalls.schemas import LISTS, MAPS


def context(pointer: str) -> str:
    """``('properties', 'paths')``: a tuple as Python writes it."""
    return repr(tuple(_steps(pointer)))


def by_name(pointer: str) -> str:
    """``.properties[mode].any_of[1]``: members by their names."""
    return "".join(_parts(pointer, None))


def by_index(schema: JsonValue, pointer: str) -> str:
    """``.properties[12].value.any_of[1]``: members of a map by their place in it, as protocol buffers count."""
    return "".join(_parts(pointer, schema))


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _parts(pointer: str, schema: JsonValue) -> Iterator[str]:
    """A piece for each keyword, with what is chosen below it; members are counted where the schema is given."""
    steps = iter(_steps(pointer))
    for keyword in steps:
        schema = schema.get(keyword) if isinstance(schema, dict) else None
        yield "." + re.sub(r"(?<=[a-z0-9])([A-Z])", lambda upper: "_" + upper[1].lower(), keyword)
        if keyword not in MAPS and keyword not in LISTS and not isinstance(schema, list):
            continue
        name = next(steps, None)
        if name is None:
            return
        if isinstance(schema, dict):
            yield f"[{list(schema).index(name) if name in schema else name}].value"
            schema = schema.get(name)
        else:
            yield f"[{name}]"
            schema = schema[int(name)] if isinstance(schema, list) and name.isdecimal() else None
