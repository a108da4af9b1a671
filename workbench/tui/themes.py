"""The colours of the app. Contrast of every text is at least 4.5:1, in ``high-contrast`` 7:1; tests measure it.

``colour-blind`` uses orange, yellow and blue for error, warning and success (after Okabe and Ito), which people who
see no red or no green can distinguish. In every theme a glyph and a word say the same as the colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from workbench.config import resources

if TYPE_CHECKING:
    from textual.theme import Theme

DEFAULT = "dark"


class Palette(NamedTuple):
    """Colours of surfaces, of text, of states, and of the background of marked text."""

    background: str
    surface: str
    panel: str
    foreground: str
    primary: str
    secondary: str
    accent: str
    warning: str
    error: str
    success: str
    mark: str
    mark_related: str
    mark_warning: str
    mark_error: str
    is_dark: bool = True


PALETTES: Mapping[str, Palette] = {
    "dark": Palette(
        *("#101418", "#171c22", "#1e252d", "#e2e4e8"),
        *("#6cb6ff", "#8fd0c8", "#e3b341", "#f0c674", "#ff8f88", "#7ee08a"),
        *("#1f66b8", "#1f7a45", "#8a6a10", "#b3303a"),
    ),
    "light": Palette(
        *("#fbfbfa", "#f2f2f0", "#e7e7e4", "#1b1f24"),
        *("#0b4fa8", "#0d5c56", "#7a3d00", "#744300", "#a3101f", "#0f5a26"),
        *("#7fb5f5", "#85cf9c", "#f0c75e", "#f59a94"),
        is_dark=False,
    ),
    "high-contrast": Palette(
        *("#000000", "#000000", "#0c0c0c", "#ffffff"),
        *("#9cd2ff", "#9ff0e4", "#ffe27a", "#ffd84d", "#ffb0aa", "#9dffa8"),
        *("#0a4c96", "#0a5a2c", "#5c4600", "#8a1620"),
    ),
    "colour-blind": Palette(
        *("#0f1216", "#161b21", "#1e252d", "#e6e6e6"),
        *("#b9c7ff", "#c9c9c9", "#e6a5cf", "#f5ec5e", "#f2743c", "#62bdf2"),
        *("#3f55b0", "#1c6a94", "#7d7408", "#a8480c"),
    ),
}
"""Colours by the name of the theme."""

PLAIN = {
    "block-cursor-text-style": "reverse",
    "input-cursor-text-style": "reverse",
    "button-focus-text-style": "reverse",
}
"""Styles for terminals with no or few colours, in place of states that Textual's widgets show by background only."""


def make(*, is_plain: bool) -> list[Theme]:
    """The themes; ``is_plain``: for a terminal of 16 colours or none."""
    from textual.theme import Theme

    return [
        Theme(
            name=name,
            primary=p.primary,
            secondary=p.secondary,
            accent=p.accent,
            warning=p.warning,
            error=p.error,
            success=p.success,
            foreground=p.foreground,
            background=p.background,
            surface=p.surface,
            panel=p.panel,
            dark=p.is_dark,
            variables={
                **{f"text-{role}": getattr(p, role) for role in ("primary", "secondary", "accent", "warning", "error")},
                "text-success": p.success,
                "mark-primary": p.mark,
                "mark-success": p.mark_related,
                "mark-warning": p.mark_warning,
                "mark-error": p.mark_error,
                "least-contrast": "7" if name == "high-contrast" else "4.5",
                "text-muted": p.foreground + "b8",
                **(PLAIN if is_plain else {}),
            },
        )
        for name, p in PALETTES.items()
    ]


def names() -> tuple[str, ...]:
    """Every theme: ours first, then Textual's own."""
    from textual.theme import BUILTIN_THEMES

    return (*PALETTES, *BUILTIN_THEMES)


def load_theme() -> str:
    """The theme that was chosen last; "" if none was."""
    try:
        return resources.state_folder("theme").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def remember(name: str) -> None:
    """Save a theme for the next start; a failure to write is ignored."""
    file = resources.state_folder("theme")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{name}\n", encoding="utf-8")
