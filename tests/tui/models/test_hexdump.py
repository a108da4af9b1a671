from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.tui.models.escaped_lines import Hex
from workbench.tui.models.rowtable import StyledSpans
from workbench.views.lines import plain


def test_a_row() -> None:
    rows = Hex(b'{"a": "\xe9\x00\n~~~"}x', 80)
    assert len(rows) == 1
    assert plain(rows.line(0, ())) == '0000  7b 22 61 22 3a 20 22 e9  00 0a 7e 7e 7e 22 7d 78  {"a": "...~~~"}x'
    assert plain(Hex(b"abc", 80).line(0, ())) == "0000  61 62 63" + " " * 42 + "abc"


@pytest.mark.parametrize(("width", "per_row"), [(200, 16), (72, 16), (71, 8), (40, 8), (38, 4), (22, 2), (1, 2)])
def test_fewer_bytes_stand_in_a_narrow_row(width: int, per_row: int) -> None:
    rows = Hex(bytes(100), width)
    assert rows.per_row == per_row
    assert len(plain(rows.line(0, ()))) <= max(width, 16)


def test_marks_light_digits_and_text() -> None:
    rows = Hex(b"0123456789abcdef", 80)
    lit = [span.text for span in rows.line(0, (StyledSpans("lit", ((4, 6),)),)) if "lit" in span.style]
    assert "".join(lit) == "34 3545"
    assert [s.style for s in Hex(b"a\x00\x1b\xff ", 80).line(0, ()) if len(s.text) == 2][:5] == [
        "", "muted", "warning", "number", "muted",
    ]  # fmt: skip


def test_five_megabytes_take_no_layout() -> None:
    rows = Hex(b"x" * 5_000_000, 80)
    assert rows.is_done and rows.extend(1)
    assert plain(rows.line(len(rows) - 1, ())).startswith("4c4b30  78")
    assert rows.bounds(rows.row_at(4_999_999)) == (4_999_984, 5_000_000)


def test_the_cursor_keeps_its_column() -> None:
    rows = Hex(bytes(40), 80)
    assert [rows.landing(1, 5), rows.landing(2, 31), rows.landing(0, 33)] == [21, 39, 1]
    rows.grow(bytes(60))
    assert (len(rows), rows.landing(2, 31)) == (4, 47)


@settings(max_examples=60)
@given(st.binary(min_size=1, max_size=200), st.integers(16, 100))
def test_every_byte_is_where_its_column_leads(body: bytes, width: int) -> None:
    rows = Hex(body, width)
    for row in range(len(rows)):
        start, end = rows.bounds(row)
        text = plain(rows.line(row, ()))
        assert len(text) == len(text.rstrip("\n")) <= max(width, 24)
        for n in range(start, end):
            assert rows.byte_at(row, text.index("  ") + 2 + 3 * (n - start) + (n - start) // 8) == n
            assert rows.byte_at(row, len(text) - (end - n)) == n
        assert rows.byte_at(row, 10_000) == end - 1
        assert rows.byte_at(row, 0) == start
        assert rows.stops(row) == [(n, n + 1) for n in range(start, end)]
