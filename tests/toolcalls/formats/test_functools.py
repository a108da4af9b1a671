"""Phi-4 mini's list of calls behind a word."""

from __future__ import annotations

from tests.toolcalls.formats import found
from workbench.ir import ToolCallIR
from workbench.toolcalls.formats.functools import text_format

READ = 'functools[{"name": "read", "arguments": {"path": "/a"}}]'
OK = ("read", {"path": "/a"})
NO_JSON = "arguments are not JSON"
MARKUP = ["functools[", '{"name": "read", "arguments": ', "]", "}", "functools"]
HOSTILE = ["functools[", "functools[{", 'functools[{"', READ, "functools", '[{"name": "read"}]']

CASES: list[found.Case] = [
    ("one", READ, [OK]),
    ("two in a list", f"{READ[:-1]}, {READ[10:]}", [OK, OK]),
    ("two lists", READ + READ, [OK, OK]),
    ("text before", f"I read it. {READ}", [OK]),
    ("text behind", f"{READ}\nThat is all.", [OK]),
    ("line breaks", READ.replace("[", "[\n").replace("{", "{\n"), [OK]),
    ("the word in a string", READ.replace("/a", "functools[x"), [("read", {"path": "functools[x"})]),
    ("unclosed", READ[:-1], [(*OK, "unclosed")]),
    ("cut", READ[:45], [("read", None, NO_JSON, "unclosed")]),
    ("no such tool", READ.replace("read", "rm"), [("rm", {"path": "/a"}, "no such tool")]),
    ("behind reasoning", f"<think>I need it.</think>{READ}", [OK]),
]

INNOCENT = [
    *found.ANSWERS,
    "import functools\n\nfunctools.reduce(f, [1])",
    f"`{READ}`",
    f"```\n{READ}\n```",
    "functools[0]",
]


def test_a_call_is_written_as_it_is_read() -> None:
    assert text_format.render([ToolCallIR("c", "read", {"path": "/a"}, "test")]) == READ
