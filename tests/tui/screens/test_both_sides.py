"""Very wide windows: the response is beside the request, and both follow the selection."""

from __future__ import annotations

from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from workbench.tui.widgets.wire import WirePane

WIDE = (240, 60)


async def sides(driver: Driver) -> tuple[str, str]:
    """The sides of both wire panes, the focused one first."""
    await until(driver.pilot, lambda: driver.app.screen.query("#other-side"))
    await driver.pilot.pause()
    return driver.screen.wire.side, driver.app.screen.query_one("#other-side", WirePane).side


async def test_the_response_is_beside_the_request() -> None:
    async with showing(samples.example(samples.LOST_REASONING), size=WIDE) as driver:
        await driver.shows(1)
        assert await sides(driver) == ("request", "response")
        assert "2 Wire · request 2" in driver.text and "2 Wire · response 2" in driver.text
        assert "HTTP/1.1 400" in driver.text
        await driver.press("r")
        assert await sides(driver) == ("response", "request")
        await driver.press("K")
        await driver.shows(0)
        assert "2 Wire · response 1" in driver.text and "2 Wire · request 1" in driver.text


async def test_a_click_on_the_other_side_swaps_both() -> None:
    async with showing(samples.example(samples.LOST_REASONING), size=WIDE) as driver:
        await driver.shows(1)
        assert await sides(driver) == ("request", "response")
        await driver.pilot.click("#other-side", offset=(10, 5))
        assert await sides(driver) == ("response", "request")
        assert driver.focused == "wire"


async def test_a_narrower_window_has_one_wire_pane() -> None:
    async with showing(samples.example(samples.LOST_REASONING), size=WIDE) as driver:
        await driver.shows(1)
        await sides(driver)
        for size in ((160, 50), (120, 40), (80, 24), (40, 20)):
            await driver.pilot.resize_terminal(*size)
            await driver.pilot.pause()
            assert not driver.app.screen.query_one("#other-side", WirePane).display, size
            assert "2 Wire · response 2" not in driver.text
        await driver.pilot.resize_terminal(*WIDE)
        await until(driver.pilot, lambda: "2 Wire · response 2" in driver.text)
        await driver.press("2", "z")
        assert not driver.app.screen.query_one("#other-side", WirePane).display


async def test_what_belongs_to_the_selection_is_marked_on_both_sides() -> None:
    async with showing(samples.example("anthropic-tool-loop"), size=WIDE, exchange=1) as driver:
        await driver.shows(1)
        await sides(driver)
        opened = driver.screen.opened
        assert opened
        selection = opened.at_pointer("request", "/messages/1")
        driver.screen.pointer.select(selection)
        other = driver.app.screen.query_one("#other-side", WirePane)
        await until(driver.pilot, lambda: other.side == "response")
        assert not other.marks.lit
        assert other.marks.related == opened.lights(selection).spans.get("response", ())
