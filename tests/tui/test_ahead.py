"""Keys that are pressed while a file opens are pressed again as soon as they can act."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest
from textual.widgets import Input

from tests.tui import samples
from tests.tui.driving import screen_text, until
from workbench.errors import SessionFormatError
from workbench.tui import repair_offers
from workbench.tui.app import WorkbenchApp
from workbench.tui.models.findings import RepairOffer
from workbench.tui.screens.edit.screen import EditScreen
from workbench.tui.screens.home import HomeScreen
from workbench.tui.screens.matrix import MatrixScreen
from workbench.tui.screens.repairs import RepairsScreen
from workbench.tui.screens.session import type_ahead as ahead
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.screens.target_choice import TargetScreen
from workbench.wire.session import Session


class Slow:
    """Opens a session when it is allowed to."""

    def __init__(self) -> None:
        self.may = Event()

    def __call__(self) -> Session:
        self.may.wait(20)
        return samples.example(samples.LOST_RESULT)


async def test_nothing_typed_while_a_file_opens_is_lost() -> None:
    slow = Slow()
    app = WorkbenchApp(slow)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("m")
        assert isinstance(app.screen, SessionScreen)
        slow.may.set()
        await until(pilot, lambda: isinstance(app.screen, MatrixScreen))


async def test_a_line_that_is_typed_while_a_file_opens_is_a_line() -> None:
    slow = Slow()
    app = WorkbenchApp(slow)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = app.screen
        assert isinstance(screen, SessionScreen)
        await pilot.press("2", "slash", *"required", "enter", "m")
        assert app.screen is screen, "q is a letter of it"
        slow.may.set()
        await until(pilot, lambda: isinstance(app.screen, MatrixScreen) and screen.type_ahead.is_over)
        assert screen.pane_search.wanted == "required" and not screen.query(Input)


async def test_keys_behind_one_that_waits_wait_too_and_it_is_said_when_they_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ahead, "MOST", 3)
    slow = Slow()
    app = WorkbenchApp(slow)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("m", "question_mark", *"jj")
        assert isinstance(app.screen, SessionScreen)
        await until(pilot, lambda: "3 keys are waiting for the file; this key is ignored" in screen_text(app))
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        slow.may.set()


async def test_a_key_that_acts_on_an_exchange_says_so_where_none_is_open() -> None:
    app = WorkbenchApp(samples.session())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: "m (matrix) needs an open exchange" in screen_text(app))


async def test_a_session_that_is_left_while_it_opens_is_left_at_once() -> None:
    slow = Slow()
    app = WorkbenchApp(slow)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("m", "q")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        slow.may.set()


@pytest.mark.parametrize("key", ["m", "f"])
async def test_a_file_that_cannot_be_opened_takes_the_keys_with_it(key: str) -> None:
    def opener() -> Session:
        raise SessionFormatError("torn")

    app = WorkbenchApp(opener)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(key)
        await until(pilot, lambda: app.failure)


async def test_keys_for_a_screen_that_is_still_coming_do_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repairs are looked up as long as this test wants; keys after theirs wait for the editor and its dialog."""
    may = Event()

    def slow(*args: Any) -> tuple[RepairOffer, ...]:
        may.wait(20)
        return look(*args)

    look = repair_offers.offered_repairs
    monkeypatch.setattr(repair_offers, "offered_repairs", slow)
    app = WorkbenchApp(samples.example(samples.LOST_RESULT))
    async with app.run_test(size=(120, 40)) as pilot:
        session = app.screen
        assert isinstance(session, SessionScreen)
        await until(pilot, lambda: session.state.is_done and session.opened and session.findings.current)
        await pilot.press("f", "a", "m", "w")
        screen = app.screen
        assert isinstance(screen, RepairsScreen) and "Repairs of closure.missing-result" in screen_text(app)
        may.set()
        await until(pilot, lambda: screen.offered)
        await pilot.press("a", "s")
        await until(pilot, lambda: isinstance(app.screen, TargetScreen))
        assert isinstance(app.screen_stack[-2], EditScreen) and session.notes._prompt is None
