"""Python calls in blocks named ``tool_code``, as Gemma 3 and Gemini write them."""

from __future__ import annotations

from tests.toolcalls.formats import found
from workbench.toolcalls.formats.tool_code import text_format

OPEN, CLOSE = "```tool_code\n", "\n```"
READ = f"{OPEN}read(path='/a'){CLOSE}"
ELEMENT = "<tool_code>\nprint(default_api.read(path='/a'))\n</tool_code>"
OK = ("read", {"path": "/a"})
DAMAGED = "damaged markup"
MARKUP = ["```tool_code", "<tool_code>", "</tool_code>", "```", "print(", "read(path=", "'/a'", ")", "\n", '"""']
HOSTILE = ["```tool_code", "<tool_code>", f"{OPEN}read(", f"{OPEN}read(path='", READ, "</tool_code>", f"{OPEN}read()"]

CASES: list[found.Case] = [
    ("one", READ, [OK]),
    ("an element", ELEMENT, [OK]),
    ("print in a fence", READ.replace("read(path='/a')", "print(read(path='/a'))"), [OK]),
    ("a module", READ.replace("read(", "tools.read("), [OK]),
    ("assigned", READ.replace("read(", "x = read("), [OK]),
    ("two", f"{OPEN}read(path='/a')\nlist(){CLOSE}", [OK, ("list", {})]),
    ("two blocks", f"{READ}\n{READ}", [OK, OK]),
    ("two elements", f"{ELEMENT}\n{ELEMENT}", [OK, OK]),
    ("text around", f"I read it.\n{READ}\nThat is all.", [OK]),
    ("several lines", f'{OPEN}read(\n  path="/a",\n){CLOSE}', [OK]),
    ("the end in a string", f"{OPEN}read(path='''a\n```\nb'''){CLOSE}", [("read", {"path": "a\n```\nb"})]),
    ("the end of an element in a string", ELEMENT.replace("/a", "</tool_code>"), [("read", {"path": "</tool_code>"})]),
    ("not closed", READ.removesuffix(CLOSE), [(*OK, "unclosed")]),
    ("an element, not closed", ELEMENT.removesuffix("\n</tool_code>"), [(*OK, "unclosed")]),
    ("cut", READ[:-6], [("read", None, DAMAGED, "unclosed")]),
    ("a bracket is missing", ELEMENT.replace("))", ")"), [(*OK, DAMAGED)]),
    ("no literal", READ.replace("'/a'", "x"), [("read", None, "an argument is not a literal")]),
    ("code behind", f"{OPEN}read(path='/a').text{CLOSE}", [(*OK, "text after the arguments")]),
    ("no such tool of the module", ELEMENT.replace("read", "rm"), [("rm", {"path": "/a"}, "no such tool")]),
    ("behind reasoning", f"<think>I need it.</think>{READ}", [OK]),
]

INNOCENT = [
    *found.ANSWERS,
    f"{OPEN}import math\nprint(math.sqrt(2)){CLOSE}",
    f"{OPEN}print(math.sqrt(2)){CLOSE}",
    "A <tool_code> element holds Python, and </tool_code> ends it.",
    "`<tool_code>read()</tool_code>`",
    f"~~~~\n{READ}\n~~~~",
    "```tool_code",
    "```tool_codes\nread()\n```",
]


def test_render() -> None:
    said = [found.call("read", {"path": "/a", "b": True}), found.call("list", {})]
    assert text_format.render(said) == f"{OPEN}read(path='/a', b=True)\nlist(){CLOSE}"
    found.check_round_trip(text_format, [("read", {"path": "/a", "b": [1, None]}), ("list", {})], 3)


def test_results() -> None:
    assert text_format.render_results([found.result("1")]) == "```tool_output\n1\n```"
