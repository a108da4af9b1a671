"""Open the app on a file, at the first break.

Without a terminal (a pipe, a CI job) the findings are printed as ``workbench check`` prints them.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from workbench.cli import _files, _screen
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
    _files.validate(args)
    screen = sys.stdout.isatty() and sys.stderr.isatty()  # the app paints on standard error
    if not screen or (args.file != "-" and not sys.stdin.isatty()):
        return _print(args)
    _screen.require()
    from workbench.tui.start import run as run_app

    wanted = None if args.exchange is None else args.exchange - 1
    if args.file != "-":
        return run_app(lambda: _opened(args), provider=args.provider, protocol=args.protocol, exchange=wanted)
    session = _opened(args)  # before the app takes the keyboard
    try:
        _take_keyboard()
        return run_app(session, provider=args.provider, protocol=args.protocol, exchange=wanted)
    finally:
        session.close()


def _print(args: argparse.Namespace) -> int:
    """What ``check`` prints; an exchange asked for has to exist all the same."""
    from workbench.cli import check

    if args.exchange is not None and args.file != "-":
        _opened(args).close()
    return check.run(argparse.Namespace(**vars(args), files=[args.file], fail_on="error", format="text"))


def _take_keyboard() -> None:
    """Standard input was the file: the keys come from the terminal itself."""
    if not sys.stdin.isatty():
        terminal = os.open("/dev/tty", os.O_RDWR)
        os.dup2(terminal, 0)
        os.close(terminal)


def _opened(args: argparse.Namespace) -> Session:
    """The session, once it is clear that the exchange asked for exists."""
    session = _files.open_file(args.file)
    try:
        if args.exchange is not None:
            _files.chosen(session, args.exchange)
    except WorkbenchError:
        session.close()
        raise
    return session
