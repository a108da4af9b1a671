"""The metrics screen by keys: of an open session, of the sessions at home, of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, screen_text, showing, until
from tests.tui.test_hostile import assert_clean
from workbench.config import resources
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.home import HomeScreen
from workbench.tui.screens.metrics import FolderScreen, MetricsScreen
from workbench.tui.screens.session.screen import SessionScreen
from workbench.wire.session import MemorySession

LONG = "anthropic-long-session"
NEVER = "nothing is sent · tools are never run"


def on(driver: Driver) -> MetricsScreen:
    screen = driver.app.screen
    assert isinstance(screen, MetricsScreen)
    return screen


async def done(driver: Driver) -> MetricsScreen:
    screen = on(driver)
    await until(driver.pilot, lambda: not screen.counter.progress)
    return screen


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_session_turn_by_turn_and_on_to_the_exchange(size: tuple[int, int]) -> None:
    async with showing(samples.example(LONG), size, exchange=0) as driver:
        await driver.press("$")
        screen = await done(driver)
        assert "22 turns · 37,340 tokens · $0.2014" in driver.text and NEVER in driver.text
        assert all(word in driver.text for word in ("▓ system", "░ overhead", "▚ tools", "▒ history", "█ new"))
        await driver.press("j", "j")
        assert "exchange 3" in driver.text and "added by the provider" in driver.text
        first, later = (next(r for r in driver.text.split("\n") if f"    {n}   " in r and "░" in r) for n in (1, 8))
        assert "▒" not in first and later.count("▒") > 5
        await driver.press("2")
        assert "$0.0" in driver.text and "cost" in driver.text
        await driver.press("3")
        assert "anthropic  " in driver.text and "22/22" in driver.text and "100%" in driver.text
        await driver.press("b")
        assert "by model" in driver.text and "claude-opus" in driver.text
        await driver.press("1", "j", "j", "enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen))
        await driver.shows(screen.counter.gathered[0].costs.turns[2].index)


async def test_what_was_read_from_a_cache_is_marked_in_the_bar() -> None:
    answer = {
        "id": "1",
        "model": "gpt-4o",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "done"}}],
        "usage": {
            "prompt_tokens": 1000,
            "completion_tokens": 40,
            "total_tokens": 1040,
            "prompt_tokens_details": {"cached_tokens": 600},
        },
    }
    asked = {"model": "gpt-4o", "messages": [{"role": "user", "content": "read it"}]}
    async with showing(samples.session(samples.exchange(asked, answer)), (80, 24), exchange=0) as driver:
        await driver.press("$")
        await done(driver)
        row = next(row for row in driver.text.split("\n") if "1,000" in row and "█" in row)
        bar = row[row.index("█") : row.rindex("▄")]
        assert 0.5 < bar.index("│") / len(bar) < 0.7 and " 600 " in row


async def test_the_sessions_at_home_and_one_of_them() -> None:
    app = WorkbenchApp(None)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        driver = Driver(pilot)
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and app.screen.pane.items())
        await driver.press("m")
        screen = await done(driver)
        names = [one.path.stem for one in screen.counter.gathered]
        assert LONG in names and f"{len(names)} sessions" in driver.text
        for _ in range(names.index(LONG)):
            await driver.press("j")
        await driver.press("enter")
        assert "22 turns" in driver.text and screen.session_number == names.index(LONG)
        await driver.press("enter")
        await until(pilot, lambda: isinstance(app.screen, SessionScreen) and app.screen.opened)
        await driver.press("q")
        await driver.press("escape")
        assert screen.session_number is None and screen.chart.cursor == names.index(LONG)
        await driver.press("escape")
        assert isinstance(app.screen, HomeScreen)


async def test_a_folder_and_one_that_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes((resources.folder("sessions") / f"{samples.TOOL_LOOP}.jsonl").read_bytes())
    empty = tmp_path / "b"
    empty.mkdir()
    async with showing(samples.example(samples.TOOL_LOOP), (80, 24), exchange=0) as driver:
        await driver.press("$")
        screen = await done(driver)
        for path, told in ((tmp_path, "1,288 tokens"), (empty, "no session found")):
            await driver.press("o")
            assert isinstance(driver.app.screen, FolderScreen)
            driver.app.screen.put("path", str(path))
            await driver.press("enter")
            assert driver.app.screen is screen
            await until(
                driver.pilot, lambda wanted=told: not screen.counter.progress and wanted in screen_text(driver.app)
            )


@pytest.mark.parametrize("key", ["1", "2", "3"])
async def test_it_is_never_an_empty_box(key: str) -> None:
    async with showing(MemorySession("empty", ()), (80, 24)) as driver:
        await driver.press("$")
        await done(driver)
        await driver.press(key)
        assert "no model response in this session" in driver.text
        assert_clean(driver)
