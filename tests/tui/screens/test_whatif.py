"""The what-if screen: one thing different, several targets, each outcome a branch."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from tests.tui.layouts import hold
from tests.tui.screens.test_send_answer import name_it, simple
from tests.tui.serving import endpoint
from workbench.tui.screens.branches import BranchesScreen
from workbench.tui.screens.questions import ConfirmScreen
from workbench.tui.screens.send_answer.screen import AnswerScreen
from workbench.tui.screens.whatif.screen import WhatIfScreen
from workbench.wire.session import Session


@asynccontextmanager
async def asking(session: Session, size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[Driver, WhatIfScreen]]:
    async with showing(session, size) as driver:
        await driver.press("V")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, WhatIfScreen))
        screen = driver.app.screen
        assert isinstance(screen, WhatIfScreen)
        yield driver, screen


async def done(driver: Driver, screen: WhatIfScreen) -> None:
    await until(driver.pilot, lambda: screen.outcomes and not screen.sender.is_sending)


@pytest.mark.parametrize("size", [(80, 24)])
async def test_simulators_are_asked_at_once_and_a_cell_opens_beside_the_original(size: tuple[int, int]) -> None:
    async with asking(samples.example(samples.LOST_REASONING), size) as (driver, screen):
        await done(driver, screen)
        await until(driver.pilot, lambda: "other variants cannot be sent" in driver.text)  # why none can be tried
        text = driver.text
        assert "sim:deepseek:v4" in text and "▸the request unchanged" in text
        assert "✗ 400" in text and "reasoning.missing" in text
        assert "sim:deepseek:" in text and all(name in text for name in ("▸v4", "v3.2", "beta"))  # all three fit
        assert "simulated" in text and "tools are never run" in text
        await hold(driver, "what if")
        await driver.press("l", "enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, AnswerScreen))
        answer = driver.app.screen
        assert isinstance(answer, AnswerScreen)
        await until(driver.pilot, lambda: answer.is_over)
        assert "✗ refused (400)" in driver.text and "sim:deepseek:v3.2" in driver.text
        await driver.press("B")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, BranchesScreen))
        await until(driver.pilot, lambda: "⊞ what if: " in driver.text and "responses accepted" in driver.text)
        tree = driver.app.screen
        assert isinstance(tree, BranchesScreen) and len(tree.branches) == 2, "all of it in one row"
        await driver.press("j", "s")
        await until(driver.pilot, lambda: "enter: expand" in driver.text)
        await driver.press("enter")
        await until(driver.pilot, lambda: "⊟ what if: " in driver.text and "sent to sim:deepseek" in driver.text)
        await driver.press("G", "o")
        await until(driver.pilot, lambda: len(tree.branches) == 2)
        await driver.press("q", "q", "q")
        await driver.press("1")
        await until(driver.pilot, lambda: "├ 1" in driver.text and "b branch" not in driver.text)


async def test_an_endpoint_is_asked_when_somebody_says_so_and_can_be_stopped() -> None:
    with endpoint() as held:
        name_it(held.url)
        async with asking(simple()) as (driver, screen):
            await done(driver, screen)
            await driver.press("T", "h", "enter")
            await until(driver.pilot, lambda: len(screen.targets) == 4)
            assert "LIVE 127.0.0.1" in driver.text and "not sent yet" in driver.text
            await driver.press("s")
            assert isinstance(driver.app.screen, ConfirmScreen)
            assert "1 request, each with this whole conversation" in driver.text
            await driver.press("n", "A")
            assert f"{len(screen.sendable())} requests" in driver.text and not held.asked
            await driver.press("n", "s", "y")
            await until(driver.pilot, lambda: held.asked)
            assert "sending" in driver.text
            await driver.press("escape")
            await until(driver.pilot, lambda: not screen.sender.is_sending)
            assert (0, 3) not in screen.outcomes and "not sent yet" in driver.text
            held.go(9)
            await driver.press("s", "y")
            await until(driver.pilot, lambda: (0, 3) in screen.outcomes)
            assert "✓ accepts" in driver.text and len(held.asked) == 2


async def test_what_is_no_request_of_a_model_says_so() -> None:
    other = samples.session(samples.exchange({}, {}, url="https://example.org/"))
    async with asking(other) as (driver, _):
        await until(driver.pilot, lambda: "not a request to a model" in driver.text)
        await driver.press("s", "A", "l", "enter", "tab", "escape")
        assert driver.screen
