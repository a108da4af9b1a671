"""Parameters of a request: between the places they have in one protocol's body and their common names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.provenance import escape


class Param(NamedTuple):
    """A parameter as written in a body.

    Attributes:
        pointer: where.
        value: in the common form, where there is one.
        name: of ``PARAMS``; "" where other protocols have nothing of the kind.
    """

    pointer: str
    value: JsonValue
    name: str = ""


PARAMS: Mapping[str, str] = {
    "max_tokens": "whole number: maximum number of response tokens",
    "temperature": "number",
    "top_p": "number",
    "top_k": "whole number",
    "stop": "list of strings",
    "seed": "whole number",
    "frequency_penalty": "number",
    "presence_penalty": "number",
    "effort": "string, sent unchanged: thinking effort",
    "thinking_budget": "whole number: maximum number of thinking tokens",
    "count": "whole number: number of alternative responses",
    "response_schema": "object {schema, name?, strict?, description?}: the JSON schema of the response",
    "response_json": "true: the response must be JSON, with any content",
    "user": "string: id of the end user",
    "service_tier": "string, sent unchanged",
}
"""Common name → form of its value. ``thinking``, ``stream``, tools and choice have fields of ``ModelRequest``."""


def read_params(params: Mapping[str, JsonValue], places: Mapping[str, str], at: str = "") -> Iterator[Param]:
    """Each parameter of a request.

    Args:
        params: ``ModelRequest.params``, or an object below it.
        places: JSON pointer → name of ``PARAMS``.
        at: pointer of ``params``.
    """
    for key, value in params.items():
        pointer = f"{at}/{escape(key)}"
        if pointer in places:
            name = places[pointer]
            yield Param(pointer, [value] if name == "stop" and isinstance(value, str) else value, name)
        elif isinstance(value, dict) and any(place.startswith(pointer + "/") for place in places):
            yield from read_params(value, places, pointer)
        else:
            yield Param(pointer, value)


def write_params(params: Mapping[str, JsonValue], places: Mapping[str, str], body: dict[str, JsonValue]) -> None:
    """Put parameters into a body. ``places``: name → the JSON pointer where this protocol wants it."""
    for name, value in params.items():
        node = body
        *path, last = places[name].split("/")[1:]
        for step in path:
            node = node.setdefault(step, {})
        node[last] = value
