"""Calls of declared tools in markup that belongs to no format: found by the name, with their arguments."""

from __future__ import annotations

import pytest

from workbench.ir import ToolDef
from workbench.toolcalls.formats import find_calls

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
TOOLS = (ToolDef(name="weather", description=None, schema=SCHEMA),)
ARGUMENTS = {"city": "Rome", "days": 2}

WHOLE = {
    "MiniCPM5": '<function name="weather"><param name="city">Rome</param><param name="days">2</param></function>',
    "Grok": '<xai:function_call name="weather">\n<parameter name="city">Rome</parameter>\n'
    '<parameter name="days">2</parameter>\n</xai:function_call>',
    "Step": '<steptml:invoke name="weather"><steptml:parameter name="city">Rome</steptml:parameter>'
    '<steptml:parameter name="days">2</steptml:parameter></steptml:invoke>',
    "LongCat": "<longcat_tool_call>weather\n<longcat_arg_key>city</longcat_arg_key>\n"
    "<longcat_arg_value>Rome</longcat_arg_value>\n<longcat_arg_key>days</longcat_arg_key>\n"
    "<longcat_arg_value>2</longcat_arg_value>\n</longcat_tool_call>",
    "K2 Horizon": "<ifm|tool_call>weather<ifm|arg_key>city</ifm|arg_key><ifm|arg_value>Rome</ifm|arg_value>"
    "<ifm|arg_key>days</ifm|arg_key><ifm|arg_value>2</ifm|arg_value></ifm|tool_call>",
    "JSON in an element": '<call name="weather">{"city": "Rome", "days": 2}</call>',
    "Qwen-Agent": '✿FUNCTION✿: weather\n✿ARGS✿: {"city": "Rome", "days": 2}',
    "Seed, in one line": "<seed:tool_call><function=weather><parameter=city>Rome</parameter>"
    "<parameter=days>2</parameter></function></seed:tool_call>",
    "Harmony without tokens": 'to=functions.weather json\n{"city": "Rome", "days": 2}',
    "GLM-4": '<|assistant|>weather\n{"city": "Rome", "days": 2}',
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_a_call_is_read(text):
    (call,) = find_calls(f"I look it up.\n{text}", TOOLS)
    assert (call.name, call.input) == ("weather", ARGUMENTS)


DAMAGED = {
    "MiniMax": '[TOOL_CALL]{tool => "weather", args => {--city "Rome"}}[/TOOL_CALL]',
    "Gemma without tokens": 'call:weather{city:"Rome"}',
    "GLM without its beginning": "<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n</tool_call>",
    "an element that never ends": '<function name="weather"><param name="city">Rome</param>',
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_call_is_found(text):
    (call,) = find_calls(text, TOOLS)
    assert call.problems and call.name in ("weather", None)


@pytest.mark.parametrize(
    "text",
    [
        '<button name="weather">Show the weather</button>',
        '<input name="weather">',
        '<div name="weather"></div>',
        "Please call:weather{city} to see it.",
        'Write `<function name="weather"><param name="city">Rome</param></function>` like this.',
        '<function name="climate"><param name="city">Rome</param></function>',
    ],
)
def test_other_elements_are_no_calls(text):
    assert find_calls(text, TOOLS) == ()
