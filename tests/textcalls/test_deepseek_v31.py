"""DeepSeek V3.1's tokens with bare JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.textcalls import found
from workbench.errors import LocalProtocolError
from workbench.textcalls.deepseek_v31 import text_format

BEGIN, OVER = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
OPEN, CLOSE, SEP = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"
EOS = "<｜end▁of▁sentence｜>"
MARKUP = [BEGIN, OVER, OPEN, CLOSE, SEP, EOS, "```", "<｜", "function"]
HOSTILE = [BEGIN, OPEN, f'{OPEN}read{SEP}{{\\"{CLOSE}', f'{OPEN}read{SEP}{{"', f"{OPEN}read{SEP}", CLOSE, "<｜tool▁"]


def one(name: str, arguments: str) -> str:
    return f"{OPEN}{name}{SEP}{arguments}{CLOSE}"


READ = one("read", '{"path": "/a"}')
OK = ("read", {"path": "/a"})
NO_JSON = "arguments are no JSON"
ALIKE = "look-alike characters in its tags"

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
    ("cut in the separator", f"{BEGIN}{OPEN}read<｜tool", [("read", None, "no separator", "unclosed")]),
    ("cut in the name", f"{BEGIN}{OPEN}rea", [("rea", None, "no separator", "no such tool", "unclosed")]),
    ("cut in the last token", BEGIN + READ[:-4], [(*OK, "unclosed")]),
    (
        "as V3",
        f'{BEGIN}{OPEN}function{SEP}read\n```json\n{{"a": 1}}\n```{CLOSE}{OVER}',
        [("read", {"a": 1}, "written as DeepSeek V3 does")],
    ),
    (
        "fenced",
        BEGIN + one("read", '```json\n{"a": 1}\n```') + OVER,
        [("read", {"a": 1}, "a fence around the arguments")],
    ),
    (
        "encoded twice",
        BEGIN + one("read", '"{\\"a\\": 1}"') + OVER,
        [("read", {"a": 1}, "arguments are JSON in a string")],
    ),
    ("a string", BEGIN + one("read", '"a"') + OVER, [("read", "a", "arguments are no object")]),
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
    ("1e999", BEGIN + one("read", '{"a": 1e999}') + OVER, [("read", None, "a number that JSON cannot say")]),
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


@pytest.mark.parametrize(("text", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_calls(text: str, expected: list[tuple[Any, ...]]) -> None:
    found.check(text_format, text, expected)


@pytest.mark.parametrize("text", [c[1] for c in CASES], ids=[c[0] for c in CASES])
def test_cuts(text: str) -> None:
    found.check_cuts(text_format, text)


@pytest.mark.parametrize("text", INNOCENT)
def test_prose(text: str) -> None:
    found.check_prose(text_format, text)


@pytest.mark.parametrize("bad", found.UNSAYABLE)
def test_render_refuses(bad: Any) -> None:
    with pytest.raises(LocalProtocolError):
        text_format.render([bad])


@given(st.lists(st.sampled_from([*MARKUP, "{", "}", '"', "\\", "read", "\n", "<think>", "</think>", "`"]), max_size=20))
def test_any_text_gives_the_same_in_pieces(words: list[str]) -> None:
    text = "".join(words)
    found.check_places(text_format, text)
    assert found.read(text_format, list(text)) == found.read(text_format, [text])


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_is_read_in_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    found.read(text_format, [text[n : n + 7] for n in range(0, len(text), 7)])


@given(st.lists(st.tuples(found.NAMES, found.arguments(MARKUP)), min_size=1, max_size=3), st.integers(1, 7))
@settings(max_examples=40)
def test_round_trip(said: list[tuple[str, dict[str, Any]]], size: int) -> None:
    text = "Hi\n" + text_format.render([found.call(*c) for c in said])
    read = found.read(text_format, [text[n : n + size] for n in range(0, len(text), size)])
    assert [(c.name, c.input, c.problems) for c in read if not isinstance(c, tuple)] == [(*c, ()) for c in said]


def test_render() -> None:
    said = [found.call("read", {"a": 1}), found.call("list", {})]
    assert text_format.render(said) == BEGIN + one("read", '{"a": 1}') + one("list", "{}") + OVER


def test_results() -> None:
    expected = "<｜tool▁output▁begin｜>1<｜tool▁output▁end｜><｜tool▁output▁begin｜>2<｜tool▁output▁end｜>"
    assert text_format.render_results([found.result("1"), found.result("2")]) == expected


def test_too_deep_arguments_are_no_json() -> None:
    found.check(text_format, BEGIN + one("read", "[" * 600 + "]" * 600) + OVER, [("read", None, NO_JSON)])
