"""A line of input below the panes, with a line about the typed text, and its own keys in place of the footer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input

from workbench.safetext import SHOWABLE, visible
from workbench.tui.bars import Bar, Ways
from workbench.tui.models.prompt import LEFT as SIGN_WIDTH
from workbench.views import Line, Span, line

ASKING = "-asking"
"""Class of a screen while it has an input line: its footer is hidden, whose keys do not work then."""


class Prompt(Vertical):
    """Input of one line; characters that cannot be shown cannot be typed or pasted.

    Args:
        sign: one column in front of the text.
        text: initial text; it is selected, so that typing replaces it.
        typed: called at each change.
        done: called once, with the text, or None if the user leaves.
        ways: keys of the input line, each with a word; the most useful first.
        most: maximum number of characters.
        switch: called with the text in place of ``done`` if the user presses tab; without it tab does nothing.
    """

    DEFAULT_CSS = """
    Prompt { height: auto; background: $panel; }
    Prompt Ways { dock: none; }
    Prompt Horizontal { height: 1; }
    Prompt Input, Prompt Input:focus { height: 1; width: 1fr; border: none; padding: 0; background: $surface; }
    """
    BINDINGS: ClassVar = [
        ("escape", "leave", "leave"),
        ("tab", "switch", "switch"),
        ("shift+tab", "nothing", "nothing"),
    ]

    def __init__(
        self,
        sign: str,
        text: str,
        typed: Callable[[str], None],
        done: Callable[[str | None], None],
        *,
        ways: Sequence[tuple[str, str]] = (),
        most: int = 2000,
        switch: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__()
        self._sign, self._text, self._ways, self._most = sign, visible(text), ways, most
        self._typed, self._done, self._switch = typed, done, switch
        self._before: Widget | None = None

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Bar(id="sign")
            yield Input(self._text, restrict=SHOWABLE, max_length=self._most, select_on_focus=True)
        yield Bar(id="words")
        yield Ways(*self._ways)

    def on_mount(self) -> None:
        self._before = self.screen.focused
        self.query_one("#sign", Bar).styles.width = SIGN_WIDTH
        self.query_one("#sign", Bar).show([line(Span(self._sign, "accent strong"))])
        self.screen.add_class(ASKING)
        self.input.focus()

    @property
    def input(self) -> Input:
        """The line of input."""
        return self.query_one(Input)

    def say(self, lines: Sequence[Line]) -> None:
        """Show lines below the text; a long one takes several rows."""
        for bar in self.query("#words").results(Bar):  # none while the app ends
            bar.styles.height = "auto"
            bar.show(lines)

    def on_input_changed(self, message: Input.Changed) -> None:
        message.stop()
        self._typed(message.value)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self.finish(message.value)

    def action_leave(self) -> None:
        self.finish(None)

    def action_switch(self) -> None:
        """Leave the line for what else can be done with the text."""
        text = self.input.value
        if self._switch and text:
            self.finish(None)
            self._switch(text)

    def action_nothing(self) -> None:
        """Ignore a key that acts on the panes while the user types."""

    def finish(self, text: str | None) -> None:
        """Return the focus to the earlier widget, and call ``done``."""
        if self._before and self._before.is_mounted:
            self._before.focus(scroll_visible=False)
        self.screen.remove_class(ASKING)
        self.remove()
        self._done(text)
