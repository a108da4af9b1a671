"""Going to a typed place of the session."""

from __future__ import annotations

from tests.tui import samples
from tests.tui.driving import Driver, showing, until


def warnings(driver: Driver) -> list[str]:
    """What was said, without the breaks of its lines."""
    return [said.message for said in driver.app._notifications]


async def jump(driver: Driver, typed: str) -> None:
    await driver.press("#")
    await until(driver.pilot, lambda: "go to" in driver.text)
    await driver.press(*typed, "enter")


async def test_all_forms_are_named_in_a_narrow_window() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (40, 20)) as driver:
        await driver.press("#")
        await until(driver.pilot, lambda: "go to" in driver.text)
        assert " ".join(driver.text.split()).endswith("or an id enter go esc cancel")


async def test_exchange_message_byte_and_pointer() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (120, 40)) as driver:
        await driver.shows(2)
        await jump(driver, "1")
        await driver.shows(0)
        await jump(driver, "m1")
        selection = driver.screen.pointer.selection
        assert selection
        assert (selection.side, selection.pointer) == ("request", "/messages/0")
        await driver.press("2")
        side = driver.screen.wire.side
        await jump(driver, "b0")
        assert driver.screen.pointer.selection
        assert (driver.screen.pointer.selection.side, driver.screen.pointer.selection.pointer) == (side, "")
        await jump(driver, "99")
        assert "exchange 99: the session has 3 exchanges" in driver.text
        await jump(driver, "e99999")
        assert "event 99,999: this position does not exist in the open exchange" in warnings(driver)


async def test_an_id_is_found_in_another_exchange() -> None:
    async with showing(samples.example(samples.LOST_REASONING), (120, 40)) as driver:
        await driver.shows(1)
        opened = driver.screen.opened
        assert opened
        call = next(line.id for line in opened.detail.closure.lines if line.id)
        await jump(driver, call)
        assert driver.screen.pointer.selection
        assert "tool_calls" in driver.screen.pointer.selection.pointer
        await jump(driver, "nobody_knows_this")
        await until(driver.pilot, lambda: any("not found in the inspected exchanges" in w for w in warnings(driver)))


async def test_leaving_the_line_goes_nowhere() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        await driver.shows(2)
        before = driver.screen.pointer.selection
        await driver.press("#", "1", "escape")
        assert driver.screen.pointer.selection == before
        await driver.shows(2)
