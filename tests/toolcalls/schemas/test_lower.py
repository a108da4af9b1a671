"""Down-levelled schema and local check together are the original: tried on a table, and on schemas of no plan."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import contracts
from workbench.rules.schemas import of_contract
from workbench.toolcalls.schemas.dialect import Dialect
from workbench.toolcalls.schemas.lower import CHECKED, NARROWER, down_level
from workbench.toolcalls.schemas.proof import prove

DIALECTS = [
    d for name in ("anthropic", "openai", "gemini", "deepseek") for d in of_contract(contracts.get(name)).values()
]

POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer", "minimum": 0}, "y": {"type": "string"}},
    "required": ["x"],
}
TREE = {
    "type": "object",
    "properties": {"v": {"type": "string"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    "required": ["v"],
}
FAST = {"type": "object", "properties": {"k": {"const": "a"}, "v": {"type": "string"}}, "required": ["k"]}
SAFE = {"type": "object", "properties": {"k": {"const": "b"}, "n": {"type": "integer"}}, "required": ["k"]}


def obj(required=(), **properties):
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def deep(levels):
    schema = {"type": "string"}
    for n in range(levels):
        schema = {**obj([f"k{n}"], **{f"k{n}": schema}), "additionalProperties": False}
    return schema


SCHEMAS = {
    "references": {
        **obj(["a"], a={"$ref": "#/$defs/p"}, b={"type": "array", "items": {"$ref": "#/$defs/p"}}),
        "$defs": {"p": POINT},
    },
    "recursion": {**obj(["root"], root={"$ref": "#/$defs/tree"}), "$defs": {"tree": TREE}},
    "recursion of the root": obj(["name"], name={"type": "string"}, child={"$ref": "#"}),
    "reference beside keywords": {
        **obj(a={"$ref": "#/$defs/s", "minLength": 3}),
        "$defs": {"s": {"type": "string", "maxLength": 4}},
    },
    "reference that leads nowhere else": obj(a={"$ref": "#/properties/b"}, b={"type": "string"}),
    "oneOf at the root": {
        **obj(yaml={"type": "string"}, file={"type": "string"}),
        "oneOf": [{"required": ["yaml"]}, {"required": ["file"]}],
    },
    "anyOf of objects at the root": {
        "anyOf": [
            {**obj(["a"], a={"type": "string"}), "additionalProperties": False},
            obj(["a", "b"], a={"type": "integer"}, b={"type": "string"}),
        ]
    },
    "oneOf of types": obj(m={"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "number", "minimum": 5}]}),
    "oneOf with a fixed property": obj(d={"oneOf": [FAST, SAFE]}),
    "oneOf of references": {
        **obj(["s"], s={"oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]}),
        "$defs": {"a": FAST, "b": SAFE},
    },
    "oneOf that overlaps": obj(m={"oneOf": [obj(a={"type": "string"}), obj(b={"type": "string"})]}),
    "allOf": obj(["m"], m={"allOf": [obj(["a"], a={"type": "string"}), obj(b={"type": "integer"})]}),
    "allOf that meets": obj(m={"allOf": [{"type": "integer", "minimum": 1}, {"minimum": 3, "maximum": 9}]}),
    "allOf of closed objects": obj(m={"allOf": [{**obj(a={"type": "string"}), "additionalProperties": False}, POINT]}),
    "const": obj(k={"const": 5}, s={"const": "x"}, n={"const": None}),
    "enums": obj(e={"enum": ["x", None]}, n={"enum": [1, 2]}, m={"type": ["string", "null"], "enum": ["a", None]}),
    "enums of every type": obj(
        e={"enum": [1, "1", None, [1]]},
        f={"enum": [True, 1, 2.5, {"a": 1}, {}]},
        g={"type": ["array", "object"], "enum": [[], [[1]], {"a": []}]},
        h={"const": [1]},
        i={"const": {"a": 1}, "type": "object", "properties": {"a": {}}},
        j={"type": ["string", "integer"], "enum": [1.0, 2]},
    ),
    "a property named not": obj(**{"not": {"not": {"type": "null"}}}),
    "reference at the root": {"$defs": {"n": obj(next={"$ref": "#/$defs/n"}, v=POINT)}, "$ref": "#/$defs/n"},
    "closed tuples": obj(
        t={"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
    ),
    "type lists": obj(
        a={"type": ["string", "null"]},
        b={"type": ["string", "integer"]},
        c={"type": ["array", "null", "object"]},
        d={"type": ["array", "object"], "items": {"type": "string"}, "maxItems": 2},
        e={"type": "null"},
    ),
    "bounds": obj(
        a={"type": "integer", "exclusiveMinimum": 0, "multipleOf": 2},
        b={"type": "string", "minLength": 2, "pattern": "^a"},
        c={"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 2},
        d={"type": "array"},
    ),
    "bounds of draft 4": {
        "$schema": "http://json-schema.org/draft-04/schema#",
        **obj(a={"type": "number", "minimum": 0, "exclusiveMinimum": True}),
    },
    "closed object": {**obj(a={"type": "string"}), "additionalProperties": False},
    "annotations": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.com/t",
        "title": "T",
        **obj(a={"type": "string", "default": "x", "examples": ["y"], "format": "date"}),
    },
    "maps": obj(
        ["m", "zz"],
        m={"type": "object", "additionalProperties": {"type": "integer"}},
        f={"type": "object"},
        any={},
        t=True,
        p={**obj(q={"type": "string"}), "patternProperties": {"^x": {"type": "string"}}},
    ),
    "conditions": {
        **obj(["k"], k={"enum": ["a", "b"]}, v={}),
        "if": {"properties": {"k": {"const": "a"}}},
        "then": {"required": ["v"]},
        "not": {"required": ["z"]},
        "dependentRequired": {"v": ["k"]},
    },
    "tuples": obj(
        t={"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": {"type": "boolean"}}
    ),
    "tuples of draft 7": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **obj(t={"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False}),
    },
    "beside a reference in draft 7": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **obj(r={"$ref": "#/definitions/s", "minLength": 5}),
        "definitions": {"s": {"type": "string"}},
    },
    "nested too deep": deep(13),
    "anyOf beside properties": obj(
        o={**obj(a={"type": "string"}, b={"type": "string"}), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    ),
    "no types": {
        "properties": {"a": {"minimum": 3}, "b": {"properties": {"c": {"type": "string"}}}, "d": {"items": {}}}
    },
    "optional and null": {**obj(a={"type": ["string", "null"]}, b=POINT), "additionalProperties": False},
    "no properties": obj(),
    "a property named nullable": obj(["nullable"], nullable=True, enum={"type": ["integer", "null"]}),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.name)
@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_and_check_together_are_the_original(name, dialect):
    before = json.dumps(SCHEMAS[name])
    lowered = down_level(SCHEMAS[name], dialect)
    proof = prove(SCHEMAS[name], lowered, 30)
    assert proof.holds, (proof.against, lowered)
    assert not proof.undecided, proof.problem
    assert not lowered.remaining
    assert json.dumps(SCHEMAS[name]) == before
    if not [s for s in lowered.steps if s.effect == NARROWER]:
        assert not proof.inexpressible


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_dialect_that_takes_everything_changes_nothing(name):
    lowered = down_level(SCHEMAS[name], Dialect())
    assert (lowered.schema, lowered.check, lowered.steps) == (SCHEMAS[name], True, ())


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.name)
@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_accepted_is_not_changed_again(name, dialect):
    once = down_level(SCHEMAS[name], dialect).schema
    assert down_level(once, dialect).schema == once


NAMED = {d.name: d for d in DIALECTS}

EXAMPLES = [
    (
        "oneOf at the root",
        "anthropic",
        {"type": "object", "properties": {"yaml": {"type": "string"}, "file": {"type": "string"}}},
        {"oneOf": [{"required": ["yaml"]}, {"required": ["file"]}]},
    ),
    (
        "closed object",
        "gemini",
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {"properties": {"a": {"type": "string"}}, "additionalProperties": False},
    ),
    (
        "closed object",
        "openai strict",
        {
            "type": "object",
            "properties": {"a": {"type": ["string", "null"]}},
            "additionalProperties": False,
            "required": ["a"],
        },
        True,
    ),
    ("no properties", "gemini", {"type": "object"}, True),
]


@pytest.mark.parametrize(("name", "dialect", "schema", "check"), EXAMPLES, ids=[f"{e[0]}, {e[1]}" for e in EXAMPLES])
def test_examples(name, dialect, schema, check):
    lowered = down_level(SCHEMAS[name], NAMED[dialect])
    assert (lowered.schema, lowered.check) == (schema, check)


def test_const_in_anyof_becomes_an_enum():
    schema = obj(["mode"], mode={"anyOf": [{"type": "string", "const": "fast"}, {"type": "string", "const": "safe"}]})
    lowered = down_level(schema, NAMED["gemini"])
    assert lowered.schema["properties"]["mode"] == {
        "anyOf": [{"type": "string", "enum": ["fast"]}, {"type": "string", "enum": ["safe"]}]
    }
    assert lowered.check is True


def test_optional_properties_come_back_as_absent():
    lowered = down_level(SCHEMAS["closed object"], NAMED["openai strict"])
    assert lowered.mapping.encode({}) == {"a": None}
    assert lowered.mapping.decode({"a": None}) == {}
    assert [s.effect for s in lowered.steps] == ["exact"]


def test_maps_become_json_text_under_strict():
    lowered = down_level(SCHEMAS["maps"], NAMED["openai strict"])
    assert lowered.mapping.encode({"m": {"k": 1}, "zz": 0})["m"] == '{"k":1}'
    assert {s.effect for s in lowered.steps} >= {CHECKED, NARROWER}


def test_every_step_has_a_place_in_the_original():
    lowered = down_level(SCHEMAS["conditions"], NAMED["openai strict"])
    assert lowered.steps
    assert all(s.pointer == "" or s.pointer.startswith("/") for s in lowered.steps)


def test_a_tool_that_is_too_large_is_split():
    small = Dialect(name="small", max_properties=3, root_refused=frozenset(("oneOf",)), root_object=True)
    branches = [
        {**obj([f"a{n}"], **{f"a{n}": {"type": "string"}, f"b{n}": {"type": "string"}}), "title": f"t{n}"}
        for n in range(3)
    ]
    lowered = down_level({"type": "object", "oneOf": branches}, small)
    assert [i.keyword for i in lowered.remaining] == ["properties"]
    assert [name for name, _ in lowered.parts] == ["t0", "t1", "t2"]
    assert all(not part.remaining for _, part in lowered.parts)


BAD = [
    ("no object", ["a"]),
    ("references in a ring", {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
    ("wrong shapes", {"properties": ["a"], "required": "x", "anyOf": {}, "type": 5, "enum": "x", "allOf": 3}),
    ("properties of no shape", {"type": "object", "properties": {"a": 5, "b": None, "c": "x"}}),
    (
        "much that multiplies",
        {
            "$ref": "#/$defs/d30",
            "$defs": {
                "d0": {"type": "string", "minLength": 1},
                **{
                    f"d{n}": obj(a={"$ref": f"#/$defs/d{n - 1}"}, b={"$ref": f"#/$defs/d{n - 1}"}) for n in range(1, 31)
                },
            },
        },
    ),
]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.name)
@pytest.mark.parametrize("schema", [b[1] for b in BAD], ids=[b[0] for b in BAD])
def test_a_bad_schema_is_survived(schema, dialect):
    assert down_level(schema, dialect).schema is not None


NAMES = st.sampled_from(["a", "b", "c"])
LEAF = st.sampled_from(
    [
        {},
        True,
        {"type": "string"},
        {"type": "integer", "minimum": 1},
        {"enum": ["a", 1, None]},
        {"const": "a"},
        {"type": "null"},
        {"type": ["string", "null"], "minLength": 2},
        {"type": ["integer", "string"], "enum": [1, "a"]},
        {"type": "array"},
        {"type": "object"},
        {"required": ["a"]},
        {"$ref": "#/$defs/d"},
        {"type": "boolean"},
        {"pattern": "^a"},
    ]
)


def _grown(inner):
    properties = st.dictionaries(NAMES, inner, max_size=3)
    return st.one_of(
        st.builds(
            lambda p, r, c: {"type": "object", "properties": p, "required": r, **c},
            properties,
            st.lists(NAMES, max_size=2, unique=True),
            st.sampled_from([{}, {"additionalProperties": False}, {"additionalProperties": {"type": "integer"}}]),
        ),
        st.builds(lambda i, c: {"type": "array", "items": i, **c}, inner, st.sampled_from([{}, {"maxItems": 1}])),
        st.builds(
            lambda k, b: {k: b}, st.sampled_from(["anyOf", "oneOf", "allOf"]), st.lists(inner, min_size=1, max_size=3)
        ),
        st.builds(lambda b, p: {"anyOf": b, "properties": p}, st.lists(inner, min_size=1, max_size=2), properties),
        st.builds(lambda i: {"not": i}, inner),
    )


ANY = st.recursive(LEAF, _grown, max_leaves=6)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.name)
@given(properties=st.dictionaries(NAMES, ANY, max_size=3), definition=ANY)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_any_schema_and_its_check_are_the_original(dialect, properties, definition):
    schema = {"type": "object", "properties": properties, "required": ["a"], "$defs": {"d": definition}}
    lowered = down_level(schema, dialect)
    proof = prove(schema, lowered, 12)
    assert not proof.against, (proof.against, lowered)
    assert not lowered.remaining or [i for i in lowered.remaining if i.kind == "ref"]
