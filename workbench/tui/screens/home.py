"""Home screen: lists known sessions with their first break, and opens, imports and records more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import getters, work
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from workbench.library import home_sections, home_state
from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.host import AppHost, host_of
from workbench.tui.keymap import keymap_of
from workbench.tui.models import home, surveys
from workbench.tui.models.pauses import SIGN
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.story_reader import StoryReader, StoryReady
from workbench.tui.widgets.home import HomePane
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, Span, line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from textual.app import App
    from textual.timer import Timer

    from workbench.library import Section
    from workbench.recorder import RecorderProcess
    from workbench.tui.models.pauses import PausedSide
    from workbench.tui.running import StartedRecording
    from workbench.wire.session import Session

HINTED = ("home.open", "home.record", "home.error")
"""Keys that are named above the list."""

EVERY = 3.0
"""Seconds between two refreshes of the list while a recording runs."""


LEAVING_SECONDS = 3.0
"""Seconds within which the key that quits has to be pressed again."""


def show_folder(app: App[object], path: Path) -> None:
    """Show a survey."""
    from workbench.tui.screens.surveying import SurveyScreen

    app.push_screen(SurveyScreen(path))


class SessionsFound(Message):
    """Sessions that were found."""

    def __init__(self, sections: list[Section]) -> None:
        super().__init__()
        self.sections = sections


class PausesFound(Message):
    """Paused exchanges by session file."""

    def __init__(self, pauses: Mapping[Path, Sequence[PausedSide]]) -> None:
        super().__init__()
        self.pauses = pauses


class HomeScreen(Screen[None]):
    """First screen. Files of other programs are read, never changed."""

    CSS_PATH = "home.tcss"
    BINDINGS = keys.bindings(keys.HOME)
    pane = getters.query_one(HomePane)

    def __init__(self) -> None:
        super().__init__()
        self.stories = StoryReader()
        self.search = ""
        self._has_begun = False
        self._typed = ""
        self._leaving: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Bar(id="welcome")
        yield HomePane(home_sections.first_sections())
        yield Bar(id="hints")
        yield Bar(id="status")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self._welcome()
        rows = keymap_of(self.app).rows(keys.HOME)
        self.query_one("#hints", Bar).show(home.hints([(key.show, key.text) for key in rows if key.id in HINTED]))
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_EXAMPLE, *keys.HOME])
        self.pane.focus()
        self.call_after_refresh(self._begin)

    @property
    def workbench(self) -> AppHost:
        """What the app offers its screens."""
        return host_of(self.app)

    def _begin(self) -> None:
        """Start the work that the first paint does not wait for."""
        self._has_begun = True
        self._tell()
        self._ask()
        self._look()
        self.set_interval(EVERY, self._look_again)

    def on_resize(self) -> None:
        self.call_after_refresh(self._ask)

    def on_unmount(self) -> None:
        self.stories.stop()

    def on_screen_suspend(self) -> None:
        self.stories.ask(())

    def on_screen_resume(self) -> None:
        if self._has_begun:
            self._look()

    # The list and its summaries.

    @work(thread=True, group="tell", exit_on_error=False)
    def _tell(self) -> None:
        self.stories.run(self.post_message)

    @work(thread=True, group="look", exclusive=True, exit_on_error=False)
    def _look(self) -> None:
        sections = [*surveys.survey_sections(), *home_sections.all_sections()]
        if get_current_worker().is_cancelled:
            return
        self.post_message(SessionsFound(sections))
        live = [item.path for section in sections if section.title == home_sections.LIVE for item in section.items]
        if live or self.pane.held:
            from workbench.tui.pause_listener import paused_in

            self.post_message(PausesFound({path: paused_in(path) for path in live}))

    def _look_again(self) -> None:
        is_recording = any(item.section == home_sections.LIVE for item in self.pane.items())
        if self.is_current and (is_recording or self.workbench.recordings.running):
            self._look()

    def _welcome(self) -> None:
        running = self.workbench.recordings.running
        self.query_one("#welcome", Bar).show(home.welcome(len(running)))
        self.pane.listening = {r.out: ", ".join(r.urls.values()) for r in running}

    def on_sessions_found(self, message: SessionsFound) -> None:
        self._welcome()
        self.pane.show(message.sections)
        self.call_after_refresh(self._ask)

    def on_pauses_found(self, message: PausesFound) -> None:
        """Notify of newly paused exchanges; the list shows them as long as they are paused."""
        known = {(each.recorder, each.id) for pauses in self.pane.held.values() for each in pauses}
        for path, pauses in message.pauses.items():
            if new := [each for each in pauses if (each.recorder, each.id) not in known]:
                words = visible(f"a {new[0].side}: {new[0].why} · enter: open the session · P: decide")
                self.notify(words, title=visible(f"{SIGN} paused in {path.name}"), severity="warning", markup=False)
        self.pane.set_paused(message.pauses)

    def on_home_pane_scroll(self, message: HomePane.Scroll) -> None:
        self._ask()

    def _ask(self) -> None:
        if self.is_current:
            self.stories.ask(self.pane.pending_summaries())

    def on_story_ready(self, message: StoryReady) -> None:
        self.pane.add_summary(message.path, message.story)

    # Open and import.

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        if item := self.pane.item():
            self.open_path(item.path)

    def action_ask_path(self) -> None:
        from workbench.tui.screens.choose import OpenScreen

        self.app.push_screen(OpenScreen(self._typed), self._open_choice)

    def action_import(self) -> None:
        from workbench.tui.screens.choose import ImportScreen

        self.app.push_screen(ImportScreen(), self._open_choice)

    def _open_choice(self, path: Path | None) -> None:
        if path:
            self.open_path(path)

    def open_path(self, path: Path) -> None:
        """Show the session in a file or the survey in a folder, or say why it cannot be shown."""
        if surveys.is_survey(path):
            return show_folder(self.app, path)

        def opener() -> Session:
            from workbench.formats.importers import open_input

            session = open_input(str(path))
            home_state.remember(path)
            return session

        self._say(line())
        self.app.push_screen(self.workbench.session_screen(opener), self._report_error)
        self._typed = str(path)  # suggested again, in case of a typo

    def _report_error(self, error: object) -> None:
        self._say(line(Span(f" ✗ {error}", "error")) if error else line())
        if error is None:
            self._typed = ""

    # Record.

    def action_record(self) -> None:
        from workbench.tui.screens.record import RecordScreen

        self.app.push_screen(RecordScreen(), self._recording)

    def _recording(self, running: StartedRecording | None) -> None:
        from workbench.tui.screens.record import RecordingScreen

        if running:
            home_state.remember(running.recording.out)
            self.pane.expected = running.recording.out
            self.app.push_screen(RecordingScreen(running), self._open_choice)

    def action_stop(self) -> None:
        from workbench.tui.screens.questions import ConfirmScreen

        item = self.pane.item()
        running = self.workbench.recordings.running
        matching = [r for r in running if item and r.out == item.path] or (running if len(running) == 1 else [])
        if not matching:
            many = "select the recording to stop" if running else "no recording started here is running"
            self._say(line(Span(f" {many}", "warning")))
            return
        question = f"Stop the recording {matching[0].out.name}? Clients that use it lose their connection."

        def stop(is_sure: bool | None) -> None:
            if is_sure:
                self._stop(matching[0])

        self.app.push_screen(ConfirmScreen(question, "stop", "continue"), stop)

    @work(thread=True, group="record", exit_on_error=False)
    def _stop(self, recording: RecorderProcess) -> None:
        recording.stop()
        self.post_message(SessionsFound([*surveys.survey_sections(), *home_sections.all_sections()]))

    # The rest.

    async def action_leave(self) -> None:
        """Quit if the key is pressed twice; at once if quitting asks a question anyway."""
        if self._leaving or self.workbench.recordings.running:
            await self.app.action_quit()
            return
        key = keymap_of(self.app).row(keys.table()["home.quit"]).show
        self._say(line(Span(f" {key} again to quit Workbench", "warning strong")))
        self._leaving = self.set_timer(LEAVING_SECONDS, self._stay)

    def _stay(self) -> None:
        self._leaving = None
        self._say(line())

    def action_error_text(self) -> None:
        from workbench.tui.screens.error_text import ErrorTextScreen

        self.app.push_screen(ErrorTextScreen())

    def action_lab(self) -> None:
        from workbench.tui.screens.lab.screen import LabScreen

        self.app.push_screen(LabScreen())

    def action_metrics(self) -> None:
        """Show metrics of all listed sessions."""
        from workbench.tui.screens.metrics import of_paths

        of_paths(self.app, [item.path for item in self.pane.items()])

    def action_clients(self) -> None:
        try:
            home_state.show_clients(not home_state.shows_clients())
        except OSError as error:
            self._say(line(Span(f" ✗ cannot save this setting: {error}", "error")))
        self._look()

    def action_search(self) -> None:
        from workbench.tui.screens.questions import AskScreen

        self.app.push_screen(AskScreen("Search", "in the list: n next, N previous", self.search), self._start_search)

    def _start_search(self, wanted: str | None) -> None:
        self.search = wanted or ""
        self.action_match(1)

    def action_match(self, step: int) -> None:
        if not self.search:
            return
        item = self.pane.find(self.search, self.pane.cursor + step, step)
        if item is None:
            key = keymap_of(self.app).row(keys.table()["home.error"]).show
            text = f" not in the list: {visible(self.search)}   (for an error message press {key})"
            self._say(line(Span(text, "warning")))
        else:
            self._say(line(Span(f" /{self.search}", "strong"), Span("  n next · N previous", "muted")))
            self.pane.move_to(item, center=True)

    def _say(self, words: Line) -> None:
        self.query_one("#status", Bar).set_class(bool(words), "-told").show([words])
