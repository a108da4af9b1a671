"""Panes of the probe lab: the matrix, the verdict under the cursor, and the profile of its target."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from workbench.tui.bars import Bar, KeyBar
from workbench.tui.dispatch import is_open
from workbench.tui.models import lab, send
from workbench.views import Line, Span, line

if TYPE_CHECKING:
    from workbench.tui.screens.lab.screen import LabScreen

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
        self.screen.table.styles.height = min(
            len(self.screen.probes) or 1, max(4, (self.screen.size.height - MARGIN) // 2)
        )
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
            none = line(Span(f" {TITLE}   ", "strong"), Span(f"no target yet · {send.NEVER}", "muted"))
            bar.show([none, (Span(" "), *words)])
            return
        target = column.subject.target
        dials = f" · {column.dials}" if column.dials else ""
        title = f"{TITLE}   {target.name} · {column.subject.model}{dials}"
        bar.show(send.headline(title, words, target, self.screen.size.width, is_set=self.screen.is_key_set(target)))
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
        chosen = self.screen.column_number if item == self.screen.table.cursor else -1
        return lab.row(probe, cells, seen, chosen, width, is_marked=probe.name in self.screen.marked)

    def show_below(self) -> None:
        """Show the verdict under the cursor and the profile of its target."""
        column, probe = self.screen.column, self.screen.here
        result = column.result(probe.name) if column and probe else None
        exchanges = column.shown_by.get(probe.name, ()) if column and probe else ()
        if probe:
            self.screen.verdict.show(lambda width: lab.verdict_lines(probe, column, result, exchanges, width))
        self.screen.profile.show(lambda width: lab.profile_lines(column, time.time(), width), is_same=True)
