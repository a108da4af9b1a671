"""Find where tool calling breaks, in one or more files.

JSON output is one object:
  {"version", "files": [{"path", "protocol", "provider",
     "exchanges": [{"index", "protocol", "provider", "model", "status", "conversation", "hop"}],
     "findings": [{"rule", "severity", "exchange", "last", "side", "pointer", "events", "bytes", "message",
                   "evidence", "source", "basis", "kind", "contradicts", "origin", "repairs"}],
     "contradictions": [{"contract", "rule", "fact", "source", "date", "by", "count", "exchanges"}]}],
   "errors": [{"path", "message"}]}
Exchanges count from zero in JSON. "bytes" index the content-decoded body; "events" are events of the stream.
A fault that later requests repeat is one finding: "exchange" is the first exchange with it, "last" the last.
"basis" is what the finding rests on: recording, measured, contract, common (what most providers refuse) or form (the
wire). "kind" is the kind of a failure ("rate-limit", "model-unknown" …; workbench explain kinds lists them), else null.
If the provider accepted what its contract says it refuses, the finding is an info, contract.disagrees: "contradicts"
has the fact, the exchange and the host; "contradictions" counts the accepted exchanges for each fact. This applies only
to the contract chosen by host and model; with --provider it is a remark in "evidence".
An exchange that could not be read completely has "problems", and its file "damage": lines of text.
"origin" is null, or the place where the damage was done: {"exchange", "hop", "side", "pointer", "message"}.
A repair is {"title", "verified", "edits": [{"op", "pointer", "bytes", "old", "new"}]}. "op" is replace, insert or
remove; pointers and bytes are those of the unchanged body, the last edit first, so that the edits can be applied in
order. A pointer /headers/NAME is a header. Repairs are checked against the contract, not against the provider: the
finding is gone and nothing new is broken; "verified" means that nothing else is broken either.
With --filter, findings and exit status are those of the matching exchanges; all exchanges are listed.
With --fix -o OUT, the requests of one FILE are repaired as far as possible and written to OUT: a request body as a
body, with all other bytes unchanged, a session as a session. FILE is never modified, and an existing OUT only with
--force. If nothing can be repaired, OUT is a copy. Output and exit status are then those of OUT; JSON lists the repairs
in "fixed": [{"exchange", "before", "after", "repairs", "remaining"}]; "before" and "after" are verdicts.
"errors" lists the files that could not be read; all other files are still checked.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from workbench import crashes
from workbench.cli import _files, _output
from workbench.cli._report import FileReport
from workbench.errors import FilterError, SessionFormatError, WorkbenchError

if TYPE_CHECKING:
    from workbench.filters import Filter
    from workbench.rules import Inspection
    from workbench.wire.session import Session

NAME = "check"
HELP = "list the findings of one or more files"
FORMATS = ("text", "json", "sarif", "junit")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=_files.FILE_HELP)
    _files.add_provider(parser)
    _files.add_judged_for(parser)
    parser.add_argument(
        "--fail-on", choices=("error", "warning"), default="error", help="least severity for exit status 1"
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--fix", action="store_true", help="write a repaired copy of one FILE, with -o OUT")
    parser.add_argument("-o", "--output", metavar="OUT", help="output file of --fix; never FILE itself")
    _files.add_force(parser)
    parser.add_argument("--filter", metavar="EXPR", help="only findings of matching exchanges, such as 'status:4xx'")


def run(args: argparse.Namespace) -> int:
    """Inspect each file, print the reports, and return the worst status."""
    from workbench.cli import _check_formats
    from workbench.cli._shell import worst

    if args.fix or args.force or args.output is not None:
        from workbench.cli import _fix

        return _fix.run(args)
    if args.files.count("-") > 1:
        return _output.complain("- (standard input) is given twice; give it once", 2)
    _files.validate(args)
    passes = _parse_filter(args.filter) if args.filter else None
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
    _check_formats.print_reports(args.format, reports, errors)
    for failed in errors:
        _output.complain(failed["message"], 2)
    return worst(statuses)


def inspect_file(path: str, args: argparse.Namespace, passes: Filter | None) -> FileReport:
    """Inspect one file; findings of matching exchanges, with repairs. Raises WorkbenchError, OSError."""
    from workbench.edits.repairs import with_repairs
    from workbench.rules import by_cause, contradicted

    session = _files.open_file(path, args)
    try:
        inspector = _files.inspector(session, args)
        inspection = inspector.run()
        if passes:
            inspection = _narrow(inspection, session, passes)
        facts = tuple(contradicted(inspection.findings))
        found = with_repairs(inspector, by_cause(inspection.findings))
        return FileReport(path, replace(inspection, findings=found), contradicted=facts)
    finally:
        session.close()


def _parse_filter(expression: str) -> Filter:
    """Parse an expression. Points at a fault in it on stderr and raises FilterError."""
    from workbench.filters import Filter, parse

    try:
        return Filter(parse(expression))
    except FilterError as error:
        _output.point_at(expression, error.start, error.end)
        raise


def _narrow(inspection: Inspection, session: Session, passes: Filter) -> Inspection:
    """Keep the findings of exchanges that match. An unreadable exchange does not match."""
    from workbench.filters import Facts, turns

    kept = set()
    for row, turn in zip(inspection.rows, turns(inspection.rows), strict=True):
        try:
            if passes.passes(Facts(row, turn, partial(session.exchange, row.index))):
                kept.add(row.index)
        except SessionFormatError:
            continue
    return replace(inspection, findings=tuple(f for f in inspection.findings if f.exchange in kept))
