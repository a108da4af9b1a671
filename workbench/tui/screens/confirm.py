"""Yes-or-no question."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.screen import ModalScreen

from workbench.tui.bars import Bar, Ways
from workbench.views import Span, line, wrap

WIDTH = 64


class ConfirmScreen(ModalScreen[bool]):
    """Answers True for y only, so that a key pressed by habit confirms nothing; False for n, escape and q."""

    CSS_PATH = "form.tcss"
    BINDINGS: ClassVar = [("y", "dismiss(True)", "yes"), ("n,escape,q", "dismiss(False)", "no")]

    def __init__(self, question: str, yes: str, no: str) -> None:
        super().__init__()
        self.question, self.yes, self.no = question, yes, no
        self.answers = line(Span("  y", "accent strong"), f" {yes}   ", Span("n", "accent strong"), f" {no}")

    def compose(self) -> ComposeResult:
        yield Bar(id="question")
        yield Ways(("y", self.yes), ("n", self.no))

    def on_mount(self) -> None:
        lines = [line(), *wrap(self.question, WIDTH - 4, "strong", indent=2), line(), self.answers, line()]
        bar = self.query_one("#question", Bar)
        bar.styles.height = len(lines)
        bar.show(lines)
