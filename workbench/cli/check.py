"""Find where tool calling breaks, in one or more files.

JSON output is one object:
  {"version", "files": [{"path", "protocol", "provider",
     "exchanges": [{"index", "protocol", "provider", "model", "status", "conversation", "hop"}],
     "findings": [{"rule", "severity", "exchange", "last", "side", "pointer", "events", "bytes", "message",
                   "evidence", "source", "basis", "kind", "contradicts", "origin", "repairs"}],
     "contradictions": [{"contract", "rule", "fact", "source", "date", "by", "count", "exchanges"}]}],
   "errors": [{"path", "message"}]}
A file with connections that carry several exchanges (WebSockets, tool servers) has "channels" too:
  [{"index", "kind": "websocket"|"mcp", "server", "protocol", "state", "note", "frames", "exchanges": [index]}]
Its "index" is that of the connection's own exchange, "frames" counts its messages. Each exchange in the connection has
that index as "channel", and "frames": the numbers of its messages, for a WebSocket {"request": [number], "response":
[[first, last]]}, for a tool server a list.
Exchanges count from zero in JSON. "bytes" index the content-decoded body; "events" are numbers of stream events.
A fault that later requests repeat is one finding: "exchange" is the first exchange with it, "last" the last. If new
turns of the same conversation repeat the fault, or a fact is contradicted at several places, that is one finding, too:
"places" then lists the places, the first one first: {"exchange", "last", "pointer", "events", "bytes", "evidence",
"origin"}.
"basis" is what the finding rests on: recording, measured, contract, common (what most providers refuse) or form (the
wire). "kind" is the kind of a failure ("rate-limit", "model-unknown" …; workbench explain kinds lists them), else null.
If the provider accepted what its contract says it refuses, the finding is an info, contract.disagrees: "contradicts"
has the fact, the exchange and the host; "contradictions" counts the accepted exchanges for each fact. A contract is
contradicted only if it was chosen by host and model; with --provider it is a remark in "evidence".
An exchange that could not be read completely has "problems", and its file "damage": lines of text.
"origin" is null, or the place where the damage was done: {"exchange", "hop", "side", "pointer", "message"}.
A repair is {"title", "verified", "edits": [{"op", "pointer", "bytes", "old", "new"}]}. "op" is replace, insert or
remove; pointers and bytes are those of the unchanged body, the last edit first, so that the edits can be applied in
order. A pointer /headers/NAME is a header. Repairs are checked against the contract, not against the provider: the
finding is gone and nothing new is broken; "verified" means that nothing else is broken either.
With --filter, findings and exit status are those of the matching exchanges; all exchanges are listed.
With --fix -o OUT, the requests of one FILE are repaired as far as possible and written to OUT: a request body as a
body, with all other bytes unchanged, a session as a session. FILE is never modified, and an existing OUT only with
--force. If nothing can be repaired, OUT is a copy. With --fix, output and exit status are those of OUT; JSON lists the
repairs in "fixed": [{"exchange", "before", "after", "repairs", "remaining"}]; "before" and "after" are verdicts.
"errors" lists the files that could not be read; all other files are still checked.
A folder stands for its files at any depth, a pattern such as 'logs/**/*.har' for those that match; hidden files are
left out. Links in a folder are not followed; a pattern may name links to files. Files in a folder that are not
recordings are counted ("unclaimed" in JSON).
Verdicts are kept in the cache folder, readable only by you, so that a file that has not changed is not inspected
again; the findings are the same without them. With --no-cache none is read or kept.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.cli import _files, _output
from workbench.errors import FilterError

if TYPE_CHECKING:
    from workbench.filters import Filter

NAME = "check"
HELP = "list the findings of files or folders"
FORMATS = ("text", "json", "sarif", "junit")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=_files.FILE_HELP)
    _files.add_provider(parser)
    _files.add_judged_for(parser)
    parser.add_argument(
        "--fail-on", choices=("error", "warning"), default="error", help="lowest severity that causes exit status 1"
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--fix", action="store_true", help="write a repaired copy of one FILE, with -o OUT")
    parser.add_argument("-o", "--output", metavar="OUT", help="output file of --fix; never FILE itself")
    _files.add_force(parser)
    parser.add_argument("--no-cache", action="store_true", help="check every file again, and do not store verdicts")
    parser.add_argument("--filter", metavar="EXPR", help="only findings of exchanges that match, such as 'status:4xx'")


def run(args: argparse.Namespace) -> int:
    """Inspect each file, print the reports, and return the worst status."""
    from workbench.cli._check import files_check, printing
    from workbench.cli._shell import worst

    if args.fix or args.force or args.output is not None:
        from workbench.cli._check import repaired_copy

        return repaired_copy.run(args)
    if args.files.count("-") > 1:
        return _output.complain("- (standard input) is given twice; use it once", 2)
    _files.validate(args)
    passes = parse_filter(args.filter) if args.filter else None
    reports, errors, unclaimed, statuses = [], [], [], []
    for outcome in files_check.check_all(files_check.files_of(args.files), args, passes):
        statuses.append(outcome.status)
        if outcome.report:
            reports.append(outcome.report)
        elif outcome.error:
            errors.append({"path": outcome.path, "message": outcome.error})
        else:
            unclaimed.append(outcome.path)
    if unclaimed and not reports and not errors:
        count = _output.number(len(unclaimed), "file")
        what = f"none of {count} is a recording" if len(unclaimed) > 1 else "the only file is not a recording"
        errors.append({"path": args.files[0], "message": f"{' '.join(args.files)}: {what}"})
        statuses.append(2)
    printing.print_reports(args.format, reports, errors, unclaimed)
    for failed in errors:
        _output.complain(failed["message"], 2)
    return worst(statuses)


def parse_filter(expression: str) -> Filter:
    """Parse an expression. Points at a fault in it on stderr and raises FilterError."""
    from workbench.filters import Filter, parse

    try:
        return Filter(parse(expression))
    except FilterError as error:
        _output.point_at(expression, error.start, error.end)
        raise
