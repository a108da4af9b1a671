"""Elements by the names of tools, as Cline, Roo Code and Kilo Code ask for them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.formats import found
from workbench.ir import ToolDef
from workbench.toolcalls.formats import find_calls, stray_markers
from workbench.toolcalls.formats.cline_xml import text_format

READ = "<read>\n<path>/a</path>\n</read>"
OK = ("read", {"path": "/a"})
NO_JSON = "arguments are not JSON"
MARKUP = ["<read>", "</read>", "<path>", "</path>", "<a>", "</a>", "<tool_use>", "</tool_use>", "<p>", "{}"]
HOSTILE = [
    "<read>",
    "<read><path>",
    "<a>",
    "</a>",
    READ,
    "<read><a>x</a>y",
    "<tool_use><x>",
    "<",
    "<read><path></read>",
]

CASES: list[found.Case] = [
    ("one", READ, [OK]),
    ("on one line", READ.replace("\n", ""), [OK]),
    ("two", f"{READ}\n{READ}", [OK, OK]),
    ("two parameters", "<read>\n<path>/a</path>\n<b>1</b>\n</read>", [("read", {"path": "/a", "b": "1"})]),
    ("text around", f"I read it.\n{READ}\nThat is all.", [OK]),
    ("line breaks around a value", "<read>\n<path>\n/a\n</path>\n</read>", [OK]),
    ("attributes", '<read path="/a"/>', [OK]),
    ("attributes, two tags", "<read path='/a'></read>", [OK]),
    ("JSON", '<read>{"path": "/a"}</read>', [OK]),
    ("JSON with its tag", '<read>{"path": "</read>"}</read>', [("read", {"path": "</read>"})]),
    ("nothing", "<list></list>", [("list", {})]),
    ("nothing, one tag", "<list/>", [("list", {})]),
    ("HTML in a value", "<read><path><p>x</p></path></read>", [("read", {"path": "<p>x</p>"})]),
    ("a call in a value", f"<read><path>{READ}</path></read>",
     [("read", {"path": "<read>\n<path>/a"}, "a value contains tags of this format")]),
    ("its end in a value", "<read><a>x</read>y</a></read>", [("read", {"a": "x</read>y"})]),
    ("unknown parameter", "<read>\n<file>/a</file>\n</read>", [("read", {"file": "/a"})]),
    ("not closed", READ.removesuffix("</read>"), [(*OK, "unclosed")]),
    ("not closed, text behind", "<read>\n<path>/a</path>\nI wait.\n", [(*OK, "unclosed")]),
    ("not closed, another", f"{READ.removesuffix('</read>')}{READ}", [(*OK, "unclosed"), OK]),
    ("cut in a value", "<read>\n<path>/a", [(*OK, "a parameter has no closing tag", "unclosed")]),
    ("parameter not closed", "<read>\n<path>/a\n</read>", [(*OK, "a parameter has no closing tag")]),
    ("parameter not closed, another", "<read><path>/a<b>1</b></read>",
     [("read", {"path": "/a", "b": "1"}, "a parameter has no closing tag")]),
    ("text between", "<read>\n<path>/a</path>\nx\n<b>1</b></read>",
     [("read", {"path": "/a", "b": "1"}, "text between the parameters")]),
    ("twice", "<read><a>1</a><a>2</a></read>", [("read", {"a": "2"}, "a duplicate parameter")]),
    ("JSON cut", '<read>{"path": "/a</read>', [("read", None, NO_JSON)]),
    ("in a wrapper", f"<tool_call>{READ}</tool_call>", [OK]),
    ("in a wrapper, two", f"<tool_calls>\n{READ}\n{READ}\n</tool_calls>", [OK, OK]),
    ("in a wrapper, undeclared", '<toolcall><shell>{"a": 1}</shell></toolcall>',
     [("shell", {"a": 1}, "no such tool")]),
    ("in a wrapper, not closed", f"<tool_use>{READ}", [(*OK, "the closing tag around the call is missing")]),
    ("by fields", '<tool_use><name>read</name><arguments>{"path": "/a"}</arguments></tool_use>', [OK]),
    ("behind reasoning", f"<think>I need it.</think>{READ}", [OK]),
]  # fmt: skip

INNOCENT = [
    *found.ANSWERS,
    "<html><body><p class='a'>Hi</p><a href='x'>read</a></body></html>",
    "<reader><path>/a</path></reader>",
    "<read> reads a file, and </read> ends it.",
    f"`{READ}`".replace("\n", ""),
    f"```xml\n{READ}\n```",
    "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
    '<tool_call>{"name": "read", "arguments": {}}</tool_call>',
    "<tool_use><p>x</p></tool_use>",
    "<tool_calls> </tool_calls>",
    "if (a <read && b> c) {}",
]

NAMED_AS_HTML = tuple(
    ToolDef(name, None, {"type": "object", "properties": {key: {"type": "string"} for key in keys}})
    for name, keys in {"search": ("query",), "summary": ("text",), "form": ("label",), "map": ("a",)}.items()
)
PAGES = (
    "<search><form action='/s'><input name='q'></form></search>",
    "<details><summary>More</summary><p>All of it.</p></details>",
    "<form>\n<label>Name</label>\n<input name='n'/>\n</form>",
    "<form></form>",
    "<map name='m'><area shape='rect' coords='0,0,1,1'></map>",
    "<map>\n<a href='x'>y</a> and z\n</map>",
    "<summary>{x: 1}</summary>",
    "<summary/>",
)


@pytest.mark.parametrize("page", PAGES)
def test_elements_of_html_are_no_calls_of_tools_of_that_name(page: str) -> None:
    assert find_calls(page, NAMED_AS_HTML) == ()
    assert find_calls(f"Here is the page.\n\n{page}\n", NAMED_AS_HTML) == ()
    assert stray_markers(page) == ()


def test_a_tool_that_an_element_of_html_is_named_as_is_called_with_its_parameters() -> None:
    (call,) = find_calls("I look.\n<search>\n<query>x</query>\n</search>", NAMED_AS_HTML)
    assert (call.name, call.input, call.problems) == ("search", {"query": "x"}, ())


def test_values_are_typed_by_the_schema() -> None:
    tool = ToolDef("add", None, {"type": "object", "properties": {"n": {"type": "integer"}, "l": {"type": "array"}}})
    (call,) = found.calls(text_format, "<add><n>3</n><l>[1]</l></add>", [tool])
    assert call.input == {"n": 3, "l": [1]}


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(found.NAMES, st.dictionaries(st.sampled_from(["a", "b", "path"]), st.text("<>/ab\n x{"), max_size=3)),
        min_size=1,
        max_size=3,
    ),
    st.integers(1, 7),
)
def test_round_trip(said: list[tuple[str, dict[str, Any]]], size: int) -> None:
    if found.outcome(text_format, [found.call(*one) for one in said]) is not None:
        found.check_round_trip(text_format, said, size)


def test_render() -> None:
    assert (
        text_format.render([found.call("read", {"path": "/a"}), found.call("list", {})]) == f"{READ}\n<list>\n</list>"
    )


def test_results() -> None:
    assert text_format.render_results([found.result("1")]) == "[read] Result:\n1"
