"""What is plainly valid is valid for the library too, and most honest arguments are."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from workbench.toolcalls.arguments import _schema
from workbench.toolcalls.arguments._plain_schema import is_plainly_valid

READ = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "title": "Read",
    "properties": {
        "path": {"type": "string", "description": "a path", "format": "uri"},
        "lines": {"type": ["integer", "null"], "default": 5},
        "share": {"type": "number"},
        "mode": {"type": "string", "enum": ["text", "binary"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "edits": {
            "type": "array",
            "items": {"type": "object", "properties": {"old": {"type": "string"}}, "additionalProperties": False},
        },
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["path"],
    "additionalProperties": False,
}
HONEST: list[dict[str, Any]] = [
    {"path": "a"},
    {"path": "a", "lines": 3, "share": 0.5, "mode": "text", "tags": ["x", "y"]},
    {"path": "a", "lines": None, "share": 1, "edits": [{"old": "b"}, {}], "headers": {"a": "b"}, "tags": []},
]
ODD: tuple[Any, ...] = (None, True, 0, 1.0, 2.5, "", "text", [], ["a", 1], {}, {"old": 5}, [{"old": "x", "new": 1}])
KEYWORDS: tuple[tuple[str, Any], ...] = (
    *(("type", "string"), ("type", "integer"), ("type", ["number", "null"]), ("type", "file"), ("type", 5)),
    *(("required", ["a"]), ("required", True), ("enum", ["text", 1, True]), ("enum", "text"), ("minLength", 3)),
    *(("additionalProperties", False), ("additionalProperties", {"type": "string"}), ("items", [{"type": "string"}])),
    *(("properties", {"path": False}), ("properties", 3), ("$schema", "http://json-schema.org/draft-03/schema#")),
    *(("$ref", "#/definitions/x"), ("const", "a"), ("anyOf", [{"type": "string"}]), ("nullable", True)),
)


@pytest.mark.parametrize("value", HONEST)
def test_honest_arguments_need_no_library(value: Any) -> None:
    assert is_plainly_valid(value, READ)


@pytest.mark.parametrize(
    "value",
    [{}, {"path": 1}, {"path": "a", "mode": "other"}, {"path": "a", "x": 1}, {"path": "a", "lines": True}, [], "a"],
)
def test_faults_are_left_to_the_library(value: Any) -> None:
    assert not is_plainly_valid(value, READ)
    assert _schema.validate(value, READ)[0]


def test_what_is_plainly_valid_is_valid() -> None:
    rng, valid = random.Random(16), 0
    for _ in range(3000):
        schema, value = copy.deepcopy(READ), copy.deepcopy(rng.choice(HONEST))
        for _ in range(rng.randrange(3)):
            spoil(rng, schema, KEYWORDS)
        for _ in range(rng.randrange(3)):
            value[rng.choice([*READ["properties"], "other"])] = copy.deepcopy(rng.choice(ODD))  # type: ignore[misc]
        if is_plainly_valid(value, schema):
            valid += 1
            assert _schema._faults(value, schema, patient=False) == ((), ""), (value, schema)
    assert valid > 300


def spoil(rng: random.Random, schema: dict[str, Any], keywords: tuple[tuple[str, Any], ...]) -> None:
    """Give one of the schemas in a schema another keyword."""
    inner = [schema]
    for each in inner:
        below = (*each.get("properties", {}).values(),) if isinstance(each.get("properties"), dict) else ()
        inner += [held for held in (*below, each.get("items"), each.get("additionalProperties")) if type(held) is dict]
    name, told = rng.choice(keywords)
    rng.choice(inner)[name] = copy.deepcopy(told)


def test_deep_and_large_arguments_are_left_to_the_library() -> None:
    schema: Any = {"type": "array"}
    value: Any = []
    for _ in range(20):
        schema, value = {"type": "array", "items": schema}, [value]
    assert not is_plainly_valid(value, schema)
    assert not is_plainly_valid([""] * 300, {"type": "array", "items": {"type": "string"}})
