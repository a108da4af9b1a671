"""DeepSeek V3's tokens with a JSON fence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.formats import found
from workbench.errors import LocalProtocolError
from workbench.ir import Media, ToolResultIR
from workbench.toolcalls.formats.deepseek_v3 import text_format

BEGIN, OVER = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
OPEN, CLOSE, SEP = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"
EOS = "<｜end▁of▁sentence｜>"


def one(name: str, arguments: str) -> str:
    return f"{OPEN}function{SEP}{name}\n```json\n{arguments}\n```{CLOSE}"


READ = one("read", '{"path": "/a"}')
OK = ("read", {"path": "/a"})
NO_JSON = "arguments are not JSON"

CASES: list[found.Case] = [
    ("one", BEGIN + READ + OVER, [OK]),
    ("end of sentence", BEGIN + READ + OVER + EOS, [OK]),
    ("two", BEGIN + READ + "\n" + one("list", "{}") + OVER, [OK, ("list", {})]),
    ("prose before", "I look.\n\n" + BEGIN + READ + OVER, [OK]),
    ("prose behind", BEGIN + READ + OVER + "\nand so on", [OK]),
    ("two blocks", BEGIN + READ + OVER + "then" + BEGIN + READ + OVER, [OK, OK]),
    ("no outer tokens", READ, [OK]),
    ("no end of calls", BEGIN + READ, [OK]),
    ("no end of call", BEGIN + READ.removesuffix(CLOSE) + OVER, [(*OK, "unclosed")]),
    ("next call begins", BEGIN + READ.removesuffix(CLOSE) + READ + OVER, [(*OK, "unclosed"), OK]),
    ("sentence ends", BEGIN + READ.removesuffix(CLOSE) + EOS, [(*OK, "unclosed")]),
    (
        "cut in the arguments",
        BEGIN + OPEN + f'function{SEP}read\n```json\n{{"pa',
        [("read", None, NO_JSON, "unclosed")],
    ),
    ("cut behind them", BEGIN + OPEN + f'function{SEP}read\n```json\n{{"a": 1}}\n``', [("read", {"a": 1}, "unclosed")]),
    ("cut in the last token", BEGIN + READ[:-4], [(*OK, "unclosed")]),
    ("fence not closed", BEGIN + READ.replace("\n```<", "<") + OVER, [(*OK, "the code fence is not closed")]),
    (
        "no fence",
        f'{BEGIN}{OPEN}function{SEP}read {{"a": 1}}{CLOSE}{OVER}',
        [("read", {"a": 1}, "no code fence around the arguments")],
    ),
    (
        "as V3.1",
        f'{BEGIN}{OPEN}read{SEP}{{"a": 1}}{CLOSE}{OVER}',
        [("read", {"a": 1}, "in the format of DeepSeek V3.1")],
    ),
    ("missing separator", f"{BEGIN}{OPEN}read\n```json\n{{}}\n```{CLOSE}{OVER}", [("read", {}, "missing separator")]),
    ("fence in a string", BEGIN + one("read", '{"a": "```x```"}') + OVER, [("read", {"a": "```x```"})]),
    ("closer in a string", BEGIN + one("read", f'{{"a": "{CLOSE}{OVER}"}}') + OVER, [("read", {"a": CLOSE + OVER})]),
    ("string without end", BEGIN + one("read", '{"a": "x}') + READ + OVER, [("read", None, NO_JSON), OK]),
    (
        "look-alike",
        (BEGIN + READ + OVER).replace("｜", "|").replace("▁", "_"),
        [(*OK, "look-alike characters in the tags")],
    ),
    ("doubled bars", (BEGIN + READ + OVER).replace("｜", "｜｜"), [OK]),
    ("empty arguments", BEGIN + one("read", "") + OVER, [("read", {}, "arguments are empty")]),
    ("null", BEGIN + one("read", "null") + OVER, [("read", {}, "arguments are null")]),
    ("a list", BEGIN + one("read", "[1]") + OVER, [("read", [1], "arguments are not an object")]),
    (
        "written twice",
        BEGIN + one("read", '{"a": 1}{"a": 1}') + OVER,
        [("read", {"a": 1}, "the arguments occur twice")],
    ),
    ("text behind", BEGIN + one("read", '{"a": 1} ok?') + OVER, [("read", {"a": 1}, "text after the arguments")]),
    ("doubled braces", BEGIN + one("read", '{{"a": 1}}') + OVER, [("read", {"a": 1}, "doubled braces")]),
    ("trailing comma", BEGIN + one("read", '{"a": 1,}') + OVER, [("read", None, NO_JSON)]),
    ("NaN", BEGIN + one("read", '{"a": NaN}') + OVER, [("read", None, "a number that JSON cannot represent")]),
    ("no such tool", BEGIN + one("rm", "{}") + OVER, [("rm", {}, "no such tool")]),
    ("in reasoning", "<think>hm\n" + BEGIN + READ + OVER + "</think>", [OK]),
    ("behind reasoning", "<think>hm</think>" + BEGIN + READ + OVER, [OK]),
]

INNOCENT = [
    *found.ANSWERS,
    f"A model opens calls with {BEGIN} and one with {OPEN} here.",
    f"`{BEGIN}{READ}{OVER}` is a call.",
    f"```\n{BEGIN}{READ}{OVER}\n```",
    BEGIN + OVER,
    f"{SEP} {CLOSE} {OVER}",
    "<｜tool▁calls▁beg",
    BEGIN,
    f"{OPEN} says so",
]


def test_nested_is_said() -> None:
    inside, behind = (found.calls(text_format, t + BEGIN + READ + OVER)[0] for t in ("<think>", "<think>x</think>"))
    assert (inside.is_nested, behind.is_nested) == (True, False)


def test_half_a_token_is_not_shown() -> None:
    parser = text_format.parser()
    assert parser.feed("a <｜tool▁ca") == [("a ", 0, 2)]
    assert parser.close() == [("<｜tool▁ca", 2, 11)]


HOSTILE = [BEGIN, OPEN, f'{OPEN}read{SEP}{{\\"{CLOSE}', f"{OPEN}read{SEP}", CLOSE, '"', "<｜tool▁"]
MARKUP = [BEGIN, OVER, OPEN, CLOSE, SEP, EOS, "```", "```json\n", "<｜", "function"]


@given(st.lists(st.tuples(found.NAMES, found.arguments(MARKUP)), min_size=1, max_size=3), st.integers(1, 7))
@settings(max_examples=40)
def test_round_trip(said: list[tuple[str, dict[str, Any]]], size: int) -> None:
    found.check_round_trip(text_format, said, size)


def test_render() -> None:
    said = [found.call("read", {"a": 1}), found.call("list", {})]
    assert text_format.render(said) == BEGIN + one("read", '{"a": 1}') + "\n" + one("list", "{}") + OVER


def test_results() -> None:
    output = "<｜tool▁output▁begin｜>{}<｜tool▁output▁end｜>"
    expected = f"<｜tool▁outputs▁begin｜>{output.format('1')}\n{output.format('2')}<｜tool▁outputs▁end｜>"
    assert text_format.render_results([found.result("1"), found.result("2")]) == expected
    with pytest.raises(LocalProtocolError):
        text_format.render_results([ToolResultIR(None, (Media("image", None),))])
