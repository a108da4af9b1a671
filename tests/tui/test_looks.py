from __future__ import annotations

import pytest
from textual.app import App
from textual.color import Color

from workbench.tui import looks
from workbench.tui.lines import STYLES

BACK, FRONT = Color.parse("#121212"), Color.parse("#e0e0e0")


@pytest.mark.parametrize(
    "theme", ["textual-dark", "textual-light", "ansi-dark", "ansi-light", "nord", "solarized-light"]
)
async def test_every_style_works_in_every_theme(theme: str) -> None:
    app: App[None] = App()
    async with app.run_test():
        app.theme = theme
        for name in STYLES:
            made = looks.style(name, app.theme_variables, FRONT, BACK)
            assert made.color is not None
            assert made.bgcolor is not None


async def test_later_names_win_and_backgrounds_mix() -> None:
    app: App[None] = App()
    async with app.run_test():
        variables = app.theme_variables
        cursor = looks.style("cursor", variables, FRONT, BACK)
        both = looks.style("cursor lit", variables, FRONT, BACK)
        assert cursor.bgcolor != both.bgcolor != looks.style("lit", variables, FRONT, BACK).bgcolor
        assert (
            looks.style("muted error", variables, FRONT, BACK).color
            == looks.style("error", variables, FRONT, BACK).color
        )
        assert looks.style("strong error", variables, FRONT, BACK).bold
