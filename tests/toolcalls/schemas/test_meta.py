"""The meta-schema check: it refuses what the meta-schema refuses, but for older dialects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from workbench.toolcalls.schemas import find_meta_faults

OBJECT = {"type": "object"}
FAULTS = [
    ("no object", "text", ""),
    ("a list", [], ""),
    ("properties a list", {**OBJECT, "properties": []}, "/properties"),
    ("a property that is text", {**OBJECT, "properties": {"a": "string"}}, "/properties/a"),
    ("a property that is null", {**OBJECT, "properties": {"a/b": None}}, "/properties/a~1b"),
    ("required as text", {**OBJECT, "required": "a"}, "/required"),
    (
        "required as a flag of the property",
        {**OBJECT, "properties": {"a": {"required": True}}},
        "/properties/a/required",
    ),
    ("a length as text", {"minLength": "3"}, "/minLength"),
    ("required null", {**OBJECT, "required": None}, "/required"),
    ("an unknown type", {"properties": {"a": {"type": "str"}}}, "/properties/a/type"),
    ("a type of types", {"type": ["string", "nope"]}, "/type"),
    ("type null", {"properties": {"a": {"type": None}}}, "/properties/a/type"),
    ("enum no list", {"properties": {"a": {"enum": "x"}}}, "/properties/a/enum"),
    ("items as text", {"items": "string"}, "/items"),
    ("anyOf an object", {"anyOf": {"type": "string"}}, "/anyOf"),
    ("anyOf empty", {"anyOf": []}, "/anyOf"),
    ("an alternative that is text", {"anyOf": [{}, "x"]}, "/anyOf/1"),
    ("minimum as text", {"minimum": "3"}, "/minimum"),
    ("a negative length", {"minLength": -1}, "/minLength"),
    ("a description that is a list", {"description": ["x"]}, "/description"),
]

LEGAL = [
    ("true", True),
    ("empty", {}),
    ("draft 4", {"exclusiveMinimum": True, "items": [{"type": "string"}]}),
    ("OpenAPI", {"type": "OBJECT", "nullable": True, "properties": {"a": {"type": "STRING"}}}),
    ("unknown keywords", {"x-order": 3, "const": None, "default": {}}),
]


@pytest.mark.parametrize(("schema", "pointer"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_a_fault_is_named_at_its_place(schema, pointer):
    assert [issue.pointer for issue in find_meta_faults(schema)] == [pointer]


@pytest.mark.parametrize("schema", [row[1] for row in LEGAL], ids=[row[0] for row in LEGAL])
def test_dialects_are_legal(schema):
    assert find_meta_faults(schema) == ()


def test_whole_numbers_are_text_in_the_json_of_protocol_buffers():
    schema = {"properties": {"a": {"minLength": "3", "maxItems": "x"}}}
    assert [issue.pointer for issue in find_meta_faults(schema, is_mapped=True)] == ["/properties/a/maxItems"]


values = st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.sampled_from(["string", "object", "x"]),
                   st.lists(st.sampled_from(["string", "a", 1, {}]), max_size=2))  # fmt: skip
KEYWORDS = ("type", "properties", "required", "items", "anyOf", "enum", "minLength", "minimum", "pattern",
            "description", "additionalProperties", "not", "$defs", "uniqueItems", "title")  # fmt: skip
schemas = st.recursive(
    st.dictionaries(st.sampled_from(KEYWORDS), values, max_size=4),
    lambda inner: st.dictionaries(
        st.sampled_from(KEYWORDS),
        st.one_of(values, inner, st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2), st.lists(inner)),
        max_size=4,
    ),
    max_leaves=8,
)
TOLERATED = ("items", "type", "pattern", "enum")
"""Keywords of which older drafts and OpenAPI accept more than the meta-schema does."""


@given(schemas)
def test_it_agrees_with_the_meta_schema(schema):
    errors = list(Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema))
    strict = [e for e in errors if not any(step in TOLERATED for step in e.absolute_path)]
    found = find_meta_faults(schema)
    if strict:
        assert found
    if not errors:
        assert found == ()
