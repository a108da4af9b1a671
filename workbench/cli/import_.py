"""Turn any readable file into a session file.

OUT ending in .jsonl becomes the text form (one exchange a line, for fixtures and diffs); anything else becomes a
recording (SQLite, deduplicated). Secrets are replaced by stand-ins before the first byte is written. An existing file
is not overwritten without --force. Exit status 1 when part of FILE was damaged: the rest is written.
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
    from workbench.wire.session import exchanges_of, store

    out = Path(args.output)
    if args.output == "-" or (out.exists() and not out.is_file()) or out.is_symlink():
        return _output.complain(f"{out} is no regular file; name a file to write", 2)
    if out.exists() and not args.force:
        return _output.complain(f"{out} exists; choose another name or say --force", 2)
    session = _files.open_file(args.file)
    try:
        written = store.save(exchanges_of(session), out)
    finally:
        session.close()
    redacted = f", {_output.number(written.redactions, 'secret')} replaced" if written.redactions else ""
    _output.emit(f"{out}: {_output.number(written.exchanges, 'exchange')}, {written.bytes:,} bytes{redacted}")
    for line in (*session.damage, *written.damage):
        _output.complain(line, 0)
    return 1 if session.damage or written.damage else 0
