"""Typing of untyped texts by schema."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.ir import ToolDef
from workbench.toolcalls.formats._typing import ToolTypes, items_of, property_of, python_value, types_of

LOOP = {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "integer"}]}}, "$ref": "#/$defs/a"}


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, ("string",)),
        ({"type": ["string", "null", "integer"]}, ("null", "integer", "string")),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, ("null", "number")),
        ({"oneOf": [{"type": "array"}, {"allOf": [{"type": "object"}]}]}, ("object", "array")),
        ({"enum": [1, "a", None, True]}, ("null", "integer", "boolean", "string")),
        ({"enum": [1.5, [], {}]}, ("number", "object", "array")),
        ({"const": "x"}, ("string",)),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}, ("integer",)),
        (LOOP, ("integer",)),
        ({"$ref": "https://example.org/s.json"}, ()),
        ({"type": "whatever"}, ()),
        ({"type": 7, "anyOf": {"not": "a list"}}, ()),
        (True, ()),
        (None, ()),
    ],
)  # fmt: skip
def test_types_of(schema: Any, types: tuple[str, ...]) -> None:
    assert types_of(schema, schema) == types


@pytest.mark.parametrize(
    ("types", "text", "value"),
    [
        (["string"], "null", "null"),
        (["string"], "7", "7"),
        (["string", "null"], "null", None),
        (["string", "null"], "NULL", None),
        (["string", "integer"], "007", 7),
        (["integer"], " 12 ", 12),
        (["integer"], "1_000", 1000),
        (["integer"], "-3", -3),
        (["integer"], "2.5", "2.5"),
        (["integer"], "9" * 5000, "9" * 5000),
        (["number"], "5.0", 5),
        (["number"], "2.5", 2.5),
        (["number"], "1e999", "1e999"),
        (["number"], "NaN", "NaN"),
        (["boolean"], "True", True),
        (["boolean"], "0", False),
        (["boolean"], "yes", "yes"),
        (["object"], '{"a": 1}', {"a": 1}),
        (["object"], "5", 5),
        (["object"], '{"a": 1e999}', '{"a": 1e999}'),
        (["object"], "{'a': 1}", "{'a': 1}"),
        (["array"], "[1, 2]", [1, 2]),
        (["array"], "[" * 5000, "[" * 5000),
        (["null"], "", ""),
    ],
)
def test_values(types: list[str], text: str, value: Any) -> None:
    tools = [ToolDef("f", None, {"properties": {"k": {"type": types}}})]
    read = ToolTypes(tools).value("f", "k", text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("undeclared", "text", "value"),
    [
        ("string", "[1]", "[1]"),
        ("container", "[1]", [1]),
        ("container", "1", "1"),
        ("container", "[1", "[1"),
        ("json", "1", 1),
        ("json", "null", None),
        ("json", "a b", "a b"),
        ("json", "NaN", "NaN"),
    ],
)
def test_undeclared_values(undeclared: str, text: str, value: Any) -> None:
    assert ToolTypes((), undeclared=undeclared).value("f", "k", text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("{'a': None}", {"a": None}), ("['x', True, -1]", ["x", True, -1]), (" [1] ", [1])],
)
def test_python_values(text: str, value: Any) -> None:
    assert python_value(text) == value
    tools = [ToolDef("f", None, {"properties": {"k": {"type": ["object", "array"]}}})]
    assert ToolTypes(tools, literals=True).value("f", "k", text) == value


@pytest.mark.parametrize(
    "text",
    ["[__import__('os')]", "{1: 2}", "[(1, 2)]", "[{1}]", "[1e999]", "[" * 9000, "[" * 30000, "[b'a']", "'a'", "[1j]"],
)
def test_what_is_no_plain_literal_stays_text(text: str) -> None:
    tools = [ToolDef("f", None, {"properties": {"k": {"type": "array"}}})]
    assert ToolTypes(tools, literals=True).value("f", "k", text) == text


def test_properties_are_found_behind_references() -> None:
    root = {
        "allOf": [{"$ref": "#/$defs/base"}],
        "$defs": {"base": {"properties": {"a/b": {"type": "integer"}}, "additionalProperties": {"type": "boolean"}}},
    }
    assert property_of(root, "a/b", root) == {"type": "integer"}
    assert property_of(root, "other", root) == {"type": "boolean"}
    assert property_of({"properties": 3}, "a", {}) is None
    assert items_of({"anyOf": [{"items": {"type": "string"}}]}, {}) == {"type": "string"}


def test_names_and_schemas() -> None:
    types = ToolTypes([ToolDef("f", None, None), ToolDef(None, None, {})])
    assert types.is_known("f") and not types.is_known("g")
    assert types.schema("f") == {}
    assert types.value("g", "k", "1") == "1"
