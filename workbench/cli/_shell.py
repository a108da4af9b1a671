"""Finds and runs the command; turns every failure into one line and an exit status."""

from __future__ import annotations

import argparse
import os
import re
import sys
from contextlib import suppress
from importlib import import_module
from keyword import iskeyword

from workbench import moved_modules
from workbench.cli import _streams
from workbench.errors import UnknownName, UsageError, WorkbenchError

TYPE_CHECKING = False  # --help imports no typing
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

EPILOG = """\
state is kept in ~/.local/state/workbench, or $XDG_STATE_HOME/workbench: recordings, notes, recently opened files, and
the settings of Home

exit status:
  0  clean
  1  errors were found, or the target refused
  2  wrong usage, or unreadable input
  3  no verdict: a request or response was not decoded
  4  I/O or network error
  70  an error in Workbench itself; it wrote a report without recorded traffic
  129, 130, 143  ended by a closed terminal, an interrupt or SIGTERM
  for several files: the first of 130, 70, 4, 2, 1, 3, 0 that applies
"""

APP_OPTIONS = ("--theme", "--ascii", "--web", "--port")
"""Options of the app that are also accepted without a command."""

HELP_OPTIONS = ("-h", "--help")

_SUMMARY = re.compile(rb'^NAME = "(?P<name>.+)"\n(?:[A-Z].*\n)*?^HELP = "(?P<help>.+)"$', re.MULTILINE)


INTERRUPTED = 130

PRECEDENCE = (INTERRUPTED, 70, 4, 2, 1, 3, 0)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Formatter that asks for the width of the terminal without importing shutil and what it imports."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    """Columns of the terminal, as shutil tells them."""
    with suppress(ValueError):
        columns = int(os.environ.get("COLUMNS", ""))
        if columns > 0:
            return columns
    with suppress(AttributeError, ValueError, OSError):
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    return 80


def worst(statuses: Sequence[int]) -> int:
    """The exit status for several files."""
    return next((s for s in PRECEDENCE if s in statuses), 0)


def build() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    return _parser(command_modules())


def command_modules() -> list[str]:
    """Names of the modules of commands, sorted."""
    files = os.listdir(os.path.dirname(__file__))
    return sorted(file[:-3] for file in files if file.endswith(".py") and not file.startswith("_"))


class _Name:
    """Takes the place of the parser of a command that is listed and not run: to make 25 takes half of the time."""

    def __init__(self, **_: object) -> None:
        pass


def outline() -> argparse.ArgumentParser:
    """Build the parser of the names of all commands: for help on them, and for wrong ones. Imports no command."""
    top, commands = _top(_Name)
    for module in command_modules():
        name, line = summary(module)
        commands.add_parser(name, help=line, add_help=False)
    return top


def summary(module: str) -> tuple[str, str]:
    """(NAME, HELP) of a command, from the text of its module: to import all of them takes ten times as long."""
    with open(os.path.join(os.path.dirname(__file__), f"{module}.py"), "rb") as file:
        found = _SUMMARY.search(file.read())
    if found:
        return found["name"].decode(), found["help"].decode()
    command = import_module(f"workbench.cli.{module}")
    return command.NAME, command.HELP


def _parser(modules: Sequence[str]) -> argparse.ArgumentParser:
    top, commands = _top()
    for name in modules:
        module = import_module(f"workbench.cli.{name}")
        sub = commands.add_parser(
            module.NAME,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=_Formatter,
        )
        module.configure(sub)
        sub.set_defaults(run=module.run)
    return top


def _top(parser_class: type = argparse.ArgumentParser) -> tuple[argparse.ArgumentParser, Any]:
    """The parser without its commands, and what adds them.

    Args:
        parser_class: makes the parser of a command.
    """
    top = argparse.ArgumentParser(
        prog="workbench",
        description="Find where tool calling breaks. Without a command: open the app (with the options --theme, "
        "--ascii and --web of workbench open).",
        epilog=EPILOG,
        formatter_class=_Formatter,
    )
    top.add_argument("-V", "--version", action="store_true", help="print the version")
    return top, top.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=parser_class)


def _run_command(words: list[str]) -> int:
    first = next((w for w in words if w in HELP_OPTIONS or not w.startswith("-")), "")
    module = f"{first}_" if iskeyword(first) else first.replace("-", "_")
    if first and not set(HELP_OPTIONS) & set(words) and module not in command_modules():
        raise _no_command(first)
    parser = _parser([module]) if module in command_modules() else outline()
    args, rest = parser.parse_known_args(words)
    last = getattr(args, "last", None)
    if last and len(rest) == 1 and rest[0][:1] != "-" and getattr(args, last) is None:
        setattr(args, last, rest[0])  # argparse gives up an optional last argument at the first option
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return int(args.run(args))


def _no_command(word: str) -> UsageError:
    """The refusal of a word that is no command: a file is probably to be opened, other words are misspelled."""
    if os.path.isdir(word):
        return UsageError(
            f"{word!r:.200} is a folder, not a command", hint="to check its files: workbench check FOLDER"
        )
    if os.path.exists(word):
        return UsageError(f"{word!r:.200} is a file, not a command", hint="to open it: workbench open FILE")
    return UnknownName("command", word, (summary(module)[0] for module in command_modules()))


def _run_app(words: list[str]) -> int:
    from workbench.cli._app import home

    return home.run(words)


def _names_command(words: list[str]) -> bool:
    """True if the words name a command or ask for help; false for the app alone, with or without options."""
    return bool(set(HELP_OPTIONS) & set(words)) or bool(words and words[0].partition("=")[0] not in APP_OPTIONS)


def run(words: list[str]) -> int:
    """Parse and run; every failure is one clear line on stderr."""
    _streams.open_streams()
    status = _run_safely(words)
    plugins = sys.modules.get("workbench.plugins")
    for line in (*(plugins.failures() if plugins else ()), *moved_modules.requested_moves()):
        _complain(line, 0)
    return status


def _run_safely(words: list[str]) -> int:
    try:
        status = _run_command(words) if _names_command(words) else _run_app(words)
        _warn()
        _streams.flush()
        return status
    except SystemExit as stop:  # argparse: usage and --help
        with suppress(OSError):
            _streams.flush()
        return stop.code if isinstance(stop.code, int) else 2
    except KeyboardInterrupt:
        return INTERRUPTED
    except WorkbenchError as error:
        return _complain(str(error), 2)
    except OSError as error:
        return _complain_of_system(error)
    except Exception as error:
        return report_crash(error, words)


def _complain(line: str, status: int) -> int:
    from workbench.cli import _output

    return _output.complain(line, status)


def _complain_of_system(error: OSError) -> int:
    from workbench.cli import _output

    return _output.complain(_output.describe_os_error(error), 4)


def report_crash(error: Exception, words: Sequence[str] | None = None) -> int:
    """Report a fault of the program: one line, a report file, and a status of its own."""
    from workbench import crashes

    with suppress(OSError):
        _streams.flush()
    return _complain(crashes.report(error, words), crashes.STATUS)


def _warn() -> None:
    """Warn about the user's own contracts that could not be read, if contracts were used. The app warns itself."""
    if "workbench.rules" not in sys.modules or "workbench.tui.app" in sys.modules:
        return
    from workbench import contracts
    from workbench.config import resources

    if resources.own_profiles():
        for line in contracts.warnings():
            _complain(line, 0)
