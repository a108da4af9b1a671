"""The tree of edits and sends: seen, walked, named, compared."""

from __future__ import annotations

from tests.tui.driving import Driver, screen_text, until
from tests.tui.screens.test_edit import editing, session
from workbench.tui.screens.branches import BranchesScreen
from workbench.tui.screens.edit.screen import EditScreen


def tree(driver: Driver) -> BranchesScreen:
    screen = driver.app.screen
    assert isinstance(screen, BranchesScreen)
    return screen


def is_current(driver: Driver, title: str) -> bool:
    return any("●" in row and title in row for row in driver.text.splitlines())


async def test_branches_are_walked_named_compared_and_gone_to() -> None:
    async with editing(session()) as edit:
        driver = edit.driver
        await edit.go("/messages/2")
        await edit.press("d", "u", "c", "c")
        await driver.press("B")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, BranchesScreen) and tree(driver).branches)
        await until(driver.pilot, lambda: len(tree(driver).verdicts) == 4)
        assert "3 edits · 0 sends" in driver.text and "├─" in driver.text and "└─" in driver.text
        assert is_current(driver, "message 4 duplicated")
        assert driver.text.count("refuses") == 3
        await driver.press("g", "j", "a", *"short", "enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, BranchesScreen) and "short" in driver.text)
        await until(driver.pilot, lambda: "compared with as recorded" in driver.text and "removed" in driver.text)
        await driver.press("space", "G")
        await until(driver.pilot, lambda: "compared with short" in driver.text)
        await driver.press("space", "u")
        await until(driver.pilot, lambda: is_current(driver, "message 3 duplicated"))
        await driver.press("g", "j", "enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, EditScreen))
        await until(driver.pilot, lambda: "short" in screen_text(driver.app) and edit.screen.study.is_settled)
        assert len(edit.body["messages"]) == 2


async def test_a_tree_of_nothing_says_how_it_begins() -> None:
    async with editing(session(), (80, 24)) as edit:
        driver = edit.driver
        await driver.press("q", "B")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, BranchesScreen) and tree(driver).branches)
        assert "no edits yet" in driver.text and "as recorded" in driver.text
        await driver.press("u")
        await until(driver.pilot, lambda: "nothing to undo: the current node is the recorded request" in driver.text)
        await driver.press("tab", "tab", "tab", "enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, EditScreen))
