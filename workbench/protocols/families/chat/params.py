"""Parameters of Chat Completions requests, by their common names.

Facts: ``types/chat/completion_create_params.py`` of the official ``openai`` SDK 3.54; the places of the dialects are
those that ``_chat_request`` reads thinking from, and ``top_k`` (vLLM, OpenRouter).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir import JsonValue, ModelRequest
from workbench.protocols._params import Param, read_params

_SWITCH = "thinking"
"""Stands for the places that ``ModelRequest.thinking`` is read from."""

_PLACES: Mapping[str, str] = {
    "/max_completion_tokens": "max_tokens",
    "/max_tokens": "max_tokens",
    "/temperature": "temperature",
    "/top_p": "top_p",
    "/top_k": "top_k",
    "/stop": "stop",
    "/seed": "seed",
    "/frequency_penalty": "frequency_penalty",
    "/presence_penalty": "presence_penalty",
    "/reasoning_effort": "effort",
    "/reasoning/effort": "effort",
    "/reasoning/max_tokens": "thinking_budget",
    "/thinking/budget_tokens": "thinking_budget",
    "/thinking_budget": "thinking_budget",
    "/n": "count",
    "/user": "user",
    "/service_tier": "service_tier",
    "/thinking/type": _SWITCH,
    "/enable_thinking": _SWITCH,
    "/chat_template_kwargs/enable_thinking": _SWITCH,
    "/chat_template_kwargs/thinking": _SWITCH,
    "/reasoning/enabled": _SWITCH,
}
WRITTEN: Mapping[str, str] = {
    "max_tokens": "/max_completion_tokens",
    "temperature": "/temperature",
    "top_p": "/top_p",
    "stop": "/stop",
    "seed": "/seed",
    "frequency_penalty": "/frequency_penalty",
    "presence_penalty": "/presence_penalty",
    "effort": "/reasoning_effort",
    "count": "/n",
    "user": "/user",
    "service_tier": "/service_tier",
}
"""Name → the place it is written to; ``write_format`` writes the form of the answer."""

NAMES = frozenset((*WRITTEN, "response_schema", "response_json"))
_MEANINGS: Mapping[JsonValue, str] = {"enabled": "on", "disabled": "off", True: "on", False: "off"}
_FORMAT_KEYS = ("schema", "name", "strict", "description")


def params(request: ModelRequest) -> tuple[Param, ...]:
    """Every parameter that has no field of ``ModelRequest``."""
    return tuple(_params(request))


def _params(request: ModelRequest) -> Iterator[Param]:
    for param in read_params(request.params, _PLACES):
        if param.pointer == "/response_format":
            yield from _format(param)
        elif param.name == _SWITCH:
            if not (isinstance(param.value, str | bool) and _meaning(param.value) == request.thinking):
                yield param._replace(name="")
        elif not (param.name == "effort" and param.value == "none" and request.thinking == "off"):
            yield param


def _meaning(value: str | bool) -> str:
    return _MEANINGS.get(value, str(value))


def _format(param: Param) -> Iterator[Param]:
    """``response_format``: any JSON, or JSON of a schema."""
    value = param.value if isinstance(param.value, dict) else {}
    inside = value.get("json_schema")
    if value.get("type") == "json_object":
        yield Param(param.pointer, True, "response_json")
    elif value.get("type") == "json_schema" and isinstance(inside, dict) and "schema" in inside:
        held = {k: v for k, v in inside.items() if k in _FORMAT_KEYS and v is not None}
        yield Param(f"{param.pointer}/json_schema", held, "response_schema")
    else:
        yield param


def write_format(params: Mapping[str, JsonValue], body: dict[str, JsonValue]) -> None:
    """Say the form of the answer."""
    if "response_schema" in params:
        body["response_format"] = {"type": "json_schema", "json_schema": dict(params["response_schema"])}
    elif "response_json" in params:
        body["response_format"] = {"type": "json_object"}
