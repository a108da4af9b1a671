"""The repairs of a finding: offered under it, and shown as what they change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui import samples
from tests.tui.driving import showing, until
from workbench.contracts import Finding
from workbench.rules.inspection import Inspector
from workbench.tui import repair_offers as mending
from workbench.tui.models.findings import LOOKING, RepairOffer
from workbench.tui.screens.repairs import RepairsScreen

CALL = {"type": "tool_use", "id": "toolu_1\x1b[2J", "name": "ls", "input": {}}
BROKEN = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 64,
    "tools": [{"name": "ls", "input_schema": {"type": "object"}}],
    "messages": [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [{**CALL, "id": "toolu_1"}]},
        {"role": "user", "content": "stop \x1b[31m\u202e"},
    ],
}
URL = "https://api.anthropic.com/v1/messages"


def session():
    return samples.session(samples.exchange(BROKEN, {}, url=URL))


async def test_a_finding_says_what_can_be_done() -> None:
    async with showing(session(), (120, 40)) as driver:
        await until(driver.pilot, lambda: "add an error result for tool call 'toolu_1'" in driver.text)
        assert "verified against the contract only" in driver.text


async def test_each_repair_is_shown_by_what_it_changes(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with showing(session(), (120, 40)) as driver:
        await until(driver.pilot, lambda: driver.screen.findings.current)
        await until(driver.pilot, lambda: not driver.screen.repair_lookup.is_looking)
        await driver.press("f")
        screen = driver.app.screen
        assert isinstance(screen, RepairsScreen)
        assert "Repair 1 of" in driver.text and "no other finding" in driver.text
        assert "against contract anthropic" in driver.text
        assert "✗ closure.missing-result  request 1" in driver.text and "(ls) has no tool result" in driver.text
        assert " ▸1 ✓ " in driver.text and f"  2 ✓ {screen.offered[1].repair.title}" in driver.text
        assert "tool_result" in driver.text
        assert "\x1b" not in driver.text and "\u202e" not in driver.text
        first = driver.text
        await driver.press("f")
        assert "Repair 2 of" in driver.text and driver.text != first
        await driver.press("1")
        assert "Repair 1 of" in driver.text
        await driver.press("9", "tab", "j", "h", "l", "1")
        offered: RepairOffer = screen.offered[0]
        await driver.press("w")
        await until(driver.pilot, lambda: driver.app.screen is not screen)
        await driver.press("enter")
        await until(driver.pilot, lambda: driver.app.screen is screen)
        assert (tmp_path / "repaired-1.json").read_bytes() == offered.body
        await driver.press("q")
        assert driver.screen.opened


async def test_a_repair_that_is_not_enough_names_what_remains() -> None:
    both = {**BROKEN, "tools": [{"name": "ls tool", "input_schema": {"type": "object"}}]}
    async with showing(samples.session(samples.exchange(both, {}, url=URL)), (120, 40)) as driver:
        await until(driver.pilot, lambda: driver.screen.findings.current)
        await until(driver.pilot, lambda: not driver.screen.repair_lookup.is_looking)
        await driver.press("f")
        screen = driver.app.screen
        assert isinstance(screen, RepairsScreen)
        remaining = [offer.remaining for offer in screen.offered]
        assert any(remaining) and all(offer.repair.verified != bool(offer.remaining) for offer in screen.offered)
        await driver.press(str(remaining.index(next(filter(None, remaining))) + 1))
        assert f"! {next(filter(None, remaining))[0]} remains" in driver.text


async def test_where_nothing_is_known_that_is_said() -> None:
    async with showing(
        samples.session(samples.exchange({**BROKEN, "messages": BROKEN["messages"][:1]}, samples.DONE))
    ) as driver:
        await driver.press("6", "f")
        await until(driver.pilot, lambda: "no repair is known" in driver.text)


def two_broken_calls():
    """Two calls of one message lack their results."""
    calls = [{**CALL, "id": f"toolu_{n}"} for n in (1, 2)]
    user, _, stop = BROKEN["messages"]
    return samples.session(
        samples.exchange(
            {**BROKEN, "messages": [user, {"role": "assistant", "content": calls}, stop]},
            samples.DONE_IN_BLOCKS,
            url=URL,
        ),
        samples.exchange(BROKEN, samples.DONE_IN_BLOCKS, url=URL, number=2),
    )


@pytest.mark.parametrize("way", [("6", "j"), ("n",), ("1", "j"), ("2", "]"), ("6", "G", "g")])
async def test_repairs_are_looked_for_however_a_finding_comes_to_be_shown(way: tuple[str, ...]) -> None:
    async with showing(two_broken_calls(), (120, 40), exchange=0) as driver:
        await driver.press(*way)
        pane = driver.screen.findings
        await until(driver.pilot, lambda: pane.current and not driver.screen.repair_lookup.is_looking)
        await until(driver.pilot, lambda: "f: show it" in driver.text)
        assert LOOKING not in driver.text


async def test_the_first_finding_is_looked_at_without_a_key() -> None:
    async with showing(two_broken_calls(), (120, 40), exchange=0) as driver:
        await until(driver.pilot, lambda: "f: show it" in driver.text)


async def test_repairs_that_cannot_be_looked_for_are_said_to_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(inspector: Inspector, finding: Finding) -> tuple[RepairOffer, ...]:
        raise RuntimeError("torn \x1b[2J")

    monkeypatch.setattr(mending, "offered_repairs", fails)
    async with showing(session(), (120, 40)) as driver:
        await until(driver.pilot, lambda: "lookup failed: RuntimeError: torn" in driver.text)
        await driver.press("f")
        assert driver.text.count("lookup failed") == 2
        assert "\x1b" not in driver.text


async def test_where_there_is_nothing_to_repair_that_is_said() -> None:
    other = samples.session(samples.exchange({}, {}, url="https://example.org/"))
    async with showing(other) as driver:
        await driver.press("f")
        assert "nothing to repair: no finding" in driver.text


async def test_no_finding_so_far_is_not_said_to_be_none() -> None:
    async with showing(session(), (120, 40)) as driver:
        rows = driver.screen.state.rows
        driver.screen.state.rows = ()
        assert driver.screen.repair_lookup.why_none(None) == "still inspecting, no finding so far (inspected 0 of 1)"
        driver.screen.state.rows = rows
        assert driver.screen.repair_lookup.why_none(None) == "nothing to repair: no finding"


async def test_advice_is_nothing_to_repair() -> None:
    async with showing(samples.example("anthropic-prompt-cache-broken")) as driver:
        await driver.press("f")
        assert "nothing to repair: the finding is advice" in driver.text
