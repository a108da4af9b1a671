"""The palette over a screen: every action in force, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from workbench.safetext import SHOWABLE
from workbench.tui.bars import Ways
from workbench.tui.key import Key
from workbench.tui.models.palette import KEY, PaletteRow, palette_rows
from workbench.tui.models.tabs import ROOMY
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, Span, line, wrap


class PalettePane(LineView, can_focus=False):
    """Rows of the palette; the cursor skips titles."""

    is_accordion = hangs = True

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[PaletteRow] = ()

    def show(self, rows: Sequence[PaletteRow]) -> None:
        """Show other rows, with the cursor on the first action."""
        self.rows, self.cursor = rows, 0
        self.reload()
        self.walk(0)
        self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def walk(self, step: int) -> None:
        """Go to the next or previous action; step zero goes to the first from here on."""
        item = self.cursor + step
        while 0 <= item < len(self.rows) and self.rows[item].action is None:
            item += step or 1
        if 0 <= item < len(self.rows):
            self.move_to(item)

    def action(self) -> int | None:
        """Number of the action under the cursor."""
        return self.rows[self.cursor].action if self.rows else None

    def count(self) -> int:
        return len(self.rows)

    def head(self, item: int, width: int) -> Line:
        row = self.rows[item]
        return row.line if row.action is None or width >= ROOMY else row.line[:-1]

    def further(self, item: int, width: int) -> list[Line]:
        """What an action does, in a list that has no room for it in its line."""
        row = self.rows[item]
        is_told = row.action is None or width >= ROOMY or item != self.cursor
        return [] if is_told else wrap(row.line[-1].text, width, "muted", indent=KEY)

    def nothing(self, width: int) -> list[Line]:
        return wrap("no action matches these words", width, "muted")

    def signs(self, item: int, inside: int) -> Line:
        if self.rows[item].action is None:
            return line(Span(" ", "muted"))
        return line(Span(" ▸" if item == self.cursor and not inside else "  ", "accent"))

    def under(self, item: int) -> str:
        return "cursor" if item == self.cursor and self.rows[item].action is not None else ""


class PaletteScreen(ModalScreen[int | None]):
    """Asks for an action. Dismissed with its number, or None.

    Args:
        actions: rows of the key table that are in force.
        recent: ids of the actions used before, the last one first.
    """

    CSS_PATH = "palette.tcss"
    BINDINGS: ClassVar = [
        ("escape", "leave", "leave"),
        ("down,ctrl+n,tab", "walk(1)", "next action"),
        ("up,ctrl+p,shift+tab", "walk(-1)", "previous action"),
        ("pagedown", "walk_far(1)", "move down ten actions"),
        ("pageup", "walk_far(-1)", "move up ten actions"),
    ]
    pane = getters.query_one(PalettePane)

    def __init__(self, actions: Sequence[Key], recent: Sequence[str]) -> None:
        super().__init__()
        self._actions, self._recent = actions, recent

    def compose(self) -> ComposeResult:
        with Vertical(id="palette"):
            yield Input(placeholder="type a word: edit, send, diff …", restrict=SHOWABLE, id="wanted")
            yield PalettePane()
        yield Ways(("type", "find"), ("↓", "choose"), ("enter", "run"), ("esc", "cancel"))

    def on_mount(self) -> None:
        self.app.clear_notifications()
        self.query_one(Input).focus()
        self._show("")

    def _show(self, typed: str) -> None:
        self.pane.show(palette_rows(self._actions, typed, self._recent))

    def on_input_changed(self, message: Input.Changed) -> None:
        self._show(message.value)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        if (action := self.pane.action()) is not None:
            self.dismiss(action)

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        """Run the action that was clicked."""
        if (action := self.pane.action()) is not None:
            self.dismiss(action)

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        self.on_line_view_cursor_move(message)

    def action_walk(self, step: int) -> None:
        self.pane.walk(step)

    def action_walk_far(self, step: int) -> None:
        for _ in range(10):
            self.pane.walk(step)

    def action_leave(self) -> None:
        self.dismiss(None)
