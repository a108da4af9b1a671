"""Arguments made from schemas fit them, whatever they demand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from workbench import testing
from workbench.simulator._values import arguments_for
from workbench.toolcalls.schemas.fits import fits_schema


@given(testing.json_schemas())
@settings(max_examples=25)
def test_arguments_fit_their_schema(schema):
    assert fits_schema(arguments_for(schema, "some words"), schema)


@pytest.mark.parametrize(
    "properties",
    [
        {"a": {"type": "integer", "minimum": 3, "maximum": 4}},
        {"a": {"type": "number", "exclusiveMinimum": 3, "maximum": 4}},
        {"a": {"type": "integer", "maximum": -2}},
        {"a": {"type": "array", "items": {"type": "string", "minLength": 30}, "minItems": 2}},
        {"a": {"type": "string", "enum": ["x", "y"]}},
        {"a": {"type": "string", "format": "date-time"}},
        {"a": {"type": "string", "maxLength": 2}},
        {"a": {"type": "string", "pattern": "^abc$"}},
        {"a": {"type": ["null", "boolean"]}},
        {"a": {"anyOf": [{"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}]}},
        {"a": {"$ref": "#/$defs/deep"}},
        {"a": {"const": [1]}},
    ],
)
def test_what_schemas_demand(properties):
    schema = {
        "type": "object",
        "properties": properties,
        "required": ["a"],
        "additionalProperties": False,
        "$defs": {"deep": {"type": "object", "properties": {"c": {"type": "string"}}, "required": ["c"]}},
    }
    assert fits_schema(arguments_for(schema), schema)


def test_a_schema_that_leads_back_to_itself_ends():
    loop = {"$ref": "#/$defs/a"}
    wide = {"type": "object", "properties": {n: loop for n in "abcdef"}, "required": list("abcdef")}
    assert arguments_for({"$ref": "#/$defs/a", "$defs": {"a": wide}}) is not None


def test_free_text_comes_from_the_user():
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    assert arguments_for(schema, "tide tables") == {"query": "tide tables"}
    assert arguments_for(schema, "tide tables", 1) == {"query": "tide tables (2)"}
    assert arguments_for(None) == {}
