"""Runs of a long session that need no attention are one row each."""

from __future__ import annotations

from tests.tui import samples
from tests.tui.driving import showing, until
from workbench.wire.session import MemorySession

BROKEN = 50


def long_session() -> MemorySession:
    """Sixty conversations of one turn, of which one lost the result of a call."""
    call = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    lost = [{"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "user", "content": "go on"}]
    made = (
        samples.exchange(
            {
                "model": "gpt-4o",
                "messages": [{"role": "user", "content": f"question {n}"}, *(lost if n == BROKEN else ())],
            },
            samples.DONE,
            number=n + 1,
        )
        for n in range(60)
    )
    return samples.session(*made)


async def test_healthy_runs_are_folded_and_open_on_enter() -> None:
    async with showing(long_session(), (120, 40)) as driver:
        await until(driver.pilot, lambda: driver.screen.opened and driver.screen.opened.index == BROKEN)
        assert "⊞ 2–49  ✓ 48 without findings" in driver.text and "✗ break" in driver.text
        await driver.press("1", "g", "j")
        assert driver.screen.opened and driver.screen.opened.index == 0, "the row of a run opens no exchange"
        await driver.press("enter")
        assert "⊟ 2–49" in driver.text and driver.focused == "exchanges"
        await driver.press("j")
        await driver.shows(1)
        await driver.press("k", "enter")
        assert "⊞ 2–49" in driver.text, "the open exchange is in the run, which may be folded"


async def test_going_to_an_exchange_unfolds_its_run() -> None:
    async with showing(long_session(), (120, 40)) as driver:
        await until(driver.pilot, lambda: "⊞ 2–49" in driver.text)
        await driver.press("K", "K")
        await driver.shows(BROKEN - 2)
        await until(driver.pilot, lambda: "⊟ 2–49" in driver.text or " 49" in driver.text)
        assert driver.screen.exchanges.folds.exchange_at(driver.screen.exchanges.cursor) == BROKEN - 2


async def test_a_search_and_a_filter_leave_no_exchange_out() -> None:
    async with showing(long_session(), (120, 40)) as driver:
        await until(driver.pilot, lambda: "⊞ 2–49" in driver.text)
        await driver.press("1", "slash", *"23", "enter")
        await driver.shows(22)
        await driver.press("escape", "&", *"status:200", "enter")
        await until(driver.pilot, lambda: "60 of 60 shown" in driver.text)
        assert driver.screen.exchanges.count() == 60
