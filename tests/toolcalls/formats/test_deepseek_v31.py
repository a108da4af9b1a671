"""DeepSeek V3.1's tokens with bare JSON."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.formats import found
from workbench.toolcalls.formats.deepseek_v31 import text_format

BEGIN, OVER = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
OPEN, CLOSE, SEP = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"
EOS = "<｜end▁of▁sentence｜>"
MARKUP = [BEGIN, OVER, OPEN, CLOSE, SEP, EOS, "```", "<｜", "function"]
HOSTILE = [BEGIN, OPEN, f'{OPEN}read{SEP}{{\\"{CLOSE}', f'{OPEN}read{SEP}{{"', f"{OPEN}read{SEP}", CLOSE, "<｜tool▁"]


def one(name: str, arguments: str) -> str:
    return f"{OPEN}{name}{SEP}{arguments}{CLOSE}"


READ = one("read", '{"path": "/a"}')
OK = ("read", {"path": "/a"})
NO_JSON = "arguments are not JSON"
ALIKE = "look-alike characters in the tags"

CASES: list[found.Case] = [
    ("one", BEGIN + READ + OVER, [OK]),
    ("end of sentence", BEGIN + READ + OVER + EOS, [OK]),
    ("two", BEGIN + READ + one("list", "{}") + OVER, [OK, ("list", {})]),
    ("two on lines", BEGIN + READ + "\n" + one("list", "{}") + "\n" + OVER, [OK, ("list", {})]),
    ("blanks between tokens", f"{BEGIN}\n{READ}\n{OVER}", [OK]),
    ("prose before", "I look." + BEGIN + READ + OVER, [OK]),
    ("prose behind", BEGIN + READ + OVER + " and so on", [OK]),
    ("no outer tokens", READ, [OK]),
    ("no end of calls", BEGIN + READ, [OK]),
    ("no end of call", BEGIN + READ.removesuffix(CLOSE) + OVER, [(*OK, "unclosed")]),
    ("next call begins", BEGIN + READ.removesuffix(CLOSE) + READ + OVER, [(*OK, "unclosed"), OK]),
    ("sentence ends", BEGIN + READ.removesuffix(CLOSE) + EOS, [(*OK, "unclosed")]),
    ("cut in the arguments", f'{BEGIN}{OPEN}read{SEP}{{"pa', [("read", None, NO_JSON, "unclosed")]),
    ("cut before them", f"{BEGIN}{OPEN}read{SEP}", [("read", None, "unclosed")]),
    ("cut in the separator", f"{BEGIN}{OPEN}read<｜tool", [("read", None, "missing separator", "unclosed")]),
    ("cut in the name", f"{BEGIN}{OPEN}rea", [("rea", None, "missing separator", "no such tool", "unclosed")]),
    ("cut in the last token", BEGIN + READ[:-4], [(*OK, "unclosed")]),
    (
        "as V3",
        f'{BEGIN}{OPEN}function{SEP}read\n```json\n{{"a": 1}}\n```{CLOSE}{OVER}',
        [("read", {"a": 1}, "in the format of DeepSeek V3")],
    ),
    (
        "fenced",
        BEGIN + one("read", '```json\n{"a": 1}\n```') + OVER,
        [("read", {"a": 1}, "a code fence around the arguments")],
    ),
    (
        "encoded twice",
        BEGIN + one("read", '"{\\"a\\": 1}"') + OVER,
        [("read", {"a": 1}, "arguments are a string that contains JSON")],
    ),
    ("a string", BEGIN + one("read", '"a"') + OVER, [("read", "a", "arguments are not an object")]),
    ("closer in a string", BEGIN + one("read", f'{{"a": "{CLOSE}{OPEN}"}}') + OVER, [("read", {"a": CLOSE + OPEN})]),
    (
        "closer in a string, escapes",
        BEGIN + one("read", f'{{"a": "\\\\\\"{CLOSE}"}}') + OVER,
        [("read", {"a": '\\"' + CLOSE})],
    ),
    ("string without end", BEGIN + one("read", '{"a": "x}') + READ + OVER, [("read", None, NO_JSON), OK]),
    ("ASCII bars", (BEGIN + READ + OVER).replace("｜", "|"), [(*OK, ALIKE)]),
    ("other bars", (BEGIN + READ + OVER).replace("｜", "‖"), [(*OK, ALIKE)]),
    ("ASCII underscores", (BEGIN + READ + OVER).replace("▁", "_"), [(*OK, ALIKE)]),
    ("empty arguments", BEGIN + one("read", "") + OVER, [("read", {}, "arguments are empty")]),
    ("null", BEGIN + one("read", "null") + OVER, [("read", {}, "arguments are null")]),
    ("1e999", BEGIN + one("read", '{"a": 1e999}') + OVER, [("read", None, "a number that JSON cannot represent")]),
    ("no such tool", BEGIN + one("rm", "{}") + OVER, [("rm", {}, "no such tool")]),
    ("in reasoning", "<think>hm\n" + BEGIN + READ + OVER + "</think>", [OK]),
]

INNOCENT = [
    *found.ANSWERS,
    f"A model opens calls with {BEGIN} and one with {OPEN} here.",
    f"`{BEGIN}{READ}{OVER}` is a call.",
    f"```\n{BEGIN}{READ}{OVER}\n```",
    BEGIN + OVER,
    f"{SEP} {CLOSE} {OVER}",
    "<｜tool▁calls▁beg",
    OPEN,
]


@given(st.lists(st.tuples(found.NAMES, found.arguments(MARKUP)), min_size=1, max_size=3), st.integers(1, 7))
@settings(max_examples=40)
def test_round_trip(said: list[tuple[str, dict[str, Any]]], size: int) -> None:
    found.check_round_trip(text_format, said, size)


def test_render() -> None:
    said = [found.call("read", {"a": 1}), found.call("list", {})]
    assert text_format.render(said) == BEGIN + one("read", '{"a": 1}') + one("list", "{}") + OVER


def test_results() -> None:
    expected = "<｜tool▁output▁begin｜>1<｜tool▁output▁end｜><｜tool▁output▁begin｜>2<｜tool▁output▁end｜>"
    assert text_format.render_results([found.result("1"), found.result("2")]) == expected


def test_too_deep_arguments_are_no_json() -> None:
    found.check(text_format, BEGIN + one("read", "[" * 600 + "]" * 600) + OVER, [("read", None, NO_JSON)])
