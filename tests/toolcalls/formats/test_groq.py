"""Llama's functions in tags, as Groq reads them and as it refuses them."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.formats import found
from workbench.toolcalls.formats.groq import text_format

READ = '<function=read>{"path": "/a"}</function>'
OK = ("read", {"path": "/a"})
DAMAGED, NO_JSON = "damaged markup", "arguments are not JSON"
MARKUP = ["<function=", "<function(", "read", ">", ")", "{", '"path": "/a"', "}", "</function>", "<function>", "</func"]
HOSTILE = [
    "<function=",
    "<function=read>{",
    "<function=read{",
    READ,
    "<function(",
    "</function>",
    '<function=a>{"a": "',
]

CASES: list[found.Case] = [
    ("one", READ, [OK]),
    ("two", '<function=read>{"path": "/a"}</function><function=list>{}</function>', [OK, ("list", {})]),
    ("text around", f"I look: {READ} done", [OK]),
    ("its end in a string", '<function=read>{"a": "</function>"}</function>', [("read", {"a": "</function>"})]),
    ("the angle left out", READ.replace(">{", "{"), [(*OK, DAMAGED)]),
    ("brackets around the name", READ.replace("=read>", "(read)"), [(*OK, DAMAGED)]),
    ("brackets around the object", READ.replace(">{", "({").replace("}", "})"), [(*OK, DAMAGED)]),
    ("a list", READ.replace(">{", "[{").replace("}", "}]"), [(*OK, DAMAGED)]),
    ("an angle more", READ.replace("}<", "}><"), [(*OK, DAMAGED)]),
    ("its end without a slash", READ.replace("</", "<"), [(*OK, DAMAGED)]),
    ("text behind the object", READ.replace("}", "} done"), [(*OK, "text after the arguments")]),
    ("not closed", READ.removesuffix("</function>"), [(*OK, "unclosed")]),
    ("not closed, another", READ.removesuffix("</function>") + READ, [(*OK, "unclosed"), OK]),
    ("cut", '<function=read>{"path": "/a', [("read", None, "unclosed", NO_JSON)]),
    ("a quote is missing", READ.replace('a"', "a") + READ, [("read", None, NO_JSON), OK]),
    ("no such tool", READ.replace("read", "rm"), [("rm", {"path": "/a"}, "no such tool")]),
    ("behind reasoning", f"<think>I need it.</think>{READ}", [OK]),
]

INNOCENT = [
    *found.ANSWERS,
    "<function=read>\n<parameter=a>\n1\n</parameter>\n</function>",
    "<function=read> is the tag.",
    "std::function<int()> f; <function>x</function>",
    f"`{READ}`",
    f"```\n{READ}\n```",
]


@settings(max_examples=40)
@given(
    st.lists(st.tuples(found.NAMES, found.arguments(MARKUP)), min_size=1, max_size=3),
    st.integers(1, 7),
)
def test_round_trip(said: list[tuple[str, dict[str, Any]]], size: int) -> None:
    found.check_round_trip(text_format, said, size)


def test_results() -> None:
    assert text_format.render_results([found.result("1")]) == '"1"'
