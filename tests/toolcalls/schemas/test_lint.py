from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.toolcalls.schemas.dialect import Dialect, DialectFact, dialects
from workbench.toolcalls.schemas.lint import lint_schema, measure

OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}

CASES = [
    ("nothing", {}, OBJECT, []),
    (
        "refused",
        {"refused_keywords": frozenset(["type"])},
        OBJECT,
        [("/type", "keyword"), ("/properties/a/type", "keyword")],
    ),
    ("not listed", {"accepted_keywords": frozenset(["type"])}, OBJECT, [("/properties", "keyword")]),
    ("root only", {"root_refused": frozenset(["properties"])}, OBJECT, [("/properties", "keyword")]),
    ("root type", {"root_object": True}, {"properties": {}}, [("", "shape")]),
    ("list of types", {"type_lists": False}, {"type": ["object", "null"]}, [("/type", "keyword")]),
    ("no null", {"nullable": True}, {"type": "null"}, [("/type", "keyword")]),
    ("texts only", {"enum_strings": True}, {"enum": [1]}, [("/enum", "keyword")]),
    ("items", {"items_required": True}, {"type": ["array", "null"]}, [("", "items")]),
    ("typed", {"typed": True}, {"properties": {"a": {}}}, [("", "shape"), ("/properties/a", "shape")]),
    ("typed, in protobuf's names", {"typed": True}, {"any_of": [{"type": "string"}]}, []),
    ("empty", {"no_empty_properties": True}, {"type": "object", "properties": {}}, [("/properties", "shape")]),
    ("closed", {"closed_objects": True}, OBJECT, [("", "strict")]),
    ("required", {"all_required": True}, {**OBJECT, "required": ["b"]}, [("", "strict"), ("", "strict")]),
    ("no references", {"refs": "none"}, {"$ref": "#/$defs/a", "$defs": {"a": {}}}, [("/$ref", "ref")]),
    ("recursion", {"refs": "no-recursion"}, {"$ref": "#"}, [("/$ref", "ref")]),
    (
        "a keyword that the target has too",
        {"ref_conflicts": True},
        {"$ref": "#/$defs/a", "description": "x", "title": "t", "$defs": {"a": {"description": "y", "title": "t"}}},
        [("/description", "ref")],
    ),
    (
        "a reference to a reference",
        {"ref_conflicts": True},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "string"}}},
        [],
    ),
    ("recursion taken", {}, {"$ref": "#"}, []),
    ("nowhere", {}, {"$ref": "http://a.example/x"}, [("/$ref", "ref")]),
    ("properties", {"max_properties": 1}, {"properties": {"a": {}, "b": {}}}, [("", "size")]),
    ("depth", {"max_depth": 1}, {"type": "object", "properties": {"a": OBJECT}}, [("", "size")]),
    ("a property named like a keyword", {"refused_keywords": frozenset(["const"])}, {"properties": {"const": {}}}, []),
    ("a value that looks like a schema", {"refused_keywords": frozenset(["const"])}, {"default": {"const": 1}}, []),
    ("no schema", {}, [], [("", "shape")]),
]


@pytest.mark.parametrize(("terms", "schema", "found"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_lint(terms, schema, found):
    assert [(i.pointer, i.kind) for i in lint_schema(schema, Dialect(**terms))] == found


def test_ignored_keywords_are_no_refusals():
    (issue,) = lint_schema({"minimum": 1}, Dialect(ignored_keywords=frozenset(["minimum"])))
    assert (issue.effect, issue.pointer) == ("ignored", "/minimum")


def test_measure():
    schema = {**OBJECT, "required": ["a"], "properties": {"a": {"enum": ["x", "yz"]}, "b": OBJECT}}
    assert measure(schema) == {"depth": 2, "properties": 3, "optional": 2, "unions": 0, "enum_values": 2, "text": 6}


def test_modes_take_over_what_they_do_not_say():
    terms = {
        "schema.refs": DialectFact("none"),
        "schema.strict.closed-objects": DialectFact(True, "guide"),
        "schema.strict.refs": DialectFact("all"),
    }
    plain, strict = dialects("x", terms)
    assert (plain.name, plain.refs, plain.closed_objects) == ("x", "none", False)
    assert (strict.name, strict.refs, strict.closed_objects, strict.source("closed_objects")) == (
        "x strict",
        "all",
        True,
        "guide",
    )


@pytest.mark.parametrize(
    "term", [{"schema.refs": "some"}, {"schema.typed": "yes"}, {"schema.max-depth": 0}, {"schema.root-refused": 5}]
)
def test_wrong_terms_are_named(term):
    with pytest.raises(ValueError, match=r"schema\.|keywords"):
        dialects("x", {k: DialectFact(v) for k, v in term.items()})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "items", "anyOf", "$ref", "required", "enum", "a"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(JSON)
@settings(max_examples=100, deadline=None)
def test_any_value_is_survived(schema):
    lint_schema(
        schema,
        Dialect(
            refs="no-recursion", items_required=True, typed=True, closed_objects=True, all_required=True, max_depth=1
        ),
    )
