"""The probe lab by keys: probes run, stepped through, cancelled; targets side by side; evidence as a session."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.tui import samples, writing
from tests.tui.driving import Driver, showing, until
from tests.tui.layouts import hold
from tests.tui.serving import STREAMED, Endpoint, endpoint
from tests.tui.test_hostile import assert_clean
from workbench.probes.profiles import ProfileStore
from workbench.send import own_targets
from workbench.send.target_names import resolve
from workbench.tui.screens.lab.screen import LabScreen
from workbench.tui.screens.lab.step import StepScreen
from workbench.tui.screens.lab.targets import subject_in
from workbench.tui.screens.questions import AskScreen, ConfirmScreen
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.screens.target_choice import TargetScreen

SIMULATED = "simulated · no API key · tools are never run"


@asynccontextmanager
async def in_lab(size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[Driver, LabScreen]]:
    """The lab, opened from an exchange of DeepSeek."""
    async with showing(samples.example(samples.LOST_REASONING), size, exchange=0) as driver:
        await driver.press("L")
        screen = driver.app.screen
        assert isinstance(screen, LabScreen)
        await until(driver.pilot, lambda: screen.columns)
        yield driver, screen


async def over(driver: Driver, screen: LabScreen) -> None:
    await until(driver.pilot, lambda: screen.runs.run_now is None)


def outcomes(screen: LabScreen, column: int = 0) -> dict[str, str]:
    return {name: result.outcome.value for name, result in screen.columns[column].fresh.items()}


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_the_seven_are_run_and_make_a_profile(size: tuple[int, int]) -> None:
    async with in_lab(size) as (driver, screen):
        assert "7 of" in driver.text and "at most 29 requests" in driver.text and "simulated" in driver.text
        assert ("tools are never run" in driver.text) is (size[0] > 80), "a low window has one row for the title"
        assert screen.columns[0].subject.target.name == "sim:deepseek:v4"
        await driver.press("r")
        await over(driver, screen)
        assert outcomes(screen) == {
            **dict.fromkeys(("format", "schema", "closure", "repair", "reasoning", "streaming"), "pass"),
            "parallel": "fail",
        }
        assert "✗ fail 0/1" in driver.text
        await driver.press("j", "j", "j")
        assert "only one tool call per response" in driver.text
        (kept,) = ProfileStore.of_user().latest()
        assert kept.fact("supports_parallel_tool_use") is False and kept.evidence


async def test_one_is_run_again_and_what_differs_is_marked() -> None:
    async with in_lab() as (driver, screen):
        await driver.press("a", "a", "j", "j", "j", "o")  # all, then none is marked; the one under the cursor
        await over(driver, screen)
        assert outcomes(screen) == {"parallel": "fail"}
        await driver.press("D", *"parallel=", "2", "enter", "o")
        await until(driver.pilot, lambda: outcomes(screen) == {"parallel": "pass"})
        await over(driver, screen)
        rows = [row for row in driver.text.split("\n") if "supports_parallel_tool_use" in row]
        assert any("~ supports_parallel_tool_use" in row and "yes" in row and "no" in row for row in rows)
        assert "last just now" in driver.text
        assert [profile.fact("supports_parallel_tool_use") for profile in history(screen)] == [False, True]


def history(screen: LabScreen) -> list[object]:
    profile = screen.columns[0].profile
    assert profile
    return list(ProfileStore.of_user().history(profile.key))


async def test_a_probe_is_stepped_through_and_its_verdict_follows_what_is_sent() -> None:
    async with in_lab() as (driver, lab):
        await driver.press("j", "j", "s")  # closure
        screen = driver.app.screen
        assert isinstance(screen, StepScreen)
        await until(driver.pilot, lambda: screen.state)
        assert "Pending request" in driver.text and "no verdict yet" in driver.text and "probe_add" in driver.text
        await hold(driver, "probe step")
        await driver.press("enter")
        await sent(driver, screen, 1)
        assert "2 new messages" in driver.text and '"receipt"' in driver.text
        await driver.press("r")
        await sent(driver, screen, 2)
        assert screen.state and screen.state.sample and screen.state.sample.outcome.value == "pass"
        assert "the response contains the receipt number" in driver.text
        await driver.press("u")
        await sent(driver, screen, 1)
        await change_result(driver, screen, '{"sum": 33}')
        assert "~ edited by you" in driver.text
        await driver.press("1", "shift+tab", "shift+tab", "enter")
        await sent(driver, screen, 2)
        assert screen.state and screen.state.sample and screen.state.sample.outcome.value != "pass"
        assert "does not use the tool result" in driver.text and "some requests were edited by you" in driver.text
        assert SIMULATED in driver.text
        await driver.press("o")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen) and driver.screen.state.is_done)
        assert [summary.origin.value for summary in driver.screen.state.summaries] == ["probe", "probe"]
        await driver.press("q", "q")
        await until(driver.pilot, lambda: driver.app.screen is lab)
        assert not ProfileStore.of_user().latest()


async def sent(driver: Driver, screen: StepScreen, number: int) -> None:
    """Until so many requests are sent, and what is next is known."""
    await until(
        driver.pilot, lambda: screen.state and len(screen.state.sent) == number and not screen.sample.is_sending
    )


async def change_result(driver: Driver, screen: StepScreen, text: str) -> None:
    """Write another result of the call into the pending request."""
    rows = screen.outline.rows
    at = next(n for n, row in enumerate(rows) if row.element.kind.value == "result")
    await driver.press("tab", "tab")
    await until(driver.pilot, lambda: driver.focused == "asked")
    while screen.outline.cursor != at:
        await driver.press("j" if screen.outline.cursor < at else "k")
    await driver.press("e")
    await until(driver.pilot, lambda: driver.focused == "writing")
    await driver.press("ctrl+home", "ctrl+k", *text, "ctrl+s")
    await until(driver.pilot, lambda: screen.state and screen.state.is_changed)


async def test_evidence_opens_as_a_session_now_and_in_another_lab() -> None:
    async with in_lab() as (driver, screen):
        await driver.press("enter")
        assert driver.app.screen is screen  # nothing was measured yet
        await driver.press("o")
        await over(driver, screen)
        await opens(driver, 1)
        await until(driver.pilot, lambda: driver.app.screen is screen)
        await driver.press("q", "L")
        again = driver.app.screen
        assert isinstance(again, LabScreen)
        await until(driver.pilot, lambda: again.columns)
        assert "pass 1/1 · just now" in driver.text
        await opens(driver, 1)


async def opens(driver: Driver, exchanges: int) -> None:
    await driver.press("enter")
    await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen) and driver.screen.opened)
    assert len(driver.screen.state.summaries) == exchanges
    assert "probe_echo" in driver.text
    await driver.press("q")


async def test_targets_stand_side_by_side() -> None:
    async with in_lab() as (driver, screen):
        await driver.press("T")
        assert isinstance(driver.app.screen, TargetScreen)
        await driver.press(*"sim:gemini", "enter")
        await until(driver.pilot, lambda: len(screen.columns) == 2)
        assert screen.column_number == 1 and screen.columns[1].subject.protocol == "gemini"
        await driver.press("a", "a", "space", "A")  # format alone, at both
        await over(driver, screen)
        assert outcomes(screen, 0) == outcomes(screen, 1) == {"format": "pass"}
        row = next(row for row in driver.text.split("\n") if " format" in row)
        assert row.count("✓ pass 1/1") == 2
        await driver.press("d")
        assert [column.subject.target.name for column in screen.columns] == ["sim:deepseek:v4"]
        await driver.press("p")
        await until(driver.pilot, lambda: screen.columns[0].subject.protocol != "openai-chat")


async def add_here(driver: Driver, screen: LabScreen, url: str) -> None:
    """Add a target of targets.yaml that has no model: it is asked for."""
    path = own_targets.path()
    path.parent.mkdir(parents=True)
    path.write_text(f"targets: {{here: {{base_url: '{url}', protocol: anthropic-messages}}}}\n")
    await driver.press("T", *"here", "enter")
    await until(driver.pilot, lambda: isinstance(driver.app.screen, AskScreen))
    await driver.press(*"m1", "enter")
    await until(driver.pilot, lambda: len(screen.columns) == 2)


async def test_a_real_endpoint_is_asked_about_first_and_what_was_measured_is_kept_when_it_is_stopped() -> None:
    with endpoint() as real:
        async with in_lab() as (driver, screen):
            await add_here(driver, screen, real.url)
            assert "LIVE 127.0.0.1" in driver.text and "no API key · tools are never run" in driver.text
            await driver.press("r")
            assert isinstance(driver.app.screen, ConfirmScreen)
            words = driver.app.screen.question
            assert all(told in words for told in ("29 requests", "19,000 tokens", "Tools are never run")), words
            await driver.press("n")
            assert not real.asked and screen.runs.run_now is None
            await driver.press("r", "y")
            await until(driver.pilot, lambda: real.asked)
            await until(driver.pilot, lambda: "… 1 of 1" in driver.text and "waiting" in driver.text)
            real.go(len(STREAMED))  # nothing that says which chat template it has
            await until(driver.pilot, lambda: len(messages(real)) == 1)
            real.go(len(STREAMED))
            await until(driver.pilot, lambda: len(messages(real)) == 2 and outcomes(screen, 1))
            await driver.press("escape")
            await over(driver, screen)
            assert outcomes(screen, 1) == {"format": "fail"}
            assert "the model answered without a tool call" in driver.text
            (kept,) = ProfileStore.of_user().latest()
            assert [result.probe for result in kept.results] == ["format"]


def messages(real: Endpoint) -> list[str]:
    """Requests of probes."""
    return [path for path, _, _ in real.asked if path.endswith("/messages")]


async def test_what_a_hostile_endpoint_says_reaches_no_terminal() -> None:
    said = writing.delta("\x1b]8;;http://evil\x07[red]\u202e one")
    with endpoint((writing.start(), said, writing.stop())) as real:
        real.go(100)
        async with in_lab() as (driver, screen):
            await add_here(driver, screen, real.url)
            await driver.press("s")
            stepping = driver.app.screen
            assert isinstance(stepping, StepScreen)
            await until(driver.pilot, lambda: stepping.state)
            await driver.press("r")
            await until(driver.pilot, lambda: isinstance(driver.app.screen, ConfirmScreen))
            await driver.press("y")
            await until(driver.pilot, lambda: stepping.state and stepping.state.sample)
            assert "[red]" in driver.text
            assert_clean(driver)


def test_a_target_is_asked_in_a_protocol_that_it_speaks() -> None:

    assert subject_in(resolve("sim:anthropic"), "openai-chat").protocol == "anthropic-messages"
