"""Gemma's calls: tokens around ``call:NAME{…}``, strings between text tokens."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.formats import found
from workbench.toolcalls.formats.gemma import text_format

OPEN, CLOSE, E = "<start_function_call>", "<end_function_call>", "<escape>"
READ = f"{OPEN}call:read{{path:{E}/a{E}}}{CLOSE}"
NEW = '<|tool_call>call:read{path:<|"|>/a<|"|>}<tool_call|>'
OK = ("read", {"path": "/a"})
DAMAGED, NO_JSON = "damaged markup", "arguments are not JSON"
MARKUP = [OPEN, CLOSE, "call:", "{", "}", ",", "a:", "<|tool_call>", "<tool_call|>"]
HOSTILE = [OPEN, f"{OPEN}call:read{{", E, "<|", f"{OPEN}call:", READ, CLOSE, f"{OPEN}call:a{{a:{E}", "{,a:"]

CASES: list[found.Case] = [
    ("one", READ, [OK]),
    ("tokens of Gemma 4", NEW, [OK]),
    ("two", READ + READ, [OK, OK]),
    ("text before", f"I read it.\n{READ}", [OK]),
    ("blanks", f"{OPEN} call:read{{ path : {E}/a{E} }}\n{CLOSE}", [OK]),
    ("no arguments", f"{OPEN}call:list{{}}{CLOSE}", [("list", {})]),
    ("numbers", f"{OPEN}call:read{{a:3,b:-1.5}}{CLOSE}", [("read", {"a": 3, "b": -1.5})]),
    ("words", f"{OPEN}call:read{{a:true,b:null}}{CLOSE}", [("read", {"a": True, "b": None})]),
    ("nested", f"{OPEN}call:read{{a:{{b:[1,{E}x{E}]}}}}{CLOSE}", [("read", {"a": {"b": [1, "x"]}})]),
    ("a key in a string", f"{OPEN}call:read{{a:{E}{{x: 1, y: 2}}{E}}}{CLOSE}", [("read", {"a": "{x: 1, y: 2}"})]),
    ("a quote", f'{OPEN}call:read{{a:{E}say "no"\\n{E}}}{CLOSE}', [("read", {"a": 'say "no"\\n'})]),
    ("a closing token in a string", f"{OPEN}call:read{{a:{E}x{CLOSE}y{E}}}{CLOSE}", [("read", {"a": f"x{CLOSE}y"})]),
    ("JSON", f'{OPEN}call:read{{"path":"/a"}}{CLOSE}', [OK]),
    ("round brackets", '<|tool_call>call:read(path: "/a")<tool_call|>', [(*OK, "round brackets around the arguments")]),
    ("unclosed", READ.removesuffix(CLOSE), [(*OK, "unclosed")]),
    ("unclosed, another", READ.removesuffix(CLOSE) + READ, [(*OK, "unclosed"), OK]),
    ("cut in a string", READ[: READ.index("/a") + 1], [("read", None, "unclosed", NO_JSON)]),
    ("tokens of Gemini", "<ctrl42>call:read{a:1}<ctrl43><ctrl44>", [("read", {"a": 1})]),
    ("cut in the name", f"{OPEN}call:re", [(None, None, DAMAGED)]),
    ("a brace is missing", f"{OPEN}call:read{{path:{E}/a{E}{CLOSE}", [("read", None, NO_JSON)]),
    ("a text token is missing", f"{OPEN}call:read{{path:{E}/a}}{CLOSE}", [("read", None, "unclosed", NO_JSON)]),
    ("a name with more behind it", f"{OPEN}call:read:read{{a:1}}{CLOSE}", [("read", {"a": 1}, DAMAGED)]),
    ("no such tool", READ.replace("read", "rm"), [("rm", {"path": "/a"}, "no such tool")]),
    ("behind reasoning", f"<think>I need it.</think>{READ}", [OK]),
]

INNOCENT = [
    *found.ANSWERS,
    "A call is between <start_function_call> and <end_function_call>.",
    f"`{READ}`",
    f"```\n{READ}\n```",
    "<start_function_call>",
    "<start_function_call>callback",
    "The token <escape> begins a text.",
]


def test_nested_is_said() -> None:
    assert found.calls(text_format, f"<think>\n{READ}")[0].is_nested


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(found.NAMES, found.arguments(MARKUP, st.from_regex(r"[A-Za-z_]\w{0,5}", fullmatch=True))),
        min_size=1,
        max_size=3,
    ),
    st.integers(1, 7),
)
def test_round_trip(said: list[tuple[str, dict[str, Any]]], size: int) -> None:
    if found.outcome(text_format, [found.call(*one) for one in said]) is not None:
        found.check_round_trip(text_format, said, size)


def test_render() -> None:
    said = [found.call("read", {"path": "/a"}), found.call("list", {})]
    assert text_format.render(said) == READ + f"{OPEN}call:list{{}}{CLOSE}"


def test_results() -> None:
    written = "<start_function_response>response:read{value:<escape>1<escape>}<end_function_response>"
    assert text_format.render_results([found.result("1")]) == written
