"""What the probe lab shows: probes and targets as a matrix, the verdict under the cursor, the profile of a target."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.screen import Screen

from workbench.safetext import visible
from workbench.send.target import Target
from workbench.tui import keys
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.dispatch import is_open
from workbench.tui.models import lab, send
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.told import ToldPane
from workbench.tui.screens.worklist import ListPane
from workbench.views.lines import Line, Span, line

if TYPE_CHECKING:
    from workbench.probes import Probe
    from workbench.tui.probing import Column, ProbeRun

TITLE = "Probe lab"

MARGIN = 5
"""Lines above and below the matrix and what is said of it."""


class Did(Message):
    """Something was done in a thread; the rest is for the screen's."""

    def __init__(self, then: Callable[[], None]) -> None:
        super().__init__()
        self.then = then


class LabDesk(Screen[None]):
    """Probes are rows, targets are columns.

    Attributes:
        probes: all there are; () until they are read.
        marked: names of those that a run takes.
        columns: the targets; ``chosen`` the number of one.
        samples: of each probe in a run.
        run_now: what is run, ``waiting`` what follows.
    """

    CSS_PATH = "lab.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.LAB
    BINDINGS = keys.bindings(keys.LAB)

    table = getters.query_one("#probes", ListPane)
    verdict = getters.query_one("#verdict-of", ToldPane)
    profile = getters.query_one("#profile", ToldPane)

    def __init__(self) -> None:
        super().__init__()
        self.probes: Sequence[Probe] = ()
        self.marked: set[str] = set()
        self.columns: list[Column] = []
        self.chosen = 0
        self.samples = 1
        self.run_now: ProbeRun | None = None
        self.waiting: list[ProbeRun] = []
        self.is_stopping = False

    @property
    def column(self) -> Column | None:
        """The chosen one."""
        return self.columns[self.chosen] if self.columns else None

    @property
    def here(self) -> Probe | None:
        """The probe under the cursor."""
        return self.probes[self.table.cursor] if self.probes else None

    @property
    def chosen_probes(self) -> list[Probe]:
        """Those that are marked, in order."""
        return [probe for probe in self.probes if probe.name in self.marked]

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        yield Bar(id="targets")
        yield ListPane(id="probes")
        with Container(id="found-out"):
            yield ToldPane(id="verdict-of")
            yield ToldPane(id="profile")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_EVIDENCE, *keys.LAB])
        self.verdict.title(line(" Verdict "))
        self.profile.title(line(" Profile "))
        self.table.focus()
        self.show_all()

    def on_resize(self) -> None:
        self.show_all()

    def on_did(self, message: Did) -> None:
        if is_open(self):
            message.then()

    def say(self, why: str) -> None:
        """Something is not as people want it."""
        self.notify(visible(why), severity="warning", markup=False)

    def is_key_set(self, target: Target) -> bool:
        """The key that the target asks for is in the environment."""
        return bool(target.key_variable and os.environ.get(target.key_variable))

    def action_mark(self) -> None:
        if probe := self.here:
            self.marked ^= {probe.name}
            self.show_all()

    def action_mark_all(self) -> None:
        """All, the seven, none: each turns into the next."""
        every = {probe.name for probe in self.probes}
        core = {probe.name for probe in self.probes if probe.is_core}
        self.marked = set() if self.marked == every else every if self.marked == core else core
        self.show_all()

    def action_mark_due(self) -> None:
        """What was never measured, or is stale, and with it what costs next to nothing."""
        from workbench.probes.profiles.refresh import light

        column = self.column
        due = light(column.profile or column.last, time.time()) if column else ()
        self.marked = {each.probe.name for each in due}
        if column and not due:
            self.say("nothing is stale: what was measured of it holds")
        self.show_all()

    def action_samples(self) -> None:
        from workbench.probes import MOST_SAMPLES
        from workbench.tui.screens.ask import AskScreen

        def counted(text: str | None) -> None:
            if text is None:
                return
            if text.isascii() and text.isdecimal() and 1 <= int(text) <= MOST_SAMPLES:
                self.samples = int(text)
                self.show_all()
            else:
                self.say(f"samples are 1 to {MOST_SAMPLES}")

        self.app.push_screen(AskScreen("Samples", f"of each probe, 1 to {MOST_SAMPLES}", str(self.samples)), counted)

    # What is shown.

    def show_all(self) -> None:
        """Something is not as it was."""
        if not is_open(self):
            return
        self.show_head()
        self.query_one("#keys", KeyBar).run(bool(self.run_now))
        width = self.table.text_width
        self.query_one("#targets", Bar).show(lab.heads(self.columns, self.chosen, width))
        self.table.styles.height = min(len(self.probes) or 1, max(4, (self.size.height - MARGIN) // 2))
        self.table.show(len(self.probes), self._row, "reading the probes …")
        self._show_below()

    def show_head(self) -> None:
        """How a run stands, or what it would take."""
        column = self.column
        run = self.run_now
        if run:
            told = lab.going_on(run, len(self.waiting), is_stopping=self.is_stopping)
        else:
            told = lab.plan(self.chosen_probes, len(self.probes), self.samples, len(self.columns))
        bar = self.query_one("#headline", Bar)
        if column is None:
            none = line(Span(f" {TITLE}   ", "strong"), Span(f"no target yet · {send.NEVER}", "muted"))
            bar.show([none, (Span(" "), *told)])
            return
        target = column.subject.target
        dials = f" · {column.dials}" if column.dials else ""
        title = f"{TITLE}   {target.name} · {column.subject.model}{dials}"
        bar.show(send.headline(title, told, target, self.size.width, is_set=self.is_key_set(target)))
        if run:
            self.table.refresh()

    def _row(self, item: int) -> Line:
        probe, now, width = self.probes[item], time.time(), self.table.text_width
        seen = lab.seen(len(self.columns), self.chosen, width)
        cells = []
        for n in seen:
            column = self.columns[n]
            runs = [run for run in (self.run_now, *self.waiting) if run and run.column is column]
            state = lab.state_of(runs[0] if runs else None, probe)
            fresh = probe.name in column.fresh
            cells.append(lab.cell(column.result(probe.name), is_fresh=fresh, now=now, state=state))
        chosen = self.chosen if item == self.table.cursor else -1
        return lab.row(probe, cells, seen, chosen, width, is_marked=probe.name in self.marked)

    def _show_below(self) -> None:
        column, probe = self.column, self.here
        result = column.result(probe.name) if column and probe else None
        exchanges = column.shown_by.get(probe.name, ()) if column and probe else ()
        if probe:
            self.verdict.show(lambda width: lab.verdict_lines(probe, column, result, exchanges, width))
        self.profile.show(lambda width: lab.profile_lines(column, time.time(), width), is_same=True)

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        if message.view is self.table:
            self._show_below()

    def action_pane(self, step: int) -> None:
        panes: list[LineView] = [self.table, self.verdict, self.profile]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        following = panes[(at + step) % len(panes)]
        if following is not self.table:
            self.set_class(following is self.profile, "-on-profile")
        following.focus()
