"""The send screen: what is known before anything goes out, and who is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.probes.measuring import measured
from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from tests.tui.layouts import hold
from tests.tui.serving import endpoint
from tests.tui.test_hostile import assert_clean, hostile_session
from workbench.probes.profiles.store import save_profile
from workbench.simulator import Simulator
from workbench.tui.screens.questions import ConfirmScreen
from workbench.tui.screens.send import SendScreen
from workbench.tui.screens.send_answer.screen import AnswerScreen
from workbench.tui.screens.target_choice import TargetScreen
from workbench.wire.session import Session

CALL = {"type": "tool_use", "id": "toolu_01abcdefghijklmnopqrstuv", "name": "ls", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": CALL["id"], "content": "a b"}
THOUGHT = {"type": "thinking", "thinking": "Let me look.", "signature": "c2lnbmF0dXJlLW9mLXRoZS1ibG9jaw=="}


def thinking_session() -> Session:
    """A turn that thought and called, and the next one: the first message is another one there."""
    base = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 4096,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "tools": [{"name": "ls", "input_schema": {"type": "object"}}],
    }
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [THOUGHT, CALL],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }

    def history(first: str) -> list[object]:
        said = {"role": "assistant", "content": [THOUGHT, CALL]}
        return [{"role": "user", "content": first}, said, {"role": "user", "content": [RESULT]}]

    asked = {**base, "messages": history("look")[:1]}
    changed = {**base, "messages": history("look again")}
    return samples.session(
        samples.exchange(asked, answer, url=samples.MESSAGES),
        samples.exchange(changed, {**answer, "id": "msg_2", "content": []}, url=samples.MESSAGES, number=2),
    )


async def before_sending(driver: Driver, target: str = "") -> SendScreen:
    """From the session to the send screen; ``target`` is pasted."""
    await driver.press("s")
    await until(driver.pilot, lambda: isinstance(driver.app.screen, TargetScreen))
    paste(driver, target)
    await driver.press("enter")
    if isinstance(driver.app.screen, TargetScreen):
        await driver.press("enter")  # the protocol of a URL is the request's own
    await until(driver.pilot, lambda: isinstance(driver.app.screen, SendScreen))
    screen = driver.app.screen
    assert isinstance(screen, SendScreen)
    await until(driver.pilot, lambda: screen.shown or screen.facts.why)
    return screen


def paste(driver: Driver, target: str) -> None:
    """Choosing by keys has tests of its own."""
    assert isinstance(driver.app.screen, TargetScreen)
    driver.app.screen.put("target", target)


@pytest.mark.parametrize("size", [(60, 15), (120, 40)])
async def test_what_will_happen_is_said_before_it_does(size: tuple[int, int]) -> None:
    async with showing(samples.example(samples.LOST_RESULT), size) as driver:
        await before_sending(driver)
        text = " ".join(driver.text.split())
        assert "anthropic refuses" in text and "closure.missing-result" in text
        assert "simulated" in text and ("tools are never run" in text or size[0] < 80)
        await driver.press("G", "k")
        assert "not streamed" in driver.text or size[1] < 20
        if size[1] > 20:
            await hold(driver, "send")


async def test_what_another_protocol_cannot_say_is_listed_with_its_place() -> None:
    async with showing(thinking_session(), (120, 40), exchange=1) as driver:
        screen = await before_sending(driver, "sim:openai")
        assert screen.shown and screen.shown.outgoing.losses
        assert "anthropic-messages → openai" in driver.text
        await driver.press("j")
        assert "/messages/1/content/0" in driver.text and "original" in driver.text
        assert "▌" in driver.text  # it is lit in the request it was


async def test_signed_blocks_that_an_edit_unbinds_are_shown_and_left_out_as_a_branch() -> None:
    async with showing(thinking_session(), (120, 40), exchange=1) as driver:
        screen = await before_sending(driver)
        assert "1 signed block unbound" in driver.text and "drop unbound" in driver.text
        root = screen.node
        await driver.press("u")
        await until(driver.pilot, lambda: screen.node is not root and screen.shown)
        assert "unbound" not in driver.text.replace(screen.node.title[:20], "")
        assert screen.shown and b"signature" not in screen.shown.outgoing.request.body.raw
        assert screen.node.parent == root.id
        await driver.press("u")
        await until(driver.pilot, lambda: "no unbound signatures" in driver.text)


ASTRAY = {
    "model": Simulator("openai").names()[0],
    "tools": [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}],
    "messages": [
        {"role": "user", "content": "look"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
        },
        {"role": "user", "content": "Hurry."},
        {"role": "tool", "tool_call_id": "c1", "content": "a b"},
    ],
}
"""A result that stands behind other words: refused, until it is put where it is read."""


@pytest.fixture
def is_measured() -> None:
    """A profile in the folder of the test's user."""
    save_profile(measured("openai", wanted=("closure", "streaming"), stream="cut"), at=1_782_400_000.0)


def astray() -> Session:
    return samples.session(samples.exchange(ASTRAY, b"", url=samples.CHAT))


@pytest.mark.usefixtures("is_measured")
async def test_what_a_measured_profile_corrects_is_shown_with_why_and_switched_by_a_key() -> None:
    async with showing(astray(), (120, 40)) as driver:
        screen = await before_sending(driver, "sim:openai")
        assert screen.shown and screen.shown.choice.profile
        assert "2 corrections" in driver.text and "openai accepts" in driver.text
        assert "[x] result-placement" in driver.text and "[x] streaming-off" in driver.text
        corrected = screen.shown.trial.decoded.request_text
        assert corrected != screen.shown.own.request_text
        await driver.press("t")
        await until(driver.pilot, lambda: "correction streaming-off disables streaming" in driver.text)
        while screen.facts.facts[screen.facts.cursor].correction != "result-placement":
            await driver.press("j")
        assert "tool results moved directly after their calls" in driver.text
        assert "reason: closes: yes (pass in 1" in driver.text
        assert "1 sample), measured 20" in str(screen.facts.facts[screen.facts.cursor].text)
        await driver.press("space")
        await until(driver.pilot, lambda: screen.shown and "[ ] result-placement" in driver.text)
        assert screen.shown and screen.shown.trial.decoded.request_text == screen.shown.own.request_text
        assert "openai refuses" in driver.text and "1 correction, 1 switched off" in driver.text
        assert screen.facts.facts[screen.facts.cursor].correction == "result-placement"
        assert await sent(driver) == 400
        await driver.press("space")
        await until(driver.pilot, lambda: screen.shown and "[x] result-placement" in driver.text)
        assert screen.shown and screen.shown.trial.decoded.request_text == corrected
        assert await sent(driver) == 200


async def sent(driver: Driver) -> int:
    """The status of what is sent; then back before sending."""
    await driver.press("enter")
    answer = driver.app.screen
    assert isinstance(answer, AnswerScreen)
    await until(driver.pilot, lambda: answer.is_over and answer.recorded)
    assert answer.recorded and answer.recorded.exchange.response
    await driver.press("q")
    await until(driver.pilot, lambda: isinstance(driver.app.screen, SendScreen))
    return answer.recorded.exchange.response.status


@pytest.mark.usefixtures("is_measured")
async def test_a_profile_of_another_target_corrects_nothing() -> None:
    async with showing(astray(), (120, 40)) as driver:
        screen = await before_sending(driver, "sim:openai")
        assert screen.shown and screen.shown.choice.decided
        await driver.press("T")
        paste(driver, "sim:kimi")
        await driver.press("enter")
        await until(driver.pilot, lambda: screen.target.name == "sim:kimi" and screen.shown)
        assert screen.shown and not screen.shown.choice.decided
        assert "correction" not in driver.text
        assert screen.shown.trial.decoded.request_text == screen.shown.own.request_text
        await driver.press("space")
        await until(driver.pilot, lambda: "no correction under the cursor" in driver.text)


async def test_protocol_stream_and_target_can_be_others() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (120, 40)) as driver:
        screen = await before_sending(driver, "sim:deepseek")
        await until(driver.pilot, lambda: screen.shown)
        first = screen.shown.outgoing.protocol if screen.shown else ""
        await driver.press("l")
        await until(driver.pilot, lambda: screen.shown and screen.shown.outgoing.protocol != first)
        await driver.press("h")
        await until(driver.pilot, lambda: screen.shown and screen.shown.outgoing.protocol == first)
        await driver.press("t")
        await until(driver.pilot, lambda: screen.shown and screen.shown.outgoing.is_stream)
        await driver.press("T")
        paste(driver, "sim:openai")
        await driver.press("enter")
        await until(driver.pilot, lambda: "openai" in driver.text and driver.app.screen is screen)
        await driver.press("tab", "q")
        assert driver.screen.opened


async def test_a_real_endpoint_is_asked_about_once_and_gets_no_key_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret-of-another-host")
    with endpoint() as held:
        held.go(100)
        async with showing(samples.example(samples.LOST_RESULT), (120, 40)) as driver:
            await before_sending(driver, held.url)
            assert "LIVE 127.0.0.1" in driver.text and "asked once" in driver.text
            await driver.press("enter")
            assert isinstance(driver.app.screen, ConfirmScreen)
            assert "Tools are never run" in driver.text
            await driver.press("n")
            assert isinstance(driver.app.screen, SendScreen) and not held.asked
            for _ in range(2):
                await driver.press("enter")
                if not held.asked:
                    await driver.press("y")
                answer = driver.app.screen
                assert isinstance(answer, AnswerScreen)
                await until(driver.pilot, lambda screen=answer: screen.is_over and screen.recorded)
                await driver.press("q")
            assert [path for path, _, _ in held.asked] == ["/v1/messages"] * 2
            assert not any("secret" in str(headers) for _, headers, _ in held.asked)
            assert held.asked[0][2] == samples.example(samples.LOST_RESULT).exchange(2).request.body.raw


async def test_what_cannot_be_read_goes_as_it_is_and_says_so() -> None:
    broken = samples.session(samples.exchange(b'{"model": "claude", "messages": [', {}, url=samples.MESSAGES))
    async with showing(broken, (120, 40)) as driver:
        screen = await before_sending(driver, "sim:anthropic")
        await driver.press("G")
        assert "unreadable, sent unchanged" in driver.text
        assert screen.shown and screen.shown.outgoing.request.body.raw.endswith(b"[")


async def test_hostile_requests_stay_text() -> None:
    async with showing(hostile_session(), (120, 40), exchange=0) as driver:
        screen = await before_sending(driver, "sim:openai")
        for key in ("j", "j", "G"):
            assert_clean(driver)
            await driver.press(key)
        assert len(screen.facts.facts) > 3
        await driver.press("enter")
        answer = driver.app.screen
        assert isinstance(answer, AnswerScreen)
        await until(driver.pilot, lambda: answer.is_over)
        assert_clean(driver)


async def test_where_no_request_was_recorded_there_is_nothing_to_send() -> None:
    answered = samples.exchange({}, {}, url=samples.MESSAGES)
    async with showing(samples.session(replace(answered, request=None)), (80, 24)) as driver:
        await driver.press("s")
        await until(driver.pilot, lambda: "nothing to send" in driver.text)
        assert driver.screen
