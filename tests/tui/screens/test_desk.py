from __future__ import annotations

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, until
from workbench.tui import keys
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.session.layout import PaneLayout
from workbench.tui.screens.session.screen import SessionScreen

TYPED = [
    key for row in (*keys.SESSION, *keys.PANE) if row.action not in ("back", "leave") for key in row.keys.split(",")
]


@pytest.mark.sampled(24)
@pytest.mark.parametrize("key", TYPED)
async def test_a_key_typed_before_the_panes_are_there_does_no_harm(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = SessionScreen._begin
    furnish = PaneLayout.furnish
    held: list[SessionScreen] = []
    begun: list[bool] = []

    def hold(self: SessionScreen) -> None:
        held.append(self)

    async def furnish_later(self: PaneLayout) -> None:
        if begun:
            await furnish(self)

    monkeypatch.setattr(SessionScreen, "_begin", hold)
    monkeypatch.setattr(PaneLayout, "furnish", furnish_later)
    app = WorkbenchApp(samples.example(samples.TOOL_LOOP))
    async with app.run_test(size=(120, 40), notifications=True, tooltips=True) as pilot:
        driver = Driver(pilot)
        await until(pilot, lambda: held)
        assert not driver.screen.query("#wire")
        await driver.press(key)
        begun.append(True)
        begin(held[0])
        await until(pilot, lambda: held[0].state.is_done and held[0].opened and held[0].type_ahead.is_over)
        await until(pilot, lambda: app.screen.is_mounted)
