"""Selection of probes and samples for a run of the lab."""

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
        """Mark or unmark the probe under the cursor."""
        if probe := self.screen.here:
            self.screen.marked ^= {probe.name}
            self.screen.show_all()

    def mark_all(self) -> None:
        """Mark all probes, then the core probes, then none."""
        every = {probe.name for probe in self.screen.probes}
        core = {probe.name for probe in self.screen.probes if probe.is_core}
        self.screen.marked = set() if self.screen.marked == every else every if self.screen.marked == core else core
        self.screen.show_all()

    def mark_due(self) -> None:
        """Mark probes that are unmeasured or stale, and the cheap ones with them."""
        from workbench.probes.profiles import light

        column = self.screen.column
        due = light(column.profile or column.last, time.time()) if column else ()
        self.screen.marked = {each.probe.name for each in due}
        if column and not due:
            self.screen.say("no probe is stale; all measurements are current")
        self.screen.show_all()

    def ask_samples(self) -> None:
        """Ask how many samples a run takes of each probe."""
        from workbench.probes import MOST_SAMPLES
        from workbench.tui.screens.questions import AskScreen

        def set_samples(text: str | None) -> None:
            if text is None:
                return
            if text.isascii() and text.isdecimal() and 1 <= int(text) <= MOST_SAMPLES:
                self.screen.samples = int(text)
                self.screen.show_all()
            else:
                self.screen.say(f"type a number of samples from 1 to {MOST_SAMPLES}")

        self.screen.app.push_screen(
            AskScreen("Samples", f"samples of each probe, 1 to {MOST_SAMPLES}", str(self.screen.samples)), set_samples
        )
