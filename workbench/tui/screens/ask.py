"""Dialog with a question and one line for the answer."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.widgets import Input

from workbench.safetext import SHOWABLE
from workbench.tui.bars import Ways
from workbench.tui.paint import content
from workbench.views import Span, line


class AskScreen(ModalScreen[str | None]):
    """Asks a question; escape answers None. Characters that cannot be shown cannot be typed or pasted."""

    CSS_PATH = "ask.tcss"
    BINDINGS: ClassVar = [("escape", "dismiss(None)", "cancel")]

    def __init__(self, question: str, hint: str, answer: str = "") -> None:
        super().__init__()
        self.question = question
        self.hint = hint
        self.answer = answer

    def compose(self) -> ComposeResult:
        field = Input(self.answer, restrict=SHOWABLE)
        field.border_title = content(line(Span(f" {self.question} ")))
        field.border_subtitle = content(line(Span(f" {self.hint} · enter · esc ")))
        yield field
        yield Ways(("enter", "accept"), ("esc", "cancel"))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.dismiss(message.value)
