"""Steps of an agent: an action and its input."""

from __future__ import annotations

from tests.toolcalls.formats import found
from workbench.ir import ToolCallIR
from workbench.toolcalls.formats.react import text_format

READ = 'Action: read\nAction Input: {"path": "/a"}'
OK = ("read", {"path": "/a"})
NO_JSON = "arguments are not JSON"
MARKUP = ["Action:", "Action Input:", "Observation:", "Thought:", " read\n", "{", '"path"', "}", "find[", "]"]
HOSTILE = [
    "Action:",
    "Action: read\nAction Input: {",
    READ,
    f"{READ}\n",
    "Observation:",
    "Action: a\n",
    "Action: find[",
    "Action: {",
]

CASES: list[found.Case] = [
    ("one", READ, [OK]),
    ("with a thought", f"Thought: I read it.\n{READ}", [OK]),
    ("two", f"{READ}\n{READ}", [OK, OK]),
    ("with a made-up observation", f"{READ}\nObservation: x\nThought: done", [OK]),
    ("blanks", 'Action:  read \n  Action Input:  {"path": "/a"}', [OK]),
    ("several lines", READ.replace("{", "{\n  ").replace("}", "\n}"), [OK]),
    ("the words in a string", READ.replace("/a", "Action: x Thought: y"), [("read", {"path": "Action: x Thought: y"})]),
    ("an input that is a text", "Action: read\nAction Input: /a\nObservation: x", [("read", None, NO_JSON)]),
    ("unclosed", READ[:-1], [("read", None, NO_JSON, "unclosed")]),
    ("no such tool", READ.replace("read", "rm"), [("rm", {"path": "/a"}, "no such tool")]),
    ("one object", 'Action:\n```json\n{"action": "read", "action_input": {"path": "/a"}}\n```', [OK]),
    ("one object, no fence", 'Action: {"action": "read", "action_input": {"path": "/a"}}\nObservation: x', [OK]),
    ("one line", "Action: find[/a]", [("find", {"q": "/a"})]),
    ("one line, more", "Thought: x\nAction: find[a [b] c]\nObservation: x", [("find", {"q": "a [b] c"})]),
    ("one line, round", 'Action: find("/a")', [("find", {"q": "/a"})]),
    ("one line, Python", 'Action: read(path="/a")', [OK]),
    ("one line, JSON", 'Action: read {"path": "/a"}', [OK]),
    ("one line, its input", 'Action: read Action Input: {"path": "/a"}', [OK]),
    ("one line, two", "Action: find[/a]\nAction: find[/b]", [("find", {"q": "/a"}), ("find", {"q": "/b"})]),
    ("one line, several parameters", "Action: read[/a]", [("read", None, NO_JSON)]),
    ("one line, not closed", "Action: find[/a", [("find", None, "unclosed")]),
    ("behind reasoning", f"<think>I need it.</think>{READ}", [OK]),
]

INNOCENT = [
    *found.ANSWERS,
    "Action: read comes first, and then Action Input: with its arguments.",
    f"`{READ}`".replace("\n", " "),
    f"```\n{READ}\n```",
    "Action:",
    "Action: read\n",
    "Call to Action: buy now\nThe end.",
    "Action: buy[now], see [1]",
    "Action: find[/a] is what ReAct writes.",
    'Action: {"say": "hello"}',
]


def test_a_call_is_written_as_it_is_read() -> None:
    assert text_format.render([ToolCallIR("c", "read", {"path": "/a"}, "test")]) == READ
