"""Open a file in the app, at the first break; or the folder of a survey.

Without a terminal (a pipe, a CI job) the findings are printed as by ``workbench check``. With --web the app is served
to a browser on this machine: its URL, with a token that every request needs, is printed on stdout.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _files
from workbench.cli._app import screen_options
from workbench.errors import UsageError, WorkbenchError
from workbench.library import home_state

if TYPE_CHECKING:
    from workbench.wire.session import Session

NAME = "open"
HELP = "open a file in the app"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    _files.add_exchange(parser)
    _files.add_provider(parser)
    parser.add_argument(
        "--linear",
        action="store_true",
        help="for screen readers: the session as plain text, one item at a time, with the same keys",
    )
    screen_options.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show the session until the user quits."""
    _files.validate(args)
    if (Path(args.file) / "_survey.json").is_file():
        return _show_survey(args)
    if args.linear:
        return _linear(args)
    if args.web:
        return _serve(args)
    screen = screen_options.is_shown(sys.stdout, sys.stderr)  # the app paints on standard error
    if not screen or (args.file != "-" and not screen_options.is_shown(sys.stdin)):
        return _print(args)
    from workbench.tui import run as run_app

    index = None if args.exchange is None else args.exchange - 1
    looks = screen_options.appearance(args)._asdict()
    session = _open(args) if args.file == "-" else _open_recording(args)
    if session is None:  # importers are loaded while the app is shown
        source = partial(_open_and_remember, args)
        return run_app(source, provider=args.provider, protocol=args.protocol, exchange=index, **looks)
    try:
        _take_keyboard()
        return run_app(session, provider=args.provider, protocol=args.protocol, exchange=index, **looks)
    finally:
        session.close()


def _show_survey(args: argparse.Namespace) -> int:
    """Show a survey in the app; without a terminal print its overview."""
    if not screen_options.is_shown(sys.stdout, sys.stderr, sys.stdin):
        from workbench.cli import survey

        parser = argparse.ArgumentParser()
        survey.configure(parser)
        return survey.run(parser.parse_args([args.file]))
    from workbench.tui import run as run_app

    return run_app(None, survey=Path(args.file), **screen_options.appearance(args)._asdict())


def _linear(args: argparse.Namespace) -> int:
    """Read the session aloud."""
    from workbench.cli._app import linear
    from workbench.rules import Inspector

    session = _open(args)
    try:
        return linear.read_aloud(Inspector(session, args.provider, args.protocol), args.exchange)
    finally:
        session.close()


def _serve(args: argparse.Namespace) -> int:
    """Serve the app to a browser, once the file is known to be readable."""
    from workbench.cli._app import web

    if args.file == "-":
        raise UsageError("--web cannot read standard input", hint="give a file: each browser page opens it separately")
    _open(args).close()
    options = {"exchange": args.exchange, "provider": args.provider, "protocol": args.protocol}
    words = [f"--{name}={value}" for name, value in options.items() if value is not None]
    return web.serve_app(args, "open", *words, f"{os.curdir}/{args.file}" if args.file.startswith("-") else args.file)


def _print(args: argparse.Namespace) -> int:
    """Print what ``check`` prints, if the requested exchange exists."""
    from workbench.cli import check

    if args.exchange is not None and args.file != "-":
        _open(args).close()
    fixing = {"fix": False, "force": False, "output": None}
    options = {"files": [args.file], "fail_on": "error", "format": "text", "filter": None, "no_cache": False}
    return check.run(argparse.Namespace(**vars(args), **options, **fixing))


def _take_keyboard() -> None:
    """Read keys from the terminal, because standard input was the file."""
    if not sys.stdin.isatty():
        terminal = os.open("/dev/tty", os.O_RDWR)
        os.dup2(terminal, 0)
        os.close(terminal)


def _open_recording(args: argparse.Namespace) -> Session | None:
    """Open a recording, which takes no longer than painting an empty screen; None for other files."""
    from workbench.wire.session import open_recording

    session = open_recording(Path(args.file))
    if session:
        _demand_exchange(session, args)
        home_state.remember(Path(args.file))
    return session


def _open_and_remember(args: argparse.Namespace) -> Session:
    """Open the session, and list its file on Home."""
    session = _open(args)
    home_state.remember(Path(args.file))
    return session


def _open(args: argparse.Namespace) -> Session:
    """Open the session, and check that the requested exchange exists."""
    session = _files.open_file(args.file, args)
    _demand_exchange(session, args)
    return session


def _demand_exchange(session: Session, args: argparse.Namespace) -> None:
    """Close the session and raise UsageError if the requested exchange does not exist."""
    try:
        if args.exchange is not None:
            _files.exchange_index(session, args.exchange)
    except WorkbenchError:
        session.close()
        raise
