"""Take a guided tour of the app over an example: ten steps, each one key.

It goes from a refused request over its cause to a repair that a simulator accepts, and to a test that keeps it. Nothing
is sent to a provider, and no API key is used.
"""

from __future__ import annotations

import argparse
import sys

from workbench.cli import _screen
from workbench.errors import UsageError

NAME = "tour"
HELP = "take a guided tour of the app"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    _screen.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show the tour until the user quits."""
    if args.web:
        from workbench.cli import _web

        return _web.serve_app(args, "tour")
    if not _screen.is_shown(sys.stdin, sys.stdout, sys.stderr):
        raise UsageError("the tour needs a terminal", hint="docs/guide/tour.md shows every screen")
    from workbench.tui import run as run_app

    return run_app(None, is_tour=True, **_screen.appearance(args)._asdict())
