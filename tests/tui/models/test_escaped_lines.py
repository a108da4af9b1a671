from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.tui.models.escaped_lines import EscapedLines, form
from workbench.tui.models.rowtable import CONTINUES, StyledSpans
from workbench.views.lines import plain


def made(body: bytes, width: int = 60, *, is_json: bool = False) -> EscapedLines:
    rows = EscapedLines(body, width, is_json=is_json)
    while not rows.extend(7):
        pass
    return rows


def shown(body: bytes, width: int = 60) -> list[str]:
    rows = made(body, width)
    return [plain(rows.line(n, ())) for n in range(len(rows))]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (b'{"a": 1,  "b": 2 }', ['{"a": 1,  "b": 2 }']),
        (b"data: x\r\n\r\nid: 1\rz", ["data: x\\r\\n", "\\r\\n", "id: 1\\rz"]),
        ("é\u200b日\xa0😀".encode(), ["\\u{e9}\\u{200b}\\u{65e5}\\u{a0}\\u{1f600}"]),
        (b"\x1b[2J\x00\x7f\t|", ["\\x1b[2J\\x00\\x7f\\t|"]),
        (b"\xff\xc3(\xed\xa0\x80", ["\\xff\\xc3(\\xed\\xa0\\x80"]),
        (b'"\\u200b\\n"', ['"\\u200b\\n"']),
        (b"trailing  \n", ["trailing  \\n"]),
        (b"", []),
    ],
)
def test_bytes_as_they_were_sent(body: bytes, lines: list[str]) -> None:
    assert shown(body) == lines


def test_lines_are_only_wrapped() -> None:
    rows = made(b"x" * 50 + b"\n" + b"y" * 3, 20)
    assert [plain(rows.line(n, ())) for n in range(len(rows))] == ["x" * 20, "x" * 20, "x" * 10 + "\\n", "yyy"]
    assert list(rows.flags) == [0, CONTINUES, CONTINUES, 0]


def test_escapes_are_told_from_the_same_characters_written_out() -> None:
    rows = made(b"\\x1b\x1b")
    assert [(s.text, s.style) for s in rows.line(0, ())] == [("\\x1b", ""), ("\\x1b", "form")]


def test_tokens_and_marks_are_coloured() -> None:
    body = '{"a": "日b"}'.encode()
    rows = made(body, is_json=True)
    spans = rows.line(0, (StyledSpans("lit", ((7, 10),)),))
    assert ("\\u{65e5}", "string lit form") in [(s.text, s.style) for s in spans]
    assert ('"a"', "key") in [(s.text, s.style) for s in spans]


def test_the_cursor_goes_through_values_and_unusual_characters() -> None:
    body = '{"a": "x\u200by", "b": "\\u00a0"}'.encode()
    stops = [body[a:b] for a, b in made(body, is_json=True).stops(0)]
    assert "\u200b".encode() in stops and b"\\u00a0" in stops and b'"a"' in stops


def test_more_bytes_change_the_last_line_alone() -> None:
    body = b"one\ntwo " + b"x" * 30
    rows = made(body, 20)
    rows.grow(body + b"y\nthree")
    while not rows.extend(5):
        pass
    whole = made(body + b"y\nthree", 20)
    assert (list(rows.starts), list(rows.flags)) == (list(whole.starts), list(whole.flags))


@settings(max_examples=40)
@given(
    st.binary(max_size=150) | st.text(max_size=80).map(lambda t: t.encode("utf-8", "surrogatepass")),
    st.integers(16, 70),
)
def test_every_byte_is_in_one_row_and_every_row_fits(body: bytes, width: int) -> None:
    rows = made(body, width)
    pieces = [body[slice(*rows.bounds(n))] for n in range(len(rows))]
    assert b"".join(pieces) == body
    for row in range(len(rows)):
        text = plain(rows.line(row, ()))
        assert text.isascii() and text.isprintable()
        assert len(text) <= max(width, 16)
        start, end = rows.bounds(row)
        for column in range(len(text)):
            assert start <= rows.byte_at(row, column) < end


def test_json_text_stays_json_text() -> None:
    text = json.dumps({"a": ["é", "\ud800", "\n"]})
    assert "".join(shown(text.encode(), 30)) == text
    assert [form(c) for c in "a\n\udc80\x80"] == ["a", "\\n", "\\x80", "\\u{80}"]
