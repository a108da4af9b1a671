"""Everything has its key; the mouse does what people expect of it as well."""

from __future__ import annotations

from textual.events import MouseScrollDown

from tests.tui import samples
from tests.tui.driving import showing, until


async def test_a_click_focuses_and_selects_and_a_second_one_opens() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.pilot.click("#exchanges", offset=(10, 1))
        assert driver.focused == "exchanges"
        await driver.shows(0)
        await driver.pilot.click("#exchanges", offset=(10, 1), times=2)
        await until(driver.pilot, lambda: driver.focused == "wire")


async def test_the_wheel_scrolls_what_it_is_over() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        await driver.press("2", "g")
        wire = driver.pane("wire")
        assert wire.scroll_offset.y == 0
        place = wire.content_region.offset
        driver.screen._forward_event(MouseScrollDown(wire, place.x, place.y, 0, 0, 0, False, False, False))
        await until(driver.pilot, lambda: wire.scroll_offset.y > 0)
