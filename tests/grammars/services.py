"""Types of services that are described in JSON: Google's discovery files and botocore's service models."""

from __future__ import annotations

from typing import Any

from workbench.ir import JsonValue

_DISCOVERED = {"string": "str", "integer": "int", "number": "num", "boolean": "bool", "any": "any"}
_BOTOCORE = {
    "string": "str",
    "blob": "str",
    "timestamp": "str",
    "character": "str",
    "integer": "int",
    "long": "int",
    "float": "num",
    "double": "num",
    "boolean": "bool",
}


def from_discovery(schemas: dict[str, Any], prefix: str, roots: tuple[str, ...]) -> dict[str, JsonValue]:
    """Types of a discovery file, named without the prefix."""
    found: dict[str, Any] = {}
    todo = list(roots)
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found[name] = None
        schema = schemas.get(prefix + name) or schemas[name]
        keys = {key: _discovered(each, prefix, todo) for key, each in schema.get("properties", {}).items()}
        found[name] = {"keys": dict(sorted(keys.items()))}
        said = schema.get("properties", {}).items()
        need = sorted(key for key, each in said if each.get("description", "").startswith("Required."))
        found[name] |= {"need": need} if need else {}
    return found


def _discovered(schema: dict[str, Any], prefix: str, todo: list[str]) -> JsonValue:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(prefix)
        todo.append(name)
        return f"#{name}"
    if schema.get("type") == "array":
        return ["[]", _discovered(schema["items"], prefix, todo)]
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties")
        return ["{}", _discovered(inner, prefix, todo)] if inner else "any"
    if "enum" in schema:
        return ["=", *sorted(schema["enum"])]
    is_number = schema.get("format") in ("int64", "uint64")
    return "int" if is_number else _DISCOVERED.get(schema.get("type", "any"), "any")


def from_botocore(shapes: dict[str, Any], roots: tuple[str, ...]) -> dict[str, JsonValue]:
    """Types of a service model. Members that are in the URL or the headers are left out."""
    found: dict[str, JsonValue] = {}
    todo = list(roots)
    while todo:
        name = todo.pop()
        shape = shapes[name]
        if name in found or shape["type"] != "structure":
            continue
        members = {key: m for key, m in shape.get("members", {}).items() if "location" not in m}
        keys = {m.get("locationName", key): _shape(m["shape"], shapes, todo) for key, m in members.items()}
        made: dict[str, JsonValue] = {"keys": dict(sorted(keys.items()))}
        need = sorted(key for key in shape.get("required", ()) if key in members)
        made |= {"need": need} if need else {}
        made |= {"one": True} if shape.get("union") else {}
        limits = {m.get("locationName", key): _limits(m["shape"], shapes) for key, m in members.items()}
        limits = {key: each for key, each in sorted(limits.items()) if each}
        found[name] = made | ({"limits": limits} if limits else {})
    return found


_MEASURES = {
    "string": ("minLength", "maxLength"),
    "list": ("minItems", "maxItems"),
    "map": ("minProperties", "maxProperties"),
}


def _limits(name: str, shapes: dict[str, Any]) -> dict[str, Any]:
    """Limits of a shape; of a blob none: its length is counted in bytes, and the text of it is longer."""
    shape = shapes[name]
    if shape["type"] == "blob":
        return {}
    low, high = _MEASURES.get(shape["type"], ("minimum", "maximum"))
    found = {low: shape["min"]} if shape.get("min") else {}
    found |= {high: shape["max"]} if "max" in shape else {}
    found |= {"minimum": 0} if shape.get("min") == 0 and low == "minimum" else {}
    found |= {"pattern": shape["pattern"]} if "pattern" in shape else {}
    member = shape.get("member") or shape.get("value")
    inner = _limits(member["shape"], shapes) if member else {}
    return found | ({"each": inner} if inner else {})


def _shape(name: str, shapes: dict[str, Any], todo: list[str]) -> JsonValue:
    shape = shapes[name]
    kind = shape["type"]
    if kind == "structure":
        todo.append(name)
        return "any" if shape.get("document") else f"#{name}"
    if kind == "list":
        return ["[]", _shape(shape["member"]["shape"], shapes, todo)]
    if kind == "map":
        return ["{}", _shape(shape["value"]["shape"], shapes, todo)]
    return ["=", *sorted(shape["enum"])] if "enum" in shape else _BOTOCORE.get(kind, "any")
