"""Help for one screen and pane, made from the key table."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.screen import ModalScreen

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.bars import Ways
from workbench.tui.models.glossary import TITLE
from workbench.tui.models.guide import Guide, Tables, help_lines
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, line, plain, wrap


class HelpPane(LineView):
    """Lines of the help, wrapped to the width of the pane."""

    def __init__(self, guide: Guide | None, tables: Tables, problems: Sequence[str]) -> None:
        super().__init__(id="help")
        self.guide = guide
        self.tables = tables
        self.problems = problems
        self.lines: list[Line] = []
        self.title(line(" help · / search · t glossary · esc back "))

    def reload(self) -> None:
        width = self.text_width
        self.lines = [
            *(piece for p in self.problems for piece in wrap(f"! keys.yaml: {p}", width, "warning")),
            *help_lines(self.guide, self.tables, width),
        ]
        super().reload()

    def count(self) -> int:
        return len(self.lines)

    def head(self, item: int, width: int) -> Line:
        return self.lines[item]

    def next_with(self, wanted: str, step: int, start: int | None = None) -> int | None:
        """Next line after ``start``, else the cursor, that contains the text in any case; None if no line does."""
        total = len(self.lines)
        begin = self.cursor if start is None else start
        around = ((begin + step * n) % total for n in range(1, total + 1))
        return next((n for n in around if wanted.casefold() in plain(self.lines[n]).casefold()), None)


class HelpScreen(ModalScreen[None]):
    """Help over the screen that it explains."""

    CSS_PATH = "help.tcss"
    BINDINGS = keys.bindings(keys.HELP)

    def __init__(self, guide: Guide | None, tables: Tables, problems: Sequence[str] = ()) -> None:
        super().__init__()
        self.pane = HelpPane(guide, tables, problems)
        self.wanted = ""

    def compose(self) -> ComposeResult:
        yield self.pane
        yield Ways(
            ("help.search", "search"),
            ("help.glossary", "glossary"),
            ("pane.down", "down"),
            ("pane.up", "up"),
            ("pane.page-down", "page down"),
            ("esc", "back"),
        )

    def on_mount(self) -> None:
        self.app.clear_notifications()

    def action_close(self) -> None:
        self.dismiss(None)

    def action_glossary(self) -> None:
        """Go to the first group of the glossary."""
        if (item := self.pane.next_with(f"{TITLE}: ", 1, start=-1)) is not None:
            self.pane.move_to(item)

    def action_search(self) -> None:
        from workbench.tui.screens.questions import AskScreen

        self.app.push_screen(AskScreen("Search", "in the help: n next, N previous", self.wanted), self._look_for)

    def _look_for(self, wanted: str | None) -> None:
        self.wanted = wanted or ""
        self.action_match(1)

    def action_match(self, step: int) -> None:
        """Go to the next line with the searched text."""
        if not self.wanted:
            return
        item = self.pane.next_with(self.wanted, step)
        if item is None:
            self.notify(f"not found: {visible(self.wanted)}", markup=False)
        else:
            self.pane.move_to(item, center=True)
