from __future__ import annotations

import pytest

from workbench.tui import keys
from workbench.tui.models.tabs import PANES, TOO_SMALL, key_at, key_line, tab_at, tab_line
from workbench.views.lines import plain

SESSION = (*keys.SESSION, *keys.GLOBAL)
SEARCH = (*keys.SEARCH, *keys.GLOBAL)


def test_the_focused_tab_is_marked_without_colour() -> None:
    text = plain(tab_line("ir", ["ir"]))
    assert "[3 IR]" in text
    assert text.count("[") == 1
    assert all(words in text for _, words in PANES)
    assert len(text) <= 80


def test_what_is_said_without_room_fits_in_forty_columns() -> None:
    said = [plain(each) for each in TOO_SMALL]
    assert max(map(len, said)) <= 40 and "ctrl+q: quit" in " ".join(said)


def test_hints_are_dropped_whole() -> None:
    assert plain(key_line(SESSION, 200)).endswith("q back  ? help")
    assert plain(key_line(SESSION, 40)) == " ] next break  f repairs  q back  ? help"


@pytest.mark.parametrize("width", [40, 60, 80, 120, 160])
def test_help_and_the_way_back_are_always_there(width: int) -> None:
    text = plain(key_line(SESSION, width))
    assert "q back  ? help" in text
    assert "] next break" in text and "f repairs" in text
    assert len(text) <= width


@pytest.mark.parametrize("width", [60, 80, 160])
def test_a_search_says_how_to_go_on_and_how_to_end_it(width: int) -> None:
    text = plain(key_line(SEARCH, width, "/toolu  "))
    assert text.startswith(" /toolu  n next match")
    assert "esc end search  ? help" in text
    assert len(text) <= width


def test_what_stands_under_a_click_is_what_is_read_there() -> None:
    text = plain(key_line(SESSION, 80, "/x  "))
    for column, sign in enumerate(text):
        key = key_at(column, SESSION, 80, "/x  ")
        if sign != " ":
            assert (key is None) == (column < 5)
        if key:
            assert f"{key.show} {key.word}" in text
            assert text.index(f"{key.show} {key.word}") <= column
    assert key_at(text.index("next"), SESSION, 80, "/x  ") == SESSION[0]
    assert key_at(200, SESSION, 80) is None


def test_what_stands_under_a_click_on_the_tabs() -> None:
    text = plain(tab_line("ir", ["ir"]))
    assert [tab_at(text.index(words)) for _, words in PANES] == [name for name, _ in PANES]
    assert tab_at(0) is tab_at(len(text)) is None


def test_a_key_that_is_switched_off_is_not_named() -> None:
    off = [key._replace(keys="") if key.id == "session.next-break" else key for key in SESSION]
    assert plain(key_line(off, 160)).startswith(" [ previous break")


def test_where_there_is_no_room_for_all_names_they_are_cut_alike() -> None:
    text = plain(tab_line("ir", ["ir"], width=40))
    assert text.split() == ["1", "Ex", "2", "Wi", "[3", "IR]", "4", "Re", "5", "Cl", "6", "Fi", "7", "HT"]
    assert [tab_at(text.index(digit), focused="ir", width=40) for digit in "167"] == ["exchanges", "findings", "http"]
    assert tab_at(text.index("IR"), focused="ir", width=40) == "ir"
