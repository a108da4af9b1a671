"""Convert any readable file to a session file.

An OUT that ends in .jsonl gets the text form (one exchange per line, for fixtures and diffs), any other a recording
(SQLite, deduplicated). Secrets are replaced before the first byte is written. An existing OUT is only overwritten with
--force, FILE itself never. Exit status 1 if part of FILE is damaged: the rest is imported.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli import _files, _output
from workbench.cli._progress import counting

NAME = "import"
HELP = "convert any readable file to a session file"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="session file to write")
    _files.add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Read, redact, write, and print a summary."""
    from workbench.library import session_import

    out = Path(args.output)
    session_import.check_output(out, None if args.file == "-" else Path(args.file), may_replace=args.force)
    session = _files.open_file(args.file, args)
    try:
        with counting("importing", len(session)) as advance:
            summary = session_import.save(session, out, lambda number: advance())
    finally:
        session.close()
    _output.emit(summary.summary())
    for line in summary.damage:
        _output.complain(line, 0)
    return 1 if summary.damage else 0
