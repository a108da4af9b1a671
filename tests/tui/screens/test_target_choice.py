"""Choosing a target."""

from __future__ import annotations

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from tests.tui.screens.test_send_answer import name_it
from workbench.send import local, providers
from workbench.send.local import LocalServer
from workbench.send.target import Target
from workbench.tui.screens import target_choice
from workbench.tui.screens.target_choice import TargetScreen, offer_targets


async def choosing(driver: Driver) -> list[Target | None]:
    got: list[Target | None] = []
    driver.app.push_screen(TargetScreen("Send to", "deepseek:v4", "openai-chat"), got.append)
    await until(driver.pilot, lambda: "sim:deepseek:v4" in driver.text)
    return got


@pytest.mark.parametrize(
    ("keys", "name", "protocol"),
    [
        (("enter",), "sim:deepseek:v4", ""),
        (("down", "down", "enter"), "h", "anthropic-messages"),
        ((*"v3", "tab", "enter"), "sim:deepseek:v3.2", ""),
        ((*"http://h", "enter", "enter"), "http://h", "openai-chat"),
    ],
)
async def test_a_target_is_chosen_by_keys(keys: tuple[str, ...], name: str, protocol: str) -> None:
    name_it("http://127.0.0.1:9")
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        got = await choosing(driver)
        assert [row for row in driver.text.split("\n") if "▹" in row and "sim:deepseek:v4 " in row]
        for key in keys:
            await driver.press(key)
            pane = driver.app.screen
            if isinstance(pane, TargetScreen):
                await until(driver.pilot, lambda screen=pane: screen._answered is not None)
        assert [(target and target.name, target and target.protocol) for target in got] == [(name, protocol)]


async def test_a_name_that_nobody_knows_is_said_in_the_dialog_and_escape_chooses_nothing() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        got = await choosing(driver)
        await driver.press(*"nobody", "enter")
        await until(driver.pilot, lambda: "no target named 'nobody'" in driver.text)
        await driver.press("escape")
        assert got == [None]


async def test_servers_of_this_machine_are_looked_for_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async def found() -> tuple[LocalServer, ...]:
        return (LocalServer("vllm", "http://127.0.0.1:8000", ("qwen\x1b[2J",), ("openai-chat",)),)

    monkeypatch.setattr(local, "find_servers", found)
    async with showing(samples.example(samples.LOST_RESULT), (120, 40)) as driver:
        got = await choosing(driver)
        await driver.press(*target_choice.LOCAL)
        await until(driver.pilot, lambda: "http://127.0.0.1:8000" in driver.text)
        assert "\x1b" not in driver.text
        await driver.press("down", "enter")
        assert got[0] and got[0].url == "http://127.0.0.1:8000" and got[0].protocol == "openai-chat"


def test_whose_key_is_set_is_said_and_its_value_never(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-shown")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    shown = [f"{each.shown} {each.facts}" for each in offer_targets("$", "openai").suggestions]
    assert any("$OPENAI_API_KEY set" in line for line in shown)
    assert any("$ANTHROPIC_API_KEY not set" in line for line in shown)
    assert not any("sk-never-shown" in line for line in shown)


def test_what_works_now_comes_before_what_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-shown")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    names = [each.text for each in offer_targets("", "gemini").suggestions]
    assert names[0] == "sim:gemini"
    order = [names.index(name) for name in ("openai", "local:", "sim:", "gemini", "$")]
    assert order == sorted(order)


def test_providers_whose_key_is_not_set_are_one_line_until_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for target in providers().values():
        monkeypatch.delenv(target.key_variable, raising=False)
    monkeypatch.setenv("MISTRAL_API_KEY", "sk-never-shown")
    offered = offer_targets("", "gemini").suggestions
    assert [each.text for each in offered if "not set" in each.facts] == ["gemini", "$"]
    listed = {each.text for each in offer_targets("$", "gemini").suggestions}
    assert {"gemini", "anthropic", "mistral"} <= listed and not any(name.startswith("sim:") for name in listed)
    assert [each.text for each in offer_targets("$mistral", "gemini").suggestions] == ["mistral"]
    assert "anthropic" in [each.text for each in offer_targets("anthr", "gemini").suggestions]


async def test_a_line_that_lists_targets_is_no_target() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        got = await choosing(driver)
        await driver.press("$", "enter")
        await until(driver.pilot, lambda: "choose one below with ↓" in driver.text)
        assert not got


async def test_the_protocol_is_asked_of_a_url_only() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        await choosing(driver)
        assert "Protocol of this URL" not in driver.text
        await driver.press(*"http://h")
        await until(driver.pilot, lambda: "Protocol of this URL" in driver.text)


def test_a_broken_file_of_targets_is_said_beside_the_others() -> None:
    name_it("ftp://nowhere")
    shown = [f"{each.shown} {each.facts}" for each in offer_targets("", "openai").suggestions]
    assert "targets.yaml" in shown[0] and any("sim:openai" in line for line in shown)


def test_simulators_of_the_same_provider_follow_the_own_one() -> None:
    names = [each.text for each in offer_targets("sim:", "deepseek:beta").suggestions]
    of_provider = [name for name in names if name.startswith("sim:deepseek")]
    assert len(of_provider) > 2
    assert names[: len(of_provider)] == ["sim:deepseek:beta", *(name for name in of_provider if "beta" not in name)]
