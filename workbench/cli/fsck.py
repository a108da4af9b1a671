"""Prove a session file: its format, every piece and digest, every exchange, every body against what passed.

JSON output is one object: {"path", "format", "version", "exchanges", "bytes", "is_live", "writers",
"problems": [TEXT]}. A file that is being written says so ("is_live", and "writers": by how many, each recorder is
one): what is in it so far is proved.
Exit status 1 when anything is torn or does not match its digest; what is whole can still be opened.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from workbench.cli import _output

NAME = "fsck"
HELP = "prove a session file"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="a session file")
    parser.add_argument("--format", choices=("text", "json"), default="text")


@contextmanager
def _as_file(name: str) -> Iterator[Path]:
    """The file itself; what cannot be sought in (standard input, a pipe) is copied first."""
    if name != "-" and (Path(name).is_file() or not Path(name).exists() or Path(name).is_dir()):
        yield Path(name)
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "session"
        with copy.open("wb") as out, nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb") as source:
            shutil.copyfileobj(source, out)
        yield copy


def run(args: argparse.Namespace) -> int:
    """Check the file and say what is torn."""
    from workbench.wire.session import store

    try:
        with _as_file(args.file) as path:
            report = store.fsck(path)
    except (FileNotFoundError, IsADirectoryError) as error:
        return _output.complain(_output.describe_os_error(error), 2)
    if args.format == "json":
        _output.emit_json(
            {
                "path": args.file,
                "format": report.format,
                "version": report.version,
                "exchanges": report.exchanges,
                "bytes": report.bytes,
                "is_live": report.is_live,
                "writers": report.writers,
                "problems": list(report.problems),
            }
        )
    else:
        for problem in report.problems:
            _output.emit(f"  ✗ {problem}")
        state = _output.number(len(report.problems), "problem") if report.problems else "whole"
        by = f" by {report.writers}" if report.writers > 1 else ""
        live = f", being written{by}" if report.is_live else ""
        _output.emit(
            f"{args.file}: {report.format} version {report.version}, "
            f"{_output.number(report.exchanges, 'exchange')}, {report.bytes:,} bytes{live}: {state}"
        )
    return 1 if report.problems else 0
