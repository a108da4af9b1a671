from __future__ import annotations

import pytest

from tests.tui.screens.test_home import at_home
from tests.tui.test_hostile import EVIL, assert_clean
from workbench.tui.panes.text import TextPane
from workbench.tui.screens.page import PageScreen


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (160, 50)])
async def test_a_page_is_laid_out_for_its_pane(size: tuple[int, int]) -> None:
    async with at_home(size) as home:
        home.app.push_screen(PageScreen("closure.missing-result"))
        await home.until("What is wrong")
        assert "closure.missing-result · esc closes" in home.text
        await home.press("j", "G", "g", "escape")
        assert not isinstance(home.app.screen, PageScreen)


async def test_a_rule_without_a_page_says_so() -> None:
    async with at_home() as home:
        home.app.push_screen(PageScreen(EVIL))
        await home.until("has no page")
        assert_clean(home)  # type: ignore[arg-type]


async def test_a_text_is_wrapped_and_its_headings_stand_out() -> None:
    async with at_home() as home:
        home.app.push_screen(PageScreen("none"))
        await home.until("has no page")
        pane = home.app.screen.query_one(TextPane)
        pane.show(["Heading", "  " + "word " * 60, "", "x" * 300])
        assert pane.head(0, 80)[0].style == "role"
        assert pane.count() > 7
        assert pane.head(1, 80)[0].text == "  "
