"""The smallest request that still fails in the same way, and the smallest edit after which it is accepted.

Takes one exchange of the file: --exchange N, or else the first one whose request fails. Whole turns go first, then
calls with their results, tools, properties of schemas, parameters, and in the end characters of texts; what is left is
byte for byte as it was. "In the same way" is the same status, type and code of the error, the same rule and the same
words but for ids and places; of what goes through and is broken, the same rule.

The contract of the target judges first, which costs nothing. The target (sim:CONTRACT, a name from targets.yaml or a
URL; default: the simulator of the contract of the exchange) is asked whether it agrees, at most --budget times, never
twice about one body; a real endpoint only after asking, or with --yes. Ctrl-c stops, and what is smallest is kept.

The edits are the repairs of the contract, and what an earlier request that was accepted has and this one does not: an
element as it was there comes before an edit that puts only a part of it back.

  workbench minimize session.wb --target sim:anthropic -o smallest.json

JSON output is one object:
  {"path", "exchange", "target", "protocol", "contract", "failure": {"verdict", "rule", "status", "type", "code",
   "words"} | null, "bytes": {"before", "after"}, "gone", "minimal", "calls", "budget", "checks", "pointer", "message",
   "note", "body", "edits": [{"title", "from_exchange", "verified", "accepted", "size", "edits": [{"pointer", "bytes",
   "op", "old", "new"}], "body"}]}
"exchange" and "from_exchange" count from zero; "gone" is the part of the bytes that is gone, "minimal" whether nothing
of what is left can go, "body" the text of the request, with escapes for what is no UTF-8. "verified" is what the
contract says of an edit, "accepted" what the target says, null where it was not asked. OUT takes the exact bytes.

Exit status: 1 when a request that fails is found, 0 when the target accepts the request as it is, 3 when the target did
not judge it, 4 when it cannot be reached, 130 when stopped.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import INTERRUPTED, _asking, _files, _output, _targeted
from workbench.errors import UsageError, WorkbenchError

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.rules.inspection import Inspector
    from workbench.trials.minimize import MinimalFix, MinimizeRun
    from workbench.wire.session import Session

NAME = "minimize"
HELP = "the smallest request that still fails, and the smallest edit that mends it"

MOST_EDITS = 6
"""Changes that are printed of one edit; JSON has them all."""

SHOWN = 2000
"""Characters of the smallest request that are printed."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument("--target", metavar="T", help="who judges (default: sim: with the exchange's contract)")
    _files.add_exchange(parser)
    _files.add_provider(parser)
    parser.add_argument("--as", dest="send_as", metavar="PROTOCOL", default="", help="send it in this protocol")
    parser.add_argument("--budget", type=int, metavar="N", default=150, help="calls of the target at most (150)")
    parser.add_argument("-o", dest="out", metavar="OUT", type=Path, help="write the smallest body there")
    _files.add_force(parser)
    parser.add_argument("--yes", action="store_true", help="send to a real endpoint without asking")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Minimise one request."""
    _files.validate(args)
    if args.budget < 1:
        raise UsageError(f"a budget of {args.budget} calls asks nobody", hint="--budget 1 or more")
    if args.out:
        _files.refuse_to_replace(args.out, args.file, is_forced=args.force)
    session = _files.open_file(args.file, args)
    try:
        course, index = begin(session, args)
        _asking.agree([course.outgoing.target], args.budget, is_agreed=args.yes)
        status = _searched(course, session)
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
    """The course of one exchange, and its index. Raises UsageError, LocalProtocolError."""
    from workbench.send.target import resolve
    from workbench.trials.minimize import MinimizeRun

    inspector = _files.inspector(session, args)
    index = _files.chosen(session, args.exchange, default=-1)
    index = first_failing(inspector) if index < 0 else index
    label = args.provider or inspector.detail(index).contract.label
    target = resolve(args.target or f"sim:{label}", args.send_as or args.protocol or "")
    return MinimizeRun(inspector, index, target, args.send_as, args.budget), index


def first_failing(inspector: Inspector) -> int:
    """Index of the first exchange whose request fails by its contract or was refused, else the one that says most."""
    from workbench.contracts import Severity
    from workbench.edits.repairs import is_repairable
    from workbench.send import matrix

    inspector.run()
    asked = [row for row in inspector.rows if row.protocol]
    broken = [r for r in asked if any(is_repairable(f) and f.severity is Severity.ERROR for f in r.findings)]
    refused = [row for row in asked if row.summary.status in (400, 422)]
    doubtful = [row for row in asked if any(is_repairable(f) for f in row.findings)]
    found = broken or refused or doubtful
    return found[0].index if found else matrix.longest(inspector)


def _searched(course: MinimizeRun, session: Session) -> int:
    """Search, and the exit status."""

    def told() -> str:
        left = len(course.search.text)
        return f"{left:,} of {len(course.body_judge.text):,} bytes left, {course.calls} of {course.budget} calls"

    try:
        trouble = _targeted.run(course.run(), course.outgoing, session, "minimising", told)
    except KeyboardInterrupt:
        _output.complain("stopped: this is the smallest so far", 0)
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
    from workbench.wire.jsontext import dumps

    result, target = course.result(), course.outgoing.target.name
    if result.failure is None:
        _output.emit(f"exchange {index + 1}, {target}: {result.note or 'nothing is known yet'}")
        return
    _output.emit(f"exchange {index + 1}, {target}: {result.failure}")
    if result.finding:
        _output.emit(f"  {result.pointer or '(the whole)'}  {_output.cut(result.finding)}")
    end = "nothing of it can go" if result.is_minimal else "more may go"
    _output.emit(
        f"{len(result.original):,} → {len(result.text):,} bytes, {100 * result.removed_share:.1f} % gone, {end} · "
        f"{_output.number(course.calls, 'call')} of {course.budget}, {_output.number(result.checks, 'local check')}"
    )
    if result.note:
        _output.emit(f"note: {result.note}")
    _output.emit(f"written: {args.out}" if args.out else _output.cut(_text(result.text), SHOWN))
    for number, mended in enumerate(course.fixes, 1):
        said = {True: "accepted", False: "refused all the same", None: "not asked about"}[mended.accepted]
        _output.emit(f"edit {number}: {mended.repair.title} ({target}: {said})")
        for edit in mended.repair.edits[:MOST_EDITS]:
            value = dumps(edit.old if edit.op == "remove" else edit.new).decode()
            _output.emit(f"  {edit.op} {edit.pointer}  {_output.cut(value)}")
        if len(mended.repair.edits) > MOST_EDITS:
            _output.emit(f"  … and {_output.number(len(mended.repair.edits) - MOST_EDITS, 'further change')}")
    if not course.fixes:
        _output.emit("no edit is known that makes it accepted")
