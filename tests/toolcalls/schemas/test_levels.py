"""Schema levels: what is declared becomes simpler, and what remains is still checked."""

from __future__ import annotations

import pytest

from workbench.ir import JsonValue
from workbench.toolcalls.schemas.lower import LEVELS, SIMPLE, STRICT, TEXTS, lower_to_level, original

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where."},
        "colour": {"enum": ["red", "green"]},
        "place": {"$ref": "#/$defs/place"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["path"],
    "$defs": {"place": {"type": "object", "properties": {"line": {"type": "integer"}}}},
}


@pytest.mark.parametrize("level", LEVELS)
def test_lowering_twice_is_lowering_once(level: str) -> None:
    made = lower_to_level(SCHEMA, level).schema
    assert lower_to_level(made, level).schema == made


def test_each_level_takes_away_what_it_cannot_hold() -> None:
    assert lower_to_level(SCHEMA, STRICT).schema["additionalProperties"] is False
    assert "$ref" not in str(lower_to_level(SCHEMA, SIMPLE).schema)
    texts = lower_to_level(SCHEMA, TEXTS).schema
    assert {held["type"] for held in texts["properties"].values()} == {"string"}
    assert texts["properties"]["path"]["description"] == "Where."
    assert '["red","green"]' in texts["properties"]["colour"]["description"].replace(", ", ",")
    assert "JSON text" in texts["properties"]["tags"]["description"]


VALUES: dict[str, tuple[JsonValue, JsonValue]] = {
    "JSON in texts": ({"path": "7", "place": '{"line": 3}', "tags": '["a"]'}, {"place": {"line": 3}, "tags": ["a"]}),
    "values all the same": ({"path": "7", "place": {"line": 3}}, {"place": {"line": 3}}),
    "no JSON": ({"path": "7", "tags": "a and b"}, {"tags": "a and b"}),
    "no object": ("7", None),
}


@pytest.mark.parametrize("name", VALUES)
def test_texts_are_read_back(name: str) -> None:
    given, expected = VALUES[name]
    made = original(given, SCHEMA, TEXTS)
    assert made == ({"path": "7", **expected} if expected else given)


@pytest.mark.parametrize(
    "schema", [True, 7, {}, {"properties": []}, {"type": "array"}, {"properties": {"a": True}}], ids=str
)
@pytest.mark.parametrize("level", LEVELS)
def test_what_is_hardly_a_schema_is_lowered_too(level: str, schema: JsonValue) -> None:
    lower_to_level(schema, level)
    assert original({"a": "1"}, schema, level) in ({"a": "1"}, {"a": 1})
