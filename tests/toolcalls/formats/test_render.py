"""Writing calls and results: as the templates write them, and so that reading gives the same calls."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.formats.reading import findings
from workbench.errors import LocalProtocolError
from workbench.ir import Media, Text, ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.formats import TextCall, get

MARK = "]<]minimax[>["
CALLS = (
    ToolCallIR("functions.read:7", "read", {"path": "a b", "n": 2, "on": True, "l": [1, "x"]}, "openai"),
    ToolCallIR(None, "ping", {}, "openai"),
)
WRITTEN = [
    (
        "hermes",
        '<tool_call>\n{"name": "read", "arguments": {"path": "a b", "n": 2, "on": true, "l": [1, "x"]}}\n</tool_call>\n'
        '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>',
    ),
    (
        "qwen3-coder",
        "<tool_call>\n<function=read>\n<parameter=path>\na b\n</parameter>\n<parameter=n>\n2\n</parameter>\n"
        '<parameter=on>\nTrue\n</parameter>\n<parameter=l>\n[1, "x"]\n</parameter>\n</function>\n</tool_call>\n'
        "<tool_call>\n<function=ping>\n</function>\n</tool_call>",
    ),
    (
        "glm",
        "<tool_call>read<arg_key>path</arg_key><arg_value>a b</arg_value><arg_key>n</arg_key><arg_value>2</arg_value>"
        '<arg_key>on</arg_key><arg_value>true</arg_value><arg_key>l</arg_key><arg_value>[1, "x"]</arg_value>'
        "</tool_call><tool_call>ping</tool_call>",
    ),
    (
        "minimax",
        '<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">a b</parameter>\n'
        '<parameter name="n">2</parameter>\n<parameter name="on">true</parameter>\n'
        '<parameter name="l">[1, "x"]</parameter>\n</invoke>\n<invoke name="ping">\n</invoke>\n</minimax:tool_call>',
    ),
    (
        "claude-xml",
        '<function_calls>\n<invoke name="read">\n<parameter name="path">a b</parameter>\n'
        '<parameter name="n">2</parameter>\n<parameter name="on">true</parameter>\n'
        '<parameter name="l">[1, "x"]</parameter>\n</invoke>\n<invoke name="ping">\n</invoke>\n</function_calls>',
    ),
    (
        "kimi",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:7<|tool_call_argument_begin|>"
        '{"path": "a b", "n": 2, "on": true, "l": [1, "x"]}<|tool_call_end|>'
        "<|tool_call_begin|>functions.ping:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
    ),
    (
        "kimi-k3",
        '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|>'
        '<|open|>argument key="path" type="string"<|sep|>a b<|close|>argument<|sep|>'
        '<|open|>argument key="n" type="number"<|sep|>2<|close|>argument<|sep|>'
        '<|open|>argument key="on" type="boolean"<|sep|>true<|close|>argument<|sep|>'
        '<|open|>argument key="l" type="array"<|sep|>[1, "x"]<|close|>argument<|sep|><|close|>call<|sep|>'
        '<|open|>call tool="ping" index="2"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
    ),
    (
        "minimax-m3",
        f'{MARK}<tool_call>\n{MARK}<invoke name="read">{MARK}<path>a b{MARK}</path>{MARK}<n>2{MARK}</n>'
        f"{MARK}<on>true{MARK}</on>{MARK}<l>{MARK}<item>1{MARK}</item>{MARK}<item>x{MARK}</item>{MARK}</l>"
        f'{MARK}</invoke>\n{MARK}<invoke name="ping">{MARK}</invoke>\n{MARK}</tool_call>',
    ),
]
NAMES = [name for name, _ in WRITTEN]
XML = ("qwen3-coder", "glm", "minimax", "claude-xml", "kimi-k3", "minimax-m3")


@pytest.mark.parametrize(("name", "text"), WRITTEN, ids=NAMES)
def test_calls_are_written_as_templates_write_them(name: str, text: str) -> None:
    assert get(name).render(CALLS) == text


_RESULTS = (
    ToolResultIR("functions.read:0", (Text("one"),), name="read"),
    ToolResultIR("functions.ping:1", (Text("two"), Text("lines")), name="ping"),
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "hermes",
            "<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\nlines\n</tool_response>",
        ),
        (
            "qwen3-coder",
            "<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\nlines\n</tool_response>",
        ),
        ("glm", "<tool_response>one</tool_response><tool_response>two\nlines</tool_response>"),
        ("minimax", "<response>one</response>\n<response>two\nlines</response>"),
        ("minimax-m3", "<response>one</response>\n<response>two\nlines</response>"),
        (
            "claude-xml",
            "<function_results>\n<result>\none\n</result>\n<result>\ntwo\nlines\n</result>\n</function_results>",
        ),
        (
            "kimi",
            "## Return of functions.read:0\none<|im_end|><|im_system|>ping<|im_middle|>"
            "## Return of functions.ping:1\ntwo\nlines",
        ),
        (
            "kimi-k3",
            'one<|close|>message<|sep|><|end_of_msg|><|open|>message role="tool" tool="ping" index="2"<|sep|>'
            "two\nlines",
        ),
    ],
    ids=lambda v: v if v in NAMES else "",
)
def test_results_are_written_as_templates_write_them(name: str, text: str) -> None:
    assert get(name).render_results(_RESULTS) == text


@pytest.mark.parametrize("name", NAMES)
def test_results_with_media_are_refused(name: str) -> None:
    with pytest.raises(LocalProtocolError):
        get(name).render_results([ToolResultIR("1", (Media("image", data="aGk="),))])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(ToolCallIR("1", None, {}, "x"), id="no name"),
        pytest.param(ToolCallIR("1", "", {}, "x"), id="empty name"),
        pytest.param(ToolCallIR("1", "a\n<b>", {}, "x"), id="markup in the name"),
        pytest.param(ToolCallIR("1", "f", [1], "x"), id="arguments no object"),
        pytest.param(ToolCallIR("1", "f", None, "x", raw='{"a"', error="cut"), id="arguments unreadable"),
        pytest.param(ToolCallIR("1", "f", {"a": math.nan}, "x"), id="no JSON number"),
    ],
)
def test_what_cannot_be_said_is_refused(name: str, call: ToolCallIR) -> None:
    if name in ("hermes",) and call.name == "a\n<b>":
        assert get(name).render([call])  # JSON can say it
        return
    with pytest.raises(LocalProtocolError):
        get(name).render([call])


@pytest.mark.parametrize("name", XML)
def test_a_value_that_holds_the_tags_is_refused(name: str) -> None:
    fmt = get(name)
    inner = fmt.render([ToolCallIR(None, "f", {"a": "b"}, "x")])
    with pytest.raises(LocalProtocolError):
        fmt.render([ToolCallIR(None, "f", {"a": inner}, "x")])


@pytest.mark.parametrize("name", ["hermes", "kimi"])
def test_json_can_hold_the_tags(name: str) -> None:
    fmt = get(name)
    call = ToolCallIR(None, "f", {"a": fmt.render([ToolCallIR(None, "f", {"a": "b"}, "x")])}, "x")
    assert _read(name, fmt.render([call]), ()) == [("f", call.input)]


def test_arguments_that_are_absent_are_none() -> None:
    assert _read("hermes", get("hermes").render([ToolCallIR("1", "f", None, "x", raw="")]), ()) == [("f", {})]


def _read(name: str, text: str, tools: tuple[ToolDef, ...]) -> list[tuple[str | None, Any]]:
    calls = [f for f in findings(name, [text], tools) if isinstance(f, TextCall)]
    assert not any(c.problems for c in calls)
    return [(c.name, c.input) for c in calls]


_NAME = st.from_regex(r"[A-Za-z_][A-Za-z0-9_\-]{0,12}", fullmatch=True)
_CHARS = st.characters(exclude_categories=("Cs",), exclude_characters="\r")
_TAGS = ("</parameter>", "<tool_call>", "</tool_call>", "</arg_value>", "<|tool_call_end|>", MARK, "\n", "`", "```\n")
_TEXT = st.text(_CHARS, max_size=30) | st.lists(st.sampled_from(_TAGS) | st.text(_CHARS, max_size=5), max_size=4).map(
    "".join
)
_INTEGERS = st.integers(-(10**15), 10**15)
_SCALARS = {
    "string": _TEXT,
    "integer": _INTEGERS,
    "number": st.floats(-1e9, 1e9, allow_nan=False).filter(lambda x: not x.is_integer()),
    "boolean": st.booleans(),
}
_TREE = st.recursive(
    st.none() | st.booleans() | _INTEGERS | st.text('abc é"\\</>', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAME, inner, max_size=3),
    max_leaves=6,
)
_VALUES = {**_SCALARS, "array": st.lists(_TREE, max_size=3), "object": st.dictionaries(_NAME, _TREE, max_size=3)}


@st.composite
def conversations(draw: st.DrawFn) -> tuple[tuple[ToolDef, ...], list[ToolCallIR]]:
    """Tools, and calls that fit their schemas."""
    tools, calls = [], []
    for name in draw(st.lists(_NAME, min_size=1, max_size=3, unique=True)):
        kinds = draw(st.dictionaries(_NAME, st.sampled_from(sorted(_VALUES)), max_size=3))
        schema = {"type": "object", "properties": {k: {"type": t} for k, t in kinds.items()}}
        tools.append(ToolDef(name, None, schema))
        calls.append(ToolCallIR(None, name, {k: draw(_VALUES[t]) for k, t in kinds.items()}, "x"))
    return tuple(tools), calls


@pytest.mark.parametrize("name", [n for n in NAMES if n != "minimax-m3"])
@settings(max_examples=30)
@given(conversation=conversations())
def test_what_is_written_is_read_again(name: str, conversation: tuple[tuple[ToolDef, ...], list[ToolCallIR]]) -> None:
    tools, calls = conversation
    try:
        text = get(name).render(calls)
    except LocalProtocolError:
        assert name not in ("hermes", "kimi")
        assert any("<" in v for c in calls for v in c.input.values() if isinstance(v, str)) or "<" in repr(calls)
        return
    assert _read(name, text, tools) == [(c.name, c.input) for c in calls]
    pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
    assert findings(name, pieces, tools) == findings(name, [text], tools)


@settings(max_examples=30)
@given(conversation=conversations())
def test_elements_are_read_again(conversation: tuple[tuple[ToolDef, ...], list[ToolCallIR]]) -> None:
    """MiniMax M3 has no types inside arrays and objects without a schema: scalars and lists of texts come back."""
    tools, calls = conversation
    calls = [
        ToolCallIR(None, c.name, {k: v for k, v in c.input.items() if not isinstance(v, dict | list)}, "x")
        for c in calls
    ]
    try:
        text = get("minimax-m3").render(calls)
    except LocalProtocolError:
        assert "]" in repr(calls)
        return
    assert _read("minimax-m3", text, tools) == [(c.name, c.input) for c in calls]
