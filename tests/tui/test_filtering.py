"""The filter of the session screen, by keys alone."""

from __future__ import annotations

import threading

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from tests.tui.test_hostile import assert_clean, hostile_session
from workbench.filters import Filter
from workbench.tui.widgets.filterbar import FilterBar

SIZES = [(80, 24), (160, 50)]


async def filtered(driver: Driver, text: str) -> None:
    await driver.press("ampersand")
    bar = driver.screen.query_one(FilterBar)
    bar.input.value = text
    await driver.press("enter")


def shown(driver: Driver) -> list[int]:
    return list(driver.screen.state.visible)


@pytest.mark.parametrize("size", SIZES)
async def test_a_filter_is_typed_completed_and_applied(size: tuple[int, int]) -> None:
    async with showing(samples.example(samples.LOST_RESULT), size) as driver:
        await driver.shows(2)
        await driver.press("1", "ampersand", *"too")
        assert "▸ tool:" in driver.text
        await driver.press("tab")
        assert "▸ tool:read_file" in driver.text
        await driver.press("down", "tab")
        assert driver.screen.query_one(FilterBar).input.value == "tool:run_tests "
        assert "1 of 3 shown" in driver.text  # while typing
        await driver.press("enter")
        assert not driver.screen.query(FilterBar)
        assert driver.focused == "exchanges"
        assert shown(driver) == [0]
        assert "1 of 3 shown" in driver.text
        assert "exchange 3 is not among the exchanges shown" in driver.text
        assert driver.screen.opened and driver.screen.opened.index == 2


async def test_the_line_and_its_keys_are_on_the_smallest_screen() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (40, 20)) as driver:
        await driver.shows(2)
        await driver.press("ampersand")
        await until(driver.pilot, lambda: "enter apply" in driver.text)
        assert "▸ tool:" in driver.text and "\n& " in driver.text
        assert "q back" not in driver.text  # no key of the screen works while one types
        await driver.press("escape")
        assert "q back" in driver.text and "enter apply" not in driver.text


async def test_walking_stays_within_the_filter() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await filtered(driver, "conversation:1")
        await driver.press("K")
        await driver.shows(0)
        await driver.press("K")
        assert "no earlier exchange matches the filter" in driver.text
        await driver.press("J")
        await driver.shows(2)
        await filtered(driver, "conversation:2")
        await driver.press("]")
        assert "no further break" in driver.text
        assert "no findings in the exchanges shown" in driver.text
        await driver.press("1", "G", "enter")
        await driver.press("K")
        await driver.shows(1)
        await filtered(driver, "")
        assert shown(driver) == [0, 1, 2]
        assert driver.screen.findings.count() == 1


async def test_nothing_passes() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.press("1")
        await filtered(driver, "tool:nobody")
        assert "no exchange matches the filter" in driver.text
        assert "0 of 3 shown" in driver.text
        await driver.press("j", "k", "G", "]", "w", "K")
        assert driver.app.is_running


async def test_what_is_wrong_is_marked_and_escape_leaves_it_as_it_was() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await filtered(driver, "status:200")
        await driver.press("ampersand")
        driver.screen.query_one(FilterBar).input.value = "a stauts:4"
        await driver.pilot.pause()
        lines = driver.text.splitlines()
        typed = next(n for n, text in enumerate(lines) if "a stauts:4" in text)
        assert lines[typed + 1].index("^") == lines[typed].index("stauts")
        assert lines[typed + 1].count("^") == 6
        assert "did you mean status?" in lines[typed + 2]
        await driver.press("escape")
        assert driver.screen.exchange_filter.text == "status:200"
        assert shown(driver) == [0, 1]
        await filtered(driver, "stauts:4")
        assert "filter, character" in driver.text
        assert shown(driver) == [0, 1]


async def test_earlier_filters_come_back() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        for text in ("status:200", "status:4xx", ""):
            await filtered(driver, text)
        await driver.press("ampersand", "up")
        bar = driver.screen.query_one(FilterBar)
        assert bar.input.value == "status:4xx"
        await driver.press("up")
        assert bar.input.value == "status:200"
        await driver.press("down", "enter")
        assert driver.screen.exchange_filter.text == "status:4xx"
        assert shown(driver) == [2]


async def test_bodies_are_read_for_text_and_it_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.tui.screens.session.exchange_filter.SLICE_SECONDS", -1)
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await filtered(driver, "text~TOOLU_01TESTS")
        await until(driver.pilot, lambda: shown(driver) == [0, 2] and not driver.screen.exchange_filter.is_reading)
        gate = threading.Event()
        honest = Filter.passes
        monkeypatch.setattr(Filter, "passes", lambda self, facts: gate.wait(20) and honest(self, facts))
        await filtered(driver, "text~nowhere")
        assert "read · esc: stop" in driver.text
        await driver.press("escape")
        gate.set()
        assert driver.screen.exchange_filter.text == ""
        assert shown(driver) == [0, 1, 2]


async def test_hostile_names_are_suggested_safely() -> None:
    async with showing(hostile_session(), (80, 24)) as driver:
        await driver.press("ampersand", *"tool:")
        assert_clean(driver)
        await driver.press("tab")
        assert_clean(driver)
        await driver.press("enter")
        assert_clean(driver)
        assert driver.screen.exchange_filter.text
        assert shown(driver) == [1]
