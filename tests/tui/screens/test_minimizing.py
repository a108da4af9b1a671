"""The minimising screen: how far it is, what is left, the edits, and what can be done with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.driving import Driver, showing, until
from tests.tui.layouts import hold
from workbench.config import resources
from workbench.formats.importers import open_input
from workbench.tui.models import minimizing
from workbench.tui.screens.edit.screen import EditScreen
from workbench.tui.screens.minimizing import MinimizingScreen
from workbench.tui.screens.questions import ConfirmScreen
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.screens.target_choice import TargetScreen
from workbench.wire.session import Session


def broken(name: str = "anthropic-parallel-result-lost") -> Session:
    return open_input(str(resources.folder("sessions") / f"{name}.jsonl"))


async def minimising(driver: Driver) -> MinimizingScreen:
    """The screen, once it is over."""
    await driver.press("M")
    await until(driver.pilot, lambda: isinstance(driver.app.screen, TargetScreen))
    await driver.press("enter")
    await until(driver.pilot, lambda: isinstance(driver.app.screen, MinimizingScreen))
    screen = driver.app.screen
    assert isinstance(screen, MinimizingScreen)
    await until(driver.pilot, lambda: screen.is_over and screen.seen is not None and screen.seen.is_over)
    await driver.pilot.pause()
    return screen


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_is_left_and_the_edits_are_there(size: tuple[int, int]) -> None:
    async with showing(broken(), size=size) as driver:
        screen = await minimising(driver)
        text = driver.text
        assert "minimal · " in text and "919 B → " in text
        assert "call read_file" in text
        assert "closure.missing-result" in text
        assert "add an error result for tool call 'toolu_01Tests'" in text
        assert screen.edits.edits[0].accepted and "simulated" in text


async def test_the_panes_take_turns_where_there_is_little_room() -> None:
    async with showing(broken(), size=(80, 24)) as driver:
        screen = await minimising(driver)
        assert screen.left.has_focus
        await driver.press("tab")
        assert screen.smallest.has_focus and '"toolu_01Tests"' in driver.text
        await driver.press("tab")
        assert screen.whole.has_focus and "src/parser.py" in screen.whole.body.decode()
        await driver.press("tab")
        assert screen.edits.has_focus
        await hold(driver, "minimise")


async def test_the_smallest_is_written_to_a_file_and_becomes_a_branch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with showing(broken()) as driver:
        screen = await minimising(driver)
        assert screen.seen
        smallest = screen.seen.result.text
        await driver.press("w", "enter")
        await until(driver.pilot, lambda: (tmp_path / "smallest-3.json").is_file())
        assert (tmp_path / "smallest-3.json").read_bytes() == smallest
        await until(driver.pilot, lambda: driver.app.screen is screen)
        await driver.press("b")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, EditScreen))
        edit = driver.app.screen
        assert isinstance(edit, EditScreen)
        request = edit.node.exchange.request
        assert request and request.body.raw == smallest and edit.node.title.startswith("minimised: 919 B → ")


async def test_an_edit_becomes_a_branch() -> None:
    async with showing(broken()) as driver:
        screen = await minimising(driver)
        mended = screen.edits.edits[1]
        screen.edits.focus()
        await driver.press("j", "enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, EditScreen))
        edit = driver.app.screen
        assert isinstance(edit, EditScreen)
        request = edit.node.exchange.request
        assert request and request.body.raw == mended.text and edit.node.title == mended.repair.title


async def test_a_request_that_is_accepted_says_so() -> None:
    async with showing(broken("anthropic-tool-loop")) as driver:
        await minimising(driver)
        assert "the target accepts the request" in driver.text
        await driver.press("b")
        await driver.press("escape")
        assert isinstance(driver.app.screen, SessionScreen)


async def test_escape_stops_and_keeps_what_there_is() -> None:
    async with showing(broken()) as driver:
        await driver.press("M")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, TargetScreen))
        await driver.press("enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, MinimizingScreen))
        screen = driver.app.screen
        assert isinstance(screen, MinimizingScreen)
        await driver.press("escape")
        await until(driver.pilot, lambda: screen.is_over)
        assert driver.app.screen is screen or isinstance(driver.app.screen, SessionScreen)


async def test_a_real_endpoint_is_asked_about_with_its_budget() -> None:
    async with showing(broken()) as driver:
        await driver.press("M")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, TargetScreen))
        await driver.press(*"http://127.0.0.1:9/v1", "enter")
        await driver.press("enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, ConfirmScreen))
        assert "At most 150 requests" in driver.text
        await driver.press("n")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen))


def test_a_question_names_host_budget_and_key() -> None:
    asked = minimizing.question("https://api.example.com", 150, "key $EXAMPLE_KEY")
    assert "150 requests" in asked and "api.example.com" in asked and "$EXAMPLE_KEY" in asked
