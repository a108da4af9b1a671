"""Takes every screen at five sizes, to be judged by people who have not seen the code.

    python -m tests.pictures.look FOLDER [SCREEN…] [--theme light] [--ascii] [--plain]

Writes ``SCREEN-80x24.txt`` (and with ``--svg`` the picture) for each screen and size; one app is resized for all sizes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.pictures.__main__ import MENDED, SENT, plain
from tests.tui.driving import screen_text, until
from workbench.config import resources
from workbench.formats.importers import open_input
from workbench.tui.app import WorkbenchApp
from workbench.tui.panes.home import HomePane
from workbench.tui.screens.session.screen import SessionScreen

SIZES = ((120, 40), (40, 20), (80, 24), (160, 50), (240, 60))
"""The first is the size in which the keys are pressed."""


class Screen(NamedTuple):
    """A screen: an example ("" for Home), keys, and a text that is waited for at the end.

    A key that begins with ``~`` is a text to wait for.
    """

    example: str
    keys: tuple[str, ...] = ()
    shows: str = ""


LOST = "deepseek-reasoning-lost"

SCREENS = {
    "home": Screen(""),
    "record": Screen("", ("r",), "record?"),
    "explain": Screen("", ("e",)),
    "session": Screen(LOST),
    "session-long": Screen("anthropic-long-session"),
    "session-healthy": Screen("anthropic-tool-loop"),
    "session-hops": Screen("gateway-field-dropped"),
    "http": Screen(LOST, ("7",)),
    "tour": Screen("", ("t",)),
    "stream": Screen("openai-parallel-index-reused", ("t",)),
    "diff": Screen("anthropic-compaction-orphan", ("d",)),
    "compare": Screen(
        "anthropic-compaction-orphan", ("d", "~1024", "q", "D", "~Compare exchange", "enter"), "Side by side"
    ),
    "compare-dialog": Screen("anthropic-compaction-orphan", ("D",), "Compare exchange"),
    "repairs": Screen(LOST, ("~restore the reasoning", "f"), "Repair 1"),
    "edit": Screen(LOST, MENDED, "accepts"),
    "send-dialog": Screen(LOST, (*MENDED, "~accepts", "s"), "Send to"),
    "send-before": Screen(LOST, (*MENDED, "~accepts", "s", "~Send to", "enter"), "passes all"),
    "send-answer": Screen(LOST, (*MENDED, "~accepts", *SENT), "accepted"),
    "branches": Screen(LOST, (*MENDED, "~accepts", *SENT, "~accepted", "B")),
    "continue": Screen("anthropic-cancelled-call", ("C",)),
    "minimize": Screen("anthropic-cancelled-call", ("M", "enter"), "minimal"),
    "whatif": Screen(LOST, ("V",), "✓"),
    "matrix": Screen(LOST, ("m",)),
    "conversion": Screen("anthropic-thinking-trimmed", ("c",)),
    "tools": Screen(LOST, ("T",)),
    "arguments": Screen("openai-arguments-twice", ("A",)),
    "passages": Screen("anthropic-cancelled-call", ("R",)),
    "story": Screen("anthropic-long-session", ("S",), "█ model"),
    "export": Screen("anthropic-compaction-orphan", ("x",)),
    "breaks": Screen(LOST, ("P",)),
    "lab": Screen("anthropic-long-session", ("L", "~does the model", "r"), "pass"),
    "metrics": Screen("anthropic-long-session", ("$",)),
    "help": Screen(LOST, ("question_mark",)),
    "palette": Screen(LOST, ("colon",)),
    "copy": Screen(LOST, ("y",)),
    "note": Screen(LOST, ("a",)),
    "filter": Screen(LOST, ("ampersand",)),
    "search": Screen(LOST, ("slash",)),
    "jump": Screen(LOST, ("number_sign",)),
    "lab-dialog": Screen("", ("l",)),
}


async def take(name: str, folder: Path, theme: str, suffix: str, *, svg: bool, is_ascii: bool = False) -> None:
    """One screen at all sizes."""
    screen = SCREENS[name]
    path = screen.example if "/" in screen.example else str(resources.folder("sessions") / f"{screen.example}.jsonl")
    app = WorkbenchApp(open_input(path) if screen.example else None, theme=theme, is_ascii=is_ascii)
    async with app.run_test(size=SIZES[0], notifications=True) as pilot:
        if screen.example:
            await until(pilot, lambda: isinstance(app.screen, SessionScreen) and app.screen.state.is_done)
            await until(pilot, lambda: app.screen.opened)  # type: ignore[attr-defined]
        else:
            pane = app.screen.query_one(HomePane)
            await until(pilot, lambda: pane.rows and not pane.pending_summaries())
        for key in (*screen.keys, f"~{screen.shows}"):
            if key.startswith("~"):
                try:
                    await until(pilot, lambda wanted=key[1:]: wanted in screen_text(app))  # type: ignore[misc]
                except AssertionError:
                    print(name, "never shows", key)
            else:
                await pilot.press(key)
                await pilot.pause()
        for _ in range(10):
            await pilot.pause(0.05)
        for width, height in SIZES:
            await pilot.resize_terminal(width, height)
            for _ in range(6):
                await pilot.pause(0.03)
            stem = f"{name}{suffix}-{width}x{height}"
            (folder / f"{stem}.txt").write_text(screen_text(app) + "\n", encoding="utf-8")
            if svg:
                (folder / f"{stem}.svg").write_text(plain(app.export_screenshot(title=stem)), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("screens", nargs="*")
    parser.add_argument("--theme", default="dark")
    parser.add_argument("--ascii", action="store_true")
    parser.add_argument("--plain", action="store_true", help="as with NO_COLOR")
    parser.add_argument("--svg", action="store_true")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.plain:
        os.environ["NO_COLOR"] = "1"
    suffix = "".join(
        f"-{way}" for way in (args.theme, "plain" * args.plain, "ascii" * args.ascii) if way not in ("dark", "")
    )
    for name in args.screens or SCREENS:
        with tempfile.TemporaryDirectory() as home:
            os.environ |= {"HOME": home, "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home, "TEXTUAL_ANIMATIONS": "none"}
            asyncio.run(take(name, args.folder, args.theme, suffix, svg=args.svg, is_ascii=args.ascii))


if __name__ == "__main__":
    main()
