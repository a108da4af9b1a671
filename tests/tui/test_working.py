"""The tree of a session screen: asked off the screen's thread, kept whatever happens next."""

from __future__ import annotations

from pathlib import Path

from tests.tui import samples
from tests.tui.driving import showing, until
from workbench.edits import with_body
from workbench.edits.branches import BranchNode
from workbench.tui.screens.session.screen import SessionScreen
from workbench.wire.session import Session


def session() -> Session:
    return samples.session(samples.exchange({"messages": []}, {}))


async def at(screen: SessionScreen, pilot) -> BranchNode:
    found: list[BranchNode] = []
    screen.branches.current(0, found.append)
    await until(pilot, lambda: found)
    return found[0]


async def test_a_person_stands_at_what_was_made_last_and_goes_back_and_forth() -> None:
    async with showing(session(), (80, 24)) as driver:
        screen, found = driver.screen, list[BranchNode | None]()
        root = await at(screen, driver.pilot)
        assert root.exchange.request
        screen.branches.commit(root, with_body(root.exchange.request, b"{}"), "emptied", found.append)
        await until(driver.pilot, lambda: found)
        made = await at(screen, driver.pilot)
        assert made.title == "emptied" and made == found[0]
        screen.branches.undo(made, found.append)
        screen.branches.undo(root, found.append)
        screen.branches.redo(root, found.append)
        await until(driver.pilot, lambda: len(found) == 4)
        assert found[1:] == [root, None, made]
        screen.branches.go(root)
        assert await at(screen, driver.pilot) == root
        await driver.press("1")
        assert "├ 1" in driver.text


async def test_what_was_asked_just_before_the_end_is_done_and_found_again() -> None:
    async with showing(session(), (80, 24)) as driver:
        root = await at(driver.screen, driver.pilot)
        assert root.exchange.request
        driver.screen.branches.commit(root, with_body(root.exchange.request, b"[]"), "late", lambda _: None)
        driver.screen.inspecting.stop()
    async with showing(session(), (80, 24)) as driver:
        await driver.press("1")
        await until(driver.pilot, lambda: "├ 1" in driver.text)
        assert (await at(driver.screen, driver.pilot)).title == "as recorded", "what was recorded is shown first"
        await driver.press("b")
        await until(driver.pilot, lambda: "├ branch of request 1: late" in driver.text)
        assert (await at(driver.screen, driver.pilot)).title == "late"


async def test_a_question_that_fails_is_answered_and_trouble_is_told_once(own_home: Path) -> None:
    (own_home / ".local").write_text("in the way")
    async with showing(session(), (80, 24)) as driver:
        root, found = await at(driver.screen, driver.pilot), list[str]()
        assert root.exchange.request
        driver.screen.branches.ask(lambda workspace: workspace.node("none"), lambda _: None, found.append)
        await until(driver.pilot, lambda: found)
        assert "none" in found[0]
        for text in (b"1", b"2"):
            driver.screen.branches.commit(root, with_body(root.exchange.request, text), "kept", lambda _: None)
        await until(driver.pilot, lambda: "only kept in memory" in driver.text)
        assert driver.text.count("only kept in memory") == 1
