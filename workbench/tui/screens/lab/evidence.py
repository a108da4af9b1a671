"""Evidence for a verdict of the probe lab: its exchanges, or the probe step by step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from workbench.tui.host import host_of
from workbench.tui.probing import LabColumn, in_memory, read_evidence

if TYPE_CHECKING:
    from workbench.tui.screens.lab.screen import LabScreen
    from workbench.wire.session import Session


class LabEvidence:
    """Opens other screens on the probe under the cursor."""

    def __init__(self, screen: LabScreen) -> None:
        self.screen = screen

    def step(self) -> None:
        """Step through the probe under the cursor."""
        from workbench.tui.screens.lab.step import StepScreen

        column, probe = self.screen.column, self.screen.here
        if column is None or probe is None:
            self.screen.targets.target()
        elif self.screen.runs.is_idle():
            self.screen.app.push_screen(StepScreen(probe, column))

    def open(self) -> None:
        """Open the exchanges behind the verdict under the cursor, as a session."""
        column, probe = self.screen.column, self.screen.here
        result = column.result(probe.name) if column and probe else None
        if column is None or probe is None or result is None:
            self.screen.say("not run yet · r: run the marked probes · o: run this one · s: step through it")
            return
        name = f"{probe.name} · {column.subject.target.name}"
        exchanges, path = column.shown_by.get(probe.name), column.evidence(result)
        if exchanges:
            self._open_session(partial(in_memory, name, exchanges), column)
        elif path and result.evidence:
            self._open_session(partial(read_evidence, path, result.evidence, name), column)
        else:
            self.screen.say("no exchange of this result was saved")

    def _open_session(self, opener: Callable[[], Session], column: LabColumn) -> None:
        label, protocol = column.subject.contract.label, column.subject.protocol
        host_of(self.screen.app).open_session(opener, 0, label, protocol, self._report_error)

    def _report_error(self, error: object) -> None:
        if error:
            self.screen.say(str(error))
