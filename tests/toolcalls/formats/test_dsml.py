"""DSML: DeepSeek V3.2, V4 and V4.1."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.formats import found
from workbench.errors import LocalProtocolError
from workbench.toolcalls.formats.dsml import Dsml, text_format, v32, v41

D = "｜DSML｜"
MARKUP = [
    f"<{D}tool_calls>",
    f"</{D}tool_calls>",
    f'<{D}invoke name="read">',
    f"</{D}invoke>",
    f"</{D}parameter>",
    f'<{D}parameter name="a" string="true">',
    "<",
    "</",
    f"<{D}",
    "<｜",
]
HOSTILE = [*MARKUP, f'<{D}invoke name="read"><{D}parameter name="a">', "<" + " " * 50, f'<{D}invoke name="{"x" * 300}']


def par(key: str, value: str, flag: str = "true") -> str:
    return f'<{D}parameter name="{key}" string="{flag}">{value}</{D}parameter>\n'


def inv(name: str, *parameters: str) -> str:
    return f'<{D}invoke name="{name}">\n{"".join(parameters)}</{D}invoke>\n'


def block(*calls: str, name: str = "tool_calls") -> str:
    return f"<{D}{name}>\n{''.join(calls)}</{D}{name}>"


READ = inv("read", par("path", "/a"), par("b", "[1, 2]", "false"))
TEXT = block(READ)
OK = ("read", {"path": "/a", "b": [1, 2]})
ODD = (*OK, "unusual tags")


def typed(value: str, flag: str, said: Any, *problems: str) -> tuple[str, list[tuple[Any, ...]]]:
    return block(inv("read", par("a", value, flag))), [("read", {"a": said}, *problems)]


CASES: list[found.Case] = [
    ("V4", TEXT, [OK]),
    ("V3.2", block(READ, name="function_calls"), [OK]),
    (
        "V4.1",
        TEXT.replace("tool_calls", " calls")
        .replace("DSML｜invoke", "DSML｜ invoke")
        .replace("DSML｜parameter", "DSML｜ parameter"),
        [OK],
    ),
    ("two", block(READ, inv("list")), [OK, ("list", {})]),
    ("prose around", "I look.\n\n" + TEXT + "\nDone.", [OK]),
    ("no block", READ, [OK]),
    ("no parameters", block(inv("list")), [("list", {})]),
    ("self-closing", block(f'<{D}invoke name="list"/>\n'), [("list", {})]),
    ("self-closing, no block", f'<{D}invoke name="list" />', [("list", {})]),
    ("true is text", *typed("5", "true", "5")),
    ("false is JSON", *typed("5", "false", 5)),
    ("false, null", *typed("null", "false", None)),
    ("false, object", *typed('{"x": [1.5, true]}', "false", {"x": [1.5, True]})),
    ("false, no JSON", *typed("nope", "false", "nope", "a value that is not JSON")),
    ("false, NaN", *typed("NaN", "false", "NaN", "a value that is not JSON")),
    ("blanks are kept", *typed(" x\n", "true", " x\n")),
    ("markup of others in a value", *typed("<b>&lt;</invoke>", "true", "<b>&lt;</invoke>")),
    (
        "no flag",
        block(inv("read", f'<{D}parameter name="a">5</{D}parameter>')),
        [("read", {"a": 5}, "a parameter without string=true or false")],
    ),
    (
        "no flag, text",
        block(inv("read", f'<{D}parameter name="a">x y</{D}parameter>')),
        [("read", {"a": "x y"}, "a parameter without string=true or false")],
    ),
    ("single quotes", block(READ.replace('"read"', "'read'")), [OK]),
    (
        "no name",
        block(inv("read", f'<{D}parameter string="true">5</{D}parameter>')),
        [("read", {}, "a parameter without name")],
    ),
    ("twice", block(inv("read", par("a", "1"), par("a", "2"))), [("read", {"a": "2"}, "a duplicate parameter")]),
    ("JSON body", block(inv("read", '{"a": 1}\n')), [("read", {"a": 1})]),
    ("broken JSON body", block(inv("read", '{"a": \n')), [("read", None, "arguments are not JSON")]),
    (
        "an extra key",
        block(inv("read", par("arguments", '{"path": "/a"}', "false"))),
        [("read", {"path": "/a"}, "arguments nested under an extra key")],
    ),
    (
        "one more key, text",
        block(inv("read", par("input", '{"path": "/a"}'))),
        [("read", {"path": "/a"}, "arguments nested under an extra key")],
    ),
    (
        "one more key, undeclared inside",
        block(inv("read", par("input", '{"z": "/a"}', "false"))),
        [("read", {"input": {"z": "/a"}})],
    ),
    (
        "parameter not closed",
        block(inv("read", par("a", "x").replace(f"</{D}parameter>\n", ""), par("b", "y"))),
        [("read", {"a": "x", "b": "y"}, "a parameter has no closing tag")],
    ),
    (
        "last parameter not closed",
        block(inv("read", par("a", "x").replace(f"</{D}parameter>\n", ""))),
        [("read", {"a": "x"}, "a parameter has no closing tag")],
    ),
    (
        "text between",
        block(inv("read", par("a", "x"), "and\n", par("b", "y"))),
        [("read", {"a": "x", "b": "y"}, "text between the parameters")],
    ),
    ("invoke not closed", TEXT.replace(f"</{D}invoke>\n", ""), [(*OK, "unclosed")]),
    ("next invoke begins", block(READ.replace(f"</{D}invoke>\n", ""), READ), [(*OK, "unclosed"), OK]),
    ("block not closed", TEXT.removesuffix(f"</{D}tool_calls>"), [OK]),
    (
        "cut in a value",
        TEXT[: TEXT.index("/a") + 1],
        [("read", {"path": "/"}, "a parameter has no closing tag", "unclosed")],
    ),
    ("cut in a tag", TEXT[: TEXT.index("DSML｜parameter") + 6], [("read", {}, "unclosed")]),
    ("ASCII bars", TEXT.replace("｜", "|"), [ODD]),
    ("broken bars", TEXT.replace("｜", "‖"), [ODD]),
    ("doubled bars", TEXT.replace("｜", "｜｜"), [ODD]),
    ("blanks beside the bars", TEXT.replace("<｜DSML｜", "< | DSML | ").replace("</｜DSML｜", "</ | DSML | "), [ODD]),
    ("toolcalls", block(READ, name="toolcalls"), [ODD]),
    ("tool_use", block(READ, name="tool_use"), [ODD]),
    ("tool", block(READ, name="tool"), [ODD]),
    ("no such tool", block(inv("rm")), [("rm", {}, "no such tool")]),
    ("in reasoning", "<think>hm\n\n" + TEXT, [OK]),
]

INNOCENT = [
    *found.ANSWERS,
    f'DeepSeek V4 opens its block with <{D}tool_calls> and a call with <{D}invoke name="x"> as shown.',
    f"`{READ.splitlines()[0]}` opens a call.",
    f"```xml\n{TEXT}\n```",
    block(),
    f"</{D}invoke></{D}tool_calls>",
    f'<{D}parameter name="a" string="true">x</{D}parameter>',
    f"<{D}invoke>no name</{D}invoke>",
    f"<{D}tool_cal",
    "DSML | invoke",
]


def _texts(value: Any) -> bool:
    return any(d in str(value) for d in ("DSML",))


@pytest.mark.parametrize("one", [text_format, v32, v41], ids=["V4", "V3.2", "V4.1"])
@given(
    st.lists(
        st.tuples(found.NAMES, found.arguments(MARKUP, st.sampled_from(["a", "b c", "ü", "path"]))),
        min_size=1,
        max_size=3,
    ),
    st.integers(1, 9),
)
@settings(max_examples=40)
def test_round_trip(one: Dsml, said: list[tuple[str, dict[str, Any]]], size: int) -> None:
    """What can be written is read back; refused is only what holds the format's own tags."""
    text = found.outcome(one, [found.call(*c) for c in said])
    if text is None:
        assert "DSML" in str(said)
        return
    read = found.read(text_format, [text[n : n + size] for n in range(0, len(text), size)], tools=())
    assert [(c.name, c.input, c.problems) for c in read if not isinstance(c, tuple)] == [(*c, ()) for c in said]


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (text_format, block(inv("read", par("a", "x"), par("b", '{"c": 1}', "false")), inv("list", "\n"))),
        (v32, block(inv("read", par("a", "x"), par("b", '{"c": 1}', "false")), inv("list"), name="function_calls")),
    ],
    ids=["V4", "V3.2"],
)
def test_render(one: Dsml, expected: str) -> None:
    assert one.render([found.call("read", {"a": "x", "b": {"c": 1}}), found.call("list", {})]) == expected


def test_render_of_v41_has_blanks() -> None:
    lines = v41.render([found.call("read", {"a": "x"})]).split("\n")
    assert lines == [
        "<｜DSML｜ calls>",
        '<｜DSML｜ invoke name="read">',
        '<｜DSML｜ parameter name="a" string="true">x</｜DSML｜ parameter>',
        "</｜DSML｜ invoke>",
        "</｜DSML｜ calls>",
    ]


@pytest.mark.parametrize(
    "value", [{"a": f"</{D}parameter>"}, {"a": ["< | DSML |invoke name='x'>"]}, {'a"b': 1}, {"": 1}]
)
def test_what_the_format_cannot_escape_is_refused(value: dict[str, Any]) -> None:
    with pytest.raises(LocalProtocolError):
        text_format.render([found.call("read", value)])


def test_results() -> None:
    both = [found.result("1"), found.result("2")]
    assert text_format.render_results(both) == "<tool_result>1</tool_result>\n\n<tool_result>2</tool_result>"
    assert v32.render_results(both) == "<function_results>\n<result>1</result>\n<result>2</result>\n</function_results>"


def test_half_a_tag_is_not_shown() -> None:
    parser = text_format.parser()
    assert parser.feed("hello<‖DS") == [("hello", 0, 5)]
    assert parser.feed("ML‖tool_calls") == []
    assert parser.close() == [("<‖DSML‖tool_calls", 5, 22)]
