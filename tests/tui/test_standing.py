"""Recorded or branch: one place that is shown and that every key works on."""

from __future__ import annotations

from tests.thinning import Thin
from tests.tui.driving import Driver, showing, until
from workbench.config import resources
from workbench.formats.importers import open_input
from workbench.tui.screens.comparing.screen import ComparingScreen
from workbench.tui.screens.copy import CopyScreen
from workbench.tui.screens.edit.screen import EditScreen
from workbench.tui.screens.repairs import RepairsScreen
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.screens.target_choice import TargetScreen
from workbench.wire.session import Session

REPAIR = "restore the reasoning"


def broken() -> Session:
    return open_input(str(resources.folder("sessions") / "deepseek-reasoning-lost.jsonl"))


async def repaired(driver: Driver) -> None:
    """The session, after its break was repaired and the editor was left."""
    screen = driver.screen
    await until(driver.pilot, lambda: (found := screen.findings.current) and screen.repair_lookup.offers(found))
    await driver.press("f")
    await until(driver.pilot, lambda: isinstance(driver.app.screen, RepairsScreen))
    await driver.press("a")
    await until(driver.pilot, lambda: isinstance(driver.app.screen, EditScreen) and driver.app.screen.study.is_settled)
    await driver.press("q")
    await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen))
    await shows_branch(driver, True)


async def shows_branch(driver: Driver, is_branch: bool) -> None:
    screen = driver.screen
    await until(driver.pilot, lambda: screen.opened and ("reasoning_content" in request_of(driver)) == is_branch)
    await until(driver.pilot, lambda: ("├ branch of request 2" in driver.text) == is_branch)


def request_of(driver: Driver) -> str:
    assert driver.screen.opened
    return driver.screen.opened.decoded.request_text.decode()


async def test_after_a_repair_the_branch_is_shown_and_one_key_leads_back() -> None:
    async with showing(broken(), size=(120, 40)) as driver:
        await repaired(driver)
        assert REPAIR in driver.text and "b: recorded request" in driver.text
        assert not driver.screen.state.findings
        assert "none with the branch of request 2" in driver.text
        await driver.press("b")
        await shows_branch(driver, False)
        assert "request 2 as recorded" in driver.text and f"b: branch {REPAIR}" in driver.text
        assert [f.rule for f in driver.screen.state.findings] == ["reasoning.missing"]
        await driver.press("b")
        await shows_branch(driver, True)
        await driver.pilot.resize_terminal(80, 24)
        await until(driver.pilot, lambda: "b recorded/branch  " in driver.text.split("\n")[-1])


async def test_the_recorded_request_has_its_repairs_again_and_is_what_is_opened_the_next_time() -> None:
    for keys in (("b",), ("b", "b", "b"), ()):
        async with showing(broken(), size=(120, 40)) as driver:
            await (repaired(driver) if keys else shows_branch(driver, False))
            await driver.press(*keys)
            await shows_branch(driver, False)
            await until(driver.pilot, lambda: "request 2 as recorded" in driver.text and REPAIR in driver.text)
            await until(driver.pilot, lambda: "f: show it" in driver.text)
            await driver.press("f")
            assert isinstance(driver.app.screen, RepairsScreen)


async def test_a_request_without_branches_says_nothing_of_them() -> None:
    async with showing(broken(), size=(120, 40)) as driver:
        assert "as recorded" not in driver.text
        await driver.press("b")
        await until(driver.pilot, lambda: "this request has no branch" in driver.text)


TITLES = {
    "m": "Request 2 · restore the reasoning",
    "d": "Request 2 compared with request 1 · restore the reasoning",
    "c": "Request 2 → anthropic-messages · restore the reasoning",
    "T": "Tools of request 2 · restore the reasoning",
    "A": "Arguments of exchange 2 · restore the reasoning",
    "V": "What if · request 2 · restore the reasoning",
    "x": "Export request 2 · restore the reasoning",
    "e": "Edit of request 2  branch · restore the reasoning",
}


BEFORE_SENDING = {
    "M": "Minimise request 2 → sim:deepseek:v4 · restore the reasoning",
    "C": "Continue exchange 2 with sim:deepseek:v4 · restore the reasoning",
    "s": "Send request 2 → sim:deepseek:v4 · restore the reasoning",
}


async def test_every_key_works_on_what_its_title_names(thin: Thin) -> None:
    """Some on the branch, others on what was recorded."""
    first, *others = {**TITLES, **BEFORE_SENDING}.items()
    async with showing(broken(), size=(120, 40)) as driver:
        await repaired(driver)
        for is_branch in (True, False):
            for key, named in thin([first, *others] if is_branch else [*others, first], 4):
                await driver.press(key)
                if key in BEFORE_SENDING:
                    await until(driver.pilot, lambda: isinstance(driver.app.screen, TargetScreen))
                    await driver.press("enter")
                title = named if is_branch else named.partition("  branch")[0].partition(" · restore")[0]
                wanted = " ".join(title.split())  # a narrow header has other room between its parts
                await until(driver.pilot, lambda wanted=wanted: wanted in " ".join(driver.text.split()))  # type: ignore[misc]
                assert (REPAIR in driver.text.split("\n", 1)[0]) == is_branch, key
                await driver.press("q")
                await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen))
            await copies_and_compares(driver, is_branch)
            if is_branch:
                await driver.press("b")
                await shows_branch(driver, False)


async def copies_and_compares(driver: Driver, is_branch: bool) -> None:
    """What is copied and compared is the request that is shown; a branch has no answer to look at."""
    await driver.press("y")
    copied = driver.app.screen
    assert isinstance(copied, CopyScreen)
    curl = next(choice for choice in copied.found if choice.name == "curl")
    assert ("reasoning_content" in str(curl.make())) == is_branch
    await driver.press("escape", "D", "1", "enter")
    await until(
        driver.pilot, lambda: isinstance(driver.app.screen, ComparingScreen) and driver.app.screen.comparison.is_over
    )
    await until(driver.pilot, lambda: "exchange 1 against exchange 2" in driver.text)
    first, *others = driver.text.split("\n")
    assert ("exchange 1 against exchange 2 · restore the reasoning" in first) == is_branch
    assert any('+     "reasoning_content":' in line for line in others) == is_branch, "the request has it anew"
    await driver.press("q")
    await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen))
    if is_branch:
        await driver.press("t")
        await until(driver.pilot, lambda: "there is no response" in driver.text)
