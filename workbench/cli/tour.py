"""Take a guided tour of the app over an example: ten steps, each one key.

It goes from a refused request over its cause to a repair that a simulator accepts, and to a test that keeps it. Nothing
is sent to a provider, and no API key is used.
"""

from __future__ import annotations

import argparse
import sys

from workbench.cli._app import screen_options
from workbench.errors import UsageError

NAME = "tour"
HELP = "take a guided tour of the app"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    screen_options.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show the tour until the user quits."""
    if args.web:
        from workbench.cli._app import web

        return web.serve_app(args, "tour")
    if not screen_options.is_shown(sys.stdin, sys.stdout, sys.stderr):
        raise UsageError("the tour needs a terminal", hint="docs/guide/tour.md shows every screen")
    from workbench.tui import run as run_app

    return run_app(None, is_tour=True, **screen_options.appearance(args)._asdict())
