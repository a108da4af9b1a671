"""Write exchanges in a form that other programs take.

  curl   the request as a command for a POSIX shell; secrets are variables, which you set

Without --exchange every request is written, in order, one command after the other; what cannot be written so is
named on stderr, and the exit status is then 1. An OUT that exists is not overwritten without --force, FILE never.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli import _files, _output
from workbench.errors import LocalProtocolError

NAME = "export"
HELP = "write exchanges in a form that other programs take"
FORMS = ("curl",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument("--as", dest="form", choices=FORMS, required=True)
    parser.add_argument("-o", "--output", metavar="OUT", default="-", help="file to write (default: standard output)")
    _files.add_force(parser)
    _files.add_exchange(parser)


def run(args: argparse.Namespace) -> int:
    """Write one exchange, or all."""
    from workbench.exporters.curl import curl

    if args.output != "-":
        _files.refuse_to_replace(Path(args.output), args.file, is_forced=args.force)
    session = _files.open_file(args.file)
    made, status = list[str](), 0
    try:
        first = _files.chosen(session, args.exchange)
        for n in range(len(session)) if args.exchange is None else (first,):
            try:
                command = curl(session.exchange(n))
            except LocalProtocolError as error:
                status = _output.complain(f"exchange {n + 1}: {error}", 1)
                continue
            made.append(command.text + "\n")
            for note in command.notes:
                _output.complain(f"exchange {n + 1}: {note}", 0)
    finally:
        session.close()
    text = "\n".join(made)
    if args.output == "-":
        _output.write(text)
    else:
        Path(args.output).write_text(text, encoding="utf-8")
    return status
