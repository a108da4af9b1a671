"""Probe lab screen: measured abilities of models, as a matrix of probes and targets, and as profiles."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.safetext import visible
from workbench.send import Target
from workbench.tui import keys
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.delegate import ActionOf
from workbench.tui.dispatch import is_open
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.text_lines import TextLinesPane
from workbench.tui.probing import LabColumn, known_probes, look_up
from workbench.tui.screens.lab.evidence import LabEvidence
from workbench.tui.screens.lab.marks import ProbeMarks
from workbench.tui.screens.lab.messages import LabUpdate
from workbench.tui.screens.lab.runs import LabRuns, RunOver, SampleDone
from workbench.tui.screens.lab.targets import LabTargets, subject_in
from workbench.tui.screens.lab.view import LabView
from workbench.tui.screens.worklist import ListPane
from workbench.views import line

if TYPE_CHECKING:
    from workbench.probes import Probe


class LabScreen(Screen[None]):
    """Matrix of probes (rows) and targets (columns).

    Args:
        own: label of the contract whose simulator is offered first.
        is_own: the contract is that of an exchange; its simulator becomes the first column.
        protocol: protocol of the requests; empty for the target's own.

    Attributes:
        probes: all probes; empty until they are read.
        marked: names of the probes for the next run.
        columns: targets; ``column_number`` is the chosen one.
        samples: samples of each probe in a run.
    """

    CSS_PATH = "lab.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.LAB
    BINDINGS = keys.bindings(keys.LAB)

    table = getters.query_one("#probes", ListPane)
    verdict = getters.query_one("#verdict-of", TextLinesPane)
    profile = getters.query_one("#profile", TextLinesPane)

    def __init__(self, own: str = "openai", protocol: str = "", *, is_own: bool = False) -> None:
        super().__init__()
        self.own, self.protocol, self.is_own = own, protocol, is_own
        self.probes: Sequence[Probe] = ()
        self.marked: set[str] = set()
        self.columns: list[LabColumn] = []
        self.column_number = 0
        self.samples = 1
        self.view = LabView(self)
        self.marks = ProbeMarks(self)
        self.targets = LabTargets(self)
        self.runs = LabRuns(self)
        self.evidence = LabEvidence(self)

    @property
    def column(self) -> LabColumn | None:
        """Chosen column; None if there are no targets."""
        return self.columns[self.column_number] if self.columns else None

    @property
    def here(self) -> Probe | None:
        """Probe under the cursor."""
        return self.probes[self.table.cursor] if self.probes else None

    @property
    def marked_probes(self) -> list[Probe]:
        """Marked probes in the order of the list."""
        return [probe for probe in self.probes if probe.name in self.marked]

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        yield Bar(id="targets")
        yield ListPane(id="probes")
        with Container(id="found-out"):
            yield TextLinesPane(id="verdict-of")
            yield TextLinesPane(id="profile")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_EVIDENCE, *keys.LAB])
        self.verdict.title(line(" Verdict "))
        self.profile.title(line(" Profile "))
        self.table.focus()
        self.show_all()
        self.runs.mount()
        self._begin()

    def on_unmount(self) -> None:
        self.runs.unmount()

    def on_resize(self) -> None:
        self.show_all()

    def on_lab_update(self, message: LabUpdate) -> None:
        if is_open(self):
            message.then()

    def say(self, why: str) -> None:
        """Show a warning."""
        self.notify(visible(why), severity="warning", markup=False)

    def is_key_set(self, target: Target) -> bool:
        """The API key of the target is in the environment."""
        return bool(target.key_variable and os.environ.get(target.key_variable))

    @work(thread=True, group="lab", exit_on_error=False)
    def _begin(self) -> None:
        """Read the probes, and the measurements of the first target."""
        from workbench.send import resolve

        known, faults = known_probes()
        first = look_up(subject_in(resolve(f"sim:{self.own}"), self.protocol)) if self.is_own else None
        self.post_message(LabUpdate(partial(self._show_probes, known, faults, first)))

    def _show_probes(self, known: Sequence[Probe], faults: Sequence[str], first: LabColumn | None) -> None:
        self.probes = known
        self.marked = {probe.name for probe in known if probe.is_core}
        for fault in faults:
            self.say(fault)
        if first:
            self.columns.append(first)
        self.show_all()
        if first is None:
            self.targets.target()

    # Messages.

    def on_sample_done(self, message: SampleDone) -> None:
        self.runs.take_sample(message)

    def on_run_over(self, message: RunOver) -> None:
        self.runs.finish(message)

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        self.evidence.open()

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.table:
            self.view.show_below()

    def show_all(self) -> None:
        """Paint everything again."""
        self.view.show_all()

    def show_head(self) -> None:
        """Show the progress of the run, or an estimate for the next one."""
        self.view.show_head()

    # Actions of the key table; most of them belong to a part.

    action_mark = ActionOf("marks")
    action_mark_all = ActionOf("marks")
    action_mark_due = ActionOf("marks")
    action_samples = ActionOf("marks", "ask_samples")
    action_target = ActionOf("targets")
    action_remove = ActionOf("targets")
    action_column = ActionOf("targets")
    action_protocol = ActionOf("targets")
    action_model = ActionOf("targets")
    action_dials = ActionOf("targets")
    action_run = ActionOf("runs")
    action_run_all = ActionOf("runs")
    action_run_one = ActionOf("runs")
    action_step = ActionOf("evidence")

    def action_pane(self, step: int) -> None:
        panes: list[LineView] = [self.table, self.verdict, self.profile]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        following = panes[(at + step) % len(panes)]
        if following is not self.table:
            self.set_class(following is self.profile, "-on-profile")
        following.focus()

    def action_leave(self) -> None:
        """Stop the run; else go back."""
        if self.runs.run_now:
            self.runs.stop()
        else:
            self.dismiss(None)

    def action_back(self) -> None:
        self.runs.is_leaving = True
        self.action_leave()
