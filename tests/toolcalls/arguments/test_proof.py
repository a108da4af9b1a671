"""A repair either gives what was meant or is refused: never something else."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.toolcalls.arguments._child import repair
from workbench.toolcalls.arguments._proof import Lossy

RECOVERED = [
    ('```json\n{"city":"paris"}\n```', {"city": "paris"}),
    ('```\n{"city":"paris"}```', {"city": "paris"}),
    ("{'path': 'a', 'follow': True, 'limit': None}", {"path": "a", "follow": True, "limit": None}),
    ("{'it': 'it\\'s'}", {"it": "it's"}),
    ("{'nested': {'a': [1, 'b', False]}}", {"nested": {"a": [1, "b", False]}}),
    ('{"action": listt_windows"}', {"action": "listt_windows"}),
    ('{"a": 1, "b": 2,}', {"a": 1, "b": 2}),
    ('{"a": [1, 2,],}', {"a": [1, 2]}),
    ('{"t": "he said "hi" to me"}', {"t": 'he said "hi" to me'}),
    ('{"a": "x"', {"a": "x"}),
    ('{"a": ["x"', {"a": ["x"]}),
    ('{"a": {"x": "1"}', {"a": {"x": "1"}}),
    ('{"a": [1,2}', {"a": [1, 2]}),
    ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
    ('{"a": "x"\n "b": "y"}', {"a": "x", "b": "y"}),
    ('Here is the call: {"a": 1}', {"a": 1}),
    ('{"a": 1; "b": 2}', {"a": 1, "b": 2}),
    ("{a: 1}", {"a": 1}),
    ("{path: tmp/x.txt, depth: 2}", {"path": "tmp/x.txt", "depth": 2}),
    ('// note\n{"a": 1}', {"a": 1}),
    ('{"a": 1 // note\n, "b": 2}', {"a": 1, "b": 2}),
    ('{"a": /* x */ 1}', {"a": 1}),
    ('Here it is {"a": 1} ok', {"a": 1}),
    ('{"a": 1}}', {"a": 1}),
    ('{"a": 1,}</tool_call>', {"a": 1}),
    ('<tool>{"a": 1,}</tool>', {"a": 1}),
    ('{"p": "C:\\Users\\Xew"}', {"p": "C:\\Users\\Xew"}),
    ('{"re": "\\d+\\.\\d+"}', {"re": "\\d+\\.\\d+"}),
    ('{"a": 1_000}', {"a": 1000}),
    ('{"a": +1}', {"a": 1}),
    ('{"a": .5}', {"a": 0.5}),
    ("{“a”: “b”}", {"a": "b"}),
    ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
    ('{"a": "é", \'b\': "\\u00e9"}', {"a": "é", "b": "é"}),
    ('{"a": "\\ud83d\\ude00",}', {"a": "😀"}),
    ('{"first": "\\ud800\\udc00", "last": "\\udbff\\udfff",}', {"first": "\U00010000", "last": "\U0010ffff"}),
    ('{"q": "a"}{"q": "a"}', {"q": "a"}),
    ('{"a": 12345678901234567890123,}', {"a": 12345678901234567890123}),
]

REFUSED = [
    '{"q":"a"}{"q":"b"}',
    '{"q":"a"}\n{"r":"b"}',
    '{"a": {"x": 1}, {"y": 2}}',
    '{"a": 1, "a": 2,}',
    '{"a": [1, 2, ...]}',
    '{"a": NaN,}',
    '{"a": Infinity,}',
    '{"a": undefined}',
    '{"a": 1e999,}',
    '{"a": 0x10}',
    '{"a": 007}',
    '{"a": tru}',
    '{"a": 1',
    '{"a": 12',
    '{"a": true',
    '{"a": "x',
    '{"a": "x", "b',
    '{"a": "x", "b":',
    '{"a": "x\\',
    '{"a": {"x": "1", "y": "2"}',
    '{"a": [["1"], ["2"]',
    '{"a": }',
    '{"a" 1}',
    '{"a"; 1}',
    '{"a": "b", c}',
    '{"a": "x" "b": "y"}',
    '{"a": ["x" "y"]}',
    '{"a": [1,} 2, 3]}',
    '{"a": 1} null',
    '{"a": "b" + "c"}',
    '{"a": "say "yes", please"}',
    "{\"a\": 'it's'}",
    '{"a": """x"""}',
    '{"a": (1, 2)}',
    '{"p": "C:\\Users\\new"}',
    '{"a": "x\\u12"}',
    '{"a": "\\d+\\n"}',
    '{"a": 1} and {"b": 2}',
    '{"a": 1}, "b": 2}',
    'x = 3; {"a": 1}',
    "no idea",
    "",
    "{",
    "```json\n```",
]


@pytest.mark.parametrize(("text", "value"), RECOVERED, ids=[r[0] for r in RECOVERED])
def test_what_can_be_recovered_is(text, value):
    found, changes = repair(text)
    assert found == value
    assert json.dumps(found) == json.dumps(value)  # true is not 1, and the order is kept
    assert changes


@pytest.mark.parametrize("text", REFUSED)
def test_what_would_be_lost_is_refused(text):
    with pytest.raises(Lossy):
        repair(text)


KEY = st.text(alphabet="abcdefgh_é", min_size=1, max_size=5)
TEXT = st.text(alphabet="ab 0.'\"\\,:{}[]\n\té/#-+", max_size=8)
SCALAR = st.none() | st.booleans() | st.integers(-999, 999) | st.sampled_from([0.5, -2.25, 1e-9]) | TEXT
VALUE = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEY, inner, max_size=3), max_leaves=8
)
OBJECT = st.dictionaries(KEY, VALUE, min_size=1, max_size=3)


def fenced(text, _):
    return f"```json\n{text}\n```"


def python(_, value):
    return repr(value)


def trailing_comma(text, _):
    return text[:-1] + ",}"


def without_spaces(_, value):
    return json.dumps(value, separators=(",", ":"))[:-1] + ",}"


def pretty_with_comments(_, value):
    return json.dumps(value, indent=1).replace("{\n", "{ // note\n")


def extra_closer(text, _):
    return text + "}"


def in_prose(text, _):
    return f"I call it with {text} now"


def raw_controls(_, value):
    return json.dumps(value).replace("\\n", "\n").replace("\\t", "\t")


def unescaped_quotes(text, _):
    return text.replace('\\"', '"')


def without_quotes_of_keys(_, value):
    return "{" + ", ".join(f"{k}: {json.dumps(v)}" for k, v in value.items()) + "}"


def without_last_bracket(text, _):
    return text[:-1]


def without_a_comma(text, _):
    strings = [m.span() for m in re.finditer(r'"(?:[^"\\]|\\.)*"', text)]
    commas = (n for n, c in enumerate(text) if c == "," and not any(a < n < b for a, b in strings))
    at = next(commas, len(text))
    return text[:at] + text[at + 1 :]


def twice(text, _):
    return text + text


def two(text, _):
    return text + '{"other": 1}'


BREAKAGES = [
    *(fenced, python, trailing_comma, without_spaces, pretty_with_comments, extra_closer, in_prose, raw_controls),
    *(unescaped_quotes, without_quotes_of_keys, without_last_bracket, without_a_comma, twice, two),
]


@pytest.mark.parametrize("broken", BREAKAGES, ids=lambda f: f.__name__)
@given(value=OBJECT)
@settings(max_examples=60, deadline=None)
def test_a_repair_gives_the_original_or_is_refused(broken, value):
    try:
        found, _ = repair(broken(json.dumps(value, ensure_ascii=False), value))
    except Lossy:
        return
    assert json.dumps(found) == json.dumps(value)


def is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@given(value=OBJECT, where=st.integers(0, 200), what=st.sampled_from(['"', ",", "}", "]", "{", "[", ":", "'", "\\"]))
@settings(max_examples=100, deadline=None)
def test_a_character_too_many_or_too_few_never_drops_a_text(value, where, what):
    text = json.dumps(value, ensure_ascii=False)
    where %= len(text)
    for broken in (text[:where] + text[where + 1 :], text[:where] + what + text[where:]):
        try:
            found, _ = repair(broken)
        except Lossy:
            continue
        if is_json(broken):
            continue  # nothing was repaired: of a key that stands twice now, JSON takes the last
        kept = json.dumps(found, ensure_ascii=False)
        assert sum(map(str.isalnum, kept)) >= sum(map(str.isalnum, broken)) - 1


@given(st.text(alphabet="{}[]\"',:ab01 \\\n`/#", max_size=40))
@settings(max_examples=150, deadline=None)
def test_any_text_is_survived(text):
    try:
        found, _ = repair(text)
    except Lossy:
        return
    assert isinstance(found, dict | list | str | int | float | bool | None)
