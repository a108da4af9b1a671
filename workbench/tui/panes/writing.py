"""Input field for a value that is edited in place."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import EditResult, Location

from workbench.safetext import HIDDEN
from workbench.tui.paint import content
from workbench.views import line

MOST_IN_PLACE = 64 * 1024
"""Bytes that can be edited in place, at most: with more the field responds too slowly to keys."""


class Writing(TextArea):
    """Input of several lines; characters that cannot be shown cannot be typed or pasted.

    Args:
        text: initial text, for which ``ways.is_plain`` is true.
        is_line: True for a single line, which enter ends.
    """

    BINDINGS: ClassVar = [("ctrl+s", "take", "save"), ("escape", "leave", "cancel")]

    class TextChange(Message):
        """The text has changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Save(TextChange):
        """The user saved the text."""

    class Cancel(Message):
        """The user cancelled."""

    def __init__(self, text: str, title: str, *, is_line: bool, id: str) -> None:
        super().__init__(text, id=id, soft_wrap=True, tab_behavior="indent", highlight_cursor_line=False)
        self.is_line = is_line
        self.border_title = content(line(f" {title} "))
        takes = "enter: save" if is_line else "ctrl+s: save"
        self.border_subtitle = content(line(f" {takes} · esc: cancel "))

    def replace(
        self, insert: str, start: Location, end: Location, *, maintain_selection_offset: bool = True
    ) -> EditResult:
        """Replace as the base class does, but drop characters that cannot be shown."""
        insert = insert.replace("\r\n", "\n").replace("\r", "\n")
        if self.is_line:
            insert = insert.removesuffix("\n")  # what is pasted ends with the end of its line
        kept = HIDDEN.sub(lambda found: found[0] if found[0] == "\n" else "", insert)
        if kept != insert:
            self.app.notify("characters that cannot be shown were removed · E: use your editor", markup=False)
        return super().replace(kept, start, end, maintain_selection_offset=maintain_selection_offset)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "escape" or (event.key == "enter" and self.is_line):
            event.stop()
            event.prevent_default()
            self.action_leave() if event.key == "escape" else self.action_take()
            return
        await super()._on_key(event)

    def on_text_area_changed(self, message: TextArea.Changed) -> None:
        message.stop()
        self.post_message(self.TextChange(self.text))

    def action_take(self) -> None:
        self.post_message(self.Save(self.text))

    def action_leave(self) -> None:
        self.post_message(self.Cancel())
