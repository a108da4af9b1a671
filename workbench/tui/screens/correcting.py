"""Dialog with the corrections of a capability profile; a key switches each off or on."""

from __future__ import annotations

from typing import ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.screen import ModalScreen

from workbench.lazy_dataclass import replace
from workbench.probes.profiles import ProfileChoice
from workbench.tui import keys
from workbench.tui.models import send
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, line

MOST_LINES = 18
"""Lines of the pane at most."""


class CorrectionsPane(LineView):
    """Corrections; the one under the cursor with its reason."""

    is_accordion = True

    def __init__(self, choice: ProfileChoice) -> None:
        super().__init__()
        self.decided = choice.decided
        self.title(line(f" {choice.title} · space switch · esc back "))

    def on_mount(self) -> None:
        self.styles.height = min(MOST_LINES, len(self.decided) + 8)
        self.reload()

    def count(self) -> int:
        return len(self.decided)

    def head(self, item: int, width: int) -> Line:
        return send.open_rows(send.correction(self.decided[item]), width)[0]

    def further(self, item: int, width: int) -> list[Line]:
        return send.open_rows(send.correction(self.decided[item]), width)[1:]

    def switch(self) -> None:
        """Switch the correction under the cursor off, or on."""
        here = self.decided[self.cursor]
        self.decided = tuple(replace(each, is_on=not each.is_on) if each is here else each for each in self.decided)
        self.reload()


class CorrectingScreen(ModalScreen[frozenset[str]]):
    """Answers with the names of the corrections that are switched off.

    Args:
        choice: profile and its corrections, at least one.
    """

    CSS_PATH = "correcting.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.CORRECTING
    BINDINGS = keys.bindings(keys.CORRECTING)

    rows = getters.query_one(CorrectionsPane)

    def __init__(self, choice: ProfileChoice) -> None:
        super().__init__()
        self.choice = choice

    def compose(self) -> ComposeResult:
        yield CorrectionsPane(self.choice)

    def on_mount(self) -> None:
        self.rows.focus()

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        self.rows.switch()

    def action_switch(self) -> None:
        """Switch the correction under the cursor off, or on."""
        self.rows.switch()

    def action_close(self) -> None:
        """Close with the corrections that are on."""
        self.dismiss(frozenset(each.name for each in self.rows.decided if not each.is_on))
