"""The answer screen: what arrives is shown as it arrives, kept when it is broken off, and laid beside the original."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from tests.tui.layouts import hold
from tests.tui.screens.test_send import before_sending
from tests.tui.serving import Endpoint, endpoint
from tests.tui.test_hostile import EVIL, assert_clean
from tests.tui.writing import delta, start, stop
from workbench.tui.screens.branches import BranchesScreen
from workbench.tui.screens.edit.screen import EditScreen
from workbench.tui.screens.repairs import RepairsScreen
from workbench.tui.screens.send_answer.screen import AnswerScreen
from workbench.tui.screens.session.screen import SessionScreen
from workbench.views.lines import plain
from workbench.wire.exchange import State

SIMPLE = {"model": "claude-sonnet-4-5", "max_tokens": 64, "messages": [{"role": "user", "content": "count"}]}
SAID = {
    "id": "msg_0",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "one and two"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 4},
}


def simple():
    return samples.session(samples.exchange(SIMPLE, SAID, url=samples.MESSAGES))


async def sent(driver: Driver, target: str = "") -> AnswerScreen:
    """From the session to the answer screen of a request that is on its way."""
    await before_sending(driver, target)
    await driver.press("enter")
    if target:
        await driver.press("y")
    screen = driver.app.screen
    assert isinstance(screen, AnswerScreen)
    return screen


async def over(driver: Driver, screen: AnswerScreen) -> None:
    """Until the answer is there, judged and recorded."""
    await until(driver.pilot, lambda: screen.is_over and (screen.recorded or screen.why))


@asynccontextmanager
async def sending(held: Endpoint, size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[Driver, AnswerScreen]]:
    """A request on its way to an endpoint."""
    name_it(held.url)
    async with showing(simple(), size) as driver:
        yield driver, await sent(driver, "h")


def name_it(url: str) -> None:
    """Name an endpoint in the home folder of the test: what is typed is a letter then."""
    file = Path.home() / ".config/workbench/targets.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"targets: {{h: {{base_url: '{url}', protocol: anthropic-messages}}}}")


def shows(driver: Driver, *words: str) -> Callable[[], bool]:
    return lambda: all(word in driver.text for word in words)


async def test_a_repair_is_applied_sent_and_accepted_beside_the_refusal() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (120, 40)) as driver:
        await until(driver.pilot, lambda: driver.screen.findings.current)
        await until(driver.pilot, lambda: not driver.screen.repair_lookup.is_looking)
        await driver.press("f")
        assert isinstance(driver.app.screen, RepairsScreen)
        await driver.press("enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, EditScreen))
        screen = await sent(driver)
        await over(driver, screen)
        text = driver.text
        assert "✓ accepted (200) · the original was refused (400)" in text
        assert "tool_use" in text and "│ 200" in text
        assert "no findings" in text
        await hold(driver, "answer")
        await driver.press("B")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, BranchesScreen))
        await until(driver.pilot, shows(driver, "as recorded", "add an error result", "✓ 200", "sent to sim:anthropic"))
        await until(driver.pilot, shows(driver, "sent as edited", "finish reason"))
        await driver.press("q", "o")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen) and driver.screen.opened)
        assert driver.screen.opened and driver.screen.opened.row.summary.status == 200
        assert 'branch "add an error result' in driver.text and "any longer" not in driver.text
        await driver.press("q", "e")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, EditScreen))
        assert not any(isinstance(below, AnswerScreen) for below in driver.app.screen_stack)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_refusal_is_laid_beside_the_original_one(size: tuple[int, int]) -> None:
    async with showing(samples.example(samples.LOST_RESULT), size) as driver:
        screen = await sent(driver)
        await over(driver, screen)
        assert "✗ refused (400) · the original was refused (400)" in driver.text
        assert "closure.missing-result" in driver.text
        raw = screen.raw
        if size[0] < 100:
            assert "New · sim:anthropic" in driver.text
            await driver.press("tab")
            assert "Original · 400" in driver.text and "New · sim" not in driver.text
        else:
            assert "Original · 400" in driver.text and "New · sim:anthropic" in driver.text
            assert raw.count() > 2 and all(len(plain(raw.head(n, 0))) <= raw.text_width for n in range(raw.count()))


async def test_an_answer_is_shown_as_it_arrives_and_then_compared() -> None:
    with endpoint() as held:
        async with sending(held) as (driver, screen):
            held.go(2)
            await until(driver.pilot, shows(driver, "content_block_delta", "arriving", "… sending"))
            await until(driver.pilot, lambda: screen.shown and "│ one" in driver.text)
            assert "one and two" in driver.text  # the original stands beside it
            held.go()
            await until(driver.pilot, shows(driver, "│ one two"))
            await driver.press("s")
            assert "the request is being sent" in driver.text
            held.go()
            await over(driver, screen)
            assert "differs in" in driver.text and "text" in driver.text
            assert screen.shown and screen.shown.after.exchange.state is State.COMPLETE
            assert screen.recorded and screen.recorded.exchange.meta["target"] == "h"


@pytest.mark.parametrize("key", ["escape", "q"])
async def test_what_is_broken_off_is_kept_as_far_as_it_came(key: str) -> None:
    with endpoint() as held:
        async with sending(held) as (driver, screen):
            held.go(2)
            await until(driver.pilot, lambda: screen.shown and "│ one" in driver.text)
            await driver.press(key)
            if key == "escape":
                await over(driver, screen)
                assert "aborted" in driver.text and "│ one" in driver.text
                assert driver.app.screen is screen
            else:
                await until(driver.pilot, lambda: driver.app.screen is not screen)
            assert screen.recorded and screen.recorded.exchange.state is State.ABORTED
            assert screen.recorded.exchange.response and b"one" in screen.recorded.exchange.response.body.raw
            held.go(9)
            await until(driver.pilot, held.is_left.is_set)  # the connection is closed


async def test_retries_are_seen() -> None:
    with endpoint(statuses=(529,)) as held:
        async with sending(held) as (driver, screen):
            await until(driver.pilot, lambda: screen.sender.incoming and screen.sender.incoming.retries)
            held.go(4)
            await over(driver, screen)
            assert "! 529" in driver.text and "retry after" in driver.text
            assert len(held.asked) == 2


async def test_an_endpoint_that_is_not_there_is_said_in_one_line() -> None:
    with endpoint() as held:
        name_it(held.url)
    async with showing(simple(), (120, 40)) as driver:
        screen = await sent(driver, "h")
        await driver.press("escape")  # gives up on further attempts
        await until(driver.pilot, lambda: screen.is_over)
        assert "Traceback" not in driver.text
        await driver.press("q")
        assert not isinstance(driver.app.screen, AnswerScreen)


async def test_a_hostile_answer_is_text() -> None:
    pieces = (start(), delta(EVIL), b": \x1b[2J\xff\n\n", stop())
    with endpoint(pieces) as held:
        held.go(9)
        async with sending(held) as (driver, screen):
            await over(driver, screen)
            assert_clean(driver)
            await driver.press("tab", "tab", "G")
            assert_clean(driver)


async def test_it_can_be_sent_again() -> None:
    async with showing(simple(), (120, 40)) as driver:
        screen = await sent(driver)
        await over(driver, screen)
        first = screen.recorded
        await driver.press("s")
        await until(driver.pilot, lambda: screen.is_over and screen.recorded not in (None, first))
        assert first and screen.recorded and first.parent == screen.recorded.parent
