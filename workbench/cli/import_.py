"""Turn any readable file into a session file.

OUT ending in .jsonl becomes the text form (one exchange a line, for fixtures and diffs); anything else becomes a
recording (SQLite, deduplicated). Secrets are replaced by stand-ins before the first byte is written. An existing file
is not overwritten without --force, FILE itself never. Exit status 1 when part of FILE was damaged: the rest is written.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli import _files, _output

NAME = "import"
HELP = "turn any readable file into a session file"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="session file to write")
    parser.add_argument("--force", action="store_true", help="replace OUT when it exists")


def run(args: argparse.Namespace) -> int:
    """Read, redact, write; say what was done."""
    from workbench.library import imported

    out = Path(args.output)
    imported.refuse(out, None if args.file == "-" else Path(args.file), may_replace=args.force)
    session = _files.open_file(args.file, args)
    try:
        done = imported.save(session, out)
    finally:
        session.close()
    _output.emit(done.told())
    for line in done.damage:
        _output.complain(line, 0)
    return 1 if done.damage else 0
