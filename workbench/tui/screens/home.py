"""Home: example sessions, each with its first break in words, and files to open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from workbench import resources
from workbench.errors import WorkbenchError
from workbench.tui import keys
from workbench.tui.bars import Bar
from workbench.tui.lines import Line, Span, line
from workbench.tui.models import home
from workbench.tui.models.tabs import TOO_SMALL, key_line
from workbench.tui.panes.lineview import LineView

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp
    from workbench.wire.session import Session


class HomePane(LineView):
    """The example sessions."""

    is_accordion = True

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.paths = sorted(folder.glob("*.jsonl"))
        self.stories: dict[Path, home.Story] = {}
        self.title(line(" Example sessions "))

    def on_mount(self) -> None:
        self.reload()

    def count(self) -> int:
        return len(self.paths)

    def head(self, item: int, width: int) -> Line:
        return home.story_line(self.paths[item], self.stories.get(self.paths[item]), width)

    def further(self, item: int, width: int) -> list[Line]:
        return home.story_body(self.stories.get(self.paths[item]), width)

    def nothing(self, width: int) -> list[Line]:
        return home.nothing(self.folder, width)


class Told(Message):
    """The story of a session is known."""

    def __init__(self, path: Path, story: home.Story) -> None:
        super().__init__()
        self.path = path
        self.story = story


class HomeScreen(Screen[None]):
    """What one sees first."""

    CSS_PATH = "home.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.HOME
    BINDINGS = keys.bindings(keys.HOME)

    def compose(self) -> ComposeResult:
        yield Bar(id="welcome")
        yield HomePane(resources.folder("sessions"))
        yield Bar(id="hints")
        yield Bar(id="status")
        yield Bar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#welcome", Bar).show(home.WELCOME)
        self.query_one("#hints", Bar).show(home.HINTS)
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one(HomePane).focus()
        self.call_after_refresh(self._tell, self.query_one(HomePane).paths)

    def on_resize(self) -> None:
        hints = [keys.OPEN_EXAMPLE, *keys.HOME]
        self.query_one("#keys", Bar).show([key_line(hints, self.size.width)])

    @work(thread=True, group="tell", exit_on_error=False)
    def _tell(self, paths: list[Path]) -> None:
        """Inspect the examples one after the other."""
        from workbench.importers import open_input
        from workbench.inspection import Inspector

        worker = get_current_worker()
        for path in paths:
            if worker.is_cancelled:
                return
            try:
                session = open_input(str(path))
                story = home.tell(Inspector(session).run())
                session.close()
            except (WorkbenchError, OSError) as error:
                story = home.Story(None, "cannot be read", str(error))
            self.post_message(Told(path, story))

    def on_told(self, message: Told) -> None:
        pane = self.query_one(HomePane)
        pane.stories[message.path] = message.story
        pane.reload()

    def on_line_view_entered(self, message: LineView.Entered) -> None:
        pane = self.query_one(HomePane)
        self.open_path(str(pane.paths[pane.cursor]))

    def action_ask_path(self) -> None:
        from workbench.tui.screens.ask import AskScreen

        self.app.push_screen(
            AskScreen("Open a file", "a session, cassette, HAR archive, body or event stream"), self._answer
        )

    def _answer(self, path: str | None) -> None:
        if path:
            self.open_path(path)

    def open_path(self, path: str) -> None:
        """Show the session in a file, or say why it cannot be shown."""

        def opener() -> Session:
            from workbench.importers import open_input

            return open_input(str(Path(path).expanduser()))

        self._say(line())
        self.app.push_screen(cast("WorkbenchApp", self.app).session_screen(opener), self._returned)

    def _returned(self, error: object) -> None:
        self._say(line(Span(f" ✗ {error}", "error")) if error else line())

    def _say(self, words: Line) -> None:
        self.query_one("#status", Bar).show([words])

    def action_help(self) -> None:
        from workbench.tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen((("home", (keys.OPEN_EXAMPLE, *keys.HOME)), ("lists", keys.PANE))))
