"""Dialog that finds the rules behind a pasted error text.

A few lines of pasted text.
"""

from __future__ import annotations

from typing import ClassVar

from textual import getters, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult
from textual.worker import get_current_worker

from workbench.lazy_dataclass import replace
from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.bars import Bar, Ways
from workbench.tui.models import matches
from workbench.tui.service import in_words
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, Span, count, line, wrap

MOST = 200_000
"""Characters kept of a pasted text: the lookup reads no more."""


class PastedText(TextArea):
    """Input of untrusted text: control and hidden characters are escaped as they are pasted."""

    def edit(self, edit: Edit) -> EditResult:
        lines = edit.text[:MOST].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return super().edit(replace(edit, text="\n".join(map(visible, lines))))

    def render_line(self, y: int) -> Strip:
        """A line; blank without any column for text, where Textual could not wrap the placeholder."""
        return super().render_line(y) if self.content_size.width else Strip.blank(self.size.width)


PAUSE = 0.15
"""Seconds without a key before the text is looked up."""

PASTE = "paste the error text here"
"""Shown while there is no text."""


class MatchesPane(LineView):
    """Rules that match an error text, each with what to look for."""

    is_accordion = hangs = flows = True

    def __init__(self) -> None:
        super().__init__()
        self.known: list[matches.RuleMatch] = []
        self.is_answered = False
        self.has_text = False
        self.trouble = ""

    def count(self) -> int:
        return len(self.known)

    def head(self, item: int, width: int) -> Line:
        return matches.known_line(self.known[item], width)

    def further(self, item: int, width: int) -> list[Line]:
        return matches.known_body(self.known[item], width)

    def nothing(self, width: int) -> list[Line]:
        if self.trouble:
            return wrap(self.trouble, width, "error")
        return matches.nothing(self.has_text, self.is_answered, width)


class ErrorExplanation(Message):
    """Result of looking up a text."""

    def __init__(self, text: str, rule_matches: list[matches.RuleMatch], trouble: str = "") -> None:
        super().__init__()
        self.text = text
        self.known = rule_matches
        self.trouble = trouble


class ErrorTextScreen(ModalScreen[None]):
    """Explains an error text while the person types. Nothing is sent anywhere."""

    CSS_PATH = "error_text.tcss"
    BINDINGS: ClassVar = [("escape", "dismiss(None)", "close"), *keys.bindings((keys.table()["global.help"],))]
    asked = getters.query_one(PastedText)
    pane = getters.query_one(MatchesPane)

    def compose(self) -> ComposeResult:
        with Vertical(id="error-text"):
            yield Bar(id="asking")
            yield PastedText(soft_wrap=True, tab_behavior="focus", show_line_numbers=False, placeholder=PASTE)
            yield Bar(id="verdict")
            yield MatchesPane()
        yield Ways()

    def on_mount(self) -> None:
        asking = line(
            Span(" Find the rule behind an error", "strong"),
            Span("   nothing is sent anywhere", "muted"),
        )
        self.query_one("#asking", Bar).show([asking])
        self.asked.cursor_blink = False
        self._pause = self.set_timer(PAUSE, self._look_up)
        self.pane.title(line(" Rules "))
        self.asked.focus()

    def on_descendant_focus(self) -> None:
        ways = (
            (("tab", "go to the rules"),)
            if self.asked.has_focus
            else (("enter", "open the rule page"), ("tab", "the text"))
        )
        help_key = "f1" if self.asked.has_focus else "global.help"  # a question mark is typed into the text
        self.query_one(Ways).name_ways(*ways, ("esc", "back"), (help_key, "help"))

    async def action_help(self) -> None:
        """Explain the dialog, which the keys of the app do not reach."""
        await self.app.run_action("help")

    def on_text_area_changed(self, message: TextArea.Changed) -> None:
        self.pane.is_answered = False
        self._pause.stop()
        self._pause = self.set_timer(PAUSE, self._look_up)

    def _look_up(self) -> None:
        self._explain(self.asked.text)

    @work(thread=True, exclusive=True, group="explain", exit_on_error=False)
    def _explain(self, text: str) -> None:
        from workbench.contracts import error_texts, pages

        known: list[matches.RuleMatch] = []
        trouble = ""
        try:
            if text.strip():
                known = matches.of_matches(error_texts.explain(text))
            else:
                known = matches.of_rules(sorted(map(pages.page, pages.slugs()), key=lambda page: -len(page.refusals)))
        except Exception as error:
            trouble = f"cannot read the rules: {in_words(error)}"
        if not get_current_worker().is_cancelled:
            self.post_message(ErrorExplanation(text, known, trouble))

    def on_error_explanation(self, message: ErrorExplanation) -> None:
        if message.text != self.asked.text:
            return
        pane = self.pane
        pane.known, pane.has_text, pane.is_answered = message.known, bool(message.text.strip()), True
        pane.trouble = message.trouble
        pane.cursor = 0
        pane.reload()
        pane.show_item(0)
        self.query_one("#verdict", Bar).show([self._verdict()])

    def _verdict(self) -> Line:
        pane = self.pane
        if pane.trouble:
            return line(Span(" ✗ lookup failed", "error strong"))
        if not pane.has_text:
            return line(Span(f" {matches.EMPTY}", "muted"))
        if not pane.known:
            return line(Span(" ? not recognised", "warning strong"))
        more = len(pane.known) - 1
        others = f"; {count(more, 'less likely rule')} below" if more else ""
        return line(Span(f" ✓ {pane.known[0].rule}", "ok strong"), Span(others, "muted"))

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        from workbench.tui.screens.page import PageScreen

        if page := self.pane.known[self.pane.cursor].page:
            self.app.push_screen(PageScreen(page))
