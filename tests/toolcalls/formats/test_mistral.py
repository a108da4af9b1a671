"""Mistral: an array, or a name and its arguments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.formats import found
from workbench.errors import LocalProtocolError
from workbench.toolcalls.formats.mistral import Mistral, nemo, small, text_format, v3

MARK, ARGS, ID = "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"
MARKUP = [MARK, ARGS, ID, "</s>", "[TOOL_CALLS", "[", "]", "}", "{"]
HOSTILE = [
    MARK,
    f"{MARK}read{ARGS}",
    f'{MARK}read{ARGS}{{\\"',
    f'{MARK}read{ARGS}{{"',
    "}",
    "[TOOL_CALLS [{",
    "[" * 50,
    f"{MARK}[{{",
]
READ = f'{MARK}read{ARGS}{{"path": "/a"}}'
OBJECT = '{"name": "read", "arguments": {"path": "/a"}, "id": "abcdefghi"}'
OK = ("read", {"path": "/a"})
NO_JSON = "arguments are not JSON"

CASES: list[found.Case] = [
    ("array", f"{MARK} [{OBJECT}]", [OK]),
    ("array, no blank", f"{MARK}[{OBJECT}]</s>", [OK]),
    ("array of two", f"{MARK}[{OBJECT}, {OBJECT}]", [OK, OK]),
    ("array, text around", f"I look.{MARK}[{OBJECT}] then", [OK]),
    ("array, no id", f'{MARK}[{{"name": "list", "arguments": {{}}}}]', [("list", {})]),
    ("array, brackets in strings", MARK + '[{"name": "read", "arguments": {"a": "]}[{"}}]', [("read", {"a": "]}[{"})]),
    (
        "array, arguments in a string",
        MARK + '[{"name": "read", "arguments": "{\\"a\\": 1}"}]',
        [("read", {"a": 1}, "arguments are a string that contains JSON")],
    ),
    ("array, parameters", MARK + '[{"name": "read", "parameters": {"a": 1}}]', [("read", {"a": 1})]),
    ("array, no arguments", MARK + '[{"name": "list"}]', [("list", {}, "arguments are missing")]),
    ("array, no name", MARK + '[{"x": 1}]', [(None, None, "no name", NO_JSON)]),
    ("array, cut", f"{MARK}[{OBJECT}", [(*OK, "unclosed")]),
    ("array, cut in the second", f"{MARK}[{OBJECT}, {OBJECT[:40]}", [OK, ("read", None, NO_JSON, "unclosed")]),
    (
        "array, one broken",
        MARK + '[{"name": "read", "arguments": {"a": 1,}}, ' + OBJECT + "]",
        [("read", {"a": 1}, "not JSON; parsed as Python"), OK],
    ),
    ("array, comma behind", f"{MARK}[{OBJECT},]", [OK]),
    ("object", f"{MARK} {OBJECT}", [OK]),
    ("marker without bracket", f"[TOOL_CALLS [{OBJECT}]", [(*OK, "the marker has no closing bracket")]),
    ("name", READ, [OK]),
    ("name, end of text", READ + "</s>", [OK]),
    ("names", READ + MARK + "list" + ARGS + "{}", [OK, ("list", {})]),
    ("name and id", f'{MARK}read{ID}abcdefghi{ARGS}{{"path": "/a"}}', [OK]),
    ("name, prose around", f"I look.{READ}Done.", [OK]),
    ("name, no [ARGS]", f'{MARK}read{{"path": "/a"}}', [(*OK, "no [ARGS]")]),
    ("name, blanks", f'{MARK} read {ARGS} {{"path": "/a"}}', [OK]),
    (
        "name, marker in a string",
        f'{MARK}read{ARGS}{{"a": "{READ.replace(chr(34), "")}"}}',
        [("read", {"a": READ.replace('"', "")})],
    ),
    ("name, cut in the arguments", READ[:-3], [("read", None, NO_JSON, "unclosed")]),
    ("name, cut before them", f"{MARK}read{ARGS}", [("read", None, "unclosed")]),
    ("name, cut", f"{MARK}rea", [("rea", None, "unclosed", "no such tool")]),
    ("name, string without end", f'{MARK}read{ARGS}{{"a": "x}}{READ}', [("read", None, NO_JSON, "unclosed"), OK]),
    ("name, brace missing", f'{MARK}read{ARGS}{{"a": 1{READ}', [("read", None, NO_JSON, "unclosed"), OK]),
    ("name, arguments twice", READ + '{"path": "/a"}', [OK]),
    ("name, no JSON", f"{MARK}read{ARGS}nope", [("read", None, NO_JSON, "unclosed")]),
    ("name, escapes", f'{MARK}read{ARGS}{{"a": "\\\\\\"}}"}}', [("read", {"a": '\\"}'})]),
    ("no such tool", f"{MARK}rm{ARGS}{{}}", [("rm", {}, "no such tool")]),
    ("in reasoning", "<think>hm " + READ, [OK]),
]

INNOCENT = [
    *found.ANSWERS,
    f"The {MARK} marker",
    f"Mistral writes {MARK} and {ARGS} as tokens.",
    f"`{READ}`",
    f"```\n{READ}\n```",
    f"{MARK} []",
    f"{ARGS}{{}}",
    f"{MARK} marks {{a call}}",
    "[TOOL_CALLS",
    MARK,
    "a[TOOL_CALL] b",
]


@settings(max_examples=40)
@given(st.lists(st.tuples(found.NAMES, found.arguments(MARKUP)), min_size=1, max_size=3), st.integers(1, 7))
def test_round_trip(said: list[tuple[str, dict[str, Any]]], size: int) -> None:
    found.check_round_trip(text_format, said, size)


@pytest.mark.parametrize("one", [v3, nemo, small], ids=["v3", "nemo", "small"])
@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(found.NAMES, found.arguments(MARKUP), st.from_regex("[a-zA-Z0-9]{9}", fullmatch=True)),
        min_size=1,
        max_size=3,
    )
)
def test_round_trip_with_ids(one: Mistral, said: list[tuple[str, dict[str, Any], str]]) -> None:
    text = one.render([found.call(*c) for c in said])
    assert [(c.name, c.input, c.id, c.problems) for c in found.calls(text_format, text)] == [(*c, ()) for c in said]


def test_render() -> None:
    one = [found.call("read", {"path": "/a"}, "abcdefghi")]
    assert v3.render(one) == f"{MARK} [{OBJECT}]"
    assert nemo.render(one) == f"{MARK}[{OBJECT}]"
    assert small.render(one) == f'{MARK}read{ID}abcdefghi{ARGS}{{"path": "/a"}}'
    assert text_format.render(one) == READ


@pytest.mark.parametrize("id_", [None, "", "call_1", "abcdefghij"])
def test_ids_that_the_templates_refuse(id_: str | None) -> None:
    assert text_format.render([found.call("read", {}, id_)])
    with pytest.raises(LocalProtocolError, match="length 9"):
        small.render([found.call("read", {}, id_)])


def test_results() -> None:
    one = [found.result("R")]
    assert v3.render_results(one) == '[TOOL_RESULTS]{"call_id": "abcdefghi", "content": "R"}[/TOOL_RESULTS]'
    assert nemo.render_results(one) == '[TOOL_RESULTS]{"content": R, "call_id": "abcdefghi"}[/TOOL_RESULTS]'
    assert small.render_results(one) == "[TOOL_RESULTS]abcdefghi[TOOL_CONTENT]R[/TOOL_RESULTS]"
    assert text_format.render_results(one) == "[TOOL_RESULTS]R[/TOOL_RESULTS]"
