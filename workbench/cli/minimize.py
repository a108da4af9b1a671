"""Find the smallest request that still fails in the same way, and the smallest edit that fixes it.

Works on one exchange: --exchange N, or else the first whose request fails. Whole turns are removed first, then calls
with their results, tools, schema properties, parameters, and finally characters of texts; the remaining bytes are
unchanged. "In the same way" means the same status, error type and code, the same rule, and the same message except for
ids and places; for an accepted but broken request, the same rule.

The contract of the target is checked first, which costs nothing. The target (sim:CONTRACT, a name from targets.yaml or
a URL; default: the simulator of the exchange's contract) must agree; it gets at most --budget requests, and no body
twice. A real endpoint is only used after asking, or with --yes. Ctrl-c stops the search and keeps the smallest request.

The edits are the repairs for the contract, and elements that an earlier, accepted request has and this one lacks: a
whole element comes before an edit that restores a part of it.

  workbench minimize session.wb --target sim:anthropic -o smallest.json

JSON output is one object:
  {"path", "exchange", "target", "protocol", "contract", "failure": {"verdict", "rule", "status", "type", "code",
   "words"} | null, "bytes": {"before", "after"}, "gone", "minimal", "calls", "budget", "checks", "pointer", "message",
   "note", "body", "edits": [{"title", "from_exchange", "verified", "accepted", "size", "edits": [{"pointer", "bytes",
   "op", "old", "new"}], "body"}]}
"exchange" and "from_exchange" count from zero. "gone" is the share of removed bytes; "minimal" is true if nothing more
can be removed; "body" is the request as text, with escapes for bytes that are not UTF-8. "verified" is the contract's
verdict on an edit, "accepted" the target's, null if it was not asked. OUT gets the exact bytes.

Exit status: 1 if a failing request is found, 0 if the target accepts the request as recorded, 3 if the target gave no
verdict, 4 if it cannot be reached, 130 if interrupted.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _files, _options, _output
from workbench.cli._send import consent
from workbench.cli._shell import INTERRUPTED
from workbench.cli._trials import target_search
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.rules import Inspector
    from workbench.trials.minimize import MinimalFix, MinimizeRun
    from workbench.wire.session import Session

NAME = "minimize"
HELP = "find the smallest failing request, and the smallest fix"

MOST_EDITS = 6
"""Changes of one edit that are printed; JSON has all."""

LONGEST_BODY = 2000
"""Characters of the smallest request that are printed."""

ACCEPTED = {True: "accepted", False: "still refused", None: "not tried"}
"""Verdict of the target on an edit, in words."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument(
        "--target", metavar="T", help="target to send to (default: the simulator of the exchange's contract)"
    )
    _files.add_exchange(parser)
    _files.add_provider(parser)
    parser.add_argument(
        "--as", dest="send_as", metavar="PROTOCOL", default="", help="convert the request to this protocol"
    )
    parser.add_argument("--budget", type=int, metavar="N", default=150, help="limit on requests (default: 150)")
    parser.add_argument("-o", dest="out", metavar="OUT", type=Path, help="output file for the smallest body")
    _files.add_force(parser)
    parser.add_argument("--yes", action="store_true", help="send to a real endpoint without asking")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Minimise one request."""
    _files.validate(args)
    _options.demand_budget(args.budget)
    if args.out:
        _files.refuse_to_replace(args.out, args.file, is_forced=args.force)
    session = _files.open_file(args.file, args)
    try:
        course, index = begin(session, args)
        consent.agree([course.outgoing.target], args.budget, is_agreed=args.yes)
        status = _search(course, session)
    finally:
        session.close()
    if args.out:
        args.out.write_bytes(course.result().text)
    if args.format == "json":
        _output.emit_json(_as_json(args, course, index))
    else:
        _print(args, course, index)
    return status


def begin(session: Session, args: argparse.Namespace) -> tuple[MinimizeRun, int]:
    """Set up the search for one exchange; the search and the index. Raises UsageError, LocalProtocolError."""
    from workbench.send import resolve
    from workbench.trials.minimize import MinimizeRun

    inspector = _files.inspector(session, args)
    index = _files.exchange_index(session, args.exchange, default=-1)
    index = first_failing(inspector) if index < 0 else index
    label = args.provider or inspector.detail(index).contract.label
    target = resolve(args.target or f"sim:{label}", args.send_as or args.protocol or "")
    return MinimizeRun(inspector, index, target, args.send_as, args.budget), index


def first_failing(inspector: Inspector) -> int:
    """Index of the first exchange whose request breaks its contract or was refused, else of the longest one."""
    from workbench.contracts import Severity
    from workbench.edits.repairs import is_repairable
    from workbench.send import matrix

    inspector.run()
    requests = [row for row in inspector.rows if row.protocol]
    broken = [r for r in requests if any(is_repairable(f) and f.severity is Severity.ERROR for f in r.findings)]
    refused = [row for row in requests if row.summary.status in (400, 422)]
    doubtful = [row for row in requests if any(is_repairable(f) for f in row.findings)]
    found = broken or refused or doubtful
    return found[0].index if found else matrix.longest(inspector)


def _search(course: MinimizeRun, session: Session) -> int:
    """Run the search; returns the exit status."""

    def progress() -> str:
        size = len(course.search.text)
        return f"{size:,} of {len(course.body_judge.text):,} bytes left, {course.calls} of {course.budget} requests"

    try:
        trouble = target_search.run(course.run(), course.outgoing, session, "minimising", progress)
    except KeyboardInterrupt:
        _output.complain("interrupted: this is the smallest request so far", 0)
        return INTERRUPTED
    if trouble is None:
        return 1 if course.result().failure else 0
    if isinstance(trouble, WorkbenchError):
        return _output.complain(str(trouble), 3)
    return _output.complain(_output.describe_os_error(trouble), 4)


def _as_json(args: argparse.Namespace, course: MinimizeRun, index: int) -> JsonValue:
    result = course.result()
    return {
        "path": args.file,
        "exchange": index,
        "target": course.outgoing.target.name,
        "protocol": course.outgoing.protocol,
        "contract": course.body_judge.contract,
        "failure": asdict(result.failure) if result.failure else None,
        "bytes": {"before": len(result.original), "after": len(result.text)},
        "gone": round(result.removed_share, 4),
        "minimal": result.is_minimal,
        "calls": course.calls,
        "budget": course.budget,
        "checks": result.checks,
        "pointer": result.pointer or None,
        "message": result.finding or None,
        "note": result.note or None,
        "body": _text(result.text),
        "edits": [_edit_json(mended) for mended in course.fixes],
    }


def _edit_json(mended: MinimalFix) -> JsonValue:
    return {
        "title": mended.repair.title,
        "from_exchange": mended.earlier,
        "verified": mended.repair.verified,
        "accepted": mended.accepted,
        "size": mended.size,
        "edits": [
            {"pointer": e.pointer, "bytes": list(e.span) if e.span else None, "op": e.op, "old": e.old, "new": e.new}
            for e in mended.repair.edits
        ],
        "body": _text(mended.text),
    }


def _text(body: bytes) -> str:
    return body.decode("utf-8", "backslashreplace")


def _print(args: argparse.Namespace, course: MinimizeRun, index: int) -> None:
    from workbench.wire import dumps

    result, target = course.result(), course.outgoing.target.name
    if result.failure is None:
        _output.emit(f"exchange {index + 1}, {target}: {result.note or 'no result yet'}")
        return
    _output.emit(f"exchange {index + 1}, {target}: {result.failure}")
    if result.finding:
        _output.emit(f"  {result.pointer or '(whole body)'}  {_output.cut(result.finding)}")
    end = "minimal: nothing more can be removed" if result.is_minimal else "not minimal: more can probably be removed"
    _output.emit(
        f"{end} · {len(result.original):,} → {len(result.text):,} bytes (−{100 * result.removed_share:.1f} %) · "
        f"{course.calls} of {course.budget} requests, {_output.number(result.checks, 'local check')}"
    )
    if result.note:
        _output.emit(f"note: {result.note}")
    _output.emit(f"written: {args.out}" if args.out else _output.cut(_text(result.text), LONGEST_BODY))
    for number, mended in enumerate(course.fixes, 1):
        _output.emit(f"fix {number}: {mended.repair.title} ({target}: {ACCEPTED[mended.accepted]})")
        for edit in mended.repair.edits[:MOST_EDITS]:
            value = dumps(edit.old if edit.op == "remove" else edit.new).decode()
            _output.emit(f"  {edit.op} {edit.pointer}  {_output.cut(value)}")
        if len(mended.repair.edits) > MOST_EDITS:
            _output.emit(f"  … and {_output.number(len(mended.repair.edits) - MOST_EDITS, 'further change')}")
    if not course.fixes:
        _output.emit("no known fix")
