"""Find where the chain of tool calls breaks, in any number of files.

JSON output is one object:
  {"version", "files": [{"path", "protocol", "provider",
     "exchanges": [{"index", "protocol", "provider", "model", "status", "conversation", "hop"}],
     "findings": [{"rule", "severity", "exchange", "side", "pointer", "events", "bytes", "message", "evidence",
                   "source", "repairs"}]}],
   "errors": [{"path", "message"}]}
Exchanges count from zero there. "bytes" index the content-decoded body; "events" are blocks of the stream.
With --filter the findings, and the exit status, are those of exchanges that match; the exchanges are all listed.
"errors" names the files that could not be read; every other file is still answered.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.cli import _files, _filters, _output
from workbench.cli._report import FileReport
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.filters import Filter

NAME = "check"
HELP = "findings in one or more files, for people and for CI"
FORMATS = ("text", "json", "sarif", "junit")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=_files.FILE_HELP)
    _files.add_provider(parser)
    parser.add_argument("--fail-on", choices=("error", "warning"), default="error", help="what exits with 1")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--filter", metavar="EXPR", help="only findings of exchanges that match, e.g. 'status:4xx'")


def run(args: argparse.Namespace) -> int:
    """Inspect each file; print all answers; exit with the worst status."""
    from workbench.cli._shell import worst

    if args.files.count("-") > 1:
        return _output.complain("standard input can be read only once", 2)
    _files.validate(args)
    passes = _filters.asked(args.filter) if args.filter else None
    reports, errors, statuses = [], [], []
    for path in args.files:
        try:
            report = inspect_file(path, args, passes)
        except (WorkbenchError, OSError) as error:
            line = _output.describe_os_error(error) if isinstance(error, OSError) else str(error)
            errors.append({"path": path, "message": line})
            statuses.append(_files.failure_status(error))
            continue
        reports.append(report)
        statuses.append(report.status(args.fail_on))
    _print(args.format, reports, errors)
    if args.provider and args.format != "text":
        _say_stand_ins(reports, args.provider)
    for failed in errors:
        _output.complain(failed["message"], 2)
    return worst(statuses)


def inspect_file(path: str, args: argparse.Namespace, passes: Filter | None) -> FileReport:
    """Inspect one file, and keep the findings of exchanges that pass. Raises WorkbenchError, OSError."""
    session = _files.open_file(path)
    try:
        inspection = _files.inspector(session, args).run()
        return FileReport(path, _filters.narrowed(inspection, session, passes) if passes else inspection)
    finally:
        session.close()


def _say_stand_ins(reports: list[FileReport], asked: str) -> None:
    """A contract that had to be replaced is named, also where only data is printed."""
    for report in reports:
        for row in report.inspection.rows:
            if row.provider and row.provider.partition(":")[0] != asked.partition(":")[0]:
                _output.complain(f"{report.path}: contract {row.provider} ({row.provider_from})", 0)
                break


def _print(how: str, reports: list[FileReport], errors: list[dict[str, str]]) -> None:
    from workbench.cli import _check_formats

    {
        "text": _check_formats.text,
        "json": _check_formats.as_json,
        "sarif": _check_formats.sarif,
        "junit": _check_formats.junit,
    }[how](reports, errors)
