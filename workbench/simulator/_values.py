"""Tool arguments generated from a schema: deterministic, and valid under it.

Argument faults: healthy calls made wrong, each in one way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from workbench.ir import JsonValue, ToolCallIR
from workbench.lazy_dataclass import replace
from workbench.toolcalls.schemas import UndecidableSchema, fits_schema, make_instances, resolve, types_of
from workbench.wire import dumps

_MOST_DEPTH = 8
_MOST_VALUES = 1_000
_TRIES = 30
_USUAL: tuple[tuple[str, str], ...] = (
    (r"path|dir|folder|file", "."),
    (r"url|uri|link", "https://example.org/"),
    (r"command|cmd|script", "ls"),
    (r"pattern|glob", "*"),
    (r"date", "2026-01-01"),
    (r"city|location|place", "Paris"),
    (r"mail", "a@example.org"),
)
"""Name pattern of an argument → a harmless value."""

_FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "email": "a@example.org",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "127.0.0.1",
}


def arguments_for(schema: JsonValue, words: str = "", number: int = 0) -> JsonValue:
    """A value that fits a schema.

    Args:
        schema: of the arguments; None for any object.
        words: of the user, used for free texts.
        number: index of the call in its answer.
    """
    first = _ValueBuilder(schema, words, number).value(schema, "", 0) if isinstance(schema, dict) else {}
    if not isinstance(schema, dict) or _is_fit(first, schema):
        return first
    return next((value for value in make_instances(schema, _TRIES, number) if _is_fit(value, schema)), first)


def _is_fit(value: JsonValue, schema: JsonValue) -> bool:
    try:
        return fits_schema(value, schema)
    except UndecidableSchema:
        return True


class _ValueBuilder:
    """Takes the first alternative that a schema allows."""

    def __init__(self, root: JsonValue, words: str, number: int) -> None:
        self.root = root
        self.words = " ".join(words.split())[:60]
        self.number = number
        self.count = 0

    def value(self, schema: JsonValue, name: str, depth: int) -> JsonValue:
        self.count += 1
        if not isinstance(schema, dict) or depth > _MOST_DEPTH or self.count > _MOST_VALUES:
            return self.words or "text"
        if isinstance(schema.get("$ref"), str):
            return self.value(resolve(self.root, schema["$ref"]), name, depth + 1)
        for key in ("const", "default"):
            if key in schema:
                return schema[key]
        for key in ("examples", "enum"):
            if isinstance(schema.get(key), list) and schema[key]:
                return schema[key][self.number % len(schema[key])]
        inner = next((schema[k] for k in ("anyOf", "oneOf", "allOf") if isinstance(schema.get(k), list)), None)
        if inner and "properties" not in schema:
            return self.value({**_without_combinators(schema), **_dict(inner[0])}, name, depth + 1)
        kinds = types_of(schema.get("type")) if "type" in schema else [_implied_type(schema)]
        return self.typed_value(next((k for k in kinds if k != "null"), "null"), schema, name, depth)

    def typed_value(self, kind: str, schema: dict[str, JsonValue], name: str, depth: int) -> JsonValue:
        match kind.lower():
            case "object":
                return dict(self.members(schema, depth))
            case "array":
                count = max(_whole(schema.get("minItems")), 1)
                return [self.value(schema.get("items"), name, depth + 1) for _ in range(min(count, 20))]
            case "integer" | "number":
                return _number(schema)
            case "boolean":
                return True
            case "null":
                return None
        return self.text(schema, name)

    def members(self, schema: dict[str, JsonValue], depth: int) -> Iterator[tuple[str, JsonValue]]:
        """The required properties; the first one if none is required."""
        properties = _dict(schema.get("properties"))
        named = schema.get("required")
        required = [n for n in named if isinstance(n, str)] if isinstance(named, list) else []
        for name in required or list(properties)[:1]:
            yield name, self.value(properties.get(name, {"type": "string"}), name, depth + 1)

    def text(self, schema: dict[str, JsonValue], name: str) -> str:
        if (form := str(schema.get("format"))) in _FORMATS:
            return _FORMATS[form]
        usual = next((value for pattern, value in _USUAL if re.search(pattern, name.lower())), "")
        text = usual or self.words or "text"
        if self.number and not usual:
            text = f"{text} ({self.number + 1})"
        text += "." * max(0, min(_whole(schema.get("minLength")), 1000) - len(text))
        most = schema.get("maxLength")
        return text[: max(0, most)] if isinstance(most, int) else text


def _without_combinators(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {k: v for k, v in schema.items() if k not in ("anyOf", "oneOf", "allOf")}


def _implied_type(schema: dict[str, JsonValue]) -> str:
    """Type implied by the keywords of a schema without ``type``."""
    if "properties" in schema or "required" in schema:
        return "object"
    return "array" if "items" in schema else "string"


def _number(schema: dict[str, JsonValue]) -> float:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    step = 1 if "exclusiveMinimum" in schema else 0
    if isinstance(low, int | float) and not isinstance(low, bool):
        return low + step
    if isinstance(high, int | float) and not isinstance(high, bool) and high < 1:
        return high - ("exclusiveMaximum" in schema)
    return 1


def _dict(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _whole(value: JsonValue) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


UNKNOWN_TOOL = "no_such_tool"


def spoil_call(call: ToolCallIR, fault: str, schema: JsonValue) -> ToolCallIR:
    """The call with one fault of ``ARGUMENT_FAULTS``; unchanged for "". Only ``raw`` is sent."""
    raw, value = call.raw or "", call.input
    match fault:
        case "invalid-json":
            return replace(call, raw=raw.replace('"', "'") if '"' in raw else raw + "}")
        case "double-encoded":
            return replace(call, raw=dumps(raw).decode())
        case "empty":
            return replace(call, raw="")
        case "truncated":
            return replace(call, raw=raw[: max(1, len(raw) * 2 // 3)])
        case "unknown-tool":
            return replace(call, name=UNKNOWN_TOOL)
        case "wrong-type" | "missing-required" if isinstance(value, dict):
            changed = _with_wrong_type(value) if fault == "wrong-type" else _without(value, schema)
            return replace(call, input=changed, raw=dumps(changed).decode())
    return call


def _with_wrong_type(value: Mapping[str, JsonValue]) -> JsonValue:
    """The first argument as a list of itself, or as text if it is a list."""
    first = next(iter(value), None)
    if first is None:
        return ["not an object"]
    argument = value[first]
    return {**value, first: str(argument) if isinstance(argument, list | dict) else [argument]}


def _without(value: Mapping[str, JsonValue], schema: JsonValue) -> JsonValue:
    """Without the first required argument; without any argument if none is required."""
    required = schema.get("required") if isinstance(schema, dict) else None
    names = [name for name in required or () if name in value] if isinstance(required, list) else []
    return {k: v for k, v in value.items() if k != names[0]} if names else {}
