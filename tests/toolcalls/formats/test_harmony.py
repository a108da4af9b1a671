"""Harmony: channels, recipients, and headers that models get wrong."""

# ruff: noqa: E501 - a table reads best with a case on each line

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.formats import found
from workbench.errors import LocalProtocolError
from workbench.ir import ToolDef
from workbench.toolcalls.formats.harmony import header, messages, text_format

START, CHANNEL, CONSTRAIN, MESSAGE = "<|start|>", "<|channel|>", "<|constrain|>", "<|message|>"
CALL, END, RETURN = "<|call|>", "<|end|>", "<|return|>"
MARKUP = [START, CHANNEL, CONSTRAIN, MESSAGE, CALL, END, RETURN, "to=functions.read", "commentary", "<|"]
HOSTILE = [
    START,
    CHANNEL,
    f"{CHANNEL}commentary to=functions.read{MESSAGE}",
    f'{CHANNEL}commentary to=functions.read{MESSAGE}{{\\"{CALL}',
    f'{CHANNEL}x to=functions.read{MESSAGE}{{"{CALL}',
    "<|chan",
    f"{CHANNEL}a{CHANNEL}",
]
TO = f"{CHANNEL}commentary to=functions."
ARGS = '{"path": "/a"}'
OK = ("read", {"path": "/a"})
READ = f"{START}assistant{TO}read {CONSTRAIN}json{MESSAGE}{ARGS}{CALL}"
THOUGHT = f"{CHANNEL}analysis{MESSAGE}I have to look.{END}"
NO_JSON = "arguments are not JSON"

CASES: list[found.Case] = [
    ("documented", READ, [OK]),
    ("as generated, behind the role", READ.removeprefix(f"{START}assistant"), [OK]),
    ("behind reasoning", THOUGHT + READ, [OK]),
    ("behind reasoning with open code", THOUGHT.replace("look", "`look\n```\n") + READ, [OK]),
    ("behind a preamble", f"{CHANNEL}commentary{MESSAGE}I look.{END}{READ}", [OK]),
    (
        "recipient with the role",
        f"{START}assistant to=functions.read{CHANNEL}commentary{CONSTRAIN}json{MESSAGE}{ARGS}{CALL}",
        [OK],
    ),
    (
        "as the template replays it",
        f"{START}assistant to=functions.read{CHANNEL}commentary json{MESSAGE}{ARGS}{CALL}",
        [OK],
    ),
    ("no constrain", f"{TO}read{MESSAGE}{ARGS}{CALL}", [OK]),
    ("no blank before constrain", f"{TO}read{CONSTRAIN}json{MESSAGE}{ARGS}{CALL}", [OK]),
    ("two", READ + READ, [OK, OK]),
    ("no call token", READ.removesuffix(CALL), [(*OK, "unclosed")]),
    ("next message begins", READ.removesuffix(CALL) + f"{START}assistant{CHANNEL}final{MESSAGE}x", [(*OK, "unclosed")]),
    ("next channel begins", READ.removesuffix(CALL) + f"{CHANNEL}final{MESSAGE}x", [(*OK, "unclosed")]),
    ("ended by end", READ.replace(CALL, END), [(*OK, "ended by <|end|>")]),
    ("ended by return", READ.replace(CALL, RETURN), [(*OK, "ended by <|return|>")]),
    ("cut in the arguments", READ[: READ.index("/a")], [("read", None, NO_JSON, "unclosed")]),
    ("cut in the last token", READ[:-3], [(*OK, "unclosed")]),
    ("tokens in a string", f'{TO}read{MESSAGE}{{"a": "{CALL}{START}"}}{CALL}', [("read", {"a": CALL + START})]),
    ("string without end", f'{START}assistant{TO}read{MESSAGE}{{"a": "x}}{CALL}{READ}', [("read", None, NO_JSON), OK]),
    (
        "on analysis",
        f"{CHANNEL}analysis to=functions.read{MESSAGE}{ARGS}{CALL}",
        [(*OK, "a call on the analysis channel")],
    ),
    ("on final", f"{CHANNEL}final to=functions.read{MESSAGE}{ARGS}{CALL}", [(*OK, "a call on the final channel")]),
    ("no channel", f"{START}assistant to=functions.read{MESSAGE}{ARGS}{CALL}", [(*OK, "no channel")]),
    ("question marks for a channel", f"{CHANNEL}?? to=functions.read{MESSAGE}{ARGS}{CALL}", [(*OK, "unknown channel")]),
    (
        "question mark behind it",
        f"{CHANNEL}commentary? to=functions.read{MESSAGE}{ARGS}{CALL}",
        [(*OK, "unknown channel")],
    ),
    (
        "doubled channel",
        f"{START}assistant{CHANNEL}commentary{TO}read{MESSAGE}{ARGS}{CALL}",
        [(*OK, "more than one channel in the header")],
    ),
    (
        "channel stuck to the recipient",
        f"{START}assistant to=functions.read{CHANNEL}commentary{MESSAGE}{ARGS}{CALL}",
        [OK],
    ),
    ("words left over", f"{TO}read now please{MESSAGE}{ARGS}{CALL}", [(*OK, "unexpected text in the header")]),
    (
        "reasoning behind constrain",
        f"{TO}read {CONSTRAIN}I need it{MESSAGE}{ARGS}{CALL}",
        [(*OK, "unexpected text in the header", "unknown type of content")],
    ),
    ("a list", f"{TO}read{MESSAGE}[1]{CALL}", [("read", [1], "arguments are not an object")]),
    ("shell text", f"{TO}read{MESSAGE}ls -l{CALL}", [("read", None, NO_JSON)]),
    (
        "call in the arguments",
        f'{TO}read{MESSAGE}{{"name": "read", "parameters": {ARGS}}}{CALL}',
        [(*OK, "a call inside the arguments")],
    ),
    ("empty arguments", f"{TO}read{MESSAGE}{CALL}", [("read", {}, "arguments are empty")]),
    (
        "built-in interpreter",
        f"{CHANNEL}analysis to=python code{MESSAGE}print(1){CALL}",
        [("python", "print(1)", "no such tool")],
    ),
    (
        "built-in browser",
        f'{CHANNEL}analysis to=browser.open{MESSAGE}{{"id": 1}}{CALL}',
        [("browser.open", {"id": 1}, "no such tool")],
    ),
    ("no prefix", f"{CHANNEL}commentary to=read{MESSAGE}{ARGS}{CALL}", [OK]),
    ("no such tool", f"{TO}rm{MESSAGE}{{}}{CALL}", [("rm", {}, "no such tool")]),
]

INNOCENT = [
    *found.ANSWERS,
    f"{CHANNEL}final{MESSAGE}Paris.{RETURN}",
    f"{THOUGHT}{START}assistant{CHANNEL}commentary{MESSAGE}I look.{END}",
    f'{START}functions.read to=assistant{CHANNEL}commentary{MESSAGE}"RES"{END}',
    f"{START}user{MESSAGE}call to=functions.read please{END}",
    f"{CHANNEL}final to=functions.read{MESSAGE}The file says hello.{END}",
    f"The {CHANNEL} token names a channel, {START} begins a message.",
    f"`{READ}`",
    f"```\n{READ}\n```",
    f"{TO}read {CONSTRAIN}js",
    "commentary to=functions.read json",
    "<|chann",
]


@settings(max_examples=40)
@given(st.lists(st.tuples(found.NAMES, found.arguments(MARKUP)), min_size=1, max_size=3), st.integers(1, 7))
def test_round_trip(said: list[tuple[str, dict[str, Any]]], size: int) -> None:
    found.check_round_trip(text_format, said, size)


def test_analysis_is_nested() -> None:
    one = found.calls(text_format, f"{CHANNEL}analysis to=functions.read{MESSAGE}{ARGS}{CALL}")[0]
    assert one.is_nested
    assert not found.calls(text_format, READ)[0].is_nested


def test_a_free_text_tool_takes_text() -> None:
    tools = [ToolDef("patch", None, None, "custom")]
    text = f'{TO}patch{MESSAGE}say "x{CALL}'
    assert [(c.input, c.problems) for c in found.calls(text_format, text, tools)] == [('say "x', ())]


def test_messages_by_channel() -> None:
    text = f"{THOUGHT}{START}assistant{CHANNEL}commentary{MESSAGE}I look.{END}{READ}{START}assistant{CHANNEL}final{MESSAGE}Done.{RETURN}"
    said = messages(text)
    assert [(m.header.channel, m.header.recipient, m.text, m.call is not None) for m in said] == [
        ("analysis", None, "I have to look.", False),
        ("commentary", None, "I look.", False),
        ("commentary", "functions.read", ARGS, True),
        ("final", None, "Done.", False),
    ]
    assert all(text[m.start : m.end] == m.text for m in said)


def test_messages_of_plain_text() -> None:
    assert messages("no tokens") == []
    assert [m.text for m in messages(f"{CHANNEL}final{MESSAGE}cut")] == ["cut"]


def test_header() -> None:
    one = header(f"{START}assistant to=functions.x{CHANNEL}analysis {CONSTRAIN}json{MESSAGE}")
    assert one == ("assistant", "analysis", "functions.x", "json", ())


def test_render() -> None:
    assert text_format.render([found.call("read", {"path": "/a"})]) == READ


def test_results() -> None:
    expected = f'{START}functions.read to=assistant{CHANNEL}commentary{MESSAGE}"RES"{END}'
    assert text_format.render_results([found.result("RES")]) == expected
    with pytest.raises(LocalProtocolError):
        text_format.render_results([found.result("x", name=None)])
