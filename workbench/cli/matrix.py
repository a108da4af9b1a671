"""What every contract makes of one history: accepts, refuses (rule and place), suspicious, unknown.

Takes one exchange of the file: --exchange N, or else the one with the longest history. A contract of another protocol
gets the history converted, and what that lost is counted. Nothing is sent anywhere: contracts are what is known of the
providers, with sources (workbench explain CONTRACT).

  accepts     no check of the contract fails
  refuses     the provider answers with an error; of several it is the one that it checks first
  suspicious  it goes through, and the chain is broken or will be
  unknown     the history cannot be said in its protocol

JSON output is one object:
  {"path", "exchange", "protocol", "provider", "model", "messages", "accepted_by", "contracts": [{"contract", "title",
   "protocol", "converted", "verdict", "rule", "pointer", "bytes", "message", "status", "answer", "source", "losses",
   "note"}]}
"exchange" counts from zero there. "accepted_by" is the host that accepted the request in this recording, null if the
recording does not show that: the verdicts are those of the contracts all the same. "pointer" and "bytes" are places in
the request as that contract gets it; "status" and "answer" are what the provider says; "losses" is a list as
"workbench convert" gives it.

With --what-if the request is sent with one thing different, to the simulator of each CONTRACT (of none named: of the
exchange's own) and to each --target; with --target alone it is sent as it stands. A variant is named as
"reasoning=dropped", a family as "reasoning", every one as "all". JSON output is then
  {"path", "exchange", "targets", "variants": [{"name", "title", "why_not", "outcomes": [{"target", "verdict", "status",
   "rule", "pointer", "text", "calls", "losses", "seconds"}]}]}
"why_not" says why a variant cannot be tried; "verdict" is refuses where the target did, suspicious where it answered
and the chain is broken, unknown where nothing was answered.

Exit status: 1 when a contract that was named refuses, or, where none was, the one of the exchange itself; 3 when it is
not known. Of what was sent: 1 when a target refuses one of them, 3 when one was not answered.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from workbench.cli import _files, _output

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.rules.inspection import Detail
    from workbench.send.matrix import MatrixRow

NAME = "matrix"
HELP = "the verdict of every contract on one history"

SIGNS = {"accepts": "✓", "refuses": "✗", "suspicious": "!", "unknown": "?"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument("contracts", metavar="CONTRACT", nargs="*", help="only these (default: all)")
    _files.add_exchange(parser)
    parser.add_argument("--protocol", metavar="NAME", help="the protocol of the file (default: guessed, and said)")
    parser.add_argument("--target", metavar="T", action="append", default=[], help="send it there (may be repeated)")
    parser.add_argument("--what-if", metavar="NAME", action="append", default=[], help="with one thing different")
    parser.add_argument("--yes", action="store_true", help="send to real endpoints without asking")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(provider=None)


def run(args: argparse.Namespace) -> int:
    """Ask every contract about one exchange."""
    from workbench.send import matrix

    _files.validate(args)
    matrix.labels(args.contracts)  # complains about names before a file is read
    if args.target or args.what_if:
        from workbench.cli import _whatif

        return _whatif.run(args)
    session = _files.open_file(args.file, args)
    try:
        inspector = _files.inspector(session, args)
        index = _files.chosen(session, args.exchange, default=-1)
        index = matrix.longest(inspector) if index < 0 else index
        detail = inspector.detail(index)
        rows = list(matrix.rows(inspector, index, args.contracts))
    finally:
        session.close()
    if args.format == "json":
        _output.emit_json(_as_json(args.file, detail, rows))
    else:
        _print(detail, rows)
    own = detail.row.provider
    return _status([row for row in rows if args.contracts or row.contract == own])


def _status(asked: list[MatrixRow]) -> int:
    verdicts = {row.verdict for row in asked}
    return 1 if "refuses" in verdicts else 3 if "unknown" in verdicts or not asked else 0


def _as_json(path: str, detail: Detail, rows: list[MatrixRow]) -> JsonValue:
    from workbench.rules import accepted_by

    request = detail.decoded.request
    return {
        "path": path,
        "exchange": detail.row.index,
        "protocol": detail.row.protocol,
        "provider": detail.row.provider,
        "model": detail.row.model,
        "messages": len(request.messages) if request else 0,
        "accepted_by": accepted_by(detail.decoded) or None,
        "contracts": [_row_json(row) for row in rows],
    }


def _row_json(row: MatrixRow) -> JsonValue:
    found = row.finding
    return {
        "contract": row.contract,
        "title": row.title,
        "protocol": row.protocol,
        "converted": row.is_converted,
        "verdict": row.verdict.value,
        "rule": found.rule if found else None,
        "pointer": found.pointer if found else None,
        "bytes": list(found.span) if found and found.span else None,
        "message": found.message if found else None,
        "status": row.refusal.status if row.refusal else None,
        "answer": row.refusal.body if row.refusal else None,
        "source": found.source if found else None,
        "losses": [loss._asdict() for loss in row.losses],
        "note": row.note or None,
    }


def _print(detail: Detail, rows: list[MatrixRow]) -> None:
    from workbench.rules import accepted_by

    request, host = detail.decoded.request, accepted_by(detail.decoded)
    said = _output.number(len(request.messages), "message") if request else "no request"
    own = f"contract {detail.row.provider}" + (f", accepted by {host}" if host else "")
    _output.emit(
        f"exchange {detail.row.index + 1}: {detail.row.protocol}, {detail.row.model or 'no model'}, {said}, {own}"
    )
    counts = Counter(row.verdict.value for row in rows)
    _output.emit(" · ".join(f"{counts[word]} {word}" if counts[word] else f"no {word}" for word in SIGNS))
    _output.emit()
    width = max(len(row.contract) for row in rows)
    for row in rows:
        _output.emit(
            f"{SIGNS[row.verdict.value]} {row.contract:<{width}}  {row.verdict.value:<10}  {_told(row)}".rstrip()
        )
        if row.finding and row.refusal:
            text = row.finding.refusal or "(the text was never captured)"
            _output.emit(f"  {'':<{width}}  {row.refusal.status:<10}  {_output.cut(text)}")


def _told(row: MatrixRow) -> str:
    """Rule and place, and as what it was judged."""
    parts = [f"{row.finding.rule}  {row.finding.pointer or '(the whole)'}"] if row.finding else []
    if row.is_converted:
        lost = f"{_output.number(len(row.losses), 'thing')} lost" if row.losses else "nothing lost"
        parts.append(f"as {row.protocol}, {lost}")
    if row.verdict == "unknown":
        parts.append(_output.cut(row.note))
    return "  ".join(parts)
