"""Parameters of requests whose messages are made of typed blocks, by their common names.

Facts: ``types/message_create_params.py``, ``output_config_param.py`` and ``thinking_config_*_param.py`` of the official
``anthropic`` SDK 2.12.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir import JsonValue, ModelRequest
from workbench.protocols._params import Param, read_params

_PLACES: Mapping[str, str] = {
    "/max_tokens": "max_tokens",
    "/temperature": "temperature",
    "/top_p": "top_p",
    "/top_k": "top_k",
    "/stop_sequences": "stop",
    "/output_config/effort": "effort",
    "/output_config/format": "response_schema",
    "/output_format": "response_schema",
    "/thinking/budget_tokens": "thinking_budget",
    "/metadata/user_id": "user",
    "/service_tier": "service_tier",
    "/thinking/type": "",
    "/thread/previous_message_id": "",
}
WRITTEN: Mapping[str, str] = {
    "max_tokens": "/max_tokens",
    "temperature": "/temperature",
    "top_p": "/top_p",
    "top_k": "/top_k",
    "stop": "/stop_sequences",
    "effort": "/output_config/effort",
    "response_schema": "/output_config/format",
    "thinking_budget": "/thinking/budget_tokens",
    "user": "/metadata/user_id",
    "service_tier": "/service_tier",
}
"""Name → the place it is written to."""

_HELD = ("/thinking/type", "/thread/previous_message_id")
"""Strings that have a field of ``ModelRequest``."""


def params(request: ModelRequest) -> tuple[Param, ...]:
    """Every parameter that has no field of ``ModelRequest``."""
    return tuple(_params(request))


def _params(request: ModelRequest) -> Iterator[Param]:
    for param in read_params(request.params, _PLACES):
        if param.name == "response_schema":
            yield _format(param)
        elif not (param.pointer in _HELD and isinstance(param.value, str)):
            yield param


def _format(param: Param) -> Param:
    value = param.value
    if isinstance(value, dict) and value.get("type") == "json_schema" and value.keys() == {"type", "schema"}:
        return Param(param.pointer, {"schema": value["schema"]}, "response_schema")
    return param._replace(name="")


def in_place(params: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The values as they are written."""
    held = dict(params)
    if "response_schema" in held:
        held["response_schema"] = {"type": "json_schema", "schema": held["response_schema"]["schema"]}
    return held
