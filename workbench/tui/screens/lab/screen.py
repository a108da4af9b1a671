"""Probe lab screen: measured abilities of models, as a matrix of probes and targets, and as profiles.

Panes of the probe lab: the matrix, the verdict under the cursor, and the profile of its target.
"""

from __future__ import annotations

import os
import time
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
from workbench.tui.action_forwarding import ActionOf
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.dispatch import is_open
from workbench.tui.models import lab, send
from workbench.tui.models.headline import TOOLS
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.probing import LabColumn, known_probes, look_up
from workbench.tui.screens.lab.evidence import LabEvidence
from workbench.tui.screens.lab.marks import ProbeMarks
from workbench.tui.screens.lab.runs import LabRuns, RunOver, SampleDone
from workbench.tui.screens.lab.targets import LabTargets, LabUpdate, subject_in
from workbench.tui.screens.worklist import ListPane
from workbench.tui.widgets.lineview import LineView
from workbench.tui.widgets.text import TextLinesPane
from workbench.views import Line, Span, line

if TYPE_CHECKING:
    from workbench.probes import Probe


TITLE = "Probe lab"

MARGIN = 5
"""Lines above and below the matrix and the panes below it."""


class LabView:
    """Paints the panes."""

    def __init__(self, screen: LabScreen) -> None:
        self.screen = screen

    def show_all(self) -> None:
        """Paint everything again."""
        if not is_open(self.screen):
            return
        self.show_head()
        self.screen.query_one("#keys", KeyBar).run(bool(self.screen.runs.run_now))
        width = self.screen.table.text_width
        self.screen.query_one("#targets", Bar).show(lab.heads(self.screen.columns, self.screen.column_number, width))
        room = max(4, (self.screen.size.height - MARGIN) * 3 // 5)
        self.screen.table.styles.height = min(len(self.screen.probes) or 1, room)
        self.screen.table.show(len(self.screen.probes), self._row, "reading the probes …")
        self.show_below()

    def show_head(self) -> None:
        """Show the progress of the run, or an estimate for the next one."""
        column = self.screen.column
        run = self.screen.runs.run_now
        if run:
            words = lab.going_on(run, len(self.screen.runs.waiting), is_stopping=self.screen.runs.is_stopping)
        else:
            words = lab.plan(
                self.screen.marked_probes, len(self.screen.probes), self.screen.samples, len(self.screen.columns)
            )
        bar = self.screen.query_one("#headline", Bar)
        if column is None:
            none = line(Span(f" {TITLE}   ", "strong"), Span(f"no target yet · {TOOLS}", "muted"))
            bar.show([none, (Span(" "), *words)])
            return
        target = column.subject.target
        dials = f" · {column.dials}" if column.dials else ""
        title = f"{TITLE}  {target.name} · {column.subject.model}{dials}"
        bar.show(send.headline(title, words, target, self.screen.size, is_set=self.screen.is_key_set(target)))
        if run:
            self.screen.table.refresh()

    def _row(self, item: int) -> Line:
        probe, now, width = self.screen.probes[item], time.time(), self.screen.table.text_width
        seen = lab.visible_targets(len(self.screen.columns), self.screen.column_number, width)
        cells = []
        for n in seen:
            column = self.screen.columns[n]
            runs = [
                run for run in (self.screen.runs.run_now, *self.screen.runs.waiting) if run and run.column is column
            ]
            state = lab.state_of(runs[0] if runs else None, probe)
            fresh = probe.name in column.fresh
            cells.append(lab.cell(column.result(probe.name), is_fresh=fresh, now=now, state=state))
        column_number = self.screen.column_number if item == self.screen.table.cursor else -1
        return lab.row(probe, cells, seen, column_number, width, is_marked=probe.name in self.screen.marked)

    def show_below(self) -> None:
        """Show the verdict under the cursor and the profile of its target."""
        column, probe = self.screen.column, self.screen.here
        result = column.result(probe.name) if column and probe else None
        exchanges = column.shown_by.get(probe.name, ()) if column and probe else ()
        if probe:
            self.screen.verdict.show(lambda width: lab.verdict_lines(probe, column, result, exchanges, width))
        self.screen.profile.show(lambda width: lab.profile_lines(column, time.time(), width), is_same=True)


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
        yield Headline()
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

    def _show_probes(self, probes: Sequence[Probe], faults: Sequence[str], first: LabColumn | None) -> None:
        self.probes = probes
        self.marked = {probe.name for probe in probes if probe.is_core}
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
