"""Calls as a list in Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.formats import found
from workbench.errors import LocalProtocolError
from workbench.toolcalls.formats.pythonic import text_format

MARKUP = ["[", "]", "(", ")", "read(", "a=1", ",", "<|python_start|>", "<|python_end|>", "'", "#", '"""', "[read("]
HOSTILE = [
    "[read(",
    "[read(a=",
    "[read(a=[",
    "\n[read(x",
    "[read(a='''\n",
    '[read(a="',
    "[read(a=1),",
    '\n[read(a=\\"""',
    "[",
    "[read(a=1 #",
]
OK = ("read", {"path": "/a"})
NO_LITERAL = "an argument is not a literal"


def one(text: str, value: Any, *problems: str) -> tuple[str, list[tuple[Any, ...]]]:
    return f"[read(a={text})]", [("read", {"a": value}, *problems)]


CASES: list[found.Case] = [
    ("one", '[read(path="/a")]', [OK]),
    ("single quotes", "[read(path='/a')]", [OK]),
    ("two", '[read(path="/a"), list()]', [OK, ("list", {})]),
    ("on lines", '[\n  read(\n    path="/a",\n  ),\n  list(),\n]', [OK, ("list", {})]),
    ("prose before", 'I look.\n[read(path="/a")]', [OK]),
    ("end of line", '[read(path="/a")]\n\n', [OK]),
    ("end of turn", '[read(path="/a")]<|eot|>', [OK]),
    ("tags", '<|python_start|>[read(path="/a")]<|python_end|>', [OK]),
    ("tags, no list", '<|python_start|>read(path="/a")<|python_end|>', [OK]),
    ("tags, prose behind", '<|python_start|>[read(path="/a")]<|python_end|> Done.', [OK]),
    ("tags, no such tool", "<|python_start|>[rm(a=1)]<|python_end|>", [("rm", {"a": 1}, "no such tool")]),
    ("True", *one("True", True)),
    ("None", *one("None", None)),
    ("true of JSON", *one("true", True)),
    ("null of JSON", *one("null", None)),
    ("negative", *one("-5", -5)),
    ("float", *one("-1.5e3", -1500.0)),
    ("hexadecimal", *one("0x1F", 31)),
    ("underscores", *one("1_000", 1000)),
    ("leading zeros", *one("007", 7, "a number with leading zeros")),
    ("list and dict", *one('[1, {"x": [None]}]', [1, {"x": [None]}])),
    ("tuple", *one("(1, 2)", [1, 2], "a tuple or set, which JSON does not support")),
    ("set", *one("{1, 2}", [1, 2], "a tuple or set, which JSON does not support")),
    ("parentheses", *one('("x")', "x")),
    ("key that is no string", *one("{1: 2}", {"1": 2}, "a key is not a string")),
    ("escapes", *one(r"'it\'s\n\x41\u00e9\\'", "it's\nA\u00e9\\")),
    ("raw string", *one(r"r'\d+'", r"\d+")),
    ("three quotes", *one('"""x\n"y\n"""', 'x\n"y\n')),
    ("strings that follow", *one("'a' 'b'", "ab")),
    ("brackets in strings", *one('")]"', ")]")),
    ("comment", "[read(a=1, # why )]\n b=2)]", [("read", {"a": 1, "b": 2})]),
    ("keyword of Python", '[read(from="x", class=1)]', [("read", {"from": "x", "class": 1})]),
    ("twice", "[read(a=1, a=2)]", [("read", {"a": 2}, "a duplicate argument")]),
    ("name", "[read(a=x)]", [("read", None, NO_LITERAL)]),
    ("positional", '[read("/a")]', [("read", None, NO_LITERAL)]),
    ("nested call", '[read(a=list(")"), b=1), list()]', [("read", None, NO_LITERAL), ("list", {})]),
    ("expression", "[read(a=1 + 1)]", [("read", None, NO_LITERAL)]),
    ("f-string", '[read(a=f"{x}")]', [("read", None, NO_LITERAL)]),
    ("bytes", '[read(a=b"x")]', [("read", None, NO_LITERAL)]),
    ("infinite", "[read(a=1e999)]", [("read", None, NO_LITERAL)]),
    ("one is no tool", "[list(), rm(a=1)]", [("list", {}), ("rm", {"a": 1}, "no such tool")]),
    ("bracket missing", '[read(path="/a")', [(*OK, "unclosed")]),
    ("cut in a string", '[list(), read(path="/', [("list", {}), ("read", None, "unclosed")]),
    ("cut behind the name", "[read(", [("read", None, "unclosed")]),
    ("behind reasoning", '<think>x</think>\n[read(path="/a")]', [OK]),
    ("behind another list", '[note(1)] first\n[read(path="/a")]', [OK]),
]

INNOCENT = [
    *found.ANSWERS,
    '[rm(path="/a")]',
    '[read(path="/a")] is how a call looks.',
    'items = [read(path="/a")]',
    'read(path="/a")',
    '`[read(path="/a")]`',
    '```python\n[read(path="/a")]\n```',
    "```\n[read()]\n```\n",
    "[read](http://x.org)",
    "[read(a=1) for a in b]",
    "[read(a=1)][0]",
    "[read(a=1), 2]",
    "[1, 2]\n[3, 4]",
    "[\n  1,\n  2\n]",
    "[x(",
    "- [read(a=1)] item\n- more",
]


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(found.NAMES, found.arguments(MARKUP, st.sampled_from(["a", "path", "from", "ü"]))),
        min_size=1,
        max_size=3,
    ),
    st.integers(1, 7),
)
def test_round_trip(said: list[tuple[str, dict[str, Any]]], size: int) -> None:
    found.check_round_trip(text_format, said, size)


def test_without_tools_only_a_whole_text_of_literals() -> None:
    (one,) = found.calls(text_format, "[read(a=1)]", ())
    assert one.problems == ("no tools are declared",)
    assert not found.calls(text_format, "[read(a=x)]", ())
    assert not found.calls(text_format, "I look.\n[read(a=1)]", ())
    assert found.calls(text_format, "<|python_start|>[read(a=1)]<|python_end|>", ())


def test_nested_is_said() -> None:
    assert found.calls(text_format, "<think>\n[read(a=1)]")[0].is_nested


def test_prose_is_handed_out_at_once() -> None:
    parser = text_format.parser()
    assert parser.feed("I lo") == [("I lo", 0, 4)]
    assert parser.feed("ok.\n[rea") == [("ok.\n", 4, 8)]


def test_render() -> None:
    said = [found.call("read", {"a": "x'y", "b": [True, None, {"c": 1.5}]}), found.call("list", {})]
    assert text_format.render(said) == "[read(a=\"x'y\", b=[True, None, {'c': 1.5}]), list()]"


@pytest.mark.parametrize("value", [{"a b": 1}, {"": 1}, {"a": 10**400}, {"a-b": 1}])
def test_what_python_cannot_name_is_refused(value: dict[str, Any]) -> None:
    with pytest.raises(LocalProtocolError):
        text_format.render([found.call("read", value)])


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(LocalProtocolError):
        text_format.render([])


def test_results() -> None:
    assert text_format.render_results([found.result("1")]) == '"1"'


def test_deep_literals_are_refused_and_not_followed() -> None:
    text = f"[read(a={'[' * 5000}{']' * 5000})]"
    found.check(text_format, text, [("read", None, NO_LITERAL)])
