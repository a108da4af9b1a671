"""Prove a session file: its format, every piece and digest, every exchange.

JSON output is one object: {"path", "format", "version", "exchanges", "bytes", "problems": [TEXT]}.
Exit status 1 when anything is torn or does not match its digest; what is whole can still be opened.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli import _output

NAME = "fsck"
HELP = "prove a session file"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="a session file")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Check the file and say what is torn."""
    from workbench.wire.session import store

    report = store.fsck(Path(args.file))
    if args.format == "json":
        _output.emit_json(
            {
                "path": args.file,
                "format": report.format,
                "version": report.version,
                "exchanges": report.exchanges,
                "bytes": report.bytes,
                "problems": list(report.problems),
            }
        )
    else:
        for problem in report.problems:
            _output.emit(f"  ✗ {problem}")
        state = _output.number(len(report.problems), "problem") if report.problems else "whole"
        _output.emit(
            f"{args.file}: {report.format} version {report.version}, "
            f"{_output.number(report.exchanges, 'exchange')}, {report.bytes:,} bytes: {state}"
        )
    return 1 if report.problems else 0
