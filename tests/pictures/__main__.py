"""Takes the pictures that the README shows.

    python -m tests.pictures

Nothing in them is loaded from elsewhere: the face is whatever monospaced one the reader has.
"""

from __future__ import annotations

import asyncio
import html
import os
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from rich.cells import cell_len

from tests.tui.driving import showing, until
from workbench.config import resources
from workbench.formats.importers import open_input
from workbench.send.matrix import labels

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"

TEXT = re.compile(r'(<text class="[^"]*" x=")([\d.]+)(" y="[^"]*" textLength=")([\d.]+)("[^>]*>)([^<]*)</text>')


class Picture(NamedTuple):
    """One picture: an example, the size of the terminal, the keys pressed, and what stands on the screen then.

    A key that begins with ``~`` is none, but a text that is waited for.
    """

    example: str
    size: tuple[int, int]
    shows: str
    keys: tuple[str, ...] = ()


MENDED = ("~restore the reasoning", "f", "~Repair 1", "a")
SENT = ("s", "~Send to", "enter", "~passes all checks of this contract", "enter")

PICTURES = {
    "session": Picture("deepseek-reasoning-lost", (164, 38), "reasoning.missing"),
    "story": Picture("anthropic-long-session", (120, 36), "█ model", ("S",)),
    "stream": Picture("openai-parallel-index-reused", (120, 34), "▸", ("t",)),
    "conversion": Picture("anthropic-thinking-trimmed", (130, 30), "→ openai-chat", ("c", "h", "h", "h", "h")),
    "matrix": Picture("deepseek-reasoning-lost", (150, 40), f"·  {len(labels())} contracts", ("m",)),
    "edit": Picture("deepseek-reasoning-lost", (164, 38), "accepts", MENDED),
    "send": Picture("deepseek-reasoning-lost", (164, 34), "accepted", (*MENDED, "~accepts", *SENT)),
    "lab": Picture("anthropic-long-session", (140, 36), "streaming      ✓ pass", ("L", "~does the model", "r")),
    "diff": Picture("anthropic-compaction-orphan", (120, 26), "changed", ("d", "j")),
}


async def take(picture: Picture) -> str:
    """The picture as SVG."""
    session = open_input(str(resources.folder("sessions") / f"{picture.example}.jsonl"))
    async with showing(session, picture.size) as driver:
        for key in (*picture.keys, f"~{picture.shows}"):
            if key.startswith("~"):
                await until(driver.pilot, lambda wanted=key[1:]: wanted in driver.text)  # type: ignore[misc]
            else:
                await driver.press(key)
        return plain(driver.app.export_screenshot(title="workbench"))


def plain(svg: str) -> str:
    """Without fonts from elsewhere, random names, and blanks at the ends of texts, which some viewers drop."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+", "terminal", svg).replace("Fira Code, monospace", "monospace")
    return TEXT.sub(_trimmed, svg)


def _trimmed(found: re.Match[str]) -> str:
    """A text without the blanks at its ends, moved to where its first character stood."""
    before, x, between, length, after, words = found.groups()
    text = html.unescape(words)
    kept = text.strip("\u00a0")
    width = float(length) / max(1, cell_len(text))
    start = float(x) + width * (len(text) - len(text.lstrip("\u00a0")))
    if not kept:
        return ""
    inside = html.escape(kept).replace("\u00a0", "&#160;")
    return f"{before}{start:.1f}{between}{width * cell_len(kept):.1f}{after}{inside}</text>"


def main() -> None:
    for name, picture in PICTURES.items():
        with tempfile.TemporaryDirectory() as home:  # its own: the app remembers the branches of a session
            os.environ |= {"HOME": home, "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home, "TEXTUAL_ANIMATIONS": "none"}
            (FOLDER / f"{name}.svg").write_text(asyncio.run(take(picture)), encoding="utf-8")


if __name__ == "__main__":
    main()
