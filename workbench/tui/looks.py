"""How the named styles look, in the colours of the theme. A colour never says what a glyph or a word does not say too.

Style sheets could say this, but they would be matched for every name in every widget before the first paint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rich.style import Style
from textual.color import Color

from workbench.tui.lines import STYLES


class Look(NamedTuple):
    """A style: ``front`` and ``back`` are variables of the theme with an opacity; ``text`` is a rich style."""

    front: str = ""
    back: str = ""
    strength: float = 1.0
    text: str = ""


LOOKS: Mapping[str, Look] = {
    "muted": Look("foreground", strength=0.62),
    "strong": Look(text="bold"),
    "accent": Look("text-accent"),
    "key": Look("text-secondary"),
    "string": Look("foreground"),
    "number": Look("text-warning"),
    "word": Look("text-warning"),
    "error": Look("text-error"),
    "warning": Look("text-warning"),
    "info": Look("text-primary"),
    "ok": Look("text-success"),
    "call": Look("text-primary"),
    "result": Look("text-success"),
    "reasoning": Look("text-accent"),
    "role": Look("text-secondary", text="bold"),
    "form": Look("text-error", text="reverse"),
    "cursor": Look(back="primary", strength=0.28),
    "cursor-blurred": Look(back="primary", strength=0.10),
    "related": Look(back="success", strength=0.20),
    "block": Look(back="primary", strength=0.14),
    "broken": Look(back="error", strength=0.22),
    "doubtful": Look(back="warning", strength=0.18),
    "lit": Look(back="primary", strength=0.42),
    "match": Look(text="reverse"),
    "here": Look(text="bold underline"),
    "tab": Look("text-accent", text="bold reverse"),
}
assert set(LOOKS) == set(STYLES)


def style(names: str, variables: Mapping[str, str], front: Color, back: Color) -> Style:
    """The style of names joined by spaces, over a widget's own colours; later names win.

    Args:
        names: of ``lines.STYLES``.
        variables: of the theme.
        front, back: colours of the widget.
    """
    text = Style()
    for name in names.split():
        look = LOOKS[name]
        if look.back:
            back += Color.parse(variables[look.back]).multiply_alpha(look.strength)
        if look.front:
            front = Color.parse(variables[look.front]).multiply_alpha(look.strength)
        text += Style.parse(look.text)
    return Style.from_color((back + front).rich_color, back.rich_color) + text
