"""Lines for reading, made for the width of the pane."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.tui.panes.lineview import LineView
from workbench.views import Line


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
