from __future__ import annotations

import pytest

from workbench.tui import keys
from workbench.tui.lines import plain
from workbench.tui.models.tabs import PANES, key_line, tab_line


def test_the_focused_tab_is_marked_without_colour() -> None:
    text = plain(tab_line("ir", ["ir"]))
    assert "[3 IR]" in text
    assert text.count("[") == 1
    assert all(words in text for _, words in PANES)
    assert len(text) <= 80


def test_hints_are_dropped_whole() -> None:
    assert plain(key_line(keys.SESSION, 200)).endswith("q back  ")
    assert plain(key_line(keys.SESSION, 45)) == " n next break  p previous  ? help  q back  "


@pytest.mark.parametrize("width", [60, 80, 120, 160])
def test_help_and_the_way_back_are_always_there(width: int) -> None:
    text = plain(key_line(keys.SESSION, width))
    assert "? help  q back" in text
    assert "n next break  p previous" in text
    assert len(text) <= width


@pytest.mark.parametrize("width", [60, 80, 160])
def test_a_search_says_how_to_go_on_and_how_to_end_it(width: int) -> None:
    text = plain(key_line(keys.SEARCH, width, "/toolu  "))
    assert text.startswith(" /toolu  n next match")
    assert "esc end search  ? help" in text
    assert len(text) <= width
