"""The screens that a session leads to by a key, at two sizes; the tests of the other screens hold theirs."""

from __future__ import annotations

import pytest

from tests.tui import samples
from tests.tui.driving import showing, until
from tests.tui.layouts import SIZES, hold

SCREENS = {
    "session": (),
    "story": ("S",),
    "stream": ("K", "t"),
    "diff": ("J", "d"),
    "repairs": ("f",),
    "conversion": ("c",),
    "matrix": ("m",),
    "tools": ("T",),
    "arguments": ("A",),
    "tool results": ("R",),
    "metrics": ("$",),
    "edit": ("e",),
    "branches": ("B",),
    "export": ("x",),
    "lab": ("L",),
}
HALVES = (tuple(SCREENS)[:8], tuple(SCREENS)[8:])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("names", HALVES, ids=["first", "second"])
async def test_the_places_of_panes_are_held(names: tuple[str, ...]) -> None:
    async with showing(samples.example(samples.LOST_REASONING), SIZES[-1]) as driver:
        await until(driver.pilot, lambda: not driver.screen.repair_lookup.is_looking)
        session = driver.app.screen
        for name in names:
            await driver.press(*SCREENS[name])
            await until(driver.pilot, lambda name=name: not SCREENS[name] or driver.app.screen is not session)  # type: ignore[misc]
            await hold(driver, name)
            while driver.app.screen is not session:
                before = driver.app.screen
                await driver.press("q")
                await until(driver.pilot, lambda before=before: driver.app.screen is not before)  # type: ignore[misc]
