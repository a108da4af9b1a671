"""Schemas that are valid and contradict themselves, and lookalikes that do not."""

from __future__ import annotations

import pytest

from workbench.toolcalls.schemas import find_contradictions

CONTRADICTIONS = [
    ("a null with an enum of texts", {"anyOf": [{"type": "null", "enum": ["A"]}]}, "/anyOf/0/enum"),
    ("numbers among texts alone", {"properties": {"a": {"type": "string", "enum": [1, 2]}}}, "/properties/a/enum"),
    ("an enum of nothing", {"properties": {"a": {"enum": []}}}, "/properties/a/enum"),
    ("required twice", {"properties": {"a": {}}, "required": ["a", "a"]}, "/required"),
    ("required and unknown", {"properties": {"a": {}}, "required": ["a", "b"]}, "/required"),
    ("limits crossed", {"properties": {"a": {"minLength": 3, "maxLength": 2}}}, "/properties/a/minLength"),
    ("a pattern left open", {"pattern": "(ab"}, "/pattern"),
]
LEGAL = [
    ("null in the enum", {"type": ["string", "null"], "enum": ["a", None]}),
    ("one value fits", {"type": "string", "enum": ["a", None]}),
    ("whole numbers", {"type": "integer", "enum": [1.0]}),
    ("nullable", {"type": "string", "nullable": True, "enum": [None]}),
    ("properties of another branch", {"properties": {}, "required": ["a"], "allOf": [{"properties": {"a": {}}}]}),
    ("a condition", {"properties": {"a": {}}, "if": {"properties": {"b": {}}, "required": ["c"]}}),
    ("limits that meet", {"minimum": 2, "maximum": 2}),
    ("a pattern of another dialect", {"pattern": r"^\p{L}+$"}),
    ("no schema", ["a"]),
]


@pytest.mark.parametrize(("schema", "pointer"), [row[1:] for row in CONTRADICTIONS], ids=[r[0] for r in CONTRADICTIONS])
def test_a_contradiction_is_named_at_its_place(schema, pointer):
    assert [issue.pointer for issue in find_contradictions(schema)] == [pointer]


@pytest.mark.parametrize("schema", [row[1] for row in LEGAL], ids=[row[0] for row in LEGAL])
def test_what_a_value_can_satisfy_is_no_contradiction(schema):
    assert find_contradictions(schema) == ()
