"""What is read is measured: contrast, colours for the colour-blind, looks without any colour."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import combinations
from pathlib import Path

import pytest
from rich.style import Style
from textual.color import Color
from textual.widgets import Input

from tests.tui import samples
from tests.tui.driving import showing
from workbench import tui
from workbench.tui import themes
from workbench.tui.app import WorkbenchApp
from workbench.views.lines import STYLES

BACKS = [name for name in STYLES if themes.LOOKS[name].back]
FRONTS = ["", *(name for name in STYLES if not themes.LOOKS[name].back and "reverse" not in themes.LOOKS[name].text)]
UNDER = ["", *BACKS, *(f"{a} {b}" for a, b in combinations(BACKS, 2))]
STATES = ("error", "warning", "ok")


@pytest.mark.parametrize("sheet", sorted(Path(tui.__file__).parent.rglob("screens/**/*.tcss")), ids=lambda p: p.stem)
def test_a_style_sheet_is_about_its_own_screen(sheet: Path) -> None:
    """Sheets stay loaded when their screen is gone: one that names an id alone would arrange other screens."""
    rules = sheet.read_text(encoding="utf-8").split("}")
    selectors = [each.strip() for rule in rules if "{" in rule for each in rule.partition("{")[0].split(",")]
    assert selectors
    assert [each for each in selectors if each.startswith(("#", "."))] == []


@pytest.fixture
async def app() -> AsyncIterator[WorkbenchApp]:
    app = WorkbenchApp(samples.session())
    async with app.run_test():
        yield app


def colours(style: Style) -> tuple[Color, Color]:
    assert style.color is not None
    assert style.bgcolor is not None
    return Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)


@pytest.mark.parametrize(("theme", "least"), [("high-contrast", 7.0), *((t, 4.5) for t in themes.PALETTES)])
async def test_every_text_can_be_read_on_everything_it_stands_on(theme: str, least: float) -> None:
    app = WorkbenchApp(samples.session(), theme=theme)
    async with app.run_test():
        variables = app.theme_variables
        front = Color.parse(variables["foreground"])
        for surface in ("background", "surface", "panel"):
            back = Color.parse(variables[surface])
            for under in UNDER:
                for name in FRONTS:
                    one, other = colours(themes.style(f"{under} {name}", variables, front, back))
                    assert themes.contrast(one, other) >= least - 0.05, (surface, under, name)


@pytest.mark.parametrize("theme", themes.PALETTES)
async def test_the_example_in_an_empty_field_can_be_read(theme: str) -> None:
    app = WorkbenchApp(samples.session(), theme=theme)
    async with app.run_test() as pilot:
        await pilot.press("colon")
        field = app.screen.query_one(Input)
        one, other = colours(field.get_component_rich_style("input--placeholder"))
        assert field.placeholder
        assert themes.contrast(one, other) >= 4.45


@pytest.mark.parametrize("theme", themes.PALETTES)
async def test_what_is_marked_is_seen_to_be(theme: str) -> None:
    app = WorkbenchApp(samples.session(), theme=theme)
    async with app.run_test():
        variables = app.theme_variables
        front, back = Color.parse(variables["foreground"]), Color.parse(variables["background"])
        seen = {name: colours(themes.style(name, variables, front, back))[1] for name in ("", *BACKS)}
        for one, other in combinations(seen, 2):
            if {one, other} != {"block", "cursor-blurred"}:  # of different panes, with different signs
                assert difference(seen[one], seen[other]) > 4, (one, other)


MATRICES = {  # Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}


def linear(color: Color) -> list[float]:
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]


def seen_by(color: Color, kind: str) -> Color:
    values = [sum(m * c for m, c in zip(row, linear(color), strict=True)) for row in MATRICES[kind]]
    clipped = [min(1.0, max(0.0, v)) for v in values]
    coded = [v * 12.92 if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055 for v in clipped]
    return Color(*(round(255 * v) for v in coded))


def difference(one: Color, other: Color) -> float:
    """CIE76 distance in Lab (D65): 2.3 is just noticeable."""
    return sum((a - b) ** 2 for a, b in zip(lab(one), lab(other), strict=True)) ** 0.5


def lab(color: Color) -> tuple[float, float, float]:
    r, g, b = linear(color)
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
    fx, fy, fz = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@pytest.mark.parametrize("kind", MATRICES)
def test_states_stay_apart_for_the_colour_blind(kind: str) -> None:
    palette = themes.PALETTES["colour-blind"]
    seen = [seen_by(Color.parse(c), kind) for c in (palette.error, palette.warning, palette.success)]
    for one, other in combinations(seen, 2):
        assert difference(one, other) > 25
    marks = [seen_by(Color.parse(c), kind) for c in (palette.mark_error, palette.mark_related, palette.mark)]
    assert difference(marks[0], marks[1]) > 25
    assert difference(marks[0], marks[2]) > 25


def test_without_colours_every_mark_has_a_text_style_of_its_own() -> None:
    plain = {name: themes.LOOKS[name].plain for name in BACKS}
    assert all(plain.values())
    assert len(set(plain.values()) - {""}) >= len(plain) - 1  # lit and block have the same sign and underline
    for name in ("muted", "strong", "error", "form", "match", "here", "tab"):
        assert themes.LOOKS[name].plain, name


async def test_no_color_means_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.press("2")
        wire = driver.pane("wire")
        strips = lines(wire)
        for line_filter in driver.app.get_line_filters():
            strips = [strip.apply_filter(line_filter, Color(0, 0, 0)) for strip in strips]
        styles = [segment.style for strip in strips for segment in strip if segment.style]
        assert all(s.color is None or s.color.is_default for s in styles)
        assert all(s.bgcolor is None or s.bgcolor.is_default for s in styles)
        assert any(s.reverse for s in styles)  # the bytes of the finding
        assert any(s.underline for s in styles)  # the cursor


def lines(widget: object) -> list:  # type: ignore[type-arg]
    return [widget.render_line(y) for y in range(widget.size.height)]  # type: ignore[attr-defined]


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark", "ansi-light", "solarized-light"])
async def test_every_style_works_in_themes_of_textual_too(theme: str) -> None:
    app = WorkbenchApp(samples.session(), theme=theme)
    async with app.run_test():
        front, back = Color.parse("#e0e0e0"), Color.parse("#121212")
        for name in STYLES:
            for is_plain in (False, True):
                made = themes.style(name, app.theme_variables, front, back, is_plain=is_plain)
                assert made.color is not None
                assert made.bgcolor is not None


async def test_later_names_win_and_backgrounds_mix(app: WorkbenchApp) -> None:
    variables = app.theme_variables
    back, front = Color.parse("#121212"), Color.parse("#e0e0e0")
    cursor = themes.style("cursor", variables, front, back)
    both = themes.style("cursor lit", variables, front, back)
    assert cursor.bgcolor != both.bgcolor != themes.style("lit", variables, front, back).bgcolor
    assert (
        themes.style("muted error", variables, front, back).color == themes.style("error", variables, front, back).color
    )
    assert themes.style("strong error", variables, front, back).bold
