"""JSON in a fence, and JSON as the whole text."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.formats import found
from workbench.toolcalls.formats.json_fence import text_format

F = "```"
READ = '{"name": "read", "arguments": {"path": "/a"}}'
LIST = '{"name": "list", "arguments": {}}'
OK = ("read", {"path": "/a"})
NO_JSON = "arguments are not JSON"
MARKUP = [F, "```json\n", "````", "~~~", READ, "[", "]", "{", '{"name": "', "example", "\n"]
HOSTILE = [F, "```json\n{", "{", '{"name":', "[", "```\n", "```json\n" + READ + "\n```\n", "` ``", READ]


def fence(body: str, language: str = "json") -> str:
    return f"{F}{language}\n{body}\n{F}"


CASES: list[found.Case] = [
    ("fence", fence(READ), [OK]),
    ("fence, no language", fence(READ, ""), [OK]),
    ("fence, JSON", fence(READ, "JSON"), [OK]),
    ("fence, tool_call", fence(READ, "tool_call"), [OK]),
    ("fence, longer", f"````json\n{READ}\n````", [OK]),
    ("fence, tildes", f"~~~json\n{READ}\n~~~", [OK]),
    ("fence, indented", f"  {F}json\n  {READ}\n  {F}", [OK]),
    ("fence, CRLF", fence(READ).replace("\n", "\r\n"), [OK]),
    ("fence, prose before", "I will read it.\n\n" + fence(READ), [OK]),
    ("fence, blank lines behind", fence(READ) + "\n\n", [OK]),
    ("two fences", fence(READ) + "\n\n" + fence(LIST), [OK, ("list", {})]),
    ("two fences, prose between", fence(READ) + "\nand\n" + fence(LIST), [("list", {})]),
    ("two in a fence", fence(f"{READ}\n{LIST}"), [OK, ("list", {})]),
    ("array in a fence", fence(f"[{READ}, {LIST}]"), [OK, ("list", {})]),
    ("on lines", fence('{\n  "name": "read",\n  "arguments": {\n    "path": "/a"\n  }\n}'), [OK]),
    ("fence behind another", fence('{"a": 1}') + "\n" + fence(READ), [OK]),
    ("fence not closed", f"{F}json\n{READ}", [(*OK, "unclosed")]),
    ("fence cut", f"{F}json\n{READ[:-6]}", [("read", None, NO_JSON, "unclosed")]),
    ("bare", READ, [OK]),
    ("bare, blanks around", f"\n  {READ}\n", [OK]),
    ("bare, long", READ.replace("/a", "/a" * 60), [("read", {"path": "/a" * 60})]),
    ("bare, two", f"{READ}\n{LIST}", [OK, ("list", {})]),
    ("bare, array", f"[{READ}, {LIST}]", [OK, ("list", {})]),
    ("bare, cut", READ[:-3], [("read", None, NO_JSON, "unclosed")]),
    ("tool and input", '{"tool": "read", "input": {"path": "/a"}}', [OK]),
    ("function and parameters", '{"function": "read", "parameters": {"path": "/a"}}', [OK]),
    ("tool_name and args", '{"tool_name": "read", "args": {"path": "/a"}}', [OK]),
    ("arguments first", '{"arguments": {"path": "/a"}, "name": "read"}', [OK]),
    ("id and type", '{"id": "c1", "type": "tool_use", "name": "read", "input": {"path": "/a"}}', [OK]),
    (
        "as the chat protocol has it",
        '{"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]}',
        [("read", {}, "arguments are a string that contains JSON")],
    ),
    (
        "arguments in a string",
        '{"name": "read", "arguments": "{}"}',
        [("read", {}, ("arguments are a string that contains JSON"))],
    ),
    ("null", '{"name": "list", "arguments": null}', [("list", {}, "arguments are null")]),
    (
        "trailing comma",
        fence('{"name": "read", "arguments": {"a": 1,}}'),
        [("read", {"a": 1}, "not JSON; parsed as Python")],
    ),
    (
        "single quotes",
        fence("{'name': 'read', 'arguments': {'a': True}}"),
        [("read", {"a": True}, "not JSON; parsed as Python")],
    ),
    ("brace missing", fence('{"name": "read", "arguments": {"a": "x}'), [("read", None, NO_JSON, "unclosed")]),
    ("fence in a string", READ.replace("/a", "```json"), [("read", {"path": "```json"})]),
    ("behind reasoning", f"<think>I need it.</think>\n{READ}", [OK]),
    ("behind reasoning on lines", f"<think>\nI need it.\n</think>\n\n{READ}", [OK]),
    ("in reasoning", f"<think>\n{fence(READ)}", [OK]),
]

INNOCENT = [
    *found.ANSWERS,
    fence(READ) + "\nThis reads the file.",
    "For example:\n" + fence(READ),
    "The format of a call:\n\n" + fence(READ),
    fence(READ, "python"),
    f"````md\n{fence(READ)}\n````",
    f"~~~\n{fence(READ)}\n~~~",
    f"    {F}json\n    {READ}\n    {F}",
    f"Write {READ} to read a file.",
    f"`{READ}`",
    f"{READ} is a call.",
    READ.replace('"read"', '"rm"'),
    fence(READ.replace('"read"', '"rm"')),
    f"[{READ}, 1]",
    fence(f"{READ}\nand more"),
    '{"name": "read"}',
    '{"name": "read", "age": 3}',
    '{"name": "read", "arguments": {"a": 1}, "result": "x"}',
    '{"name": "read", "description": "Reads", "parameters": {"type": "object", "properties": {}}}',
    '{"name": "read", "parameters": {"type": "object", "properties": {}}}',
    '{"name": "read", "arguments": [1, 2]}',
    '{"name": "read", "argum',
    '{"name": 5, "arguments": {}}',
    "[]",
    "{}",
    fence(""),
    fence("{}"),
    "```json",
]


@settings(max_examples=40)
@given(st.lists(st.tuples(found.NAMES, found.arguments(MARKUP)), min_size=1, max_size=3), st.integers(1, 7))
def test_round_trip(said: list[tuple[str, dict[str, Any]]], size: int) -> None:
    found.check_round_trip(text_format, said, size)


def test_without_tools_a_call_is_doubtful() -> None:
    (one,) = found.calls(text_format, READ, ())
    assert (one.name, one.problems) == ("read", ("no tools are declared",))
    assert not found.calls(text_format, '{"name": "a b", "arguments": {}}', ())
    assert not found.calls(text_format, READ[:-2], ())


def test_nested_is_said() -> None:
    assert found.calls(text_format, f"<think>\n{fence(READ)}")[0].is_nested
    assert not found.calls(text_format, f"<think>x</think>\n{READ}")[0].is_nested


def test_ids() -> None:
    (one,) = found.calls(text_format, '{"id": "c1", "type": "tool_use", "name": "read", "input": {}}')
    assert one.id == "c1"


def test_prose_is_handed_out_at_once() -> None:
    parser = text_format.parser()
    assert parser.feed("Some pro") == [("Some pro", 0, 8)]
    assert parser.feed("se.\n``") == [("se.\n", 8, 12)]
    assert parser.feed("`python\nx = 1\n") == [("```python\n", 12, 22), ("x = 1\n", 22, 28)]


def test_json_that_is_no_call_is_handed_out_at_its_first_key() -> None:
    parser = text_format.parser()
    assert parser.feed('{"answer": 1,\n') == [('{"answer": 1,\n', 0, 14)]


def test_render() -> None:
    said = [found.call("read", {"path": "/a"}), found.call("list", {})]
    assert text_format.render(said) == fence(READ) + "\n" + fence(LIST)


def test_results() -> None:
    assert text_format.render_results([found.result("1"), found.result("2")]) == "```\n1\n```\n```\n2\n```"
