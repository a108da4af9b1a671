"""Copy menu: one key for each thing that can be copied at the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen

from workbench.errors import LocalProtocolError
from workbench.safetext import visible
from workbench.tui import clipboard, keys
from workbench.tui.bars import Ways
from workbench.tui.keymap import Keymap
from workbench.tui.models.copying import CopyChoice, choice_line, choices
from workbench.tui.widgets.exchange import ExchangePane
from workbench.tui.widgets.lineview import LineView
from workbench.tui.widgets.pane import Pane
from workbench.views import Line, line

if TYPE_CHECKING:
    from workbench.tui.screens.session.screen import SessionScreen


class CopyPane(LineView):
    """Choices; a click takes one."""

    def __init__(self, copy_choices: tuple[CopyChoice, ...]) -> None:
        super().__init__()
        self.found = copy_choices
        self.title(line(" copy · esc back "))

    def on_mount(self) -> None:
        self.styles.height = len(self.found) + 2
        keymap: Keymap = getattr(self.app, "keymap", Keymap())
        self._rows = {key.id: key for key in keymap.rows(keys.COPY)}
        self.reload()

    def count(self) -> int:
        return len(self.found)

    def head(self, item: int, width: int) -> Line:
        choice = self.found[item]
        key = self._rows[f"copy.{choice.name}"]
        return choice_line(key.show, key.word, choice)

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        number = place.y + self.scroll_offset.y if place else self.count()
        if number < self.count():
            event.prevent_default()
            self.move_to(number)
            self.post_message(self.Activation(self))


class CopyScreen(ModalScreen[CopyChoice | None]):
    """Answers with a choice; None if cancelled."""

    CSS_PATH = "copy.tcss"
    BINDINGS = keys.bindings(keys.COPY)
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.COPY

    def __init__(self, copy_choices: tuple[CopyChoice, ...]) -> None:
        super().__init__()
        self.found = copy_choices

    def compose(self) -> ComposeResult:
        yield CopyPane(self.found)
        yield Ways(("enter", "copy"), ("pane.down", "down"), ("pane.up", "up"), ("esc", "back"))

    def action_choose(self, name: str) -> None:
        choice = next((c for c in self.found if c.name == name), None)
        if choice:
            self.dismiss(choice)
        else:
            word = next(key.word for key in self.KEYS if key.id == f"copy.{name}")
            self.notify(f"this selection has no {word}: choose a line of the list", severity="warning", markup=False)

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        self.dismiss(self.found[message.view.cursor])


def ask_what_to_copy(screen: SessionScreen) -> None:
    """Show the menu for the cursor of a session screen, and copy the choice."""
    opened, pane = screen.opened, screen.focused
    if opened is None:
        screen.notify("no exchange is open", markup=False)
        return
    selection = (pane.selection() if isinstance(pane, Pane) else None) or screen.pointer.selection
    found = screen.findings.cursor if screen.state.findings else None
    finding = screen.state.findings[found] if found is not None else None
    row = pane.content.row(pane.cursor) if isinstance(pane, ExchangePane) and pane.content else None
    side = (row.side if row else "") or (screen.wire.side if pane is screen.wire or not selection else selection.side)

    def copy(choice: CopyChoice | None) -> None:
        if choice is None:
            return
        try:
            notice = clipboard.put(screen.app, choice.make())
        except (LocalProtocolError, OSError) as error:
            screen.notify(visible(f"not copied: {error}"), severity="error", markup=False)
        else:
            screen.notify(visible(notice), markup=False)

    screen.app.push_screen(CopyScreen(choices(opened, selection, side, finding, row)), copy)
