"""Options of the app, for every command that opens it, and what the terminal can show."""

from __future__ import annotations

import argparse
import os
import sys
from typing import IO, NamedTuple

from workbench.cli import _options

CHROME = "─│▌▸●✗…"
"""Characters that every screen needs."""


class Appearance(NamedTuple):
    """Theme and character set of the app; keyword arguments of ``tui.start.run``."""

    theme: str = ""
    is_ascii: bool = False


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of the app itself."""
    group = parser.add_argument_group(
        "screen", "Colours follow NO_COLOR and TERM. To change keys: workbench keys --help."
    )
    group.add_argument(
        "--theme",
        metavar="NAME",
        default="",
        help="dark, light, high-contrast, colour-blind, or a Textual theme; remembered (default: the last one used)",
    )
    group.add_argument(
        "--ascii",
        action="store_true",
        help="show ASCII only; other characters are shown as ASCII signs or escapes (also WORKBENCH_ASCII=1; default "
        "on a terminal without UTF-8)",
    )
    group.add_argument(
        "--web", action="store_true", help="serve the app to a browser on this machine and print its URL"
    )
    group.add_argument("--port", type=_options.port, metavar="N", help="port for --web (default: a free one)")


BROWSER = "workbench.tui.browser:Browser"
"""Value of TEXTUAL_DRIVER when the app runs for a page of a browser."""


def is_shown(*streams: IO[str]) -> bool:
    """True if somebody can see the app: all streams are a terminal, or it runs for a browser."""
    return os.environ.get("TEXTUAL_DRIVER") == BROWSER or all(stream.isatty() for stream in streams)


def appearance(args: argparse.Namespace) -> Appearance:
    """Appearance from the options and the terminal."""
    return Appearance(args.theme, args.ascii or _wants_ascii() or not _holds_signs())


def _wants_ascii() -> bool:
    return os.environ.get("WORKBENCH_ASCII", "0") not in ("", "0")


def _holds_signs() -> bool:
    """True if the encoding of standard error, which the app paints on, has our signs."""
    try:
        CHROME.encode(getattr(sys.__stderr__, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
