"""Driving the app in tests: wait for the thing, never for time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.widgets.pane import Pane
from workbench.wire.session import Session

PATIENCE = 6000


async def until(pilot: Pilot[None], holds: Callable[[], object]) -> None:
    """Let the app run until something holds."""
    for _ in range(PATIENCE):
        if holds():
            await pilot.pause()
            return
        if pilot.app._exception:
            break  # the end of the app raises it
        await asyncio.sleep(0.01)  # a pause of the pilot asks every widget
    raise AssertionError("it never came to hold")


class Driver:
    """The app on a session, with short ways to look at it."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        self.app = pilot.app

    @property
    def screen(self) -> SessionScreen:
        screen = self.app.screen
        assert isinstance(screen, SessionScreen)
        return screen

    def pane(self, name: str) -> Pane:
        return self.screen.query_one(f"#{name}", Pane)

    @property
    def focused(self) -> str:
        return (self.app.focused and self.app.focused.id) or ""

    @property
    def text(self) -> str:
        return screen_text(self.app)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def shows(self, exchange: int) -> None:
        """Until an exchange, counted from zero, is open."""
        await until(self.pilot, lambda: self.screen.opened and self.screen.opened.index == exchange)


def screen_text(app: object) -> str:
    """What stands on the screen, line by line."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())  # type: ignore[attr-defined]


@asynccontextmanager
async def showing(
    session: Session, size: tuple[int, int] = (160, 50), exchange: int | None = None
) -> AsyncIterator[Driver]:
    """The app on a session, once it is inspected and an exchange is open."""
    app = WorkbenchApp(session, exchange=exchange)
    async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
        driver = Driver(pilot)
        await until(pilot, lambda: driver.screen.state.is_done)
        if len(session):
            await until(pilot, lambda: driver.screen.opened)
        yield driver


async def still(driver: Driver) -> str:
    """The text of the screen once nothing changes on it any more: what is read in slices is there."""
    seen: list[str] = []

    def is_still() -> bool:
        seen.append(driver.text)
        return len(seen) > 8 and len(set(seen[-8:])) == 1 and " …" not in seen[-1].split("\n")[0]

    await until(driver.pilot, is_still)
    return seen[-1]
