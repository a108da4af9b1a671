"""The screens people look at, as they look. Few, and only of what the other tests cannot say: place and colour."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui import samples
from tests.tui.driving import until
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.screens.story.screen import StoryScreen
from workbench.tui.widgets.home import HomePane


async def settled(pilot: Pilot[None]) -> None:
    screen = pilot.app.screen
    if isinstance(screen, SessionScreen):
        await until(pilot, lambda: screen.state.is_done and screen.opened)
        await until(pilot, lambda: not screen.repair_lookup.is_looking)
    else:
        pane = screen.query_one(HomePane)
        await until(pilot, lambda: pane.rows and pane.rows[-1].note and not pane.pending_summaries())


def app_on(name: str | None, theme: str = "dark") -> WorkbenchApp:
    return WorkbenchApp(samples.example(name) if name else None, theme=theme)


@pytest.mark.parametrize(
    ("name", "terminal", "theme"),
    [
        (samples.LOST_REASONING, (80, 24), "dark"),
        (samples.LOST_RESULT, (120, 40), "light"),
        (samples.LOST_RESULT, (160, 50), "dark"),
        (None, (80, 24), "dark"),
    ],
    ids=["narrow", "wide-light", "huge", "home"],
)
def test_screens(snap_compare: Any, name: str | None, terminal: tuple[int, int], theme: str) -> None:
    assert snap_compare(app_on(name, theme), terminal_size=terminal, run_before=settled)


async def in_story(pilot: Pilot[None]) -> None:
    await settled(pilot)
    await pilot.press("S")
    await until(pilot, lambda: isinstance(pilot.app.screen, StoryScreen))
    screen = pilot.app.screen
    assert isinstance(screen, StoryScreen)
    await until(pilot, lambda: screen.story.story.read == screen.session.state.total)


@pytest.mark.parametrize("terminal", [(80, 24), (120, 40)], ids=["narrow", "wide"])
def test_the_story(snap_compare: Any, terminal: tuple[int, int]) -> None:
    assert snap_compare(app_on("gateway-field-dropped"), terminal_size=terminal, run_before=in_story)


def test_every_picture_is_of_a_test(request: pytest.FixtureRequest) -> None:
    """Nobody compares one whose test was renamed, and no process of several knows what the others compared."""
    tests = {f"{Path(__file__).stem}/{test.name}.svg" for test in request.node.parent.collect()}
    folder = Path(__file__).parent / "__snapshots__"
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.svg")} <= tests
