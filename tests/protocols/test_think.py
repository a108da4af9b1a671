"""Reasoning that stands in visible text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.protocols.common.think_tags import Splitter, split

CASES: list[tuple[str, list[tuple[str, str]]]] = [
    ("plain", [("text", "plain")]),
    ("", []),
    ("<think>a</think>b", [("reasoning", "a"), ("text", "b")]),
    ("\n<think>\n\n</think>\n\nb", [("reasoning", "\n\n"), ("text", "\n\nb")]),
    ("<think></think>", [("reasoning", "")]),
    ("<think>no end", [("reasoning", "no end")]),
    ("<mm:think>a</mm:think>b", [("reasoning", "a"), ("text", "b")]),
    ("<thinking>a</think></thinking>b", [("reasoning", "a</think>"), ("text", "b")]),
    # the template opened the tag, so that only its end is in the text
    ("a\n</think>\n\nb", [("reasoning", "a\n"), ("text", "\n\nb")]),
    ("a</think>\nb", [("reasoning", "a"), ("text", "\nb")]),
    ("a</think>", [("reasoning", "a")]),
    # several blocks
    ("<think>a</think><think>b</think>c", [("reasoning", "a"), ("reasoning", "b"), ("text", "c")]),
    ("<think>a</think>b\n<think>c</think>", [("reasoning", "a"), ("text", "b\n"), ("reasoning", "c")]),
    ("a\n<think>tail</think>", [("text", "a\n"), ("reasoning", "tail")]),
    # text about tags
    ("Close it with `</think>`, always.", [("text", "Close it with `</think>`, always.")]),
    ("I saw <think>x</think> in it.", [("text", "I saw <think>x</think> in it.")]),
    ("a\n<think>not closed", [("text", "a\n<think>not closed")]),
    ("rethink> this", [("text", "rethink> this")]),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_split(text: str, expected: list[tuple[str, str]]) -> None:
    pieces = [("reasoning" if p.is_reasoning else "text", text[p.start : p.end]) for p in split(text)]
    assert [piece for piece in pieces if piece != ("text", "")] == expected


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<mm:think>", "\n", " ", "a", "think>"]), max_size=12).map("".join)
)
def test_pieces_are_in_order_and_nothing_but_tags_and_space_is_left_out(text: str) -> None:
    at, between = 0, ""
    for piece in split(text):
        assert at <= piece.start <= piece.end <= len(text)
        between += text[at : piece.start]
        at = piece.end
    left = between + text[at:]
    for tag in ("<think>", "</think>", "<mm:think>", "</mm:think>"):
        left = left.replace(tag, "")
    assert not left.strip()


TAGGED = st.lists(st.sampled_from(["<think>", "</think>", "<mm:think>", "<thi", "\n", " ", "a", "b<"]), max_size=9)


@given(TAGGED.map("".join), st.integers(1, 5))
def test_a_text_that_arrives_is_split_as_the_whole_is(text: str, size: int) -> None:
    """But where its first tag ends what had no beginning: by then the text before it has left as text."""
    splitter, found = Splitter(), list[tuple[bool, str]]()
    pieces = [text[n : n + size] for n in range(0, len(text), size)]
    for is_reasoning, piece in (*(p for t in pieces for p in splitter.feed(t)), *splitter.close()):
        if found and found[-1][0] is is_reasoning:
            found[-1] = (is_reasoning, found[-1][1] + piece)
        else:
            found.append((is_reasoning, piece))
    whole = [(piece.is_reasoning, text[piece.start : piece.end]) for piece in split(text)]
    is_late = bool(whole) and whole[0][0] and not text.lstrip().startswith(("<think>", "<mm:think>"))
    said = [piece for piece in found if any(piece)]
    assert said == [piece for piece in whole if any(piece)] or (is_late and said == [(False, text)])


def test_many_blocks_take_linear_time() -> None:
    assert len(split("<think>a</think>" * 100_000)) == 100_000
    assert len(split("a\n</think" * 100_000 + "\n<think>" * 100_000)) == 1
