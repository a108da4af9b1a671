"""The colours of the app. Contrast of every text is at least 4.5:1, in ``high-contrast`` 7:1; tests measure it.

``colour-blind`` uses orange, yellow and blue for error, warning and success (after Okabe and Ito), which people who
see no red or no green can distinguish. In every theme a glyph and a word say the same as the colour.

Appearance of the named styles in the colours of a theme. Colour is never the only sign: a glyph or word says it too.
Style sheets could define this, but Textual would match them for every name in every widget before the first paint.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from rich.style import Style
from textual.color import BLACK, WHITE, Color

from workbench.config import resources
from workbench.views import LINK, STYLES

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


READABLE = 4.5
"""Least contrast of text, of WCAG 2.2 (1.4.3); a theme may ask for more with its variable ``least-contrast``."""


class Look(NamedTuple):
    """A style.

    Attributes:
        front: variable of the theme.
        back: background: a role of the theme; its variable is ``mark-ROLE``, or the role itself.
        strength: opacity of front and back.
        text: a rich style.
        plain: the rich style used instead on terminals with no or few colours.
    """

    front: str = ""
    back: str = ""
    strength: float = 1.0
    text: str = ""
    plain: str = ""


LOOKS: Mapping[str, Look] = {
    "muted": Look("foreground", strength=0.66, plain="dim"),
    "strong": Look(text="bold", plain="bold"),
    "accent": Look("text-accent", plain="bold"),
    "key": Look("text-secondary"),
    "string": Look("foreground"),
    "number": Look("text-warning"),
    "word": Look("text-warning"),
    "error": Look("text-error", plain="bold"),
    "warning": Look("text-warning", plain="bold"),
    "info": Look("text-primary"),
    "ok": Look("text-success"),
    "call": Look("text-primary"),
    "result": Look("text-success"),
    "reasoning": Look("text-accent", plain="italic"),
    "role": Look("text-secondary", text="bold", plain="bold"),
    "form": Look("text-error", text="reverse", plain="reverse"),
    "cursor": Look(back="primary", strength=0.45, plain="bold underline"),
    "cursor-blurred": Look(back="primary", strength=0.20, plain="bold"),
    "related": Look(back="success", strength=0.45, plain="italic underline"),
    "block": Look(back="primary", strength=0.25, plain="underline"),
    "broken": Look(back="error", strength=0.55, plain="reverse"),
    "doubtful": Look(back="warning", strength=0.45, plain="reverse italic"),
    "lit": Look(back="primary", strength=0.65, plain="underline"),
    "match": Look(text="reverse", plain="reverse bold"),
    "here": Look(text="bold underline", plain="bold underline2"),
    "tab": Look("text-accent", text="bold reverse", plain="bold reverse"),
}
assert set(LOOKS) == set(STYLES)


def style(names: str, variables: Mapping[str, str], front: Color, back: Color, *, is_plain: bool = False) -> Style:
    """The style of names joined by spaces, over a widget's own colours; later names win.

    Args:
        names: of ``lines.STYLES``, and links.
        variables: of the theme.
        front, back: colours of the widget.
        is_plain: True if the terminal has 16 colours or none, so that text styles have to differ too.
    """
    text = Style()
    for name in names.split():
        if name.startswith(LINK):
            text += Style(link=name.removeprefix(LINK))
            continue
        look = LOOKS[name]
        if look.back and not is_plain:
            back += Color.parse(variables.get(f"mark-{look.back}") or variables[look.back]).multiply_alpha(
                look.strength
            )
        if look.front:
            front = Color.parse(variables[look.front]).multiply_alpha(1.0 if is_plain else look.strength)
        text += Style.parse(look.plain if is_plain else look.text)
    seen = readable(back + front, back, float(variables.get("least-contrast", READABLE)))
    return Style.from_color(seen.rich_color, back.rich_color) + text


def readable(front: Color, back: Color, least: float) -> Color:
    """A foreground moved towards white or black until it is readable, if possible; ANSI colours are unchanged."""
    if front.ansi is not None or back.ansi is not None:
        return front
    pole = max((WHITE, BLACK), key=lambda c: contrast(c, back))
    for step in range(11):
        moved = front.blend(pole, step / 10)
        if contrast(moved, back) >= least:
            return moved
    return pole


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of two opaque colours, from 1 to 21 (WCAG 2.2)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: Color) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
