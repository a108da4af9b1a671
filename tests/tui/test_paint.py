from __future__ import annotations

import pytest
from rich.style import Style

from workbench.tui.paint import content, strip
from workbench.views.lines import Line, Span, line


def style_of(names: str) -> Style:
    return Style(meta={"names": names})


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (line("short"), "short     "),
        (line("exactly 10"), "exactly 10"),
        (line("more than 10"), "more than…"),
        (line("five ", "then more"), "five then…"),
        (line("cut here…  ", "more"), "cut here… "),
        (line("日本語日本語"), "日本語日 …"),
        (line(Span("a", width=4), Span("b", width=-3), "|"), "a     b|  "),
        (line(Span("abcdef", width=4), "|"), "abc…|     "),
        (line("\x1b[2J"), "\\x1b[2J   "),
        (line("[/b]"), "[/b]      "),
        ((), "          "),
    ],
)
def test_a_line_takes_exactly_its_width(made: Line, shown: str) -> None:
    painted = strip(made, 10, style_of)
    assert painted.text == shown
    assert sum(segment.cell_length for segment in painted) == 10


def test_a_megabyte_on_one_line_is_cut_before_it_is_measured() -> None:
    assert strip(line("x" * 1_000_000), 10, style_of).text == "x" * 9 + "…"


def test_forms_have_a_style_of_their_own() -> None:
    names = [s.style.meta["names"] for s in strip(line(Span("a\x1bb", "key")), 10, style_of, "cursor") if s.style]
    assert names == ["cursor key", "cursor key form", "cursor key", "cursor"]


def test_titles_pass_the_gate_and_are_no_markup() -> None:
    assert content(line("[red]\x9b2J[/red]")).plain == "[red]\\x9b2J[/red]"
