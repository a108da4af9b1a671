from __future__ import annotations

import json
import math
import os
import signal
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import limits
from workbench.ir import ToolCallIR, ToolDef
from workbench.toolcalls.arguments import _process
from workbench.toolcalls.arguments._schema import COERCIBLE, DOUBLE_ENCODED, INVALID, _cost
from workbench.toolcalls.arguments.ladder import (
    ArgumentStep,
    Code,
    climb,
    is_cut,
    judge,
    steps,
)

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
    assert fault.message == "is the string 'five', but the schema declares integer"
    (fault,) = climb(None, {"limit": 1}, FILE).faults
    assert fault.message == "lacks the required key 'path'"
    (fault,) = climb(None, {"path": "a", "limit": "5"}, FILE).faults
    assert fault.message == "is the string '5', but the schema declares integer"


@pytest.mark.parametrize(
    ("items", "is_apart"),
    [([], True), ([1], True), ([1, 2], True), ([1, 1.0], False), (["1", 1], True), ([{"a": 1}, {"a": 1}], False)],
)
def test_items_that_have_to_differ(items, is_apart):
    faults = climb(None, {"list": items}, {"properties": {"list": {"uniqueItems": True}}}).faults
    assert [fault.message for fault in faults] == ([] if is_apart else ["contains an item twice"])
    assert climb(None, {"list": items}, {"properties": {"list": {"uniqueItems": False}}}).faults == ()


LADDERS = [
    ("strict", '{"path": "a"}', (ArgumentStep.STRICT, ArgumentStep.VALIDATED), {"path": "a"}),
    (
        "encoded twice",
        '"{\\"path\\": \\"a\\"}"',
        (ArgumentStep.STRICT, ArgumentStep.UNWRAPPED, ArgumentStep.VALIDATED),
        {"path": "a"},
    ),
    (
        "coerced",
        '{"path": "a", "limit": "5"}',
        (ArgumentStep.STRICT, ArgumentStep.COERCED, ArgumentStep.VALIDATED),
        {"path": "a", "limit": 5},
    ),
    (
        "optional null left out",
        '{"path": "a", "limit": null}',
        (ArgumentStep.STRICT, ArgumentStep.COERCED, ArgumentStep.VALIDATED),
        {"path": "a"},
    ),
    ("fence", '```json\n{"path": "a"}\n```', (ArgumentStep.REPAIRED, ArgumentStep.VALIDATED), {"path": "a"}),
    (
        "Python",
        "{'path': 'a', 'limit': None}",
        (ArgumentStep.REPAIRED, ArgumentStep.COERCED, ArgumentStep.VALIDATED),
        {"path": "a"},
    ),
    ("cut", '{"path": "a', (), None),
    ("repaired, still wrong", "{'limit': 1}", (ArgumentStep.REPAIRED,), {"limit": 1}),
    ("no arguments in it", "no idea", (), None),
]


@pytest.mark.parametrize(("raw", "rungs", "value"), [r[1:] for r in LADDERS], ids=[r[0] for r in LADDERS])
def test_ladder(raw, rungs, value):
    ladder = climb(raw, None, FILE)
    assert (ladder.rungs, ladder.value) == (rungs, value)
    assert bool(ladder.error) is (ArgumentStep.STRICT not in rungs)


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
    ("reference to itself", {"$ref": "#"}, "refers to itself"),
    (
        "remote reference",
        {"$ref": "http://127.0.0.1:9/schema.json"},
        "'http://127.0.0.1:9/schema.json' has no target",
    ),
    ("no such type", {"type": "map"}, "not a valid JSON Schema"),
    ("properties are no object", {"properties": ["path"]}, "not a valid JSON Schema"),
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
    assert ladder.problem == f"pattern {pattern!r} is not supported here"


def test_a_runaway_pattern_is_stopped(monkeypatch):
    monkeypatch.setattr(limits, "REPAIR_SECONDS", 1.0)
    schema = {"properties": {"p": {"pattern": "^(a+)+$"}}}
    assert "stopped after 1 s of CPU time" in climb(None, {"p": "a" * 60 + "!"}, schema).problem


def test_huge_broken_text_is_not_repaired():
    assert "not repaired" in climb("{" * (limits.MAX_ARGUMENT_REPAIR + 1), None, OBJECT).problem


@pytest.mark.parametrize("piece", ["]{", "[{]}", '{"a": [}'])
def test_brackets_that_close_nothing_are_depth(piece):
    refusal = climb(piece * limits.MAX_REPAIR_DEPTH + "]{", None, OBJECT).refusal
    assert (refusal.code, "nested deeper" in refusal.message) == (Code.TOO_LARGE, True)


def test_brackets_side_by_side_are_no_depth():
    raw = "{'a': [" + "{'b': [1]}, " * limits.MAX_REPAIR_DEPTH + "2]}"
    assert climb(raw, None, OBJECT).value == {"a": [*[{"b": [1]}] * limits.MAX_REPAIR_DEPTH, 2]}


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
@settings(max_examples=40)
def test_every_beginning_of_an_object_is_cut(value, data, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert not is_cut(text)
    assert is_cut(text[: data.draw(st.integers(1, len(text) - 1))])


@given(JSON, JSON)
@settings(max_examples=40)
def test_any_schema_and_value_are_survived(value, schema):
    ladder = climb(None, value, schema)
    assert ladder.value == value or ArgumentStep.COERCED in ladder.rungs


def call(raw, name="read", value=None):
    return ToolCallIR(id="c", name=name, input=value, format="openai", raw=raw)


READ = ToolDef("read", None, FILE)
ABSOLUTE = ToolDef("read", None, {"type": "object", "properties": {"path": {"type": "string", "pattern": "^/"}}})

REFUSALS = [
    ("no JSON at all", call("no idea"), [READ], Code.INVALID_JSON, "not JSON", True),
    ("a part would be lost", call('{"path": "a"}{"path": "b"}'), [READ], Code.AMBIGUOUS_JSON, "without loss", True),
    ("cut", call('{"path": "a'), [READ], Code.TRUNCATED, "is incomplete", True),
    ("too large", call("{" * (limits.MAX_ARGUMENT_REPAIR + 1)), [READ], Code.TOO_LARGE, "longer than", True),
    ("too deep", call('{"a":' * 200 + "x"), [READ], Code.TOO_LARGE, "nested deeper", True),
    ("an array", call("[1]"), [READ], Code.NOT_AN_OBJECT, "it is an array", True),
    ("null", call("null"), [READ], Code.NOT_AN_OBJECT, "it is null", True),
    ("NaN", call('{"path": NaN}'), [ToolDef("read", None, None)], Code.INVALID_JSON, "contains nan", True),
    ("infinite", call('{"n": 1e999}'), [ToolDef("read", None, None)], Code.INVALID_JSON, "contains inf", True),
    ("infinite, deep", call('{"n": [{"m": -1e999}]}'), [ToolDef("read", None, None)], Code.INVALID_JSON, "-inf", True),
    ("required", call("{}"), [READ], Code.SCHEMA_VALIDATION_FAILED, "input lacks the required key 'path'", True),
    (
        "pattern",
        call('{"path": "a"}'),
        [ABSOLUTE],
        Code.SCHEMA_VALIDATION_FAILED,
        "input.path does not match '^/'",
        True,
    ),
    ("bad schema", call("{}"), [ToolDef("read", None, {"$ref": "#"})], Code.SCHEMA_UNUSABLE, "not checked", False),
    ("unknown", call("{}", "write"), [READ], Code.UNKNOWN_TOOL, "no tool 'write'; the tools are 'read'", True),
    ("unknown, none declared", call("{}", "write"), [], Code.UNKNOWN_TOOL, "no tool is declared", True),
    ("empty, but required", call(""), [READ], Code.SCHEMA_VALIDATION_FAILED, "lacks the required key 'path'", True),
]


@pytest.mark.parametrize(
    ("made", "tools", "code", "message", "retryable"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS]
)
def test_refusals(made, tools, code, message, retryable):
    refusal = judge(made, tools).refusal
    assert (refusal.code, refusal.retryable) == (code, retryable)
    assert message in refusal.message
    assert len(refusal.message) < 1_000
    assert refusal.as_json() == {
        "is_error": True, "error_code": code.value, "message": refusal.message, "retryable": retryable
    }  # fmt: skip


def test_what_can_be_used_is_not_refused():
    assert judge(call('{"path": "a"}'), [READ]).refusal is None
    assert judge(call("{'path': 5}"), [READ]).refusal is None
    assert judge(call("{'path': 5}"), [READ]).value == {"path": "5"}


def test_a_refusal_names_some_faults_and_counts_the_rest():
    schema = {"properties": {k: {"type": "array"} for k in "abcde"}}
    refusal = climb(None, dict.fromkeys("abcde", "x"), schema).refusal
    assert refusal.message.startswith("input.a is the string 'x'")
    assert refusal.message.endswith("; and 2 more")


def test_steps_show_before_and_after():
    rows = steps(call("{'path': 'a', 'limit': '5',}"), READ)
    assert [row.rung for row in rows] == [ArgumentStep.REPAIRED, ArgumentStep.COERCED, ArgumentStep.VALIDATED]
    assert rows[0].before == "{'path': 'a', 'limit': '5',}"
    assert rows[0].after == rows[1].before == {"path": "a", "limit": "5"}
    assert rows[1].after == {"path": "a", "limit": 5}
    assert rows[0].note == "quotes were corrected; a trailing comma was removed"
    assert rows[1].note == "/limit: '5' was read as 5"


def test_steps_end_with_the_refusal():
    rows = steps(call('{"limit": 1}'), READ)
    assert [row.rung for row in rows] == [ArgumentStep.STRICT, ArgumentStep.REFUSED]
    assert rows[-1].after["error_code"] == "SCHEMA_VALIDATION_FAILED"
    assert rows[-1].note == "input lacks the required key 'path'"


def test_null_written_as_text_becomes_null_where_null_is_declared():
    schema = {"properties": {"a": {"type": ["integer", "null"]}}}
    assert climb(None, {"a": "null"}, schema).value == {"a": None}


def test_what_coercion_makes_is_validated_again():
    schema = {"properties": {"a": {"type": "integer"}}, "required": ["a", "b"]}
    assert climb(None, {"a": "5"}, schema).refusal.message == "input lacks the required key 'b'"


def test_the_child_is_used_again_and_replaced_when_it_died():
    first = climb("{'a': 'first'}", None, None)
    child = _process._running()
    climb("{'a': 'second'}", None, None)
    assert _process._running() is child
    child.kill()
    child.wait()
    assert climb("{'a': 'third'}", None, None).value == {"a": "third"}
    assert _process._running() is not child
    assert first.value == {"a": "first"}


def test_text_that_repair_would_read_for_ever_is_stopped(monkeypatch):
    monkeypatch.setattr(limits, "REPAIR_SECONDS", 0.5)
    monkeypatch.setattr(limits, "MAX_REPAIR_DEPTH", 100_000)
    ladder = climb("```\n" + "]{" * 5_000, None, None)
    assert ladder.refusal
    assert ladder.value is None
    assert climb("{'a': 'after'}", None, None).value == {"a": "after"}


def test_the_start_of_the_child_is_no_part_of_a_job(monkeypatch):
    _process.stop()
    monkeypatch.setattr(limits, "REPAIR_SECONDS", 0.1)
    assert climb("{'a': 'soon'}", None, OBJECT).value == {"a": "soon"}


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be halted here")
def test_a_child_that_gets_no_time_is_no_verdict(monkeypatch):
    os.kill(_process._running().pid, signal.SIGSTOP)
    monkeypatch.setattr(limits, "REPAIR_WAIT_SECONDS", 0.2)
    refusal = climb("{'a': 'later'}", None, OBJECT).refusal
    assert refusal.code is Code.TIMEOUT
    assert refusal.message.endswith("got no CPU time")
    monkeypatch.undo()
    assert climb("{'a': 'later'}", None, OBJECT).value == {"a": "later"}


def test_a_child_that_does_not_start_is_said_once(monkeypatch):
    _process.stop()
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert "process" in climb("{'a': 'never'}", None, OBJECT).problem
    monkeypatch.undo()
    assert climb("{'a': 'never'}", None, OBJECT).value == {"a": "never"}


@pytest.mark.parametrize(
    ("pattern", "is_bounded"),
    [
        ("^[a-z]+$", True),
        ("(?:ab)c", True),
        ("[(]*[)]+", True),
        (r"\)*", True),
        (r"(a)\1", False),
        ("(?=a)b", False),
        ("(?P<n>a)", False),
        ("(a|b)*", False),
        ("(?:a){2}", False),
    ],
)
def test_a_pattern_whose_steps_cannot_be_counted_is_run_apart(pattern, is_bounded):
    assert math.isfinite(_cost(pattern, 3)) is is_bounded
