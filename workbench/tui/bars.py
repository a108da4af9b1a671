"""Widgets that paint a few fixed lines: header, tabs, footer; and what they share with the panes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui import paint
from workbench.tui.lines import STYLES, Line


class Painted(Widget):
    """A widget that paints lines in the named styles."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"line--{name}" for name in STYLES}

    _known_styles: dict[str, Style]

    def style(self, names: str) -> Style:
        """The style of names joined by spaces, over the widget's own; later names win."""
        try:
            return self._known_styles[names]
        except AttributeError:
            self._known_styles = {}
        except KeyError:
            pass
        _, _, background, front = self.colors
        made = Style()
        for name in names.split():
            styles = self.get_component_styles(f"line--{name}")
            if styles.has_rule("background"):
                background += styles.background
            if styles.has_rule("color"):
                front = background.get_contrast_text(styles.color.a) if styles.auto_color else styles.color
            made += styles.text_style
        made += Style.from_color((background + front).rich_color, background.rich_color)
        self._known_styles[names] = made
        return made

    def notify_style_update(self) -> None:
        self._known_styles = {}
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
