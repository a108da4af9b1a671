"""Parameters of requests whose conversation is a list of items, by their common names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir import JsonValue
from workbench.protocols._params import Param, read_params, write_params

PLACES: Mapping[str, str] = {
    "/max_output_tokens": "max_tokens",
    "/temperature": "temperature",
    "/top_p": "top_p",
    "/reasoning/effort": "effort",
    "/user": "user",
    "/service_tier": "service_tier",
}
"""Pointer of each parameter → common name."""

_FORMAT = "/text/format"
_PARTS = ("schema", "name", "strict", "description")


def read_item_params(params: Mapping[str, JsonValue]) -> Iterator[Param]:
    """Each parameter of a request. A format of plain text is what goes without saying."""
    for param in read_params(params, {**PLACES, _FORMAT: "response_schema"}):
        if param.pointer != _FORMAT:
            yield param
        elif isinstance(param.value, dict):
            yield from _format(param.value)
        else:
            yield Param(_FORMAT, param.value)


def _format(value: Mapping[str, JsonValue]) -> Iterator[Param]:
    kind = value.get("type")
    if kind == "json_schema" and isinstance(value.get("schema"), dict) and value.keys() <= {"type", *_PARTS}:
        told = {key: value[key] for key in _PARTS if value.get(key) is not None}
        yield Param(_FORMAT, told, "response_schema")
    elif kind == "json_object" and value.keys() == {"type"}:
        yield Param(_FORMAT, True, "response_json")
    elif value != {"type": "text"}:
        yield Param(_FORMAT, value)


def write_item_params(params: Mapping[str, JsonValue], body: dict[str, JsonValue]) -> None:
    """Put parameters of common names into a body."""
    own = {key: value for key, value in params.items() if key not in ("response_schema", "response_json")}
    write_params(own, {name: place for place, name in PLACES.items()}, body)
    schema = params.get("response_schema")
    if schema is not None:
        body["text"] = {"format": {"type": "json_schema", **schema}}
    elif params.get("response_json"):
        body["text"] = {"format": {"type": "json_object"}}
