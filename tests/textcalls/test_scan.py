"""The shared machinery: tags that come in pieces, Markdown code, JSON that is followed without being built."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.textcalls.reading import TOOLS, findings
from workbench.textcalls import Prose, every, formats, get
from workbench.textcalls._json_text import JsonTracker
from workbench.textcalls._markdown import MarkdownCode
from workbench.textcalls._scan import Spec, Tags

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


def test_tags_know_the_longest_beginning() -> None:
    tags = Tags(Spec("a", "< tool >"), Spec("b", "<tool=", r"[^<>]{1,20}>"))
    for text, held in (
        ("x<", 1), ("x< t", 1), ("x<tool", 1), ("x<tool=ab", 1), ("x<toil", 6), ("a<b<to", 3),
    ):  # fmt: skip
        assert tags.held(text, 0) == held, text
    found = tags.pattern.search("x<tool=ab>")
    assert found and tags.kind(found) == "b"
    assert tags.last == ">"


@pytest.mark.parametrize(
    ("text", "is_quoted"),
    [
        ("", False),
        ("a `b` c", False),
        ("a `b", True),
        ("a `b\n", False),
        ("a ``b ` c", True),
        ("a ``b ` c``", False),
        ("```\n", True),
        ("```xml\na\n", True),
        ("```\na\n```\n", False),
        ("a ```b", True),
        ("  ~~~\na", True),
        ("~~~~\n~~~\na", True),
        ("> ```\n> a", True),
        ("```\n`a`\n", True),
    ],
)
def test_markdown_code(text: str, is_quoted: bool) -> None:
    whole, pieces = MarkdownCode(), MarkdownCode()
    whole.pass_over(text)
    for char in text:
        pieces.pass_over(char)
    assert whole.is_quoted() is is_quoted
    assert pieces.is_quoted() is is_quoted


@pytest.mark.parametrize(
    ("text", "end", "is_inside_string", "is_broken"),
    [
        ('{"a": 1} x', 8, False, False),
        ('{"a": "}', -1, True, False),
        ('{"a": "\\"}', -1, True, False),
        ('{"a": "\\\\"}', 11, False, False),
        ('{"a": "x\n', -1, False, True),
        ("{'a'", -1, False, True),
        ("[[1, true], null] ", 17, False, False),
        ('{"a": "x" <', -1, False, True),
    ],
)
def test_json_is_followed(text: str, end: int, is_inside_string: bool, is_broken: bool) -> None:
    for size in (1, 2, len(text)):
        tracker = JsonTracker()
        found = -1
        for at in range(0, len(text), size):
            stop = tracker.find(text[at : at + size])
            found = at + stop if stop > 0 and found < 0 else found
        assert (found, tracker.is_broken) == (end, is_broken)
        assert is_broken or tracker.is_inside_string is is_inside_string


def test_every_format_says_who_it_is() -> None:
    for text_format in every():
        assert text_format.name in formats()
        assert get(text_format.name) is text_format
        assert text_format.title
        assert all(text_format.markers)


@pytest.mark.parametrize("name", OURS)
def test_a_call_holds_one_of_the_markers(name: str) -> None:
    from tests.textcalls.test_render import CALLS

    text_format = get(name)
    assert any(m in text_format.render(CALLS) for m in text_format.markers)
