"""Find where the chain of tool calls breaks, in any number of files.

JSON output is one object:
  {"version", "files": [{"path", "protocol", "provider",
     "exchanges": [{"index", "protocol", "provider", "model", "status", "conversation", "hop"}],
     "findings": [{"rule", "severity", "exchange", "last", "side", "pointer", "events", "bytes", "message",
                   "evidence", "source", "basis", "kind", "contradicts", "origin", "repairs"}],
     "contradictions": [{"contract", "rule", "fact", "source", "date", "by", "count", "exchanges"}]}],
   "errors": [{"path", "message"}]}
Exchanges count from zero there. "bytes" index the content-decoded body; "events" are blocks of the stream.
A fault that later requests repeat is one finding: "exchange" is the first, "last" the last in which it holds.
"basis" says what it rests on: recording, measured, contract, common (what most providers refuse) or form (the wire).
"kind" is null, or of a failure its kind: "rate-limit", "model-unknown" … (workbench explain kinds lists them).
What a provider is said to refuse and accepted here is an info, contract.disagrees, with the fact, the exchange and the
host that contradict it in "contradicts"; "contradictions" counts the accepted exchanges for each fact. That counts
only for the contract that host and model choose; with --provider it is said in "evidence".
An exchange of which something could not be read has "problems" too, and such a file has "damage": lines of text.
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

from workbench import crashes
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
    _files.add_judged_for(parser)
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
        except Exception as error:  # a fault of this program: the other files are still answered
            errors.append({"path": path, "message": f"{path}: {crashes.report(error)}"})
            statuses.append(crashes.STATUS)
            continue
        reports.append(inspected)
        statuses.append(inspected.status(args.fail_on))
    report(args.format, reports, errors)
    for failed in errors:
        _output.complain(failed["message"], 2)
    return worst(statuses)


def inspect_file(path: str, args: argparse.Namespace, passes: Filter | None) -> FileReport:
    """Inspect one file, and keep the findings of exchanges that pass, with repairs. Raises WorkbenchError, OSError."""
    from workbench.edits.repairs import with_repairs
    from workbench.rules import by_cause, contradicted

    session = _files.open_file(path, args)
    try:
        inspector = _files.inspector(session, args)
        inspection = inspector.run()
        if passes:
            inspection = _filters.narrowed(inspection, session, passes)
        facts = tuple(contradicted(inspection.findings))
        found = with_repairs(inspector, by_cause(inspection.findings))
        return FileReport(path, replace(inspection, findings=found), contradicted=facts)
    finally:
        session.close()


def report(how: str, reports: list[FileReport], errors: list[dict[str, str]]) -> None:
    """Print the answer in one of ``FORMATS``."""
    from workbench.cli import _check_formats

    {
        "text": _check_formats.text,
        "json": _check_formats.as_json,
        "sarif": _check_formats.sarif,
        "junit": _check_formats.junit,
    }[how](reports, errors)
