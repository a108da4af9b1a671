"""Runs of probes against targets: confirmed first, then run one after the other in a thread."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.errors import WorkbenchError
from workbench.tui.dispatch import Dispatch
from workbench.tui.models import lab
from workbench.tui.probing import ColumnRun, LabColumn
from workbench.tui.service import in_words

if TYPE_CHECKING:
    from workbench.probes import Probe, ProbeResult, SampleStep
    from workbench.probes.profiles import SavedProfile
    from workbench.tui.screens.lab.screen import LabScreen

PULSE = 0.25
"""Seconds between two updates of the progress of a run."""


class SampleDone(Message):
    """End of a sample."""

    def __init__(self, run: ColumnRun, step: SampleStep) -> None:
        super().__init__()
        self.run, self.step = run, step


class RunOver(Message):
    """End of a run, finished or stopped. ``saved_profile`` is the saved profile, ``why`` the error; empty if none."""

    def __init__(self, run: ColumnRun, saved_profile: SavedProfile | None, why: str = "") -> None:
        super().__init__()
        self.run, self.kept, self.why = run, saved_profile, why


class LabRuns:
    """Current run, and the runs that wait.

    Attributes:
        run_now: current run; None if idle.
        waiting: runs that follow.
        is_stopping: the run ends after the current sample.
        is_leaving: the screen closes after the run.
    """

    def __init__(self, screen: LabScreen) -> None:
        self.screen = screen
        self.run_now: ColumnRun | None = None
        self.waiting: list[ColumnRun] = []
        self.is_stopping = self.is_leaving = False
        self._dispatch: Dispatch[None] | None = None

    def mount(self) -> None:
        """Start to update the progress of runs."""
        self._pulse = self.screen.set_interval(PULSE, self.screen.show_head, pause=True)

    def unmount(self) -> None:
        """Cancel everything: the screen is closed."""
        self.waiting.clear()
        if self._dispatch:
            self._dispatch.cancel()

    def run(self) -> None:
        """Run the marked probes against the chosen target."""
        if column := self.screen.column:
            self._ask([column], self.screen.marked_probes)
        else:
            self.screen.targets.target()

    def run_all(self) -> None:
        """Run the marked probes against every target."""
        self._ask(self.screen.columns, self.screen.marked_probes)

    def run_one(self) -> None:
        """Run the probe under the cursor against the chosen target."""
        if (column := self.screen.column) and (probe := self.screen.here):
            self._ask([column], [probe])

    def _ask(self, columns: Sequence[LabColumn], probes: Sequence[Probe]) -> None:
        """Ask before anything leaves this program, then run."""
        if not self.is_idle():
            return
        if not probes or not columns:
            self.screen.say("no probe is marked · space: mark one" if columns else "no target yet · T: add one")
            return
        runs = [ColumnRun(column, probes, self.screen.samples, self._tell) for column in columns]
        real = [run for run in runs if not run.column.subject.target.is_simulator]
        self._ask_next(runs, real)

    def _ask_next(self, runs: Sequence[ColumnRun], real: Sequence[ColumnRun]) -> None:
        from workbench.tui.screens.questions import ConfirmScreen

        if not real:
            self.waiting = list(runs)
            self._next_run()
            return
        run, *others = real
        subject = run.column.subject
        estimate = lab.estimate(run.probes, run.samples)
        question = lab.question(subject.target, estimate, subject.model, is_set=self.screen.is_key_set(subject.target))

        def continue_asking(is_agreed: bool | None) -> None:
            if is_agreed:
                self._ask_next(runs, others)

        self.screen.app.push_screen(ConfirmScreen(question, "run", "do not run"), continue_asking)

    def _tell(self, run: ColumnRun, step: SampleStep) -> None:
        """Report a sample, in the thread of the run."""
        self.screen.post_message(SampleDone(run, step))

    def _next_run(self) -> None:
        if not self.waiting:
            self.run_now, self._dispatch = None, None
            self._pulse.pause()
            self.screen.show_all()
            if self.is_leaving:
                self.screen.dismiss(None)
            return
        run = self.run_now = self.waiting.pop(0)
        try:
            model = run.model
        except WorkbenchError as error:
            self.screen.post_message(RunOver(run, None, str(error)))
            return
        self._dispatch = Dispatch(None, run.work, model)
        self._pulse.resume()
        self.screen.show_all()
        work = partial(self._run, run, self._dispatch)
        self.screen.run_worker(work, thread=True, group="probes", exit_on_error=False)

    def _run(self, run: ColumnRun, dispatch: Dispatch[None]) -> None:
        why = ""
        try:
            dispatch.run()
        except Exception as error:
            why = in_words(error)
        try:
            run.round_off()
            saved_profile = run.keep()
        except Exception as error:
            saved_profile, why = None, why or in_words(error)
        self.screen.post_message(RunOver(run, saved_profile, why))

    def take_sample(self, message: SampleDone) -> None:
        """Show the result of a sample."""
        if result := message.step.result:
            self._take(message.run, result)
        self.screen.show_all()

    def _take(self, run: ColumnRun, result: ProbeResult) -> None:
        run.column.fresh[result.probe] = result
        run.column.shown_by[result.probe] = run.shown_by(result)

    def finish(self, message: RunOver) -> None:
        """Save what a run measured, and start the next run."""
        for result in message.run.measurement.results:
            self._take(message.run, result)
        if message.kept:
            message.run.column.kept = message.kept
            for change in message.kept.drift:
                self.screen.say(f"drift: {change}")
        if message.why:
            self.screen.say(message.why)
        if self.is_stopping:
            self.waiting.clear()
            self.is_stopping = False
        self._next_run()

    def is_idle(self) -> bool:
        """True if no run is in progress; else show how to stop it."""
        if self.run_now:
            self.screen.say("a run is in progress · esc: stop it")
        return self.run_now is None

    def stop(self) -> None:
        """Stop the run; its measurements are saved."""
        self.is_stopping = True
        self.waiting.clear()
        if self._dispatch:
            self._dispatch.cancel()
        self.screen.show_all()
