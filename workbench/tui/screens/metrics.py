"""Metrics screen: cost of sessions, turn by turn, and success rates of tool use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.screen import Screen

from workbench.library import SessionMetrics
from workbench.rules import (
    GROUPS,
    group_counts,
)
from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.bars import Bar, Headline, KeyBar, TabBar
from workbench.tui.dispatch import is_open
from workbench.tui.host import host_of
from workbench.tui.models import metrics
from workbench.tui.models.metrics import ChartRow
from workbench.tui.models.tabs import TOO_SMALL, tab_line
from workbench.tui.screens.choose import offer_paths
from workbench.tui.screens.form import Field, FormOffer, FormScreen
from workbench.tui.screens.metrics_counter import MetricsCounter, MetricsEnd, MetricsProgress
from workbench.tui.screens.worklist import ListPane
from workbench.tui.widgets.lineview import LineView
from workbench.tui.widgets.text import TextLinesPane
from workbench.views import Line, line

if TYPE_CHECKING:
    from textual.app import App

    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire.session import Session


def of_session(session: SessionScreen) -> None:
    """Show metrics of an open session."""

    def open_exchange(index: int | None) -> None:
        if index is not None:
            session.navigation.open(index)

    session.app.push_screen(MetricsScreen(session=session), open_exchange)


def of_paths(app: App[object], paths: Sequence[Path]) -> None:
    """Show metrics of sessions in files and folders."""
    app.push_screen(MetricsScreen(paths))


class FolderScreen(FormScreen[Path]):
    """Asks for a folder or file. Answers with an existing path."""

    def __init__(self) -> None:
        super().__init__()
        hint = "a folder, with its subfolders, or a file"
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
        self.counter = MetricsCounter(self)
        self.view = "tokens"
        self.by = GROUPS[0]
        self.session_number: int | None = 0 if session else None
        self.items: list[ChartRow] = []
        self._scale = metrics.ChartScale()

    def compose(self) -> ComposeResult:
        yield Headline()
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
        self.counter.count(self.paths, self.session)

    def on_resize(self) -> None:
        self.show_metrics()

    def on_metrics_progress(self, message: MetricsProgress) -> None:
        self.counter.add(message)

    def on_metrics_end(self, message: MetricsEnd) -> None:
        self.counter.finish(message)

    # What is shown.

    def show_counted(self) -> None:
        """Show everything that was counted; of one session its turns."""
        if self.session_number is None and len(self.counter.gathered) == 1:
            self.session_number = 0
        self.show_metrics()

    def show_metrics(self) -> None:
        """Show what is counted so far."""
        if not is_open(self):
            return
        seen = self._sessions_shown()
        name = seen[0].path.name if self.session_number is not None and seen else self._scope_name()
        bar = self.query_one("#headline", Bar)
        self.query_one("#keys", KeyBar).run(bool(self.counter.progress))
        bar.show(
            [
                metrics.title(visible(name), self.size.width),
                metrics.progress_line(seen, self.counter.progress, self.counter.date),
            ]
        )
        self.query_one("#views", Bar).show([tab_line(self.view, (), panes=metrics.VIEWS)])
        self.set_class(self.view == "rates", "-on-rates")
        self._show_chart()

    def _scope_name(self) -> str:
        return str(self.paths[0]) if len(self.paths) == 1 else "all listed sessions"

    def _show_chart(self) -> None:
        width = self.chart.text_width
        self.items = self._make_items()
        self._scale = metrics.scale_of(self.items, self.view, width)
        legend = metrics.legend(self.view, width)
        if self.view == "rates":
            legend = [(*legend[0], *line(f"; by {self.by}"))]
        bar = self.query_one("#legend", Bar)
        bar.styles.height = len(legend)
        bar.show(legend)
        self.query_one("#columns", Bar).show([metrics.head(self.view, self.session_number is not None, self._scale)])
        self.chart.show(len(self.items), self._row, self._why_none())
        self._show_below()

    def _make_items(self) -> list[ChartRow]:
        if self.view == "rates":
            return metrics.of_groups(
                group_counts((pair for one in self._sessions_shown() for pair in one.counts), self.by)
            )
        if self.session_number is None:
            return metrics.of_sessions(self.counter.gathered)
        seen = self._sessions_shown()
        return metrics.of_turns(self.session_number, seen[0].costs) if seen else []

    def _sessions_shown(self) -> list[SessionMetrics]:
        """The session whose turns are shown, or all that have been counted."""
        number = self.session_number
        return self.counter.gathered if number is None else self.counter.gathered[number : number + 1]

    def _why_none(self) -> str:
        if self.counter.progress:
            return self.counter.progress
        if self.counter.why:
            return f"cannot count: {self.counter.why}"
        if self.session_number is None:
            return "no session found · o: choose another folder"
        return "no model response in this session: no cost"

    def _row(self, item: int) -> Line:
        return metrics.row(self.items[item], self.view, self._scale, self.chart.text_width)

    def _show_below(self) -> None:
        item = self.items[self.chart.cursor] if self.items else None
        self.below.title(line(f" {'Details' if self.view == 'rates' else 'Tokens used for'} "))
        self.below.show(lambda width: metrics.details(item, self.counter.gathered, self.view, width))

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
            self.show_metrics()

    def action_turn(self, step: int) -> None:
        names = [name for name, _ in metrics.VIEWS]
        self.action_view(names[(names.index(self.view) + step) % len(names)])

    def action_group(self) -> None:
        """Group rates by the next property."""
        if self.view == "rates":
            self.by = GROUPS[(GROUPS.index(self.by) + 1) % len(GROUPS)]
        self.view = "rates"
        self.show_metrics()

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        """Open the exchange of a turn, or show the turns of a session."""
        item = self.items[self.chart.cursor] if self.items else None
        if item is None or item.session is None or item.trouble:
            return
        if item.turn is None:
            self.session_number, self.chart.cursor = item.session, 0
            self.show_metrics()
            return
        one = self.counter.gathered[item.session]
        index = one.costs.turns[item.turn].index
        if self.session:
            self.dismiss(index)
        else:
            self._open(one.path, index)

    def _open(self, path: Path, index: int) -> None:
        def opener() -> Session:
            from workbench.formats.importers import open_input

            return open_input(str(path))

        self.app.push_screen(host_of(self.app).session_screen(opener, index))

    def action_folder(self) -> None:
        def count_folder(path: Path | None) -> None:
            if path:
                self.paths, self.session, self.session_number = [path], None, None
                self.counter.count(self.paths, None)

        self.app.push_screen(FolderScreen(), count_folder)

    def action_leave(self) -> None:
        """Stop counting; else go from the turns of a session to all sessions; else go back."""
        if self.counter.progress:
            self.counter.stop()
        elif self.session_number is not None and len(self.counter.gathered) > 1:
            self.chart.cursor, self.session_number = self.session_number, None
            self.show_metrics()
        else:
            self.dismiss(None)

    def action_back(self) -> None:
        self.dismiss(None)
