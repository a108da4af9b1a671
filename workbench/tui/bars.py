"""Widgets that paint a few fixed lines: header, tabs, footer; and what they share with the panes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui import looks, paint
from workbench.tui.lines import Line


class Painted(Widget):
    """A widget that paints lines in the named styles."""

    _styles_for: object = None
    _known_styles: dict[str, Style]

    def style(self, names: str) -> Style:
        """The style of names joined by spaces, over the widget's own."""
        variables = self.app.theme_variables
        if self._styles_for is not variables:
            self._styles_for, self._known_styles = variables, {}
        if names not in self._known_styles:
            _, _, back, front = self.colors
            self._known_styles[names] = looks.style(names, variables, front, back)
        return self._known_styles[names]

    def notify_style_update(self) -> None:
        self._styles_for = None
        super().notify_style_update()


class Bar(Painted):
    """Lines that do not scroll and cannot be focused."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()

    def show(self, lines: Sequence[Line]) -> None:
        """Paint other lines."""
        if lines != self._lines:
            self._lines = lines
            self.refresh()

    def render_line(self, y: int) -> Strip:
        line = self._lines[y] if y < len(self._lines) else ()
        return paint.strip(line, self.size.width, self.style)
