"""Dialogs with a question: with one line for the answer, or for yes or no."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.widgets import Input

from workbench.safetext import SHOWABLE
from workbench.tui.bars import Bar, Ways
from workbench.tui.paint import content
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
