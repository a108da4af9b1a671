"""What is made of declared tools is made once for the same tools, and never of others."""

from __future__ import annotations

from workbench.ir import ToolDef
from workbench.toolcalls.formats import TextCall, get
from workbench.toolcalls.json_text import MOST_KEPT, per_tools


def test_the_same_tools_give_the_same_object():
    made = per_tools(lambda tools: [tool.name for tool in tools])
    tools = [ToolDef(name, None, None) for name in "ab"]
    first = made(tools)
    assert made(tuple(tools)) is first
    tools.append(ToolDef("c", None, None))
    assert made(tools) == ["a", "b", "c"]
    assert made(tools[:2]) is first


def test_old_lists_are_forgotten():
    asked = list[int]()
    made = per_tools(lambda tools: asked.append(len(tools)))
    lists = [[ToolDef("a", None, None)] * n for n in range(MOST_KEPT + 1)]
    for tools in (*lists, lists[0], lists[-1]):
        made(tools)
    assert asked == [*range(MOST_KEPT + 1), 0]


def test_a_parser_follows_the_tools_it_is_given():
    text = "<tool_call>\n<function=a>\n<parameter=n>\n1\n</parameter>\n</function>\n</tool_call>"
    for kind, value in (("integer", 1), ("string", "1"), ("integer", 1)):
        tools = [ToolDef("a", None, {"properties": {"n": {"type": kind}}})]
        parser = get("qwen3-coder").parser(tools)
        (call,) = (f for f in (*parser.feed(text), *parser.close()) if isinstance(f, TextCall))
        assert call.input == {"n": value}
