"""Blocks without a fault, which are read at once: as the grammar reads them, tag by tag."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.toolcalls.formats.reading import TOOLS
from workbench.ir import ToolCallIR
from workbench.toolcalls.formats import Prose, ProseOrCall, TextCall, formats, get
from workbench.toolcalls.formats._scan import TagParser


def _parser(name: str, *, at_once: bool) -> TagParser:
    parser = get(name).parser(TOOLS)
    assert isinstance(parser, TagParser)
    if not at_once:
        parser._whole = None
    return parser


NAMES = tuple(n for n in formats() if getattr(get(n).parser(TOOLS), "_whole", None))
BLOCKS = {
    name: [
        get(name).render([ToolCallIR(None, tool, arguments, "test")])
        for tool, arguments in (
            ("read", {"path": "a < b && c > d"}),
            ("read", {"path": "<b>x</b>\n\n</span>", "more": [1, {"a": None}], "n": 3}),
            ("read", {}),
            ("other", {"path": "line\n" * 3}),
        )
    ]
    for name in NAMES
}
BETWEEN = (
    *("", " ", "\n", "\n\n", "text", "`", "```\n", "<think>", "</think>", "<", "</", "</tool_call>", "<tool_call>"),
    *("</function>", "</invoke>", "</parameter>", "</function_calls>", "<invoke name='read'/>", "<function=read>"),
)


@st.composite
def texts(draw: st.DrawFn, name: str) -> str:
    """Blocks and words between them, of which some lack a few characters or have them twice."""
    parts = draw(st.lists(st.sampled_from((*BLOCKS[name], *BETWEEN)), max_size=7))
    for n in draw(st.lists(st.integers(0, max(len(parts) - 1, 0)), max_size=2 if parts else 0)):
        start = draw(st.integers(0, len(parts[n])))
        end = draw(st.integers(start, min(start + 16, len(parts[n]))))
        parts[n] = parts[n][:end] * draw(st.booleans()) + parts[n][start if draw(st.booleans()) else end :]
    return "".join(parts)


def _findings(parser: TagParser, pieces: Sequence[str]) -> list[ProseOrCall]:
    found = [f for piece in pieces for f in parser.feed(piece)] + parser.close()
    joined: list[ProseOrCall] = []
    for one in found:
        last = joined[-1] if joined else None
        if isinstance(one, Prose) and isinstance(last, Prose):
            joined[-1] = Prose(last.text + one.text, last.start, one.end)
        else:
            joined.append(one)
    return joined


def test_there_are_such_formats() -> None:
    assert {"qwen3-coder", "minimax", "claude-xml", "hermes"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_blocks_read_at_once_are_those_that_the_grammar_reads(name: str) -> None:
    @given(texts(name), st.integers(1, 12))
    def holds(text: str, size: int) -> None:
        expected = _findings(_parser(name, at_once=False), [text])
        assert _findings(_parser(name, at_once=True), [text]) == expected
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert _findings(_parser(name, at_once=True), pieces) == expected

    holds()


@pytest.mark.parametrize("name", NAMES)
def test_a_block_is_told_when_what_follows_is_no_tag(name: str) -> None:
    parser = _parser(name, at_once=True)
    for character in "Hi " + BLOCKS[name][0]:
        told = parser.feed(character)
        assert not any(isinstance(f, TextCall) for f in told)
    assert any(isinstance(f, TextCall) for f in parser.feed("\n\nand"))


def test_a_block_is_told_when_a_call_outside_of_it_follows() -> None:
    parser = _parser("qwen3-coder", at_once=True)
    told = [parser.feed(piece) for piece in (BLOCKS["qwen3-coder"][0], "\n<func", "tion=ping>")]
    assert [any(isinstance(f, TextCall) for f in found) for found in told] == [False, False, True]


@pytest.mark.parametrize("name", NAMES)
def test_a_block_with_a_fault_waits_no_longer_than_for_its_end(name: str) -> None:
    parser = _parser(name, at_once=True)
    block = BLOCKS[name][0]
    end = block.rstrip().rindex("<")
    told = parser.feed(block[:end] + "stray text" + block[end:] + "\nand")
    assert any(isinstance(f, TextCall) for f in told)
