"""The guided tour: ten keys from a break to a test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.driving import screen_text, until
from workbench.config import resources
from workbench.formats.importers import open_input
from workbench.tui import keys
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.exporting import ExportScreen
from workbench.tui.screens.home import HomeScreen
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.tour import EXAMPLE, STEPS, Tour


def ready(app: WorkbenchApp) -> Callable[[], bool]:
    """What the next key needs is on the screen."""

    def holds() -> bool:
        text = " ".join(screen_text(app).split())
        step = app.tour.step if app.tour else 0
        wanted = {
            3: "reasoning.missing",
            4: "restore the reasoning",
            5: "Repair 1",
            6: "✓ accepts",
            7: "sim:deepseek",
            8: "passes all checks",
            9: "accepted (200)",
        }.get(step, "Tour")
        return f"Tour {step + 1} of 10" in text and wanted in text

    return holds


async def test_each_step_is_one_key_and_the_last_one_leads_to_the_test() -> None:
    session = open_input(str(resources.folder("sessions") / EXAMPLE))
    app = WorkbenchApp(session, is_tour=True)
    async with app.run_test(size=(120, 40), notifications=True, tooltips=True) as pilot:
        for number, step in enumerate(STEPS):
            await until(pilot, lambda n=number: app.tour and app.tour.step == n)  # type: ignore[misc]
            await until(pilot, ready(app))
            await pilot.press(keys.first_name(keys.table()[step.key]))
        await until(pilot, lambda: app.tour and app.tour.is_over)
        assert isinstance(app.screen, ExportScreen)
        await until(pilot, lambda: "That was the tour" in screen_text(app))


async def test_home_begins_it() -> None:
    app = WorkbenchApp()
    async with app.run_test(size=(120, 40), notifications=True, tooltips=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, SessionScreen))
        await until(pilot, lambda: "Tour 1 of 10" in screen_text(app))


@pytest.mark.parametrize("width", [40, 80, 160])
def test_every_step_fits_and_names_its_key(width: int) -> None:
    tour = Tour(WorkbenchApp())
    for number, step in enumerate(STEPS):
        tour.step = number
        lines = tour.lines(width)
        text = " ".join(" ".join("".join(span.text for span in line) for line in lines).split())
        assert f"Tour {number + 1} of 10" in text
        assert f": press {keys.table()[step.key].show} · " in text and text.endswith(" · q: back")
        assert all(sum(len(span.text) for span in line) <= width for line in lines)
