from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.characters import bounds, name_of_character, odd_at, odd_ones, unusual


@pytest.mark.parametrize(
    ("character", "words"),
    [
        ("\u200b", "U+200B ZERO WIDTH SPACE"),
        ("\xa0", "U+00A0 NO-BREAK SPACE"),
        ("\ufeff", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("\x1b", "U+001B ESCAPE"),
        ("\x01", "U+0001 control character"),
        ("\ud83d", "U+D83D lone surrogate"),
        ("\ue000", "U+E000 private-use character"),
        ("\U000e0041", "U+E0041 TAG LATIN CAPITAL LETTER A"),
    ],
)
def test_names(character: str, words: str) -> None:
    assert name_of_character(character) == words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("read_file", []),
        ("日本語 é naïve привет ελ", []),
        ("a\tb\nc\r\n", []),
        ("r\u0435ad_file", ["U+0435 CYRILLIC SMALL LETTER IE"]),
        ("read\uff3ffile", ["U+FF3F FULLWIDTH LOW LINE"]),
        ("a\xa0b\u3000c\u2003", ["U+00A0 NO-BREAK SPACE", "U+3000 IDEOGRAPHIC SPACE", "U+2003 EM SPACE"]),
        ("a\u200b\u200b", ["U+200B ZERO WIDTH SPACE"]),
        ("lone\r", ["U+000D CARRIAGE RETURN"]),
        ("e\u0301", []),
        ("e" + "\u0301" * 3, ["U+0301 COMBINING ACUTE ACCENT"]),
    ],
)
def test_what_is_unusual_in_a_name(text: str, found: list[str]) -> None:
    assert unusual(text) == found


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"plain", []),
        ("日\u200b本".encode(), [(3, 6, "U+200B ZERO WIDTH SPACE")]),
        (b"a\xffb\xe4", [(1, 2, "byte 0xFF, not UTF-8"), (3, 4, "byte 0xE4, not UTF-8")]),
        (b'"\\u200b"', [(1, 7, "U+200B ZERO WIDTH SPACE, written as an escape")]),
        (b'"\\\\u200b"', []),
        (b'"\\\\\\u200b"', [(3, 9, "U+200B ZERO WIDTH SPACE, written as an escape")]),
        (b"\\ud83d\\ude00", []),
        (b"\\ude00\\ud83d", [
            (0, 6, "U+DE00 lone surrogate, written as an escape"),
            (6, 12, "U+D83D lone surrogate, written as an escape"),
        ]),
        (b"\\u0041\\u00e9\\u000a", []),
        (b"\\u001b", [(0, 6, "U+001B ESCAPE, written as an escape")]),
        (b"data: x\r\n\rdata", [(9, 10, "U+000D CARRIAGE RETURN")]),
        (b"\xef\xbb\xbf{}", [(0, 3, "U+FEFF ZERO WIDTH NO-BREAK SPACE")]),
        (b"\xed\xa0\x80", [
            (0, 1, "byte 0xED, not UTF-8"), (1, 2, "byte 0xA0, not UTF-8"), (2, 3, "byte 0x80, not UTF-8"),
        ]),
    ],
)  # fmt: skip
def test_what_is_unusual_in_bytes(data: bytes, found: list[tuple[int, int, str]]) -> None:
    assert [tuple(odd) for odd in odd_ones(data)] == found
    padded = b"x" * 40 + data + b"x" * 40
    for start, end, words in found:
        for offset in range(start, end):
            assert odd_at(padded, 40 + offset) == (40 + start, 40 + end, words)


@given(st.binary(max_size=80), st.integers(0, 90))
def test_any_bytes_can_be_asked_about(data: bytes, offset: int) -> None:
    odd = odd_at(data, offset)
    assert odd is None or odd.start <= offset < odd.end
    start, end = bounds(data, offset)
    assert start <= offset < end
    for one in odd_ones(data):
        assert 0 <= one.start < one.end <= len(data)


@given(st.text(max_size=30))
def test_a_character_has_its_bounds(text: str) -> None:
    data, at = text.encode("utf-8", "ignore"), 0
    for character in data.decode():
        size = len(character.encode())
        assert all(bounds(data, at + n) == (at, at + size) for n in range(size))
        at += size


def test_many_backslashes_do_not_cost_much() -> None:
    assert odd_at(b"\\" * 1_000_000, 999_999) is None
