"""Appearance of the named styles in the colours of a theme. Colour is never the only sign: a glyph or word says it too.

Style sheets could define this, but Textual would match them for every name in every widget before the first paint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rich.style import Style
from textual.color import BLACK, WHITE, Color

from workbench.views import STYLES

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
    "related": Look(back="success", strength=0.45, plain="italic"),
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
        names: of ``lines.STYLES``.
        variables: of the theme.
        front, back: colours of the widget.
        is_plain: True if the terminal has 16 colours or none, so that text styles have to differ too.
    """
    text = Style()
    for name in names.split():
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
