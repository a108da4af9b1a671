"""Each screen at two sizes: where its panes are, what its footer names. Words may change, places are held.

``WORKBENCH_UPDATE=1 pytest tests/tui/test_layout.py`` writes the places again, once somebody has looked.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, screen_text, showing, still, until
from workbench.tui.bars import KeyBar
from workbench.tui.panes.lineview import LineView

PLACES = Path(__file__).parent / "__snapshots__" / "layout.txt"
SIZES = ((80, 24), (120, 40))
SCREENS = {
    "session": (),
    "story": ("S",),
    "stream": ("K", "t"),
    "diff": ("J", "d"),
    "repairs": ("f",),
    "conversion": ("c",),
    "matrix": ("m",),
    "tools": ("T",),
    "arguments": ("A",),
    "tool results": ("R",),
    "metrics": ("$",),
    "edit": ("e",),
    "branches": ("B",),
    "export": ("x",),
    "lab": ("L",),
}
HALVES = (tuple(SCREENS)[:8], tuple(SCREENS)[8:])


async def look(driver: Driver, name: str) -> list[str]:
    """A line for each size: panes with column, row, width and height."""
    made = []
    for width, height in SIZES:
        await driver.pilot.resize_terminal(width, height)
        await driver.pilot.pause()
        panes = [pane for pane in driver.app.screen.query(LineView) if pane.region.area]
        told = " ".join(f"{p.id}={p.region.x},{p.region.y},{p.region.width},{p.region.height}" for p in panes)
        made.append(f"{name} {width}x{height}: {told}")
        assert all(pane.region.height >= 2 for pane in panes), made[-1]
        assert sum(pane.region.area for pane in panes) >= 0.6 * width * height, f"unused room: {made[-1]}"
        footer = screen_text(driver.app).split("\n")[-1]
        assert "? help" in footer and ("q back" in footer or "esc " in footer), footer
        assert next(iter(driver.app.screen.query(KeyBar))).region.bottom == height
    return made


@pytest.mark.parametrize("names", HALVES, ids=["first", "second"])
async def test_the_places_of_panes_are_held(names: tuple[str, ...]) -> None:
    held = dict(line.split(": ", 1) for line in PLACES.read_text().splitlines()) if PLACES.exists() else {}
    async with showing(samples.example(samples.LOST_REASONING), SIZES[1]) as driver:
        await until(driver.pilot, lambda: not driver.screen.repair_lookup.is_looking)
        session = driver.app.screen
        found: list[str] = []
        for name in names:
            await driver.press(*SCREENS[name])
            await until(driver.pilot, lambda name=name: not SCREENS[name] or driver.app.screen is not session)  # type: ignore[misc]
            await still(driver)
            found += await look(driver, name)
            while driver.app.screen is not session:
                before = driver.app.screen
                await driver.press("q")
                await until(driver.pilot, lambda before=before: driver.app.screen is not before)  # type: ignore[misc]
    made = dict(line.split(": ", 1) for line in found)
    if os.environ.get("WORKBENCH_UPDATE"):
        lines = {**held, **made}
        PLACES.write_text("".join(f"{key}: {lines[key]}\n" for key in sorted(lines)))
    else:
        assert made == {key: held.get(key) for key in made}
