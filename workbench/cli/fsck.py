"""Verify a session file: its format, all digests, all exchanges, and each body against the recorded one.

Of the folder of a survey: each commit against its tables, the plan and the parts of an open run, and loose files.

JSON output is one object: {"path", "format", "version", "exchanges", "bytes", "is_live", "writers",
"problems": [TEXT]}. "is_live" is true while the file is being written, "writers" is the number of recorders; its
contents so far are verified. Of a survey {"path", "format": "survey", "version", "runs", "objects", "rows", "is_open",
"problems": [TEXT]}.
Exit status 1 if anything is damaged or does not match its digest; the rest can still be opened.
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
from workbench.errors import NoSuchFile

NAME = "fsck"
HELP = "verify a session file, or the folder of a survey"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="a session file, or the folder of a survey")
    parser.add_argument("--format", choices=("text", "json"), default="text")


@contextmanager
def _as_file(name: str) -> Iterator[Path]:
    """The file itself; standard input or a pipe, in which one cannot seek, is copied first."""
    if name != "-" and (Path(name).is_file() or not Path(name).exists() or Path(name).is_dir()):
        yield Path(name)
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "session"
        with copy.open("wb") as out, nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb") as source:
            shutil.copyfileobj(source, out)
        yield copy


MANIFEST = "_survey.json"


def _check_survey(args: argparse.Namespace) -> int:
    from workbench.survey import Catalog, check_survey

    report = check_survey(Catalog(Path(args.file)))
    if args.format == "json":
        _output.emit_json({"path": args.file, "format": "survey", **report._asdict()})
        return 1 if report.problems else 0
    for problem in report.problems:
        _output.emit(f"  ✗ {problem}")
    state = _output.number(len(report.problems), "problem") if report.problems else "no problems"
    still = ", a run is open" if report.is_open else ""
    totals = ((report.runs, "run"), (report.objects, "object"), (report.rows, "row"))
    counts = ", ".join(_output.number(number, noun) for number, noun in totals)
    _output.emit(f"{args.file}: survey with tables of version {report.version}, {counts}{still}: {state}")
    return 1 if report.problems else 0


def run(args: argparse.Namespace) -> int:
    """Verify the file and print the problems."""
    if (Path(args.file) / MANIFEST).is_file():
        return _check_survey(args)
    from workbench.wire.session import store

    try:
        with _as_file(args.file) as path:
            report = store.fsck(path)
    except FileNotFoundError:
        return _output.complain(str(NoSuchFile(args.file)), 2)
    except IsADirectoryError as error:
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
        state = _output.number(len(report.problems), "problem") if report.problems else "no problems"
        by = f" by {report.writers}" if report.writers > 1 else ""
        live = f", being written{by}" if report.is_live else ""
        _output.emit(
            f"{args.file}: {report.format} version {report.version}, "
            f"{_output.number(report.exchanges, 'exchange')}, {report.bytes:,} bytes{live}: {state}"
        )
    return 1 if report.problems else 0
