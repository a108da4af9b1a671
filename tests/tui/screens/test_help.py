from __future__ import annotations

from tests.tui import samples
from tests.tui.driving import showing, until
from workbench.tui.screens.help import HelpPane, HelpScreen


async def test_it_is_about_this_pane_and_this_screen() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (120, 60)) as driver:
        for digit, title, only_here in (("2", "Wire", "next value on the line"), ("5", "Closure", "")):
            await driver.press(digit, "question_mark")
            text = driver.text
            assert text.index(title) < text.index("keys: ")
            assert ("next value on the line" in text) == bool(only_here)
            if only_here:
                assert text.index(only_here) < text.index("next break (error or warning)")
            await driver.press("escape")


async def test_it_scrolls_and_is_searched() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        await driver.press("question_mark")
        assert "quit from anywhere" not in driver.text
        await driver.press("slash", *"anywhere", "enter")
        await until(driver.pilot, lambda: "quit from anywhere" in driver.text)
        await driver.press("n", "N", "G")
        assert "published failures" in driver.text
        await driver.press("t")
        assert "glossary: Traffic" in driver.text and "append-only" in driver.text
        await driver.press("slash", *"zzz", "enter", "q")
        await until(driver.pilot, lambda: not isinstance(driver.app.screen, HelpScreen))


async def test_any_of_its_keys_closes_it() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        for key in ("escape", "q", "question_mark", "f1"):
            await driver.press("question_mark")
            assert isinstance(driver.app.screen, HelpScreen), key
            await driver.press(key)
            await until(driver.pilot, lambda: not isinstance(driver.app.screen, HelpScreen))


async def test_no_line_is_cut_at_eighty_columns() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        await driver.press("2", "question_mark")
        pane = driver.app.screen.query_one(HelpPane)
        for y in range(pane.virtual_size.height - pane.content_region.height):
            pane.scroll_to(y=y, animate=False, force=True, immediate=True)
            for row in range(pane.content_region.height):
                assert not pane.render_line(row).text.rstrip().endswith("…"), pane.render_line(row).text


async def test_no_toast_lies_over_it_and_its_footer_is_its_own() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        await driver.press("F")
        await until(driver.pilot, lambda: "the recording has ended" in driver.text)
        await driver.press("question_mark")
        await until(driver.pilot, lambda: "the recording has ended" not in driver.text)
        footer = driver.text.split("\n")[-1]
        assert "/ search" in footer and "esc back" in footer and "next break" not in footer
