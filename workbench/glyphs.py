"""Signs of the app and their ASCII stand-ins of the same width."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

SIGNS: Mapping[str, str] = dict(
    zip(
        "✗✓·⊘●○◆◇∴▣▌┆▸▹│⏎…⋮–—←↑→↓≠⚑✎�“”‘’├└─▒▓▚░█▄⇣‖≈⊞⊟›▁▂▃▅▆▇",
        'xY.%*o@<:M#;>)|/~:--<^>v/m&?""\'\'+`-sot.@=\\|~+-"_.-=+@',
        strict=True,
    )
)
"""Every sign the app writes outside the frames."""

LONG_FORMS: Mapping[str, str] = {"→": "->", "←": "<-", "⇣": ".."}
"""Stand-ins of two columns, for text that is not laid out yet: ``>`` between two numbers reads as a comparison."""

_FRAMES = {
    **dict.fromkeys("─╌┄┈▔▁", "-"),
    **dict.fromkeys("━═▀▄", "="),
    **dict.fromkeys("┃║▎▏▊▋▕▐", "|"),
    **dict.fromkeys("╭╮╰╯┌┐└┘╔╗╚╝┏┓┗┛├┤┬┴┼┝┥┰┸", "+"),
    **dict.fromkeys("█▆▇▅", "@"),
    **dict.fromkeys("▂▃▖▗▘▝▛▜▙▟", " "),
}


@lru_cache(4096)
def ascii_only(text: str) -> str:
    """The text in ASCII, in as many columns: signs and frames by their stand-ins, anything else a question mark."""
    if text.isascii():
        return text
    from rich.cells import cell_len, set_cell_size

    ascii_text = "".join(c if c.isascii() else SIGNS.get(c) or _FRAMES.get(c) or "?" * cell_len(c) for c in text)
    return set_cell_size(ascii_text, cell_len(text))
