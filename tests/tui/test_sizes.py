"""Any size: a message where there is no room, no crash, and everything is back once there is room again."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, screen_text, still, until
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.widgets.findings import FindingsPane
from workbench.tui.widgets.home import HomePane

SIZES = [
    (1, 1),
    (1, 30),
    (200, 1),
    (40, 15),
    (39, 40),
    (80, 14),
    (160, 50),
]
PLACES: dict[str, Sequence[str]] = {
    "session": (),
    "wire": ("2",),
    "zoomed": ("3", "z"),
    "http": ("7",),
    "help": ("question_mark",),
    "search": ("slash",),
    "filter": ("ampersand",),
    "palette": ("ctrl+p",),
    "copy": ("2", "y"),
    "note": ("2", "a"),
    "stream": ("t",),
    "diff": ("d",),
    "repairs": ("f",),
    "conversion": ("c",),
    "matrix": ("m",),
    "tools": ("T",),
    "arguments": ("A",),
    "metrics": ("$",),
}
HOME: dict[str, Sequence[str]] = {
    "home": (),
    "open": ("o",),
    "import": ("i",),
    "record": ("r",),
    "error text": ("e",),
    "help": ("question_mark",),
}


async def resize_through(driver: Driver) -> None:
    app = driver.app
    before = await still(driver)
    screen, focused = app.screen, app.focused
    for width, height in SIZES:
        await driver.pilot.resize_terminal(width, height)
        await driver.pilot.pause()
        lines = driver.text.split("\n")
        assert len(lines) == height
    await driver.pilot.resize_terminal(120, 40)
    await until(driver.pilot, lambda: (app.screen, app.focused) == (screen, focused))
    if not screen.is_modal:  # behind a dialog a pane may have scrolled to its selection
        await until(driver.pilot, lambda: driver.text == before)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("place", PLACES)
async def test_a_session_lives_through_every_size(place: str) -> None:
    app = WorkbenchApp(samples.example(samples.LOST_REASONING))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        driver = Driver(pilot)
        await until(pilot, lambda: driver.screen.state.is_done and driver.screen.opened)
        await driver.press(*PLACES[place])
        await resize_through(driver)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("place", HOME)
async def test_home_lives_through_every_size(place: str) -> None:
    app = WorkbenchApp(None)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        driver = Driver(pilot)
        await app.workers.wait_for_complete()
        pane = app.screen.query_one(HomePane)
        await until(pilot, lambda: pane.rows and not pane.pending_summaries())  # later lines would differ from these
        await driver.press(*HOME[place])
        await resize_through(driver)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [(1, 1), (10, 3), (39, 40)])
@pytest.mark.parametrize("place", ["session", "wire", "help", "stream"])
async def test_it_starts_and_takes_keys_without_room(place: str, size: tuple[int, int]) -> None:
    app = WorkbenchApp(samples.example(samples.LOST_REASONING))
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SessionScreen) and app.screen.state.is_done)
        for key in (*PLACES[place], "j", "k", "G", "n", "tab", "right_square_bracket", "escape"):
            await pilot.press(key)
        assert len(screen_text(app).split("\n")) == size[1]


async def test_no_room_is_said_and_a_pane_has_the_height_of_its_lines_after_a_resize() -> None:
    app = WorkbenchApp(samples.example(samples.LOST_REASONING))
    async with app.run_test(size=(39, 14)) as pilot:
        await until(pilot, lambda: "40 columns and 15 lines" in screen_text(app))
        await pilot.resize_terminal(40, 15)
        await until(pilot, lambda: "40 columns" not in screen_text(app))
        await until(pilot, lambda: isinstance(app.screen, SessionScreen) and app.screen.state.is_done)
        findings = app.screen.query_one("#findings", FindingsPane)
        await pilot.resize_terminal(160, 50)
        await until(pilot, lambda: findings.region.height == max(8, findings.virtual_size.height + 1))
