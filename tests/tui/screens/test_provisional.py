"""A refused exchange of a large session is shown before the inspection of the session reaches it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from threading import Event

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, until
from workbench.rules import InspectedExchange, Inspector
from workbench.tui.app import WorkbenchApp
from workbench.tui.early_rows import AHEAD
from workbench.tui.models.signs import PROVISIONAL
from workbench.wire.session import MemorySession

REFUSED = AHEAD + 30
CALL = {"id": "call_a", "type": "function", "function": {"name": "list_dir", "arguments": "{}"}}
LOST = [
    {"role": "user", "content": "look"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "user", "content": "go on"},
]
ERROR = {"error": {"message": "An assistant message with 'tool_calls' must be followed by tool messages", "type": "x"}}


def large() -> MemorySession:
    """Healthy exchanges, one with a call of an unknown tool, and one refused because its tool result is lost."""
    asked = [[{"role": "user", "content": f"question {n}"}] for n in range(REFUSED + 20)]
    made = [
        samples.exchange({"model": "gpt-4o", "messages": messages}, samples.DONE, number=n)
        for n, messages in enumerate(asked)
    ]
    called = {"choices": [{"index": 0, "message": LOST[1], "finish_reason": "tool_calls"}]}
    made[3] = samples.exchange({"model": "gpt-4o", "messages": LOST[:1]}, samples.DONE | called, number=3)
    made[REFUSED] = samples.exchange({"model": "gpt-4o", "messages": LOST}, ERROR, status=400, number=REFUSED)
    return samples.session(*made)


class Gate:
    """Holds the pass over the session behind the first exchange."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        honest, self._is_open = Inspector.steps, Event()

        def steps(inspector: Inspector) -> Iterator[InspectedExchange]:
            for row in honest(inspector):
                self._is_open.wait(20)
                yield row

        monkeypatch.setattr(Inspector, "steps", steps)

    def open(self) -> None:
        self._is_open.set()


@asynccontextmanager
async def opening(size: tuple[int, int] = (160, 50), exchange: int | None = None) -> AsyncIterator[Driver]:
    async with WorkbenchApp(large(), exchange=exchange).run_test(size=size, notifications=True) as pilot:
        yield Driver(pilot)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_a_refused_exchange_is_shown_first_and_replaced_later(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    async with opening(size) as driver:
        await until(driver.pilot, lambda: driver.focused == "findings" and PROVISIONAL in driver.text)
        screen = driver.screen
        assert screen.opened and screen.opened.index == REFUSED and screen.opened.is_provisional
        assert [f.exchange for f in screen.state.findings] == [REFUSED]
        assert len(screen.state.rows) == 0
        (rule,) = [f.rule for f in screen.state.findings]
        assert screen.findings.lit == {0}
        gate.open()
        await until(driver.pilot, lambda: screen.state.is_done and screen.opened and not screen.opened.is_provisional)
        assert PROVISIONAL not in driver.text
        assert screen.opened.index == REFUSED and driver.focused == "findings"
        refused, *others = screen.state.findings
        assert others and refused.rule == rule
        assert screen.findings.lit == {screen.findings.cursor} == {0}


async def test_the_timeline_marks_it_with_a_sign_and_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    async with opening((120, 40)) as driver:
        await until(driver.pilot, lambda: f"✗ break {PROVISIONAL}" in driver.text)
        gate.open()
        await until(driver.pilot, lambda: driver.screen.state.is_done)
        assert "✗ break" in driver.text and PROVISIONAL not in driver.text


async def test_an_exchange_that_is_asked_for_is_open_before_it_is_inspected(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    async with opening(exchange=REFUSED + 10) as driver:
        await driver.shows(REFUSED + 10)
        assert driver.screen.opened and driver.screen.opened.is_provisional
        assert f"question {REFUSED + 10}" in driver.text
        gate.open()
        await until(driver.pilot, lambda: driver.screen.opened and not driver.screen.opened.is_provisional)
        assert driver.screen.opened.index == REFUSED + 10


async def test_an_action_that_needs_the_conversation_says_that_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    async with opening() as driver:
        await until(driver.pilot, lambda: PROVISIONAL in driver.text)
        session = driver.screen
        await driver.press("m")
        await until(
            driver.pilot, lambda: f"exchange {REFUSED + 1} is provisional until all earlier exchanges" in driver.text
        )
        await driver.press("f")
        await until(driver.pilot, lambda: "repairs are looked up after" in driver.text)
        assert driver.app.screen is session
        gate.open()
        await until(driver.pilot, lambda: session.opened and not session.opened.is_provisional)
        await driver.press("m")
        await until(driver.pilot, lambda: driver.app.screen is not session)


async def test_who_has_gone_elsewhere_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    async with opening() as driver:
        await until(driver.pilot, lambda: PROVISIONAL in driver.text)
        await driver.press("1", "G")
        await driver.shows(REFUSED + 19)
        gate.open()
        await until(driver.pilot, lambda: driver.screen.state.is_done)
        await until(driver.pilot, lambda: driver.screen.opened and not driver.screen.opened.is_provisional)
        assert driver.screen.opened.index == REFUSED + 19
