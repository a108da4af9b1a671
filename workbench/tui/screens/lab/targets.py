"""Targets of the probe lab: add and remove them, change their protocol, model and dials.

Message from a thread of the probe lab to its screen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.errors import WorkbenchError
from workbench.safetext import visible
from workbench.send import Target
from workbench.tui.probing import LabColumn, look_up

if TYPE_CHECKING:
    from workbench.probes import Subject
    from workbench.tui.screens.lab.screen import LabScreen


class LabUpdate(Message):
    """Has ``then`` called on the thread of the screen."""

    def __init__(self, then: Callable[[], None]) -> None:
        super().__init__()
        self.then = then


class LabTargets:
    """Columns of the matrix."""

    def __init__(self, screen: LabScreen) -> None:
        self.screen = screen

    def target(self) -> None:
        """Ask for one more target."""
        from workbench.tui.screens.target_choice import TargetScreen

        screen, title = self.screen, "Measure a model at"
        basis = "this exchange's contract" if screen.is_own else "the default"
        use = "is measured"
        screen.app.push_screen(TargetScreen(title, screen.own, screen.protocol, basis=basis, use=use), self._add)

    def _add(self, target: Target | None) -> None:
        if target and not target.is_simulator and not target.model:
            self._ask_model(target, "", lambda model: self._look_up(target, self.screen.protocol, model))
        elif target:
            self._look_up(target, self.screen.protocol)

    def _ask_model(self, target: Target, model: str, then: Callable[[str], object]) -> None:
        from workbench.tui.screens.questions import AskScreen

        def accept(text: str | None) -> None:
            if text and text.strip():
                then(text.strip())

        self.screen.app.push_screen(AskScreen("Model", f"name of the model at {visible(target.name)}", model), accept)

    def _look_up(self, target: Target, protocol: str, model: str = "", at: int | None = None, dials: str = "") -> None:
        """Add a column, or replace another one."""
        work = partial(self._read, target, protocol, model, at, dials)
        self.screen.run_worker(work, thread=True, group="lab", exit_on_error=False)

    def _read(self, target: Target, protocol: str, model: str, at: int | None, dials: str) -> None:
        try:
            column = look_up(subject_in(target, protocol, model), dials)
        except (WorkbenchError, OSError) as error:
            self.screen.post_message(LabUpdate(partial(self.screen.say, str(error))))
        else:
            self.screen.post_message(LabUpdate(partial(self._show_column, column, at)))

    def _show_column(self, column: LabColumn, at: int | None) -> None:
        if at is None:
            self.screen.columns.append(column)
            self.screen.column_number = len(self.screen.columns) - 1
        elif at < len(self.screen.columns):
            self.screen.columns[at] = column
        self.screen.show_all()

    def remove(self) -> None:
        """Remove the target from the matrix; its saved measurements stay."""
        if not self.screen.runs.is_idle():
            return
        if self.screen.columns:
            del self.screen.columns[self.screen.column_number]
            self.screen.column_number = max(0, min(self.screen.column_number, len(self.screen.columns) - 1))
            self.screen.show_all()

    def column(self, step: int) -> None:
        """Choose the next target, or the one before."""
        if self.screen.columns:
            self.screen.column_number = (self.screen.column_number + step) % len(self.screen.columns)
            self.screen.show_all()

    def protocol(self) -> None:
        """Use the next protocol that the target speaks."""
        from workbench.probes import probe_protocols

        if (column := self.screen.column) is None or not self.screen.runs.is_idle():
            return
        known = probe_protocols(column.subject.target)
        if len(known) < 2:
            self.screen.say("the target supports no other protocol")
            return
        following = known[(known.index(column.subject.protocol) + 1) % len(known)]
        target = column.subject.target
        model = "" if target.is_simulator else column.subject.model
        self._look_up(target, following, model, self.screen.column_number, column.dials)

    def model(self) -> None:
        """Ask for another model of the target."""
        if (column := self.screen.column) is None or not self.screen.runs.is_idle():
            return
        at, subject, dials = self.screen.column_number, column.subject, column.dials

        def change_model(model: str) -> None:
            self._look_up(subject.target, subject.protocol, model, at, dials)

        self._ask_model(subject.target, subject.model, change_model)

    def dials(self) -> None:
        """Ask for the dials of a simulator: faults of its model."""
        from workbench.tui.screens.questions import AskScreen

        column = self.screen.column
        if column is None or not column.subject.target.is_simulator:
            self.screen.say("only the model of a simulator has settings (dials)")
            return
        hint = "as for workbench simulate: parallel=2 calls=hermes"

        def set_dials(text: str | None) -> None:
            if text is None:
                return
            from workbench.probes import scripted_model

            try:
                scripted_model(text.split())
            except WorkbenchError as error:
                self.screen.say(str(error))
            else:
                column.dials = text
                self.screen.show_all()

        self.screen.app.push_screen(AskScreen("Dials", hint, column.dials), set_dials)


def subject_in(target: Target, protocol: str, model: str = "") -> Subject:
    """Subject of probes at a target, in a protocol that it speaks, else in its own. Raises UsageError."""
    from workbench.probes import probe_protocols, subject_of

    return subject_of(target, protocol if protocol in probe_protocols(target) else "", model)
