"""The probe lab: what models behind targets can really do, as a matrix of targets and probes, and as profiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message

from workbench.errors import WorkbenchError
from workbench.safetext import visible
from workbench.send.target import Target
from workbench.tui.dispatch import Dispatch
from workbench.tui.models import lab
from workbench.tui.panes.lineview import LineView
from workbench.tui.probing import Column, ProbeRun, in_memory, known_probes, look_up, shown
from workbench.tui.screens.lab_desk import Did, LabDesk
from workbench.tui.service import in_words

if TYPE_CHECKING:
    from workbench.probes import Probe, Result, Step, Subject
    from workbench.probes.profiles.keeping import Kept
    from workbench.wire.session import Session

PULSE = 0.25
"""Seconds between two looks at how many requests a run has sent."""


class Sampled(Message):
    """A sample is over."""

    def __init__(self, run: ProbeRun, step: Step) -> None:
        super().__init__()
        self.run, self.step = run, step


class RunOver(Message):
    """A run is over, or was stopped: what was measured is kept. ``why`` it failed, where it did."""

    def __init__(self, run: ProbeRun, kept: Kept | None, why: str = "") -> None:
        super().__init__()
        self.run, self.kept, self.why = run, kept, why


class LabScreen(LabDesk):
    """Probes are rows, targets are columns.

    Args:
        own: label of a contract: its simulator is offered first.
        is_own: it is that of an exchange, and the simulator is the first column.
        protocol: what requests are written in, "" for the target's own.
    """

    def __init__(self, own: str = "openai", protocol: str = "", *, is_own: bool = False) -> None:
        super().__init__()
        self.own, self.protocol, self._is_own = own, protocol, is_own
        self._dispatch: Dispatch[None] | None = None
        self._is_leaving = False

    def on_mount(self) -> None:
        super().on_mount()
        self._pulse = self.set_interval(PULSE, self.show_head, pause=True)
        self._begin()

    def on_unmount(self) -> None:
        self.waiting.clear()
        if self._dispatch:
            self._dispatch.cancel()

    @work(thread=True, group="lab", exit_on_error=False)
    def _begin(self) -> None:
        """Read what probes there are, and what was measured of the first target."""
        from workbench.send.target import resolve

        known, faults = known_probes()
        first = look_up(_subject(resolve(f"sim:{self.own}"), self.protocol)) if self._is_own else None
        self.post_message(Did(partial(self._begun, known, faults, first)))

    def _begun(self, known: Sequence[Probe], faults: Sequence[str], first: Column | None) -> None:
        self.probes = known
        self.marked = {probe.name for probe in known if probe.is_core}
        for fault in faults:
            self.say(fault)
        if first:
            self.columns.append(first)
        self.show_all()
        if first is None:
            self.action_target()

    # Targets.

    def action_target(self) -> None:
        """One more target."""
        from workbench.tui.screens.target_choice import TargetScreen

        self.app.push_screen(TargetScreen("Probe", self.own, self.protocol), self._targeted)

    def _targeted(self, target: Target | None) -> None:
        if target and not target.is_simulator and not target.model:
            self._ask_model(target, "", lambda model: self._look_up(target, self.protocol, model))
        elif target:
            self._look_up(target, self.protocol)

    def _ask_model(self, target: Target, model: str, then: Callable[[str], object]) -> None:
        from workbench.tui.screens.ask import AskScreen

        def named(text: str | None) -> None:
            if text and text.strip():
                then(text.strip())

        self.app.push_screen(AskScreen("Model", f"as {visible(target.name)} calls it", model), named)

    @work(thread=True, group="lab", exit_on_error=False)
    def _look_up(self, target: Target, protocol: str, model: str = "", at: int | None = None, dials: str = "") -> None:
        """Add a column, or put it in the place of another."""
        try:
            column = look_up(_subject(target, protocol, model), dials)
        except (WorkbenchError, OSError) as error:
            self.post_message(Did(partial(self.say, str(error))))
        else:
            self.post_message(Did(partial(self._put, column, at)))

    def _put(self, column: Column, at: int | None) -> None:
        if at is None:
            self.columns.append(column)
            self.chosen = len(self.columns) - 1
        elif at < len(self.columns):
            self.columns[at] = column
        self.show_all()

    def action_remove(self) -> None:
        """Take the target out of the matrix; what was measured of it stays in the store."""
        if not self._is_idle():
            return
        if self.columns:
            del self.columns[self.chosen]
            self.chosen = max(0, min(self.chosen, len(self.columns) - 1))
            self.show_all()

    def action_column(self, step: int) -> None:
        if self.columns:
            self.chosen = (self.chosen + step) % len(self.columns)
            self.show_all()

    def action_protocol(self) -> None:
        """Ask in the next protocol that the target speaks."""
        from workbench.probes import spoken

        if (column := self.column) is None or not self._is_idle():
            return
        known = spoken(column.subject.target)
        if len(known) < 2:
            self.say("the target speaks no other protocol")
            return
        following = known[(known.index(column.subject.protocol) + 1) % len(known)]
        target = column.subject.target
        model = "" if target.is_simulator else column.subject.model
        self._look_up(target, following, model, self.chosen, column.dials)

    def action_model(self) -> None:
        """Another model of the target."""
        if (column := self.column) is None or not self._is_idle():
            return
        at, subject, dials = self.chosen, column.subject, column.dials

        def named(model: str) -> None:
            self._look_up(subject.target, subject.protocol, model, at, dials)

        self._ask_model(subject.target, subject.model, named)

    def action_dials(self) -> None:
        """How the model of a simulator behaves."""
        from workbench.tui.screens.ask import AskScreen

        column = self.column
        if column is None or not column.subject.target.is_simulator:
            self.say("only the model of a simulator has dials")
            return
        hint = "as of workbench simulate: parallel=2 calls=hermes"

        def dialled(text: str | None) -> None:
            if text is None:
                return
            from workbench.probes import scripted

            try:
                scripted(text.split())
            except WorkbenchError as error:
                self.say(str(error))
            else:
                column.dials = text
                self.show_all()

        self.app.push_screen(AskScreen("Dials", hint, column.dials), dialled)

    # What is run.

    def action_run(self) -> None:
        """The marked probes against the chosen target."""
        if column := self.column:
            self._ask([column], self.chosen_probes)
        else:
            self.action_target()

    def action_run_all(self) -> None:
        """The marked probes against every target."""
        self._ask(self.columns, self.chosen_probes)

    def action_run_one(self) -> None:
        """The probe under the cursor against the chosen target."""
        if (column := self.column) and (probe := self.here):
            self._ask([column], [probe])

    def _ask(self, columns: Sequence[Column], chosen: Sequence[Probe]) -> None:
        """Ask before anything leaves this program, then run."""
        if not self._is_idle():
            return
        if not chosen or not columns:
            self.say("no probe is marked: space marks one" if columns else "no target yet: T adds one")
            return
        runs = [ProbeRun(column, chosen, self.samples, self._tell) for column in columns]
        real = [run for run in runs if not run.column.subject.target.is_simulator]
        self._ask_next(runs, real)

    def _ask_next(self, runs: Sequence[ProbeRun], real: Sequence[ProbeRun]) -> None:
        from workbench.tui.screens.confirm import ConfirmScreen

        if not real:
            self.waiting = list(runs)
            self._next_run()
            return
        run, *others = real
        subject = run.column.subject
        told = lab.estimate(run.probes, run.samples)
        asked = lab.question(subject.target, told, subject.model, is_set=self.is_key_set(subject.target))

        def answered(is_agreed: bool | None) -> None:
            if is_agreed:
                self._ask_next(runs, others)

        self.app.push_screen(ConfirmScreen(asked, "run it", "send nothing"), answered)

    def _tell(self, run: ProbeRun, step: Step) -> None:
        """In the thread of the run."""
        self.post_message(Sampled(run, step))

    def _next_run(self) -> None:
        if not self.waiting:
            self.run_now, self._dispatch = None, None
            self._pulse.pause()
            self.show_all()
            if self._is_leaving:
                self.dismiss(None)
            return
        run = self.run_now = self.waiting.pop(0)
        try:
            model = run.model
        except WorkbenchError as error:
            self.post_message(RunOver(run, None, str(error)))
            return
        self._dispatch = Dispatch(None, run.work, model)
        self._pulse.resume()
        self.show_all()
        self._run(run, self._dispatch)

    @work(thread=True, group="probes", exit_on_error=False)
    def _run(self, run: ProbeRun, dispatch: Dispatch[None]) -> None:
        why = ""
        try:
            dispatch.run()
        except Exception as error:
            why = in_words(error)
        try:
            run.round_off()
            kept = run.keep()
        except Exception as error:
            kept, why = None, why or in_words(error)
        self.post_message(RunOver(run, kept, why))

    def on_sampled(self, message: Sampled) -> None:
        if result := message.step.result:
            self._take(message.run, result)
        self.show_all()

    def _take(self, run: ProbeRun, result: Result) -> None:
        run.column.fresh[result.probe] = result
        run.column.shown_by[result.probe] = run.shown_by(result)

    def on_run_over(self, message: RunOver) -> None:
        for result in message.run.measurement.results:
            self._take(message.run, result)
        if message.kept:
            message.run.column.kept = message.kept
            for change in message.kept.drift:
                self.say(f"drift: {change}")
        if message.why:
            self.say(message.why)
        if self.is_stopping:
            self.waiting.clear()
            self.is_stopping = False
        self._next_run()

    def _is_idle(self) -> bool:
        if self.run_now:
            self.say("a run goes on: esc stops it")
        return self.run_now is None

    # Stepping, and what was seen.

    def action_step(self) -> None:
        """Step through the probe under the cursor."""
        from workbench.tui.screens.lab_step import StepScreen

        column, probe = self.column, self.here
        if column is None or probe is None:
            self.action_target()
        elif self._is_idle():
            self.app.push_screen(StepScreen(probe, column))

    def on_line_view_entered(self, message: LineView.Entered) -> None:
        self._open()

    def _open(self) -> None:
        """The exchanges behind the verdict under the cursor, as a session."""
        column, probe = self.column, self.here
        result = column.result(probe.name) if column and probe else None
        if column is None or probe is None or result is None:
            self.say("not run yet: r runs the marked probes, o this one, s steps through it")
            return
        name = f"{probe.name} · {column.subject.target.name}"
        exchanges, path = column.shown_by.get(probe.name), column.evidence(result)
        if exchanges:
            self._open_session(partial(in_memory, name, exchanges), column)
        elif path and result.evidence:
            self._open_session(partial(shown, path, result.evidence, name), column)
        else:
            self.say("no exchange was kept that shows it")

    def _open_session(self, opener: Callable[[], Session], column: Column) -> None:
        from workbench.tui.screens.session.screen import SessionScreen

        label, protocol = column.subject.contract.label, column.subject.protocol
        self.app.push_screen(SessionScreen(opener, label, protocol, 0), self._returned)

    def _returned(self, error: object) -> None:
        if error:
            self.say(str(error))

    # Leaving.

    def action_leave(self) -> None:
        """Stop what goes on, and keep what was measured; else back."""
        if self.run_now:
            self._stop()
        else:
            self.dismiss(None)

    def _stop(self) -> None:
        self.is_stopping = True
        self.waiting.clear()
        if self._dispatch:
            self._dispatch.cancel()
        self.show_all()

    def action_back(self) -> None:
        self._is_leaving = True
        self.action_leave()


def _subject(target: Target, protocol: str, model: str = "") -> Subject:
    """Asked in a protocol, if the target speaks it, else in its own. Raises UsageError."""
    from workbench.probes import spoken, subject_of

    return subject_of(target, protocol if protocol in spoken(target) else "", model)
