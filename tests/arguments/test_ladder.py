from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import limits
from workbench.arguments.ladder import COERCIBLE, DOUBLE_ENCODED, INVALID, Rung, climb, is_cut

OBJECT = {"type": "object"}
FILE = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "limit": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "mode": {"enum": ["r", "w"]},
        "when": {"anyOf": [{"type": "object", "properties": {"day": {"type": "string"}}}, {"type": "null"}]},
        "deep": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]},
    },
    "required": ["path"],
    "additionalProperties": False,
}

FAULTS = [
    ("missing", {}, "", "required", INVALID),
    ("wrong type", {"path": ["a"]}, "/path", "type", INVALID),
    ("number as string", {"path": "a", "limit": "5"}, "/limit", "type", COERCIBLE),
    ("string as number", {"path": 5}, "/path", "type", COERCIBLE),
    ("not a number", {"path": "a", "limit": "five"}, "/limit", "type", INVALID),
    ("array as string", {"path": "a", "tags": '["x"]'}, "/tags", "type", DOUBLE_ENCODED),
    ("array of the wrong items as string", {"path": "a", "tags": "[1]"}, "/tags", "type", INVALID),
    ("object as string, one of two shapes", {"path": "a", "when": '{"day": "x"}'}, "/when", "anyOf", DOUBLE_ENCODED),
    ("deepest of the shapes that fail", {"path": "a", "when": {"day": 1}}, "/when/day", "type", COERCIBLE),
    ("not listed", {"path": "a", "mode": "x"}, "/mode", "enum", INVALID),
    ("undeclared", {"path": "a", "extra": 1}, "", "additionalProperties", INVALID),
    ("null for an optional key", {"path": "a", "limit": None}, "/limit", "type", COERCIBLE),
    ("null for a required key", {"path": None}, "/path", "type", INVALID),
    ("nested", {"path": "a", "deep": {}}, "/deep", "required", INVALID),
    ("Python literal", {"path": "a", "deep": {"on": "True"}}, "/deep/on", "type", COERCIBLE),
]


@pytest.mark.parametrize(("value", "pointer", "keyword", "kind"), [r[1:] for r in FAULTS], ids=[r[0] for r in FAULTS])
def test_faults(value, pointer, keyword, kind):
    (fault,) = climb(None, value, FILE).faults
    assert (fault.pointer, fault.keyword, fault.kind) == (pointer, keyword, kind)


def test_messages_name_value_and_declaration():
    (fault,) = climb(None, {"path": "a", "limit": "five"}, FILE).faults
    assert fault.message == "is the string 'five', declared is integer"
    (fault,) = climb(None, {"limit": 1}, FILE).faults
    assert fault.message == "lacks the required 'path'"


LADDERS = [
    ("strict", '{"path": "a"}', (Rung.STRICT, Rung.VALIDATED), {"path": "a"}),
    ("encoded twice", '"{\\"path\\": \\"a\\"}"', (Rung.STRICT, Rung.UNWRAPPED, Rung.VALIDATED), {"path": "a"}),
    ("coerced", '{"path": "a", "limit": "5"}', (Rung.STRICT, Rung.COERCED), {"path": "a", "limit": 5}),
    ("optional null left out", '{"path": "a", "limit": null}', (Rung.STRICT, Rung.COERCED), {"path": "a"}),
    ("fence", '```json\n{"path": "a"}\n```', (Rung.REPAIRED, Rung.VALIDATED), {"path": "a"}),
    ("Python", "{'path': 'a', 'limit': None}", (Rung.REPAIRED, Rung.COERCED), {"path": "a"}),
    ("cut", '{"path": "a', (Rung.REPAIRED, Rung.VALIDATED), {"path": "a"}),
    ("repaired, still wrong", "{'limit': 1}", (Rung.REPAIRED,), {"limit": 1}),
    ("no arguments in it", "no idea", (), None),
]


@pytest.mark.parametrize(("raw", "rungs", "value"), [r[1:] for r in LADDERS], ids=[r[0] for r in LADDERS])
def test_ladder(raw, rungs, value):
    ladder = climb(raw, None, FILE)
    assert (ladder.rungs, ladder.value) == (rungs, value)
    assert bool(ladder.error) is (Rung.STRICT not in rungs)


def test_the_value_as_written_is_not_changed():
    value = {"path": "a", "tags": '["x"]'}
    assert climb(None, value, FILE).value == {"path": "a", "tags": ["x"]}
    assert value == {"path": "a", "tags": '["x"]'}


def nested_alternatives(depth):
    schema = {"$defs": {"d0": {"type": "string"}}, "$ref": f"#/$defs/d{depth}"}
    for n in range(1, depth + 1):
        schema["$defs"][f"d{n}"] = {"allOf": [{"$ref": f"#/$defs/d{n - 1}"}, {"$ref": f"#/$defs/d{n - 1}"}]}
    return schema


BAD_SCHEMAS = [
    ("alternatives that multiply", nested_alternatives(40), "too many steps"),
    ("reference to itself", {"$ref": "#"}, "leads back to itself"),
    (
        "remote reference",
        {"$ref": "http://127.0.0.1:9/schema.json"},
        "'http://127.0.0.1:9/schema.json' leads to nothing",
    ),
    ("no such type", {"type": "map"}, "no JSON Schema"),
    ("properties are no object", {"properties": ["path"]}, "no JSON Schema"),
]


@pytest.mark.parametrize(("schema", "problem"), [r[1:] for r in BAD_SCHEMAS], ids=[r[0] for r in BAD_SCHEMAS])
def test_a_bad_schema_is_a_problem_and_no_fault(schema, problem):
    ladder = climb(None, {"path": "a"}, schema)
    assert problem in ladder.problem
    assert not ladder.faults


PATTERNS = [
    ("quick, matches", "^[a-z]+$", "abc", ""),
    ("quick, does not match", "^[a-z]+$", "ABC", "pattern"),
    ("slow form, does not match", "^(a|b)+$", "c", "pattern"),
    ("dialect of another language", r"^\p{L}+$", "abc", ""),
]


@pytest.mark.parametrize(("pattern", "text", "keyword"), [r[1:] for r in PATTERNS], ids=[r[0] for r in PATTERNS])
def test_patterns(pattern, text, keyword):
    ladder = climb(None, {"p": text}, {"type": "object", "properties": {"p": {"type": "string", "pattern": pattern}}})
    assert [f.keyword for f in ladder.faults] == ([keyword] if keyword else [])


@pytest.mark.parametrize("pattern", [r"^\p{L}+$", "[a-", "(?<n>a)"])
def test_a_pattern_that_cannot_be_read_is_a_problem_and_hides_no_other_fault(pattern):
    schema = {"required": ["q"], "properties": {"p": {"pattern": pattern}}}
    ladder = climb(None, {"p": "abc"}, schema)
    assert [f.keyword for f in ladder.faults] == ["required"]
    assert ladder.problem == f"its pattern {pattern!r} is not read here"


def test_a_runaway_pattern_is_stopped(monkeypatch):
    monkeypatch.setattr(limits, "REPAIR_SECONDS", 1.0)
    schema = {"properties": {"p": {"pattern": "^(a+)+$"}}}
    assert "within 1 s" in climb(None, {"p": "a" * 60 + "!"}, schema).problem


def test_huge_broken_text_is_not_repaired():
    assert "not repaired" in climb("{" * (limits.MAX_ARGUMENT_REPAIR + 1), None, OBJECT).problem


def test_deep_arguments_are_a_problem_at_most():
    value: dict[str, object] = {}
    for _ in range(1_500):
        value = {"a": value}
    schema = {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"a": {"$ref": "#/$defs/n"}}}}}
    assert climb(None, value, schema).problem


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ('{"to": "a@e.org", "body": "Dear a, the rep', True),
        ('{"a": tru', True),
        ('{"a": 12.', True),
        ('{"a": "x\\u00', True),
        ('{"a', True),
        ("[1,", True),
        ('{"action": listt_windows"}', False),
        ('{"a": 1}{"b": 2}', False),
        ("{'a': 1", False),
        ("", False),
        ("{}", False),
    ],
)
def test_is_cut(text, cut):
    assert is_cut(text) is cut


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=5), JSON, min_size=1, max_size=3), st.data(), st.booleans())
@settings(max_examples=150)
def test_every_beginning_of_an_object_is_cut(value, data, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert not is_cut(text)
    assert is_cut(text[: data.draw(st.integers(1, len(text) - 1))])


@given(JSON, JSON)
@settings(max_examples=100)
def test_any_schema_and_value_are_survived(value, schema):
    ladder = climb(None, value, schema)
    assert ladder.value == value or Rung.COERCED in ladder.rungs
