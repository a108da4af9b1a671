"""A question with one line for an answer."""

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
    """Asks; escape answers None. What cannot be shown cannot be typed or pasted."""

    CSS_PATH = "ask.tcss"
    BINDINGS: ClassVar = [("escape", "dismiss(None)", "cancel")]

    def __init__(self, question: str, hint: str, answer: str = "") -> None:
        super().__init__()
        self.question = question
        self.hint = hint
        self.answer = answer

    def compose(self) -> ComposeResult:
        asked = Input(self.answer, restrict=SHOWABLE)
        asked.border_title = content(line(Span(f" {self.question} ")))
        asked.border_subtitle = content(line(Span(f" {self.hint} · enter · esc ")))
        yield asked
        yield Ways(("enter", "takes it"), ("esc", "cancels"))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.dismiss(message.value)
