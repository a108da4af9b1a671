"""Finds and runs the command; turns every failure into one line and an exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from keyword import iskeyword

from workbench import moved_modules, plugins
from workbench.cli import INTERRUPTED, _output
from workbench.config import resources
from workbench.errors import WorkbenchError

EPILOG = """\
state is kept in ~/.local/state/workbench, or $XDG_STATE_HOME/workbench: recordings, notes, recently opened files, and
whether Home lists the sessions of installed clients

exit status:
  0  clean
  1  findings, or the target refused
  2  wrong usage, or unreadable input
  3  could not decide
  4  I/O or network error
  70  a fault of Workbench itself: a report without traffic was written
  129, 130, 143  ended by a closed terminal, an interrupt, a SIGTERM
  for several files the first of 130, 70, 4, 2, 1, 3, 0 that applies
"""

APP_OPTIONS = ("--theme", "--ascii", "--web", "--port")
"""Options of the app that are also accepted without a command."""

PRECEDENCE = (INTERRUPTED, 70, 4, 2, 1, 3, 0)


def worst(statuses: Sequence[int]) -> int:
    """The exit status for several files."""
    return next((s for s in PRECEDENCE if s in statuses), 0)


def build(only: str | None = None) -> argparse.ArgumentParser:
    """Build the parser of all commands; with ``only`` of that one, so that the others are not imported."""
    top = argparse.ArgumentParser(
        prog="workbench",
        description="Find where tool calling breaks. Without a command: open the app (with the options --theme, "
        "--ascii and --web of workbench open).",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("-V", "--version", action="store_true", help="print the version")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    names = plugins.built_in("workbench.cli")
    for name in [only] if only in names and only else names:
        module = import_module(f"workbench.cli.{name}")
        sub = commands.add_parser(
            module.NAME,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.configure(sub)
        sub.set_defaults(run=module.run)
    return top


def _run_command(words: list[str]) -> int:
    first = next((w for w in words if not w.startswith("-")), None)
    parser = build(f"{first}_" if first and iskeyword(first) else first)
    args, left = parser.parse_known_args(words)
    last = getattr(args, "last", None)
    if last and len(left) == 1 and left[0][:1] != "-" and getattr(args, last) is None:
        setattr(args, last, left[0])  # argparse gives up an optional last argument at the first option
    elif left:
        parser.error(f"unrecognized arguments: {' '.join(left)}")
    return int(args.run(args))


def _run_app(words: list[str]) -> int:
    from workbench.cli import _home

    return _home.run(words)


def _names_command(words: list[str]) -> bool:
    """True if the words name a command or ask for help; false for the app alone, with or without options."""
    return bool({"-h", "--help"} & set(words)) or bool(words and words[0].partition("=")[0] not in APP_OPTIONS)


def run(words: list[str]) -> int:
    """Parse and run; every failure is one clear line on stderr."""
    _open_streams()
    status = _run_safely(words)
    for line in (*plugins.failures(), *moved_modules.requested_moves()):
        _output.complain(line, 0)
    return status


def _run_safely(words: list[str]) -> int:
    try:
        status = _run_command(words) if _names_command(words) else _run_app(words)
        _warn()
        _output.flush()
        return status
    except SystemExit as stop:  # argparse: usage and --help
        with suppress(OSError):
            _output.flush()
        return stop.code if isinstance(stop.code, int) else 2
    except KeyboardInterrupt:
        return INTERRUPTED
    except WorkbenchError as error:
        return _output.complain(str(error), 2)
    except OSError as error:
        return _output.complain(_output.describe_os_error(error), 4)
    except Exception as error:
        return report_crash(error, words)


def report_crash(error: Exception, words: Sequence[str] | None = None) -> int:
    """Report a fault of the program: one line, a report file, and a status of its own."""
    from workbench import crashes

    with suppress(OSError):
        _output.flush()
    return _output.complain(crashes.report(error, words), crashes.STATUS)


def _warn() -> None:
    """Warn about the user's own contracts that could not be read, if contracts were used. The app warns itself."""
    if "workbench.rules" in sys.modules and "workbench.tui.app" not in sys.modules and resources.own_profiles():
        from workbench import contracts

        for line in contracts.warnings():
            _output.complain(line, 0)


def _open_streams() -> None:
    """Replace streams that were closed by the caller (``>&-``) by ones that read as empty and discard output."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (lives as long as the process)
