"""Metrics screen: cost of sessions, turn by turn, and success rates of tool use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import getters, work
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from workbench.library import SessionMetrics, files, gather
from workbench.rules import (
    GROUPS,
    Costs,
    CountKey,
    Counts,
    Prices,
    TurnCost,
    count_exchanges,
    group_counts,
    load_prices,
    turns,
)
from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.bars import Bar, KeyBar, TabBar
from workbench.tui.dispatch import is_open
from workbench.tui.models import metrics
from workbench.tui.models.metrics import ChartRow
from workbench.tui.models.tabs import TOO_SMALL, tab_line
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.text import TextLinesPane
from workbench.tui.screens.choose import offer_paths
from workbench.tui.screens.form import Field, FormOffer, FormScreen
from workbench.tui.screens.worklist import ListPane
from workbench.tui.service import InspectedRows, JobAnswer, guard, in_words
from workbench.views import Line, line

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire.session import Session

SLICE_SECONDS = 0.1
"""Seconds of counting at a time in the inspector's thread, so that other questions do not wait."""


def of_session(session: SessionScreen) -> None:
    """Show metrics of an open session."""

    def open_exchange(index: int | None) -> None:
        if index is not None:
            session.navigation.open(index)

    session.app.push_screen(MetricsScreen(session=session), open_exchange)


def of_paths(app: WorkbenchApp, paths: Sequence[Path]) -> None:
    """Show metrics of sessions in files and folders."""
    app.push_screen(MetricsScreen(paths))


class MetricsProgress(Message):
    """One more session has been counted, of ``of``; ``one`` is None before the first."""

    def __init__(self, number: int, of: int, one: SessionMetrics | None) -> None:
        super().__init__()
        self.number, self.of, self.one = number, of, one


class MetricsEnd(Message):
    """End of the counting; ``why`` is the error, empty if none."""

    def __init__(self, number: int, why: str = "") -> None:
        super().__init__()
        self.number, self.why = number, why


class FolderScreen(FormScreen[Path]):
    """Asks for a folder or file. Answers with an existing path."""

    def __init__(self) -> None:
        super().__init__()
        hint = "a folder, with its subfolders, or a file · tab complete · enter · esc"
        self.fields = [Field("path", "Metrics of", hint)]

    def offer(self, field: str, text: str) -> FormOffer:
        return offer_paths(text)

    def submit(self, field: str, text: str) -> None:
        from workbench.library import paths

        path = paths.expand(text)
        if text.strip() and path.exists():
            self.dismiss(path)
        else:
            self.say(f"no such file or folder: {visible(text.strip())}" if text.strip() else "type a path")


class Tally:
    """Counts the session of an inspector, a slice at a time, in the inspector's thread."""

    def __init__(self, listed: Prices) -> None:
        self._listed = listed
        self.turns: list[TurnCost] = []
        self.counts: list[tuple[CountKey, Counts]] = []
        self._work: Iterator[object] | None = None

    def count_slice(self, inspector: Inspector) -> bool:
        """Count for a slice of time. Returns False once everything is counted."""
        until = time.monotonic() + SLICE_SECONDS
        self._work = self._work or self._all(inspector)
        return any(time.monotonic() > until for _ in self._work)

    def _all(self, inspector: Inspector) -> Iterator[object]:
        yield from inspector.steps()
        for turn in turns(inspector, self._listed):
            self.turns.append(turn)
            yield turn
        for pair in count_exchanges(inspector, Costs(tuple(self.turns))):
            self.counts.append(pair)
            yield pair


class MetricsScreen(Screen["int | None"]):
    """Bar charts. Dismissed with the exchange to open in the session, or None.

    Args:
        paths: files and folders to count.
        session: open session to count instead of paths; None for paths.
    """

    CSS_PATH = "metrics.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.METRICS
    BINDINGS = keys.bindings(keys.METRICS)

    chart = getters.query_one("#chart", ListPane)
    below = getters.query_one("#measured", TextLinesPane)

    def __init__(self, paths: Sequence[Path] = (), session: SessionScreen | None = None) -> None:
        super().__init__()
        self.paths, self.session = paths, session
        self.gathered: list[SessionMetrics] = []
        self.view = "tokens"
        self.by = GROUPS[0]
        self.session_number: int | None = 0 if session else None
        self.items: list[ChartRow] = []
        self.progress = "counting …"
        self.why = ""
        self._date = ""
        self._most = 0.0
        self._number = 0

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        yield TabBar(metrics.VIEWS, id="views")
        yield Bar(id="legend")
        yield Bar(id="columns")
        yield ListPane(id="chart")
        yield TextLinesPane(id="measured")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_TURN, *keys.METRICS])
        self.chart.focus()
        self._begin()

    def on_resize(self) -> None:
        self._show()

    # Counting.

    def _begin(self) -> None:
        self._number += 1
        self.gathered, self.progress, self.why = [], "counting …", ""
        self._show()
        if self.session:
            self._count_session(self.session)
        else:
            self._count_paths(self._number, self.paths)

    @work(thread=True, exclusive=True, group="metrics", exit_on_error=False)
    def _count_paths(self, number: int, paths: Sequence[Path]) -> None:
        worker = get_current_worker()
        try:
            listed = load_prices()
            self._date = listed.date
            found = list(files(paths))
            self.post_message(MetricsProgress(number, len(found), None))
            for one in gather(found, listed):
                if worker.is_cancelled:
                    return
                self.post_message(MetricsProgress(number, len(found), one))
            self.post_message(MetricsEnd(number))
        except Exception as error:
            self.post_message(MetricsEnd(number, in_words(error)))

    def _count_session(self, session: SessionScreen) -> None:
        """Count an open session in the inspector's thread, a slice at a time."""
        tallies: list[Tally] = []

        def job(inspector: Inspector) -> JobAnswer:
            if not tallies:
                listed = load_prices()
                self._date = listed.date
                tallies.append(Tally(listed))
            has_more = tallies[0].count_slice(inspector)
            session.post_message(InspectedRows(tuple(inspector.rows)))
            return JobAnswer(lambda: self._take_slice(job, tallies[0], has_more=has_more))

        def fail(why: str) -> None:
            self.post_message(MetricsEnd(self._number, why))

        session.inspecting.do(guard(job, fail))

    def _take_slice(self, job: Callable[[Inspector], Message], tally: Tally, *, has_more: bool) -> None:
        if not is_open(self) or self.session is None or not self.progress:
            return
        costs = Costs(tuple(tally.turns))
        self.gathered = [SessionMetrics(Path(self.session.state.name), costs, tuple(tally.counts))]
        if has_more:
            self.progress = f"counting, {len(tally.turns):,} turns …"
            self.session.inspecting.do(guard(job, lambda why: self._end(why)))
            self._show()
        else:
            self._end("")

    def on_metrics_progress(self, message: MetricsProgress) -> None:
        if message.number == self._number and self.progress:
            self.gathered += [message.one] if message.one else []
            self.progress = f"counting, {len(self.gathered):,} of {message.of:,} sessions …"
            self._show()

    def on_metrics_end(self, message: MetricsEnd) -> None:
        if message.number == self._number:
            self._end(message.why)

    def _end(self, why: str) -> None:
        self.progress, self.why = "", why
        if self.session_number is None and len(self.gathered) == 1:
            self.session_number = 0
        if is_open(self):
            self._show()

    # What is shown.

    def _show(self) -> None:
        if not is_open(self):
            return
        seen = self._sessions_shown()
        name = seen[0].path.name if self.session_number is not None and seen else self._scope_name()
        bar = self.query_one("#headline", Bar)
        self.query_one("#keys", KeyBar).run(bool(self.progress))
        bar.show(
            [metrics.title(visible(name), self.size.width), metrics.progress_line(seen, self.progress, self._date)]
        )
        self.query_one("#views", Bar).show([tab_line(self.view, (), panes=metrics.VIEWS)])
        self.set_class(self.view == "rates", "-on-rates")
        self._show_chart()

    def _scope_name(self) -> str:
        return str(self.paths[0]) if len(self.paths) == 1 else "all listed sessions"

    def _show_chart(self) -> None:
        width = self.chart.text_width
        self.items = self._make_items()
        self._most = metrics.most_of(self.items, self.view)
        legend = metrics.legend(self.view, width)
        if self.view == "rates":
            legend = (*legend, *line(f"; by {self.by}"))
        self.query_one("#legend", Bar).show([legend])
        self.query_one("#columns", Bar).show([metrics.head(self.view, self.session_number is not None, width)])
        self.chart.show(len(self.items), self._row, self._why_none())
        self._show_below()

    def _make_items(self) -> list[ChartRow]:
        if self.view == "rates":
            return metrics.of_groups(
                group_counts((pair for one in self._sessions_shown() for pair in one.counts), self.by)
            )
        if self.session_number is None:
            return metrics.of_sessions(self.gathered)
        seen = self._sessions_shown()
        return metrics.of_turns(self.session_number, seen[0].costs) if seen else []

    def _sessions_shown(self) -> list[SessionMetrics]:
        """The session whose turns are shown, or all that have been counted."""
        number = self.session_number
        return self.gathered if number is None else self.gathered[number : number + 1]

    def _why_none(self) -> str:
        if self.progress:
            return self.progress
        if self.why:
            return f"cannot count: {self.why}"
        if self.session_number is None:
            return "no session found · o: choose another folder"
        return "no model response in this session: no cost"

    def _row(self, item: int) -> Line:
        return metrics.row(self.items[item], self.view, self._most, self.chart.text_width)

    def _show_below(self) -> None:
        item = self.items[self.chart.cursor] if self.items else None
        self.below.title(line(f" {'Details' if self.view == 'rates' else 'Tokens used for'} "))
        self.below.show(lambda width: metrics.details(item, self.gathered, self.view, width))

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.chart:
            self._show_below()

    def on_tab_bar_tab_click(self, message: TabBar.TabClick) -> None:
        self.action_view(message.name)

    # Keys.

    def action_view(self, view: str) -> None:
        if view != self.view:
            self.chart.cursor = 0 if "rates" in (view, self.view) else self.chart.cursor
            self.view = view
            self._show()

    def action_turn(self, step: int) -> None:
        names = [name for name, _ in metrics.VIEWS]
        self.action_view(names[(names.index(self.view) + step) % len(names)])

    def action_group(self) -> None:
        """Group rates by the next property."""
        if self.view == "rates":
            self.by = GROUPS[(GROUPS.index(self.by) + 1) % len(GROUPS)]
        self.view = "rates"
        self._show()

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        """Open the exchange of a turn, or show the turns of a session."""
        item = self.items[self.chart.cursor] if self.items else None
        if item is None or item.session is None or item.trouble:
            return
        if item.turn is None:
            self.session_number, self.chart.cursor = item.session, 0
            self._show()
            return
        one = self.gathered[item.session]
        index = one.costs.turns[item.turn].index
        if self.session:
            self.dismiss(index)
        else:
            self._open(one.path, index)

    def _open(self, path: Path, index: int) -> None:
        def opener() -> Session:
            from workbench.formats.importers import open_input

            return open_input(str(path))

        self.app.push_screen(cast("WorkbenchApp", self.app).session_screen(opener, index))

    def action_folder(self) -> None:
        def count_folder(path: Path | None) -> None:
            if path:
                self.paths, self.session, self.session_number = [path], None, None
                self._begin()

        self.app.push_screen(FolderScreen(), count_folder)

    def action_leave(self) -> None:
        """Stop counting; else go from the turns of a session to all sessions; else go back."""
        if self.progress:
            self._number += 1
            self.workers.cancel_group(self, "metrics")
            self._end("" if self.gathered else "stopped")
        elif self.session_number is not None and len(self.gathered) > 1:
            self.chart.cursor, self.session_number = self.session_number, None
            self._show()
        else:
            self.dismiss(None)

    def action_back(self) -> None:
        self.dismiss(None)
