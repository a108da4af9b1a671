"""What every command that shows the app shares: its options, and what the terminal can show."""

from __future__ import annotations

import argparse
import os
import sys
from typing import IO, NamedTuple

CHROME = "─│▌▸●✗…"
"""Some of the characters every screen is made of."""


class Appearance(NamedTuple):
    """How the app is to look; keyword arguments of ``tui.start.run``."""

    theme: str = ""
    is_ascii: bool = False


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of the app itself."""
    group = parser.add_argument_group(
        "screen", "Colours follow NO_COLOR and TERM. Keys of your own: see workbench keys --help."
    )
    group.add_argument(
        "--theme",
        metavar="NAME",
        default="",
        help="dark, light, high-contrast, colour-blind, or a theme of Textual; remembered (default: the last one)",
    )
    group.add_argument(
        "--ascii",
        action="store_true",
        help="ASCII alone: signs by stand-ins, other characters as escapes (also WORKBENCH_ASCII=1; by itself on a "
        "terminal that is not UTF-8)",
    )
    group.add_argument("--web", action="store_true", help="in a browser of this machine: prints its address")
    group.add_argument("--port", type=_port, metavar="N", help="port for --web (default: a free one)")


def _port(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= number < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to 65535")
    return number


BROWSER = "workbench.tui.browser:Browser"
"""What Textual is told to draw on when the app runs for a page of a browser."""


def is_shown(*streams: IO[str]) -> bool:
    """Whether somebody sees the app: a person at a terminal, which all of these streams are, or in a browser."""
    return os.environ.get("TEXTUAL_DRIVER") == BROWSER or all(stream.isatty() for stream in streams)


def serve(args: argparse.Namespace, *words: str) -> int:
    """Serve the app to a browser.

    Args:
        args: with the options of the screen.
        words: the command line that shows the app.
    """
    from workbench.cli import _web

    asked = [f"--theme={args.theme}"] if args.theme else []
    return _web.serve([*words, *asked, *(["--ascii"] if args.ascii else [])], args.port or 0)


def appearance(args: argparse.Namespace) -> Appearance:
    """What was asked for, and what the terminal needs."""
    return Appearance(args.theme, args.ascii or _wants_ascii() or not _holds_signs())


def _wants_ascii() -> bool:
    return os.environ.get("WORKBENCH_ASCII", "0") not in ("", "0")


def _holds_signs() -> bool:
    """Whether standard error, which the app paints on, can hold the signs."""
    try:
        CHROME.encode(getattr(sys.__stderr__, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
