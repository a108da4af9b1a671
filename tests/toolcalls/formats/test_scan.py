"""The shared machinery: tags that come in pieces, Markdown code, JSON that is followed without being built."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.formats.reading import TOOLS, findings
from workbench.toolcalls.formats import Prose, every, formats, get

OURS = ("claude-xml", "glm", "hermes", "kimi", "kimi-k3", "minimax", "minimax-m3", "qwen3-coder")
MARK = "]<]minimax[>["
BITS = (
    "<tool_call>", "</tool_call>", "<function=read>", "</function>", "<parameter=path>", "</parameter>", "\n",
    '<invoke name="read">', "</invoke>", '<parameter name="path">', "<function_calls>", "</function_calls>",
    "<minimax:tool_call>", "</minimax:tool_call>", "read", "<arg_key>path</arg_key>", "<arg_value>", "</arg_value>",
    '{"name": "read", "arguments": {', '"path": "', '"', "}}", "}", "\\", "<think>", "</think>", "`", "```", " ", "x",
    "<|tool_calls_section_begin|>", "<|tool_call_begin|>", "functions.read:0", "<|tool_call_argument_begin|>",
    "<|tool_call_end|>", "<|tool_calls_section_end|>", f"{MARK}<tool_call>", f'{MARK}<invoke name="read">',
    f"{MARK}<path>", f"{MARK}</path>", f"{MARK}</invoke>", "<|open|>tools<|sep|>", "<|close|>tools<|sep|>",
    '<|open|>call tool="read" index="1"<|sep|>', '<|open|>argument key="path" type="string"<|sep|>',
    "<|close|>argument<|sep|>", "<|close|>call<|sep|>", "<", "<tool", "]<]mini", "|>",
)  # fmt: skip


@pytest.mark.parametrize("name", OURS)
@settings(max_examples=60)
@given(bits=st.lists(st.sampled_from(BITS), max_size=14), size=st.integers(1, 9))
def test_any_text_is_read_the_same_however_it_is_cut(name: str, bits: list[str], size: int) -> None:
    text = "".join(bits)
    whole = findings(name, [text])
    assert "".join(text[f.start : f.end] for f in whole) == text
    assert findings(name, [text[at : at + size] for at in range(0, len(text), size)]) == whole


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", OURS)
def test_hostile_repeats_are_read_to_the_end(name: str) -> None:
    for bit in ("<tool_call>", '<tool_call>{"', "<function=a><parameter=b>", "</parameter>x", "`<tool_call>", "<", " "):
        text = "<tool_call>\n<function=a>\n<parameter=b>\n" + bit * (40_000 // len(bit))
        pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
        assert sum(f.end - f.start for f in findings(name, pieces)) == len(text)


def test_prose_is_not_held_back() -> None:
    parser = get("hermes").parser(TOOLS)
    assert parser.feed("Hello <b>you") == [Prose("Hello <b>you", 0, 12)]
    assert parser.feed(" <tool") == [Prose(" ", 12, 13)]
    assert parser.feed("box>") == [Prose("<toolbox>", 13, 22)]
    assert parser.feed("<tool_call>") == []
    assert parser.feed(" is a tag") == [Prose("<tool_call> is a tag", 22, 42)]
    assert parser.close() == []


def test_a_call_is_handed_out_when_it_is_over() -> None:
    parser = get("qwen3-coder").parser(TOOLS)
    assert parser.feed("<tool_call>\n<function=ping>\n</function>\n</tool_call>") == []
    (call, prose) = parser.feed(" So")
    assert (call.start, call.end) == (0, 52)
    assert prose == Prose(" So", 52, 55)


def test_every_format_says_who_it_is() -> None:
    for text_format in every():
        assert text_format.name in formats()
        assert get(text_format.name) is text_format
        assert text_format.title
        assert all(text_format.markers)


@pytest.mark.parametrize("name", OURS)
def test_a_call_holds_one_of_the_markers(name: str) -> None:
    from tests.toolcalls.formats.test_render import CALLS

    text_format = get(name)
    assert any(m in text_format.render(CALLS) for m in text_format.markers)
