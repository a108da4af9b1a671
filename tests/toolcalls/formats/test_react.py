"""Steps of an agent: an action and its input."""

from __future__ import annotations

from tests.toolcalls.formats import found
from workbench.ir import ToolCallIR
from workbench.toolcalls.formats.react import text_format

READ = 'Action: read\nAction Input: {"path": "/a"}'
OK = ("read", {"path": "/a"})
NO_JSON = "arguments are not JSON"
MARKUP = ["Action:", "Action Input:", "Observation:", "Thought:", " read\n", "{", '"path"', "}"]
HOSTILE = ["Action:", "Action: read\nAction Input: {", READ, f"{READ}\n", "Observation:", "Action: a\n", "Thought:"]

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
]


def test_a_call_is_written_as_it_is_read() -> None:
    assert text_format.render([ToolCallIR("c", "read", {"path": "/a"}, "test")]) == READ
