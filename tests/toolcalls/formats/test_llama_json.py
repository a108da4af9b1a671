"""Llama 3.x: bare JSON and the Python tag."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.formats import found
from workbench.errors import LocalProtocolError
from workbench.toolcalls.formats.llama_json import text_format

TAG, EOM, EOT = "<|python_tag|>", "<|eom_id|>", "<|eot_id|>"
READ = '{"name": "read", "parameters": {"path": "/a"}}'
LIST = '{"name": "list", "parameters": {}}'
OK = ("read", {"path": "/a"})
NO_JSON = "arguments are not JSON"
MARKUP = [TAG, EOM, EOT, "; ", ";", READ, "{", '{"name": "', "<|", "<|eo"]
HOSTILE = [
    TAG,
    TAG + "{",
    f'{TAG}{{\\"{EOM}',
    f'{TAG}{{"{EOM}',
    "{",
    READ,
    TAG + READ + ";",
    "x{",
]

CASES: list[found.Case] = [
    ("bare", READ, [OK]),
    ("bare, end of turn", READ + EOT, [OK]),
    ("bare, end of message", READ + EOM + "\n", [OK]),
    ("bare, blanks", f"\n {READ}\n", [OK]),
    ("bare, two", f"{READ}; {LIST}", [OK, ("list", {})]),
    ("bare, two, no blank", f"{READ};{LIST}", [OK, ("list", {})]),
    ("bare, two lines", f"{READ}\n{LIST}", [OK, ("list", {})]),
    ("bare, arguments", READ.replace("parameters", "arguments"), [OK]),
    ("bare, type", '{"type": "function", "name": "read", "parameters": {"path": "/a"}}', [OK]),
    ("bare, semicolon in a string", READ.replace("/a", "a; b"), [("read", {"path": "a; b"})]),
    ("bare, numbers as text", READ.replace("/a", "5"), [("read", {"path": "5"})]),
    ("bare, cut", READ[:-2], [("read", None, NO_JSON, "unclosed")]),
    (
        "bare, Python's spelling",
        "{'name': 'read', 'parameters': {'path': '/a'}}",
        [(*OK, "not JSON; parsed as Python")],
    ),
    ("bare, null", '{"name": "list", "parameters": null}', [("list", {}, "arguments are null")]),
    ("tag", TAG + READ, [OK]),
    ("tag, end", TAG + READ + EOM, [OK]),
    ("tag, two", f"{TAG}{READ}; {LIST}{EOM}", [OK, ("list", {})]),
    ("tag, prose before", f"Sure.\n{TAG}{READ}{EOM}", [OK]),
    ("tag, prose behind the end", f"{TAG}{READ}{EOM} done", [OK]),
    ("tag, text behind", f"{TAG}{READ} ok{EOM}", [(*OK, "text after the arguments")]),
    ("tag, end in a string", TAG + READ.replace("/a", EOM) + EOM, [("read", {"path": EOM})]),
    (
        "tag, string without end",
        f'{TAG}{{"name": "read", "parameters": {{"a": "x}}}}{EOM}',
        [("read", None, NO_JSON, "unclosed")],
    ),
    ("tag, cut", TAG + READ[:-2], [("read", None, NO_JSON, "unclosed")]),
    ("tag, no arguments", TAG + '{"name": "list"}', [("list", {}, "arguments are missing")]),
    ("tag, no name", TAG + '{"x": 1}', [(None, None, "no name")]),
    ("tag, no such tool", TAG + LIST.replace("list", "rm"), [("rm", {}, "no such tool")]),
    ("two tags", TAG + READ + TAG + LIST, [OK, ("list", {})]),
    (
        "built-in tool",
        f'{TAG}brave_search.call(query="a b"){EOM}',
        [("brave_search", {"query": "a b"}, "no such tool")],
    ),
    ("code", f"{TAG}import os\nprint(1){EOM}", [(None, None, "code for the interpreter")]),
]

INNOCENT = [
    *found.ANSWERS,
    f"Text with {READ}",
    f"{READ} is a call.",
    f"```json\n{READ}\n```",
    f"`{TAG}{READ}`",
    f"The {TAG} token starts code.",
    READ.replace('"read"', '"rm"'),
    '{"name": "read"}',
    '{"name": "read", "parameters": {}, "why": "x"}',
    '{"name": "read", "parameters": {"type": "object", "properties": {}}}',
    '{"tool": "read", "input": {}}',
    f"{READ}; {{}}",
    f"[{READ}",
    '{"name": "',
    TAG,
    "<|python_ta",
    EOT,
]


@settings(max_examples=40)
@given(st.lists(st.tuples(found.NAMES, found.arguments(MARKUP)), min_size=1, max_size=3), st.integers(1, 7))
def test_round_trip(said: list[tuple[str, dict[str, Any]]], size: int) -> None:
    text = text_format.render([found.call(*c) for c in said])
    read = found.read(text_format, [text[n : n + size] for n in range(0, len(text), size)])
    assert [(c.name, c.input, c.problems) for c in read if not isinstance(c, tuple)] == [(*c, ()) for c in said]


def test_without_tools_bare_calls_are_doubtful() -> None:
    assert [c.problems for c in found.calls(text_format, READ, ())] == [("no tools are declared",)]
    assert [c.problems for c in found.calls(text_format, TAG + READ, ())] == [()]


def test_render() -> None:
    assert text_format.render([found.call("read", {"path": "/a"}), found.call("list", {})]) == f"{READ}; {LIST}"
    with pytest.raises(LocalProtocolError):
        text_format.render([])


def test_results() -> None:
    assert text_format.render_results([found.result("R\n")]) == '"R\\n"'
