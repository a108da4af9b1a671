from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.safetext import cells
from workbench.views.lines import (
    LINK,
    Line,
    Span,
    column_text,
    hang,
    is_longer,
    join_lines,
    line,
    link_addresses,
    mark_matches,
    plain,
    wrap,
)


@given(st.text(alphabet="ab \n日\x1b", max_size=200), st.integers(12, 40))
def test_wrapped_lines_fit_and_lose_only_blanks(text: str, width: int) -> None:
    lines = [plain(made) for made in wrap(text, width, indent=2)]
    assert all(cells(made) <= width for made in lines)
    assert "".join(lines).replace(" ", "") == text.replace("\n", "").replace(" ", "")


def test_wrap_breaks_at_spaces_and_line_ends() -> None:
    assert [plain(made) for made in wrap("one two three\nfour", 12)] == ["one two", "three", "four"]


def test_wrap_says_what_it_leaves_out() -> None:
    made = wrap("x" * 1000, 20, most=3)
    assert plain(made[-1]) == "… 940 more characters"
    assert len(made) == 4


@given(st.lists(st.text("ab {}⏎字", max_size=40), min_size=1, max_size=4), st.integers(20, 60))
def test_a_line_in_several_rows_loses_only_blanks_and_keeps_its_styles(pieces: list[str], width: int) -> None:
    of = line(Span("call", "call", 9), " ", *(Span(piece, f"s{n}") for n, piece in enumerate(pieces)))
    rows = hang(of, width, most=100)
    assert "".join(map(plain, rows)).replace(" ", "") == plain(of).replace(" ", "")
    assert [span.text for row in rows for span in row if span.style == "call"] == ["call"]
    if is_longer(of, width):
        assert all(not is_longer(row, width) for row in rows)
    assert all(row[0].text.isspace() for row in rows[1:])


def test_a_column_is_what_ends_with_a_gap_where_none_has_a_width() -> None:
    rows = hang(line(Span("error    ", "error"), "one two three four five six"), 30)
    assert [plain(row) for row in rows] == ["error    one two three four", "         five six"]


def test_joined_puts_something_between_what_is_there() -> None:
    parts = [line("a"), (), line("b", "c")]
    assert plain(join_lines(parts, Span(" · "))) == "a · bc"


@pytest.mark.parametrize(
    ("of", "needle", "made"),
    [
        (line("abcd"), "bc", [("a", ""), ("bc", "match"), ("d", "")]),
        (line("ab", Span("cd", "key")), "bc", [("a", ""), ("b", "match"), ("c", "key match"), ("d", "key")]),
        (line("aba"), "a", [("a", "match"), ("b", ""), ("a", "match")]),
        (line(Span("abc", "key", 8), "d"), "b", [("abc", "key match"), ("d", "")]),  # a fixed width stays whole
        (line("abc"), "x*", [("abc", "")]),  # what is empty is no match
        ((), "a", []),
    ],
)
def test_matches_are_marked_also_across_spans(of: Line, needle: str, made: list[tuple[str, str]]) -> None:
    assert [(span.text, span.style) for span in mark_matches(of, re.compile(needle), "match")] == made


@given(st.lists(st.text(alphabet="ab", max_size=5), max_size=6), st.text(alphabet="ab", min_size=1, max_size=3))
def test_marking_changes_no_text(pieces: list[str], needle: str) -> None:
    of = line(*pieces)
    assert plain(mark_matches(of, re.compile(needle), "match")) == plain(of)


def test_columns_are_filled_where_there_is_no_screen() -> None:
    assert column_text(line(Span("a", "", 3), Span("1", "", -3), Span("b", "", 4))) == "a    1b"
    assert column_text(line(Span("日本", "", 5), "x")) == "日本 x"


def test_an_address_is_one_link_also_where_it_is_broken_over_lines() -> None:
    text = "see https://example.org/a/long/path?x=1, or https://example.org/b."
    made = link_addresses(wrap(text, 22, "muted", indent=2), text)
    found: dict[str, str] = {}
    for span in (span for each in made for span in each):
        address = span.style.partition(LINK)[2]
        found[address] = found.get(address, "") + span.text
    assert found.keys() == {"", "https://example.org/a/long/path?x=1", "https://example.org/b"}
    assert all(found[address] == address for address in found if address)
    assert [plain(each) for each in made] == [plain(each) for each in wrap(text, 22, "muted", indent=2)]


def test_an_address_has_no_character_that_a_terminal_obeys() -> None:
    text = "https://example.org/\x1b]8;;https://evil.example\x1b\\"
    (made,) = link_addresses(wrap(text, 200), text)
    assert not any("\x1b" in span.style or "evil" in span.style for span in made)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("issue 4043, https://example.org/issues/4043", ["issue 4043,", "https://example.org/issues/4043"]),
        ("a " + "b" * 40, ["a " + "b" * 30, "b" * 10]),
        ("a \u3000\x1c" + "b" * 40, ["a \u3000\x1c" + "b" * 20, "b" * 20]),
    ],
)
def test_a_word_that_fits_into_a_line_is_not_cut(text: str, lines: list[str]) -> None:
    assert [plain(each) for each in wrap(text, 32)] == lines
