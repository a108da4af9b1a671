"""The keys of a screen after a pause."""

from __future__ import annotations

from tests.tui import samples
from tests.tui.driving import Driver, showing, still, until
from workbench.tui import keymap
from workbench.tui.app import WorkbenchApp
from workbench.tui.idle_keys import HintBar, hint_lines
from workbench.views.lines import plain


def bars(driver: Driver) -> list[HintBar]:
    return list(driver.app.screen.query(HintBar))


async def pause(driver: Driver) -> None:
    """What the timer does after a pause."""
    assert isinstance(driver.app, WorkbenchApp)
    driver.app.hints.show()
    await driver.pilot.pause()


async def test_the_keys_are_shown_on_empty_rows_until_the_next_key_and_once_on_each_screen() -> None:
    """A full screen stays as it is, its footer too."""
    async with showing(samples.example(samples.LOST_REASONING), (80, 56)) as driver:
        await until(driver.pilot, lambda: "f: show it" in driver.text)
        before = await still(driver)
        await pause(driver)
        assert driver.text == before and not bars(driver)
        await driver.press("A")
        await pause(driver)
        rows = driver.text.splitlines()
        assert [row.split()[0] for row in rows[-3:-1]] == ["look", "move"] and "? help" in rows[-1]
        await driver.press("j")
        assert not bars(driver)
        await pause(driver)
        assert not bars(driver), "this person has seen them"


async def test_nobody_who_types_is_disturbed() -> None:
    async with showing(samples.example(samples.LOST_REASONING), (120, 40)) as driver:
        await driver.press("slash")
        await pause(driver)
        assert not bars(driver)


def test_a_user_switches_them_off() -> None:
    assert keymap.read({"hints": "none"}) == keymap.Keymap({}, (), is_quiet=True)
    assert keymap.read({"hints": "loud"}).problems and not keymap.read({}).is_quiet


def test_no_line_is_longer_than_the_screen() -> None:
    from workbench.tui import keys
    from workbench.tui.idle_keys import ActiveKey

    active = [ActiveKey(key, 0) for key in (*keys.PANE, *keys.SESSION)]
    for width in (10, 40, 80, 300):
        assert all(len(plain(made)) <= width for made in hint_lines(active, width))
