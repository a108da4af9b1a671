"""Input line of the filter, with suggestions, and the place of an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult

from workbench.safetext import HIDDEN
from workbench.tui.bars import Bar
from workbench.tui.models.prompt import error_lines, is_chosen, suggestion_lines
from workbench.tui.widgets.prompt import Prompt
from workbench.views import Span, hang, line

if TYPE_CHECKING:
    from workbench.errors import FilterError
    from workbench.filters import Suggestion, Values

WAYS = (("enter", "apply"), ("tab", "complete"), ("esc", "cancel"), ("↓", "next"), ("↑", "earlier filters"))


class FilterBar(Prompt):
    """Asks for a filter.

    Args:
        text: the filter in force.
        history: earlier filters, the last one last.
        values: values that occur in the session, for completion.
        typed: called at each change; returns an error text, or what the filter means in words.
        in_force: returns the filter that is applied at the moment.
        done: called once, with the filter.
    """

    BINDINGS: ClassVar = [
        ("tab", "complete", "complete"),
        ("down", "choose(1)", "next"),
        ("up", "choose(-1)", "earlier"),
    ]

    def __init__(
        self,
        text: str,
        history: Sequence[str],
        values: Values,
        typed: Callable[[str], FilterError | str],
        in_force: Callable[[], str],
        done: Callable[[str | None], None],
    ) -> None:
        super().__init__("&", text, self._on_typed, done, ways=WAYS)
        self._in_force = in_force
        self._history = history
        self._back = 0
        self._values = values
        self._judge = typed
        self._found: list[Suggestion] = []
        self._current = 0

    def compose(self) -> ComposeResult:
        yield Bar(id="suggestions")
        yield from super().compose()

    def on_mount(self) -> None:
        super().on_mount()
        self._on_typed(self._text)

    def _on_typed(self, text: str) -> None:
        from workbench.filters import suggest

        found = self._judge(text)
        if isinstance(found, str):
            self._say_meaning(found)
        else:
            self.say(error_lines(found, text, int(self.input.scroll_offset.x), self._in_force()))
        self._found = suggest(text, self.input.cursor_position, self._values)
        self._current = 0
        self._show()

    def _show(self) -> None:
        lines = suggestion_lines(self._found, self._current, 6 if self.screen.size.height >= 30 else 4)
        lines = [row for each in lines for row in (hang(each, self.size.width) if is_chosen(each) else [each])]
        bar = self.query_one("#suggestions", Bar)
        bar.styles.height = len(lines)
        bar.display = bool(lines)
        bar.show(lines)

    def again(self) -> None:
        """Update the text below the filter: its result has changed."""
        found = self._judge(self.input.value)
        if isinstance(found, str):
            self._say_meaning(found)

    def _say_meaning(self, words: str) -> None:
        self.say([line(Span(words, "strong"))])

    def on_resize(self) -> None:
        self._show()

    def action_complete(self) -> None:
        """Put the chosen suggestion in place of what it completes."""
        if not self._found:
            return
        suggestion, cursor, value = self._found[self._current], self.input.cursor_position, self.input.value
        text = HIDDEN.sub("?", suggestion.text)  # what cannot be shown may not stand in the line; ? matches it
        end = "" if text[-1] in ":~=<>" else " "
        self._back = 0
        self.input.value = value[: suggestion.start] + text + end + value[cursor:].lstrip(" " if end else "")
        self.input.cursor_position = suggestion.start + len(text + end)

    def action_choose(self, step: int) -> None:
        """Move through the suggestions; above the first one, and while nothing is typed, through earlier filters."""
        if self._back or (step < 0 and not self._current):
            self._recall(self._back - step)
        elif self._found:
            self._current = min(self._current + step, len(self._found) - 1)
            self._show()

    def _recall(self, back: int) -> None:
        if 0 <= back <= len(self._history):
            self._back = back
            self.input.value = self._history[-back] if back else ""
            self.input.cursor_position = len(self.input.value)
