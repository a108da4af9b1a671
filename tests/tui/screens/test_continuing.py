"""Continuing a conversation by keys: every step shown, changed, done, and kept as a branch."""

from __future__ import annotations

from typing import TypeVar

import pytest

from tests.probes.measuring import measured
from tests.send.loop.samples import answered, call, chat
from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from tests.tui.layouts import hold
from tests.tui.screens.test_send import astray
from tests.tui.serving import endpoint
from tests.tui.test_hostile import assert_clean
from workbench.probes.profiles.store import save_profile
from workbench.send.loop import AnswerCall, EndReason, LoopEnd, Send
from workbench.simulator import Simulator
from workbench.tui.screens.continue_conversation.screen import ContinuingScreen
from workbench.tui.screens.correcting import CorrectingScreen
from workbench.tui.screens.questions import AskScreen, ConfirmScreen
from workbench.tui.screens.target_choice import TargetScreen
from workbench.wire.exchange import State
from workbench.wire.jsontext import loads
from workbench.wire.session import MemorySession

Step = TypeVar("Step")
USER = {"role": "user", "content": "read it"}
URL = "https://api.openai.com/v1/chat/completions"


def session() -> MemorySession:
    """A turn that tells a result of one of the calls that come after it."""
    asked = {"role": "assistant", "content": None, "tool_calls": [call("c1")]}
    told = chat(USER, asked, {"role": "tool", "tool_call_id": "c1", "content": "recorded"})
    pending = answered(call("c2"), call("c3", '{"path":"b"}'))
    return samples.session(
        samples.exchange(loads(told), loads(answered()), url=URL),
        samples.exchange(loads(chat({"role": "user", "content": "again"})), loads(pending), url=URL, number=2),
    )


async def continuing(driver: Driver) -> ContinuingScreen:
    """From the session to the first step, with the simulator that is offered."""
    await driver.press("C")
    await until(driver.pilot, lambda: isinstance(driver.app.screen, TargetScreen))
    await driver.press("enter")
    await until(driver.pilot, lambda: isinstance(driver.app.screen, ContinuingScreen))
    screen = driver.app.screen
    assert isinstance(screen, ContinuingScreen)
    return screen


async def pending(driver: Driver, screen: ContinuingScreen, kind: type[Step], done: int) -> Step:
    """Until so many steps are done and the next one is of a kind."""
    await until(
        driver.pilot,
        lambda: len(screen.stepper.done) == done and screen.stepper.pending and not screen.stepper.sender.is_sending,
    )
    assert screen.stepper.pending
    step = screen.stepper.pending.step
    assert isinstance(step, kind), step
    return step


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_step_by_step_to_the_end_and_back(size: tuple[int, int]) -> None:
    async with showing(session(), size, exchange=1) as driver:
        screen = await continuing(driver)
        await pending(driver, screen, AnswerCall, 0)
        assert "tools are never run" in driver.text
        assert "recorded in exchange 1" in driver.text
        await driver.press("enter")
        second = await pending(driver, screen, AnswerCall, 1)
        assert (second.call.id, screen.stepper.offer) == ("c3", None)
        assert "no result yet" in driver.text
        await driver.press("enter", *"by hand", "ctrl+s")
        assert screen.stepper.offer and screen.stepper.offer.result.text == "by hand"
        await driver.press("x", "enter")
        sent = await pending(driver, screen, Send, 2)
        assert [value.get("content") for value in sent.added] == [None, "recorded", "Error: by hand"]
        await driver.press("enter")
        end = await pending(driver, screen, LoopEnd, 3)
        assert end.reason is EndReason.DONE
        assert "accepts" in driver.text and "1 of 20 requests" in driver.text
        node = screen.stepper.node
        assert node.is_sent and node.index == 1
        await driver.press("u")
        await pending(driver, screen, Send, 2)
        assert screen.stepper.node.id != node.id
        await driver.press("q")
        assert driver.screen.opened


async def test_it_runs_on_until_something_has_to_be_decided() -> None:
    async with showing(session(), exchange=1) as driver:
        screen = await continuing(driver)
        await pending(driver, screen, AnswerCall, 0)
        await driver.press("r")
        await pending(driver, screen, AnswerCall, 1)
        assert not screen.stepper.runs_on
        await driver.press("e", *"of b", "ctrl+s", "r")
        await pending(driver, screen, LoopEnd, 3)
        assert not screen.stepper.runs_on
        await driver.press("e", *"again, please", "enter", "r")
        await pending(driver, screen, AnswerCall, 5)
        assert screen.stepper.done[3].said == "again, please"
        assert screen.stepper.done[4].calls == ("read",)


async def test_the_pending_request_can_be_another_one() -> None:
    async with showing(session(), exchange=1) as driver:
        screen = await continuing(driver)
        await pending(driver, screen, AnswerCall, 0)
        await hold(driver, "continue")
        await driver.press("enter")
        await pending(driver, screen, AnswerCall, 1)
        await driver.press("e", "b", "ctrl+s", "enter")
        await pending(driver, screen, Send, 2)
        screen.editor.write()
        screen.editor.write()  # a key that is held down
        await until(driver.pilot, lambda: screen.query("#writing"))
        await driver.press("ctrl+home", "delete", "ctrl+s")
        await until(driver.pilot, lambda: screen.stepper.pending and screen.stepper.pending.is_changed)
        assert screen.stepper.pending and isinstance(screen.stepper.pending.step, Send)
        assert screen.stepper.pending.step.request.body.raw.startswith(b'"model"'), (
            "invalid JSON can be sent on purpose"
        )
        await driver.press("enter")
        end = await pending(driver, screen, LoopEnd, 3)
        assert end.reason in (EndReason.REFUSED, EndReason.UNREADABLE)


async def test_limits_stop_it_and_can_be_set() -> None:
    async with showing(session(), exchange=1) as driver:
        screen = await continuing(driver)
        await pending(driver, screen, AnswerCall, 0)
        await driver.press("L")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, AskScreen))
        await driver.press("ctrl+u", *"1 1", "enter")
        await until(driver.pilot, lambda: driver.app.screen is screen and screen.stepper.pending)
        assert screen.stepper.loop.limits.tokens == 1
        assert "0 of 1 requests" in driver.text


async def test_traffic_is_shown_and_never_obeyed() -> None:
    evil = "[red]x[/] \x1b[31m\u202e\x00"
    asked = chat({"role": "user", "content": evil})
    answer = answered(call("c\x1b[2J", '{"path":"[b]\\u001b[31m"}'), call("c2", name=f"t{evil}"))
    hostile = samples.session(samples.exchange(loads(asked), loads(answer), url=URL))
    async with showing(hostile, (120, 40)) as driver:
        screen = await continuing(driver)
        await pending(driver, screen, AnswerCall, 0)
        assert_clean(driver)
        await driver.press("e", *"ok", "ctrl+s", "enter")
        await pending(driver, screen, AnswerCall, 1)
        assert "an error that explains why" in driver.text
        await driver.press("enter")
        await pending(driver, screen, Send, 2)
        assert_clean(driver)


@pytest.mark.parametrize("key", ["escape", "q"])
async def test_an_endpoint_is_asked_about_once_and_what_came_is_kept(key: str) -> None:
    asked = {"model": "m", "max_tokens": 9, "stream": True, "messages": [USER]}
    with endpoint() as held:
        async with showing(samples.session(samples.exchange(asked, None, url=samples.MESSAGES)), (120, 40)) as driver:
            await driver.press("C")
            await until(driver.pilot, lambda: isinstance(driver.app.screen, TargetScreen))
            choice = driver.app.screen
            await driver.press(*held.url, "enter")
            if driver.app.screen is choice:
                await driver.press("enter")  # the protocol of the request
            await until(driver.pilot, lambda: isinstance(driver.app.screen, ContinuingScreen))
            screen = driver.app.screen
            assert isinstance(screen, ContinuingScreen)
            await pending(driver, screen, Send, 0)
            await driver.press("enter")
            await until(driver.pilot, lambda: isinstance(driver.app.screen, ConfirmScreen))
            await driver.press("y")
            held.go(2)
            await until(driver.pilot, lambda: screen.stepper.sender.received_size)
            await driver.press(key)
            if key == "escape":
                end = await pending(driver, screen, LoopEnd, 1)
                assert end.reason is EndReason.CUT and "aborted" in end.text
            else:
                await until(driver.pilot, lambda: driver.app.screen is not screen)
            assert screen.stepper.node.exchange.state is State.ABORTED
            assert screen.stepper.node.exchange.response and b"one" in screen.stepper.node.exchange.response.body.raw


def measured_session() -> MemorySession:
    """Two calls at once of a model that was measured to make one at a time."""
    asked = {**loads(chat(USER)), "model": Simulator("openai").names()[0]}
    return samples.session(samples.exchange(asked, loads(answered(call("c2"), call("c3"))), url=URL))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_it_goes_by_what_was_measured_which_a_key_switches(size: tuple[int, int]) -> None:
    save_profile(measured("openai", wanted=("parallel", "repair"), parallel=1, mends=1), at=1_782_400_000.0)
    async with showing(measured_session(), size) as driver:
        screen = await continuing(driver)
        first = await pending(driver, screen, AnswerCall, 0)
        assert first.of == 1 and screen.stepper.loop.limits.errors == 2
        assert "2 corrections: one call at a time, pause after 2 errors" in driver.text
        await driver.press("P")
        assert isinstance(driver.app.screen, CorrectingScreen)
        assert "supports_parallel_tool_use: no" in driver.text and "[x] serial-calls" in driver.text
        await driver.press("space")
        assert "[ ] serial-calls" in driver.text
        await driver.press("escape")
        first = await pending(driver, screen, AnswerCall, 0)
        assert first.of == 2 and not screen.stepper.loop.policy.is_serial
        assert "1 correction, 1 switched off: pause after 2 errors" in driver.text
        await driver.press("P", "enter", "j", "space", "q")
        await until(driver.pilot, lambda: screen.stepper.pending and screen.stepper.loop.limits.errors == 0)
        assert screen.stepper.loop.policy.is_serial


async def test_a_corrected_request_is_accepted_that_fails_as_it_is() -> None:
    save_profile(measured("openai", wanted=("closure",)), at=1_782_400_000.0)
    async with showing(astray()) as driver:
        screen = await continuing(driver)
        await pending(driver, screen, Send, 0)
        assert "tool results moved directly after their calls" in driver.text
        await driver.press("P", "space", "escape")
        await until(driver.pilot, lambda: screen.stepper.off and screen.stepper.pending)
        await driver.press("enter")
        end = await pending(driver, screen, LoopEnd, 1)
        assert end.reason is EndReason.REFUSED
        await driver.press("u")
        await pending(driver, screen, Send, 0)
        await driver.press("P", "space", "escape")
        await until(driver.pilot, lambda: not screen.stepper.off and screen.stepper.pending)
        await driver.press("enter")
        await until(driver.pilot, lambda: len(screen.stepper.done) == 1 and screen.stepper.pending)
        assert screen.stepper.done[0].status == 200


async def test_where_nothing_was_measured_there_is_nothing_to_switch() -> None:
    async with showing(session(), exchange=1) as driver:
        screen = await continuing(driver)
        await pending(driver, screen, AnswerCall, 0)
        assert "correction" not in driver.text
        await driver.press("P")
        await until(driver.pilot, lambda: "no corrections" in driver.text)


async def test_the_request_that_a_result_leads_to_is_shown_where_rows_are_free() -> None:
    asked = chat(USER), answered(call("c1"))
    first = samples.exchange(*map(loads, asked), url=URL)
    told = chat(
        USER,
        {"role": "assistant", "content": None, "tool_calls": [call("c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": "recorded"},
    )
    second = samples.exchange(loads(told), loads(answered()), url=URL, number=2)
    async with showing(samples.session(first, second), (120, 40), exchange=0) as driver:
        screen = await continuing(driver)
        await pending(driver, screen, AnswerCall, 0)
        await until(driver.pilot, lambda: "Request with this result" in driver.text)
        assert loads(screen.request.body)["messages"][-1]["content"] == "recorded"
        await driver.press("x")
        await until(driver.pilot, lambda: b"Error: recorded" in screen.request.body)
