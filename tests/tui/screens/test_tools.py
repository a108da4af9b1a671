"""The tools screen: declared tools against what providers take of a schema."""

from __future__ import annotations

import json

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, screen_text, showing, until
from workbench.tui.screens import tools
from workbench.tui.screens.tools import ToolsScreen
from workbench.wire.session import MemorySession, Session

ONE_OF = {
    "type": "object",
    "properties": {"yaml": {"type": "string"}, "file": {"type": "string"}},
    "oneOf": [{"required": ["yaml"]}, {"required": ["file"]}],
}
PLAIN = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
DECLARED = [
    {"name": "ls", "input_schema": PLAIN},
    {"name": "run", "input_schema": ONE_OF},
    {"type": "web_search_20250305", "name": "web_search"},
]


def asking(declared: list[object]) -> Session:
    request = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9,
        "tools": declared,
        "messages": [{"role": "user", "content": "go"}],
    }
    answer = {"id": "m", "type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}
    return MemorySession("tools", (samples.exchange(request, answer, url=samples.MESSAGES),))


async def tools_of(driver: Driver) -> ToolsScreen:
    await driver.press("T")
    screen = driver.app.screen
    assert isinstance(screen, ToolsScreen)
    work = screen.worklist
    await until(driver.pilot, lambda: work.subjects is not None and len(work.judgements) == len(work.subjects))
    return screen


async def test_every_provider_has_a_row_where_all_rows_fit() -> None:
    async with showing(asking(DECLARED), size=(120, 50)) as driver:
        await tools_of(driver)
        await driver.press("g", "j")
        assert "✓ bedrock" in driver.text and "accept the tool unchanged" not in driver.text
        await driver.pilot.resize_terminal(120, 31)
        await driver.pilot.pause()
        assert "✓ bedrock" not in driver.text and "accept the tool unchanged" in driver.text


async def test_every_tool_has_a_verdict_and_every_provider_a_reason() -> None:
    async with showing(asking(DECLARED), size=(160, 35)) as driver:
        await tools_of(driver)
        assert " need a change" in driver.text and "run by the provider: no schema" in driver.text
        await driver.press("g", "j")
        assert "/oneOf: oneOf is not allowed at the root" in driver.text and "accept the tool unchanged" in driver.text
        await driver.press("tab", "G")
        assert "bedrock, " in driver.text
        await driver.press("enter")
        assert "✓ bedrock" in driver.text


async def test_the_change_the_check_and_both_schemas_are_shown() -> None:
    async with showing(asking(DECLARED)) as driver:
        screen = await tools_of(driver)
        await driver.press("g", "j")
        assert "oneOf at the root → one object with all properties" in driver.text
        assert "remaining check" in driver.text
        assert json.loads(screen.before.body) == ONE_OF
        assert "oneOf" not in json.loads(screen.after.body)
        await driver.press("tab", "tab", "G")
        assert "Check the arguments locally" in driver.text


async def test_enter_goes_to_the_bytes_of_the_keyword() -> None:
    async with showing(asking(DECLARED)) as driver:
        await tools_of(driver)
        await driver.press("g", "j", "tab", "tab", "enter")
        await until(driver.pilot, lambda: driver.app.screen is not None and driver.focused == "wire")
        selection = driver.screen.pointer.selection
        assert selection and selection.pointer.startswith("/tools/1/input_schema/oneOf")


async def test_the_tool_that_is_selected_is_shown_first() -> None:
    async with showing(asking(DECLARED)) as driver:
        opened = driver.screen.opened
        assert opened
        driver.screen.pointer.select(opened.at_pointer("request", "/tools/1/name"))
        screen = await tools_of(driver)
        assert screen.cursor_number() == 1


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ([], tools.NO_TOOLS),
        ([{"name": "x"}], "declares no schema"),
        ([{"name": "x", "input_schema": {"type": "object", "description": "x" * tools.TOO_LARGE}}], "too large"),
    ],
    ids=["none", "no schema", "too large"],
)
async def test_what_cannot_be_judged_says_why(declared: list[object], words: str) -> None:
    async with showing(asking(declared)) as driver:
        await tools_of(driver)
        assert all(each in driver.text for each in words.splitlines())
        await driver.press("tab", "tab", "j", "enter")


@pytest.mark.parametrize("size", [(80, 24), (160, 50), (30, 8)])
async def test_every_size_shows_every_pane(size: tuple[int, int]) -> None:
    async with showing(asking(DECLARED)) as driver:
        await tools_of(driver)
        await driver.press("g", "j")
        await driver.pilot.resize_terminal(*size)
        for _ in range(5):
            assert (screen_text(driver.app).count("\n") + 1) == size[1]
            focused = driver.app.focused
            assert size[0] < 60 or (focused and focused.region.height > 1)
            await driver.press("tab")
        await driver.press("q")


async def test_of_what_is_not_decoded_nothing_is_claimed() -> None:
    url = "https://generativelanguage.googleapis.com/v1beta/interactions"
    async with showing(MemorySession("odd", (samples.exchange({}, {}, url=url),))) as driver:
        for key in "TA":
            await driver.press(key)
            await until(driver.pilot, lambda: "not decoded" in driver.text)
            assert "declares no tools" not in driver.text and "no tool calls:" not in driver.text
            await driver.press("q")
