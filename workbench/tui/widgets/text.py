"""A text for reading: its lines, wrapped to the pane.

Lines for reading, made for the width of the pane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from textual import events

from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, line, link_addresses, wrap

MOST_ROWS = 50
"""Rows that one line may take."""


class TextPane(LineView):
    """Lines of text; a line without indent before an indented one is a heading.

    Args:
        title: on the border.
        has_links: addresses are links; only for texts of our own.
    """

    def __init__(self, title: str = "", *, id: str | None = None, has_links: bool = False) -> None:
        super().__init__(id=id)
        self._has_links = has_links
        self._text: Sequence[str] = ()
        self._rows: list[Line] = []
        self.title(line(title))

    def show(self, text: Iterable[str]) -> None:
        """Show another text from its beginning."""
        self._text, self.cursor = list(text), 0
        self._lay_out()
        self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def _lay_out(self) -> None:
        self._rows = []
        for number, text in enumerate(self._text):
            bare = text.lstrip(" ")
            indent = len(text) - len(bare)
            after = self._text[number + 1] if number + 1 < len(self._text) else ""
            style = "role" if text and not indent and after.startswith(" ") else ""
            rows = wrap(bare, self.text_width, style, indent=indent, most=MOST_ROWS) or [()]
            self._rows += link_addresses(rows, bare) if self._has_links else rows
        self.reload()

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out()

    def count(self) -> int:
        return len(self._rows)

    def head(self, item: int, width: int) -> Line:
        return self._rows[item] if item < len(self._rows) else ()


class TextLinesPane(LineView):
    """Details of one item."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.lines: Sequence[Line] = ()
        self._lines_in: Callable[[int], list[Line]] = lambda width: []

    def show(self, lines_in: Callable[[int], list[Line]], *, is_same: bool = False) -> None:
        """Show other lines, made for a width. ``is_same``: they are of the same item; keep the scroll position."""
        self._lines_in = lines_in
        if is_same:
            self.reload()
            return
        self.cursor = 0
        self.reload()
        self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def reload(self) -> None:
        self.lines = self._lines_in(self.text_width)
        super().reload()

    def count(self) -> int:
        return len(self.lines)

    def head(self, item: int, width: int) -> Line:
        return self.lines[item]
