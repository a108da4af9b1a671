from __future__ import annotations

import pytest

from tests.tui.screens.test_home import at_home
from tests.tui.test_hostile import EVIL, assert_clean
from workbench.contracts import pages
from workbench.errors import ProfileError
from workbench.tui.screens.page import PageScreen
from workbench.tui.widgets.text import TextPane


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (160, 50)])
async def test_a_page_is_laid_out_for_its_pane(size: tuple[int, int]) -> None:
    async with at_home(size) as home:
        home.app.push_screen(PageScreen("closure.missing-result"))
        await home.until("What is wrong")
        assert "closure.missing-result · esc back" in home.text
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


async def test_the_footer_is_that_of_the_page() -> None:
    async with at_home((80, 24)) as home:
        below = home.text.split("\n")[-1]
        home.app.push_screen(PageScreen("closure.missing-result"))
        await home.until("What is wrong")
        footer = home.text.split("\n")[-1]
        assert "j down" in footer and "esc back" in footer
        assert "quit" in below and "quit" not in footer
        await home.press("escape")
        assert home.text.split("\n")[-1] == below


async def test_a_page_that_cannot_be_read_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(rule: str) -> None:
        raise ProfileError("no such contract")

    monkeypatch.setattr(pages, "page", fails)
    async with at_home() as home:
        home.app.push_screen(PageScreen("closure.missing-result"))
        await home.until("cannot read this page: no such contract")
