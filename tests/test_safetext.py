from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import safetext

UNSAFE = ("Cc", "Cf", "Cs", "Zl", "Zp")


def test_nothing_that_acts_or_hides_passes() -> None:
    for code in range(0x110000):
        if unicodedata.category(chr(code)) in UNSAFE:
            shown = safetext.visible(chr(code))
            assert shown.isprintable(), hex(code)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b]52;c;aGk=\x07", "\\x1b]52;c;aGk=\\x07"),
        ("a\x9b2Jb", "a\\x9b2Jb"),
        ("a\nb\r", "a\\nb\\r"),
        ("a\tb", "a    b"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\U000e0041tag", "\\U000e0041tag"),
        ("half \ud800", "half \\ud800"),
        ("[/b] [@click=app.quit]x[/]", "[/b] [@click=app.quit]x[/]"),
        ("日本語 é", "日本語 é"),
        ("a\xa0b\u3000c\u2009d\u202fe", "a\\xa0b\\u3000c\\u2009d\\u202fe"),
        ("e" + "\u0301" * 5, "e" + "\u0301" * 3 + "\\u0301" * 2),
    ],
)
def test_visible_forms(text: str, shown: str) -> None:
    assert safetext.visible(text) == shown


def test_a_form_is_told_from_the_same_characters_written_out() -> None:
    literal = list(safetext.pieces("\\x1b"))
    acting = list(safetext.pieces("\x1b"))
    assert [p.text for p in literal] == [p.text for p in acting]
    assert [p.is_form for p in literal] == [False]
    assert [p.is_form for p in acting] == [True]


def test_bytes_that_do_not_decode_are_shown_as_bytes() -> None:
    text = safetext.from_bytes(b"ok \xff\xe4 \xed\xa0\x80")
    assert "".join(p.text for p in safetext.pieces(text, is_bytes=True)) == "ok \\xff\\xe4 \\xed\\xa0\\x80"
    assert safetext.visible("\udc80") == "\\udc80"


@given(st.binary(max_size=60))
def test_wire_bytes_lose_nothing_on_their_way_to_the_gate(data: bytes) -> None:
    assert safetext.from_bytes(data).encode("utf-8", "surrogateescape") == data


@given(st.text(max_size=60))
def test_what_passes_is_printable(text: str) -> None:
    assert not any(unicodedata.category(c) in UNSAFE for c in safetext.visible(text))


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [("hello", 5, "hello"), ("hello!", 5, "hell…"), ("日本語", 4, "日…"), ("x" * 10**6, 4, "xxx…"), ("ab", 0, "")],
)
def test_clip(text: str, room: int, shown: str) -> None:
    assert safetext.clip(text, room) == shown


def test_what_can_be_typed_needs_no_form() -> None:
    import re

    assert re.fullmatch(safetext.SHOWABLE, "~/über/日本.jsonl")
    assert not re.fullmatch(safetext.SHOWABLE, "a\x1b[2J")
