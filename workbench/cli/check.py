"""Find where the chain of tool calls breaks, in any number of files.

JSON output is one object:
  {"version", "files": [{"path", "protocol", "provider",
     "exchanges": [{"index", "protocol", "provider", "model", "status", "conversation", "hop"}],
     "findings": [{"rule", "severity", "exchange", "side", "pointer", "events", "bytes", "message", "evidence",
                   "source", "origin", "repairs"}]}],
   "errors": [{"path", "message"}]}
Exchanges count from zero there. "bytes" index the content-decoded body; "events" are blocks of the stream.
"origin" is null, or where the damage was done: {"exchange", "hop", "side", "pointer", "message"}.
A repair is {"title", "verified", "edits": [{"op", "pointer", "bytes", "old", "new"}]}, op being replace, insert or
remove, by pointers and bytes of the body as it was, the last place first: done one after another they fit. A pointer
/headers/NAME is a header. It was re-checked against the contract, not against the provider: the finding is gone and
nothing new is broken; "verified" says that nothing else is broken either.
With --filter the findings, and the exit status, are those of exchanges that match; the exchanges are all listed.
With --fix -o OUT the requests of one FILE are repaired as far as that goes, and written to OUT: a request body as a
body, in which every other byte is as it was, a session as a session. FILE stays as it is, and so does an OUT that
exists, unless --force is said; where nothing can be repaired OUT is a plain copy, and that is said. What is printed
then, and the exit status, are those of OUT; JSON output says what was done in "fixed":
  [{"exchange", "before", "after", "repairs", "remaining"}], before and after being verdicts of the contract.
"errors" names the files that could not be read; every other file is still answered.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.cli import _files, _filters, _output
from workbench.cli._report import FileReport
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.filters import Filter
    from workbench.inspection import Inspector

NAME = "check"
HELP = "findings in one or more files, for people and for CI"
MOST_PASTED = 8192
"""Characters of a pasted error: what is longer is a text that may quote one."""

FORMATS = ("text", "json", "sarif", "junit")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=_files.FILE_HELP)
    _files.add_provider(parser)
    parser.add_argument("--fail-on", choices=("error", "warning"), default="error", help="what exits with 1")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--fix", action="store_true", help="write a repaired copy of one FILE, with -o OUT")
    parser.add_argument("-o", "--output", metavar="OUT", help="where --fix writes; never FILE itself")
    _files.add_force(parser)
    parser.add_argument("--filter", metavar="EXPR", help="only findings of exchanges that match, e.g. 'status:4xx'")


def run(args: argparse.Namespace) -> int:
    """Inspect each file; print all answers; exit with the worst status."""
    from workbench.cli._shell import worst

    if args.fix or args.force or args.output is not None:
        from workbench.cli import _fix

        return _fix.run(args)
    if args.files.count("-") > 1:
        return _output.complain("standard input can be read only once", 2)
    _files.validate(args)
    passes = _filters.asked(args.filter) if args.filter else None
    reports, errors, statuses = [], [], []
    for path in args.files:
        try:
            inspected = inspect_file(path, args, passes)
        except (WorkbenchError, OSError) as error:
            line = _output.describe_os_error(error) if isinstance(error, OSError) else str(error)
            errors.append({"path": path, "message": line})
            statuses.append(_files.failure_status(error))
            continue
        reports.append(inspected)
        statuses.append(inspected.status(args.fail_on))
    report(args.format, reports, errors)
    for failed in errors:
        _output.complain(failed["message"], 2)
    return worst(statuses)


def inspect_file(path: str, args: argparse.Namespace, passes: Filter | None) -> FileReport:
    """Inspect one file, and keep the findings of exchanges that pass, with repairs. Raises WorkbenchError, OSError."""
    from workbench.repairs import with_repairs

    session = _files.open_file(path)
    try:
        inspector = _files.inspector(session, args)
        inspection = inspector.run()
        if passes:
            inspection = _filters.narrowed(inspection, session, passes)
        if problem := _pasted_error(inspector):
            row = replace(inspection.rows[0], conversation=None, problems=(problem,))
            inspection = replace(inspection, rows=(row,))
        return FileReport(path, replace(inspection, findings=with_repairs(inspector, inspection.findings)))
    finally:
        session.close()


def _pasted_error(inspector: Inspector) -> str:
    """What is wrong with a text without calls that a provider said, and no model; "" for any other file."""
    from workbench.decode import TEXT
    from workbench.rules import errortext

    if [(row.protocol, row.calls, row.findings) for row in inspector.rows] != [(TEXT, (), ())]:
        return ""
    text = inspector.detail(0).decoded.response_text.decode("utf-8", "replace")
    matches = errortext.explain(text) if len(text) <= MOST_PASTED else []
    if not matches:
        return ""
    first = matches[0]
    who = f"{first.provider} and others" if len(matches) > 1 else first.provider
    said = f"{who}: {first.rule}" if first.rule else who
    return f"it looks like an error text ({said}) and not like a model's answer: workbench explain 'TEXT'"


def report(how: str, reports: list[FileReport], errors: list[dict[str, str]]) -> None:
    """Print the answer in one of ``FORMATS``."""
    from workbench.cli import _check_formats

    {
        "text": _check_formats.text,
        "json": _check_formats.as_json,
        "sarif": _check_formats.sarif,
        "junit": _check_formats.junit,
    }[how](reports, errors)
