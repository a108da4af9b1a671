"""Each screen at two sizes: where its panes are, what its footer names. Words may change, places are held.

``WORKBENCH_UPDATE=1 pytest tests/tui`` writes the places again, once somebody has looked.
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.tui.driving import Driver, screen_text, still, until
from workbench.tui.bars import KeyBar
from workbench.tui.widgets.lineview import LineView

PLACES = Path(__file__).parent / "__snapshots__" / "layout.txt"
SIZES = ((80, 24), (120, 40))
MOST_LAYOUTS = 20
"""Layouts after which the places of the panes no longer change."""
WAYS_OUT = ("q back", "q quit", "esc ")


async def hold(driver: Driver, name: str) -> None:
    """Compare the places of the panes of the current screen, which is quiet, with those that are kept."""
    before = driver.app.size
    await still(driver)
    made = dict([await _places(driver, name, *size) for size in SIZES])
    await driver.pilot.resize_terminal(*before)
    await driver.pilot.pause()
    held = dict(line.split(": ", 1) for line in PLACES.read_text().splitlines()) if PLACES.exists() else {}
    if os.environ.get("WORKBENCH_UPDATE"):
        lines = {**held, **made}
        PLACES.write_text("".join(f"{key}: {lines[key]}\n" for key in sorted(lines)))
    else:
        assert made == {key: held.get(key) for key in made}


def _panes(driver: Driver) -> list[LineView]:
    return [pane for pane in driver.app.screen.query(LineView) if pane.region.area]


async def _places(driver: Driver, name: str, width: int, height: int) -> tuple[str, str]:
    """Name and size of a screen, and its panes with column, row, width and height."""
    await driver.pilot.resize_terminal(width, height)
    await until(driver.pilot, lambda: screen_text(driver.app).count("\n") == height - 1)
    told, panes = "", _panes(driver)
    for n in range(MOST_LAYOUTS):  # a pane whose height follows its lines is laid out once more
        await driver.pilot.pause()
        before, panes = told, _panes(driver)
        told = " ".join(f"{p.id}={p.region.x},{p.region.y},{p.region.width},{p.region.height}" for p in panes)
        if n > 1 and told == before:
            break
    assert all(pane.region.height >= 2 for pane in panes), told
    assert sum(pane.region.area for pane in panes) >= 0.6 * width * height, f"unused room: {told}"
    footer = screen_text(driver.app).split("\n")[-1]
    assert "? help" in footer and any(way in footer for way in WAYS_OUT), footer
    assert next(iter(driver.app.screen.query(KeyBar))).region.bottom == height
    return f"{name} {width}x{height}", told
