"""The story screen: from top to bottom, over time, and back to the panes."""

from __future__ import annotations

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from workbench.rules import Inspector
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.screens.story import reading
from workbench.tui.screens.story.screen import StoryScreen
from workbench.tui.service import Job, JobAnswer
from workbench.views import Story


async def begin(driver: Driver) -> StoryScreen:
    await until(driver.pilot, lambda: driver.screen.state.is_done and driver.screen.opened)
    await driver.press("S")
    screen = driver.app.screen
    assert isinstance(screen, StoryScreen)
    await until(driver.pilot, lambda: screen.reading.read == screen.session.state.total)
    await until(driver.pilot, lambda: screen.story.story.read == screen.session.state.total)
    return screen


async def test_it_opens_at_the_break_and_leads_back_to_its_bytes() -> None:
    async with showing(samples.example(samples.LOST_REASONING), (120, 40)) as driver:
        screen = await begin(driver)
        assert screen.story.current
        assert screen.story.current.label == "reasoning.missing"
        assert screen.lanes.exchange == 1
        await driver.press("k", "k", "k")
        assert screen.story.current.kind == "call"
        await driver.press("enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen))
        await driver.shows(0)
        selection = driver.screen.pointer.selection
        assert selection
        assert selection.side == "response"
        assert driver.focused == "ir"


async def test_a_break_opens_as_its_finding() -> None:
    async with showing(samples.example(samples.LOST_REASONING), (120, 40)) as driver:
        await begin(driver)
        await driver.press("enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen))
        await driver.shows(1)
        assert driver.screen.findings.current
        assert driver.screen.findings.current.rule == "reasoning.missing"


async def test_folding_hides_and_search_finds_what_is_hidden() -> None:
    async with showing(samples.example("anthropic-long-session"), (100, 30)) as driver:
        screen = await begin(driver)
        before = screen.story.count()
        await driver.press("g", "space")
        assert screen.story.count() < before
        await driver.press("slash", *"time.time", "enter")
        await until(driver.pilot, lambda: not screen.search.is_busy)
        assert screen.story.current
        assert "time.time" in screen.story.current.text
        assert len(screen.search.found) > 1
        at = screen.story.number
        await driver.press("n")
        assert screen.story.number != at
        await driver.press("N")
        assert screen.story.number == at
        await driver.press("escape")
        assert not screen.search.wanted


async def test_unfolding_everything_and_back() -> None:
    async with showing(samples.example("anthropic-long-session"), (100, 30)) as driver:
        screen = await begin(driver)
        await driver.press("*")
        assert screen.story.count() == len(screen.story.story.items)
        await driver.press("*")
        assert screen.story.count() < len(screen.story.story.items)


async def test_story_and_timeline_move_together() -> None:
    async with showing(samples.example("anthropic-long-session"), (120, 40)) as driver:
        screen = await begin(driver)
        await driver.press("tab", "l", "l")
        chosen = screen.lanes.exchange
        assert screen.story.current
        assert screen.story.current.exchange == chosen
        await driver.press("+", "+")
        assert screen.lanes.zoom == 4
        assert "1/4 shown" in driver.text
        await driver.press("j")
        assert screen.lanes.cursor == 1
        await driver.press("tab", "G")
        assert screen.story.current
        assert screen.lanes.exchange == screen.story.current.exchange


def test_reading_goes_slice_by_slice_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SLICE_SECONDS", -1.0)
    inspector = Inspector(samples.example("anthropic-long-session"))
    inspector.run()
    shown: list[Story] = []

    def ask(job: Job) -> None:
        answer = job(inspector)
        assert isinstance(answer, JobAnswer)
        answer.deliver()

    made = reading.StoryReading(ask, tuple, shown.append)
    made.go_on()
    made.go_on()
    assert [story.read for story in shown] == [1, 2]
    made.stop()
    made.go_on()
    assert made.read == len(shown) == 2


async def test_keys_between_breaks() -> None:
    async with showing(samples.example("gateway-field-dropped"), (120, 40)) as driver:
        screen = await begin(driver)
        await driver.press("g", "]")
        assert screen.story.current
        first = screen.story.number
        assert screen.story.current.kind == "finding"
        await driver.press("]")
        assert (screen.story.number or 0) > (first or 0)
        await driver.press("[")
        assert screen.story.number == first


async def test_it_is_usable_at_40_columns() -> None:
    async with showing(samples.example(samples.LOST_REASONING), (40, 20)) as driver:
        await begin(driver)
        assert "list_dir" in driver.text
        assert "Timeline" in driver.text
