"""Input field for a value that is edited in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import EditResult, Location

from workbench.edits import PlaceOffers
from workbench.safetext import HIDDEN, clip
from workbench.tui.paint import content
from workbench.views import line

MOST_NAMED = 4
"""Offers of a completion that the border names."""

MOST_IN_PLACE = 64 * 1024
"""Bytes that can be edited in place, at most: with more the field responds too slowly to keys."""


class Writing(TextArea):
    """Input of several lines; characters that cannot be shown cannot be typed or pasted.

    Args:
        text: initial text, for which ``ways.is_plain`` is true.
        is_line: True for a single line, which enter ends.
        complete: text and offset → what may be written there; None where nothing is known.
    """

    BINDINGS: ClassVar = [
        ("ctrl+s", "take", "save"),
        ("escape", "leave", "cancel"),
        ("ctrl+n", "complete", "complete"),
    ]

    class TextChange(Message):
        """The text has changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Save(TextChange):
        """The user saved the text."""

    class Cancel(Message):
        """The user cancelled."""

    def __init__(
        self,
        text: str,
        title: str,
        *,
        is_line: bool,
        id: str,
        complete: Callable[[str, int], PlaceOffers] | None = None,
    ) -> None:
        super().__init__(text, id=id, soft_wrap=True, tab_behavior="indent", highlight_cursor_line=False)
        self.is_line = is_line
        self._complete = complete
        self._offered: PlaceOffers | None = None
        self._offer_number = -1  # of the offers, the one that was written last
        self.border_title = content(line(f" {title} "))
        self._show_keys()

    def _show_keys(self) -> None:
        """Name the keys in the border, and what ctrl+n writes."""
        takes = "enter: save" if self.is_line else "ctrl+s: save"
        offers = self._offered.offers if self._offered else ()
        after = (*offers[self._offer_number + 1 :], *offers[: self._offer_number + 1])[:MOST_NAMED]
        first = f" ({clip(after[0].expected, 30)})" if after and after[0].expected else ""
        named = " · ".join(f"{clip(offer.name, 24)}{first if not n else ''}" for n, offer in enumerate(after))
        more = f" · {len(offers) - len(after)} more" if len(offers) > len(after) else ""
        completes = f" · ctrl+n: {named}{more}" if named else ""
        self.border_subtitle = content(line(f" {takes} · esc: cancel{completes} "))

    def _look_up(self) -> None:
        """Find out what may be written at the cursor."""
        if self._complete is None:
            return
        offset = self._offset()
        found = self._complete(self.text, offset) if self.selection.is_empty else None
        self._offered, self._offer_number = found if found and found.offers else None, -1
        self._show_keys()

    def replace(
        self, insert: str, start: Location, end: Location, *, maintain_selection_offset: bool = True
    ) -> EditResult:
        """Replace as the base class does, but drop characters that cannot be shown."""
        insert = insert.replace("\r\n", "\n").replace("\r", "\n")
        if self.is_line:
            insert = insert.removesuffix("\n")  # what is pasted ends with the end of its line
        clean = HIDDEN.sub(lambda found: found[0] if found[0] == "\n" else "", insert)
        if clean != insert:
            self.app.notify("characters that cannot be shown were removed · E: open your editor", markup=False)
        return super().replace(clean, start, end, maintain_selection_offset=maintain_selection_offset)

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

    def on_text_area_selection_changed(self, message: TextArea.SelectionChanged) -> None:
        message.stop()
        if not self._is_at_offer():
            self._look_up()

    def _is_at_offer(self) -> bool:
        """The cursor is behind an offer that was just written: the next key may write another in its place."""
        found = self._offered
        if found is None or self._offer_number < 0:
            return False
        insertion = found.offers[self._offer_number].insertion
        offset = self._offset()
        return offset == found.start + len(insertion) and self.text[found.start : offset] == insertion

    def action_complete(self) -> None:
        """Write what may be here; pressed again, the next of it instead."""
        if not self._is_at_offer():
            self._look_up()
        found = self._offered
        if found is None:
            return
        end = found.end if self._offer_number < 0 else found.start + len(found.offers[self._offer_number].insertion)
        self._offer_number = (self._offer_number + 1) % len(found.offers)
        insertion = found.offers[self._offer_number].insertion
        self.replace(insertion, self._place(found.start), self._place(end), maintain_selection_offset=False)
        self.move_cursor(self._place(found.start + len(insertion)))
        self._show_keys()

    def _offset(self) -> int:
        """Characters in front of the cursor."""
        return len(self.document.get_text_range((0, 0), self.cursor_location))

    def _place(self, offset: int) -> Location:
        before = self.text[:offset]
        return before.count("\n"), len(before) - before.rfind("\n") - 1

    def action_take(self) -> None:
        self.post_message(self.Save(self.text))

    def action_leave(self) -> None:
        self.post_message(self.Cancel())
