"""Which probes a run of the lab takes, and how often."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.tui.screens.lab.screen import LabScreen


class ProbeMarks:
    """Marks probes for a run."""

    def __init__(self, screen: LabScreen) -> None:
        self.screen = screen

    def mark(self) -> None:
        """Mark the probe under the cursor, or take its mark away."""
        if probe := self.screen.here:
            self.screen.marked ^= {probe.name}
            self.screen.show_all()

    def mark_all(self) -> None:
        """All, the seven, none: each turns into the next."""
        every = {probe.name for probe in self.screen.probes}
        core = {probe.name for probe in self.screen.probes if probe.is_core}
        self.screen.marked = set() if self.screen.marked == every else every if self.screen.marked == core else core
        self.screen.show_all()

    def mark_due(self) -> None:
        """What was never measured, or is stale, and with it what costs next to nothing."""
        from workbench.probes.profiles import light

        column = self.screen.column
        due = light(column.profile or column.last, time.time()) if column else ()
        self.screen.marked = {each.probe.name for each in due}
        if column and not due:
            self.screen.say("nothing is stale: what was measured of it holds")
        self.screen.show_all()

    def ask_samples(self) -> None:
        """Ask how many samples a run takes of each probe."""
        from workbench.probes import MOST_SAMPLES
        from workbench.tui.screens.ask import AskScreen

        def set_samples(text: str | None) -> None:
            if text is None:
                return
            if text.isascii() and text.isdecimal() and 1 <= int(text) <= MOST_SAMPLES:
                self.screen.samples = int(text)
                self.screen.show_all()
            else:
                self.screen.say(f"samples are 1 to {MOST_SAMPLES}")

        self.screen.app.push_screen(
            AskScreen("Samples", f"of each probe, 1 to {MOST_SAMPLES}", str(self.screen.samples)), set_samples
        )
