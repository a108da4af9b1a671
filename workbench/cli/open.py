"""Open the app on a file, at the first break.

Without a terminal (a pipe, a CI job) the findings are printed as ``workbench check`` prints them.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from workbench.cli import _files
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.wire.session import Session

NAME = "open"
HELP = "the app on a file"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    _files.add_exchange(parser)
    _files.add_provider(parser)


def run(args: argparse.Namespace) -> int:
    """Show the session until the user leaves."""
    if not sys.stdout.isatty() or (args.file != "-" and not sys.stdin.isatty()):
        from workbench.cli import check

        return check.run(argparse.Namespace(**vars(args), files=[args.file], fail_on="error", format="text"))
    from workbench.tui.start import run as run_app

    wanted = None if args.exchange is None else args.exchange - 1
    if args.file != "-":
        return run_app(lambda: _opened(args), provider=args.provider, protocol=args.protocol, exchange=wanted)
    session = _opened(args)  # before the app takes the keyboard
    try:
        return run_app(session, provider=args.provider, protocol=args.protocol, exchange=wanted)
    finally:
        session.close()


def _opened(args: argparse.Namespace) -> Session:
    """The session, once it is clear that the exchange and the names asked for exist."""
    session = _files.open_file(args.file)
    try:
        _files.inspector(session, args)
        if args.exchange is not None:
            _files.chosen(session, args.exchange)
    except WorkbenchError:
        session.close()
        raise
    return session
