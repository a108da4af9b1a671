from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.config.safeyaml import load, load_all
from workbench.errors import UnreadableInput
from workbench.limits import MAX_YAML_DEPTH, MAX_YAML_DOCUMENTS, MAX_YAML_NODES

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)

PLAIN = [
    ("~", None),
    ("", None),
    ("yes", True),
    ("Off", False),
    ("12", 12),
    ("-0", 0),
    ("1.5", 1.5),
    ("-1.5e+3", -1500.0),
    (".inf", float("inf")),
    ("1e5", "1e5"),
    ("2001-01-01", "2001-01-01"),
    ("1:30", "1:30"),
    ("0123", "0123"),
    ("1_000", "1_000"),
    ("0x1F", "0x1F"),
    ("y", "y"),
    ('"yes"', "yes"),
    ("!!str 5", "5"),
    ("!!int '5'", 5),
    ("!!binary aGk=", b"hi"),
    ("!binary aGk=", b"hi"),
    ("!<tag:yaml.org,2002:binary> aGk=", b"hi"),
    ("!!timestamp 2001-01-01", "2001-01-01"),
    ("!!python/object/apply:os.system [ls]", ["ls"]),
    ("!!python/tuple [1, 2]", [1, 2]),
    ("!!python/name:os.system ''", ""),
    ("!ruby/object:Gem {a: 1}", {"a": 1}),
    ("{yes: 1, 200: 2, ~: 3}", {"yes": 1, "200": 2, "~": 3}),
    ("? !!python/object/apply:istr [Accept]\n: 1", {"Accept": 1}),
    ("? !!python/object/new:istr\n  args: [Accept]\n: [x]\n? &k [a]\n: *k", {"Accept": ["x"], "a": "a"}),
    ("{<<: {a: b}}", {"<<": {"a": "b"}}),
    ("[&a {x: 1}, *a]", [{"x": 1}, {"x": 1}]),
    ("{&k name: *k}", {"name": "name"}),
]


@pytest.mark.parametrize(("text", "value"), PLAIN)
def test_resolves_predictably(text, value):
    assert load(text, name="t") == value


def test_bytes_may_carry_a_byte_order_mark():
    assert load("\ufeffa: ü".encode(), name="t") == {"a": "ü"}
    assert load("a: ü".encode("utf-16"), name="t") == {"a": "ü"}


BOMB = "- &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)

REFUSED = [
    ("a: 1\nb: ]\n", "t:2: not YAML"),
    ("a: 1\n\x00", "t:2: not YAML: character 0"),
    ("ok\n--- 2\n", "t:2: more than one YAML document"),
    ("a:\n  ? [1, 2]\n  : 2", "t:2: a list or mapping cannot be a key; use a string"),
    ("x: !!binary '%'", "t:1: !!binary is not base64"),
    ("a: *b", "t:1: alias 'b' has no complete anchor before it"),
    ("a: &a [*a]", "t:1: alias 'a' has no complete anchor before it"),
    ("- &a [1]\n- {*a : 1}", "t:2: alias 'a', used as a key, does not refer to text"),
    ("\ud800", "t:1: not YAML: it contains a lone surrogate"),
    (b"a: 1\nb: \xff", "t:2: not utf-8 text at byte 8"),
    ("[" * 100_000, f"t:1: nested deeper than {MAX_YAML_DEPTH}"),
    (BOMB, f"t:7: more than {MAX_YAML_NODES:,} nodes"),
]


@pytest.mark.parametrize(("text", "line"), REFUSED)
def test_refuses_in_one_line(text, line):
    with pytest.raises(UnreadableInput) as caught:
        load(text, name="t")
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_documents_are_read_one_after_the_other():
    assert load_all("a: &x 1\n---\n- 2\n--- three\n", name="t") == [{"a": 1}, [2], "three"]
    assert load_all("", name="t") == []
    with pytest.raises(UnreadableInput, match="t:2: alias 'x' has no complete anchor before it"):
        load_all("a: &x 1\n--- *x\n", name="t")
    with pytest.raises(UnreadableInput, match=f"more than {MAX_YAML_DOCUMENTS:,} documents"):
        load_all("--- 1\n" * (MAX_YAML_DOCUMENTS + 1), name="t")


def test_reads_without_the_c_parser(monkeypatch):
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert load("a: [1, &x two, *x]", name="t") == {"a": [1, "two", "two"]}
    with pytest.raises(UnreadableInput, match="t:2: not YAML"):
        load("a: 1\nb: ]\n", name="t")


@given(json_values)
@settings(max_examples=100)
def test_what_pyyaml_writes_comes_back(value):
    assert load(yaml.safe_dump(value), name="t") == value


@given(st.text() | st.binary())
@settings(max_examples=100)
def test_any_text_is_read_or_refused(text):
    try:
        load(text, name="t")
    except UnreadableInput as error:
        assert str(error).startswith("t:")
