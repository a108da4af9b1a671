"""Parameters of requests whose settings are in ``generationConfig``.

Facts: ``GenerationConfig`` and ``ThinkingConfig`` in ``types.py`` of the ``google-genai`` SDK 3.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from workbench.ir import JsonValue, ModelRequest
from workbench.protocols._params import Param, read_params, write_params
from workbench.protocols.gemini.nodes import snake
from workbench.protocols.gemini.request import ENVELOPE
from workbench.protocols.gemini.schema import json_schema

_CONFIG = "/generationConfig"
PLACES: Mapping[str, str] = {
    "max_tokens": f"{_CONFIG}/maxOutputTokens",
    "temperature": f"{_CONFIG}/temperature",
    "top_p": f"{_CONFIG}/topP",
    "top_k": f"{_CONFIG}/topK",
    "stop": f"{_CONFIG}/stopSequences",
    "seed": f"{_CONFIG}/seed",
    "frequency_penalty": f"{_CONFIG}/frequencyPenalty",
    "presence_penalty": f"{_CONFIG}/presencePenalty",
    "count": f"{_CONFIG}/candidateCount",
    "effort": f"{_CONFIG}/thinkingConfig/thinkingLevel",
    "thinking_budget": f"{_CONFIG}/thinkingConfig/thinkingBudget",
    "response_schema": f"{_CONFIG}/responseJsonSchema",
    "response_json": f"{_CONFIG}/responseMimeType",
    "service_tier": "/serviceTier",
}
"""Common name → where it is written."""

_DIALECT = f"{_CONFIG}/responseSchema"
_THOUGHTS = f"{_CONFIG}/thinkingConfig/includeThoughts"
_JSON = "application/json"


def _spellings() -> Iterator[tuple[str, str]]:
    """Every pointer in every mix of spellings: the SDK itself writes ``thinkingConfig/include_thoughts``."""
    for name, pointer in (*PLACES.items(), ("dialect", _DIALECT), ("thoughts", _THOUGHTS)):
        for steps in product(*((step, snake(step)) for step in pointer.split("/")[1:])):
            yield f"/{'/'.join(steps)}", name
            yield f"/{ENVELOPE}/{'/'.join(steps)}", name


_NAMES: Mapping[str, str] = dict(_spellings())


def params_of(request: ModelRequest) -> tuple[Param, ...]:
    """Every parameter that has no field of the IR."""
    found = tuple(read_params(request.params, _NAMES))
    has_schema = any(param.name in ("response_schema", "dialect") for param in found)
    common = (_common(param, request, has_schema=has_schema) for param in found)
    return tuple(param for param in common if param)


def _common(param: Param, request: ModelRequest, *, has_schema: bool) -> Param | None:
    """The parameter in its common form; None where something else says the same."""
    pointer, value, name = param
    if name == "response_schema":
        return Param(pointer, {"schema": value}, name)
    if name == "dialect":
        return Param(pointer, {"schema": json_schema(value)}, "response_schema")
    if name == "response_json":
        return Param(pointer, value) if value != _JSON else None if has_schema else Param(pointer, True, name)
    if name == "effort" and isinstance(value, str):
        return None if value.endswith("_UNSPECIFIED") else Param(pointer, value.lower(), name)  # an enum in capitals
    if name == "thinking_budget" and type(value) is int and value <= 0:
        return None
    if name == "thoughts":
        return None if value is True and request.thinking == "on" else Param(pointer, value)
    return param


def write_config(request: ModelRequest, body: dict[str, JsonValue]) -> None:
    """Put the parameters of a request in normal form, and its thinking, into a body."""
    params = dict(request.params)
    schema = params.pop("response_schema", None)
    if params.pop("response_json", None) or schema is not None:
        params["response_json"] = _JSON
    if schema is not None:
        params["response_schema"] = schema.get("schema")
    if request.thinking == "off":
        params["thinking_budget"] = 0
    write_params(params, PLACES, body)
    if request.thinking == "on":
        write_params({"thoughts": True}, {"thoughts": _THOUGHTS}, body)
