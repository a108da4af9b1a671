"""One meaning of q and esc: back, and never out of the program by one key too many."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from textual.css.query import NoMatches

from tests.tui import samples
from tests.tui.driving import Driver, screen_text, showing, until
from workbench.tui import keys
from workbench.tui.app import WorkbenchApp
from workbench.tui.bars import KeyBar
from workbench.tui.screens.home import HomeScreen
from workbench.tui.screens.session.screen import SessionScreen

SCREENS = "dxBm"
"""Keys of the session that open a screen at once."""


async def test_the_last_q_of_a_session_goes_home_and_home_asks() -> None:
    async with showing(samples.example(samples.LOST_RESULT), size=(120, 40)) as driver:
        await driver.press("q")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, HomeScreen))
        await driver.press("q")
        assert driver.app.is_running and "q again to quit Workbench" in driver.text
        await driver.press("q")
        await until(driver.pilot, lambda: not driver.app.is_running or driver.app._exit)


async def test_esc_leads_back_from_every_screen_and_from_the_session() -> None:
    async with showing(samples.example(samples.LOST_RESULT), size=(120, 40)) as driver:
        for opens in SCREENS:
            await driver.press(opens)
            await until(driver.pilot, lambda: not is_session(driver))
            await go_back(driver)
            assert is_session(driver)
        await driver.press("1", "escape")
        assert is_session(driver) and driver.focused == "findings"
        await driver.press("escape")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, HomeScreen))


async def go_back(driver: Driver) -> None:
    """Press esc; a second time only where the first one stopped something, which it does before it leads back."""
    bar = driver.app.screen.query_one(KeyBar)
    await driver.press("escape")
    await until(driver.pilot, lambda: is_session(driver) or not bar._is_running)
    if not is_session(driver):
        await driver.press("escape")


def is_session(driver: Driver) -> bool:
    return isinstance(driver.app.screen, SessionScreen)


async def test_a_footer_says_cancel_only_while_something_goes_on() -> None:
    async with showing(samples.session(), size=(160, 40)) as driver:
        bar = driver.screen.query_one("#keys", KeyBar)
        for table in (keys.MINIMIZE, keys.WHAT_IF, keys.LAB, keys.CONTINUE, keys.STEP, keys.ANSWER, keys.METRICS):
            words = []
            for is_running in (False, True, False):
                bar.run(is_running)
                bar.show_keys(table)
                words.append([key.word for key in bar._hints if key.id.endswith(".leave")])
            assert words == [["back"], ["cancel"], ["back"]]


async def test_home_stays_when_another_key_is_pressed_long_after() -> None:
    app = WorkbenchApp(None)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("q")
        screen = app.screen
        assert isinstance(screen, HomeScreen)
        screen._stay()
        await pilot.press("q")
        await until(pilot, lambda: "q again to quit" in screen_text(app))


@pytest.mark.parametrize("leaves", ["the app", "the screen", "nothing"])
async def test_what_a_screen_misses_that_is_being_taken_down_is_no_fault(leaves: str) -> None:
    app = WorkbenchApp(samples.example(samples.TOOL_LOOP))
    with pytest.raises(NoMatches) if leaves == "nothing" else nullcontext():
        async with app.run_test(size=(120, 40)) as pilot:
            driver = Driver(pilot)
            await until(pilot, lambda: driver.screen.opened)
            driver.screen.call_later(driver.screen.query_one, "#gone")
            if leaves == "the app":
                app.exit()
            elif leaves == "the screen":
                app.go_home()
    assert bool(app.crash) == (leaves == "nothing")
