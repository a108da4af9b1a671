"""List the keys of the app: id, keys, action.

Your own keys go into $XDG_CONFIG_HOME/workbench/keys.yaml (usually ~/.config/workbench/keys.yaml):

    keymap: classic                 keys as they were before ] and [ went to breaks
    session.next-break: ["]", f8]   one key or a list
    wire.headers: none              no key at all

Keys are named as here: n, N, ?, f8, ctrl+x, enter, esc, space, comma, tab, up, pgdn. Problems in the file (an unknown
id, an unknown key, a key used twice on one screen) are printed on stderr and the exit status is 2; the rest of the file
applies. JSON: {"file", "keys": [{"id", "where", "keys", "default", "does"}], "problems"}.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.cli._output import complain, emit, emit_json

if TYPE_CHECKING:
    from workbench.tui import Keymap

NAME = "keys"
HELP = "list the keys of the app, and problems in your keys.yaml"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output (default: text)")


def run(args: argparse.Namespace) -> int:
    """Print the key bindings, and the problems in the user's file."""
    from workbench.tui import keymap

    found = keymap.load(keymap.path())
    if args.format == "json":
        _print_json(found)
    else:
        _print_text(found)
    for problem in found.problems:
        complain(f"{keymap.path()}: {problem}", 2)
    return 2 if found.problems else 0


def _print_text(keymap: Keymap) -> None:
    from workbench.tui import keys

    for scope in keys.SCOPES.values():
        emit(scope.title)
        for key in keymap.rows(scope.keys):
            mark = "*" if key.id in keymap.changed else " "
            emit(f" {mark} {key.id:<28} {' '.join(key.names) or 'none':<14} {key.text}")
        emit()
    if keymap.changed:
        emit("* changed in your keys.yaml")


def _print_json(keymap: Keymap) -> None:
    from workbench.tui import keymap as files
    from workbench.tui import keys

    rows = [
        {
            "id": key.id,
            "where": scope.title,
            "keys": list(keymap.row(key).names),
            "default": list(key.names),
            "does": key.text,
        }
        for scope in keys.SCOPES.values()
        for key in scope.keys
    ]
    emit_json({"file": str(files.path()), "keys": rows, "problems": list(keymap.problems)})
