from __future__ import annotations

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
    hints = keys.hints(keys.SESSION)
    assert plain(key_line(hints, 200)).endswith("q back  ")
    short = plain(key_line(hints, 30))
    assert short == " n next break  p previous  "
