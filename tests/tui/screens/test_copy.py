"""The copy menu, by keys alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, showing
from tests.tui.test_hostile import assert_clean, hostile_session
from workbench.tui.screens.copy import CopyPane, CopyScreen
from workbench.views.lines import plain

CALL = '{"type": "tool_use", "id": "toolu_01Tests", "name": "run_tests", "input": {"target": "tests/test_parser.py"}}'


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


async def copied(driver: Driver, *keys: str) -> str:
    await driver.press(*keys)
    return driver.app.clipboard


FORMS = {
    "p": "/messages/1/content/2",
    "P": "3/request/messages/1/content/2",
    "b": CALL,
    "v": '{"target":"tests/test_parser.py"}',
}


async def test_the_selection() -> None:
    """In each form from one pane, and in one form from each of the others."""
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        for pane, keys in {"2": FORMS, "3": "P", "5": "b", "6": "v"}.items():
            for key in keys:
                assert json_or_text(await copied(driver, pane, "y", key)) == json_or_text(FORMS[key]), (pane, key)
            assert "sent the " in driver.text


def json_or_text(text: str) -> object:
    return json.loads(text) if text.startswith("{") else text


async def test_a_leaf_on_the_wire_is_its_text() -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": 'one\n"two" é'}]})
    async with showing(samples.session(samples.exchange(json.loads(body), {"id": "x"}))) as driver:
        await driver.press("2", "slash", *"two", "enter", "escape")
        assert await copied(driver, "y", "v") == 'one\n"two" é'


async def test_the_request_as_curl_and_the_whole_body() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        text = await copied(driver, "2", "y", "c")
        assert text.startswith("curl --globoff") and "https://api.anthropic.com/v1/messages" in text
        body = await copied(driver, "y", "B")
        assert json.loads(body)["model"] == "claude-sonnet-4-5"
        assert "bytes" in driver.text


async def test_the_finding_as_text() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        text = await copied(driver, "6", "y", "f")
        assert text.startswith("error closure.missing-result: tool call 'toolu_01Tests'")
        assert "source: claude-code issue 8231" in text


async def test_a_header_and_its_value() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (120, 40)) as driver:
        await driver.press("7")
        view = driver.pane("http")
        url = next(n for n in range(view.count()) if "POST" in plain(view.head(n, 80)))
        await driver.press("g", *"j" * url)
        assert await copied(driver, "y", "v") == samples.MESSAGES
        assert await copied(driver, "y", "h") == f"POST: {samples.MESSAGES}"


async def test_what_is_not_there_is_said_and_the_menu_stays() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.press("3", "y", "h")
        assert isinstance(driver.app.screen, CopyScreen)
        assert "this selection has no header: choose a line of the list" in driver.text
        await driver.press("escape")
        assert driver.focused == "ir"
        assert driver.app.clipboard == ""


async def test_a_row_is_chosen_by_enter_and_by_a_click() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.press("3", "y", "j", "enter")
        assert driver.app.clipboard == "/messages/1/content/2"
        await driver.press("y")
        assert driver.app.screen.query_one(CopyPane).size.height >= 6
        await driver.pilot.click(CopyPane, offset=(8, 3))
        await driver.pilot.pause()
        assert driver.app.clipboard == "3/request/messages/1/content/2"


async def test_what_cannot_be_a_command_is_said() -> None:
    async with showing(hostile_session(), exchange=0) as driver:
        await driver.press("2", "y", "c")
        assert "not copied: the method is not an HTTP method" in driver.text
        assert_clean(driver)


@pytest.mark.parametrize("size", [(80, 24)])
async def test_hostile_text_is_clean_in_the_menu(size: tuple[int, int]) -> None:
    async with showing(hostile_session(), size) as driver:
        for exchange, pane in enumerate(("2", "3", "7")):
            driver.screen.navigation.open(exchange)
            await driver.shows(exchange)
            await driver.press(pane, "j", "j", "y")
            assert_clean(driver)
            await driver.press("v")
            assert_clean(driver)
            await driver.press("escape")
