"""Find which providers accept a request: accepts, refuses (rule and place), suspicious, unknown.

Checks one exchange by every contract: --exchange N, or else the one with the longest history. For a contract of another
protocol the request is converted and the losses are counted. A request that continues a response which only its
provider holds (previous_response_id) gets the turns before it for the others, if the file has them. Nothing is sent: a
contract is what is known about a provider, with sources (workbench explain CONTRACT).

  accepts     passes all checks of the contract
  refuses     the provider returns an error; of several faults the one that it checks first
  suspicious  accepted, but the tool calls are broken or likely to break
  unknown     the request cannot be converted to its protocol

JSON output is one object:
  {"path", "exchange", "protocol", "provider", "model", "messages", "accepted_by", "contracts": [{"contract", "title",
   "protocol", "converted", "verdict", "rule", "pointer", "bytes", "message", "status", "answer", "source", "losses",
   "note"}]}
"exchange" counts from zero. "accepted_by" is the host that accepted the request in this recording, null if unknown; the
verdicts are those of the contracts anyway. "pointer" and "bytes" are places in the request as converted for that
contract; "status" and "answer" are the provider's error; "losses" is a list as in workbench convert.

With --what-if, variants of the request are sent to the simulator of each CONTRACT (default: the exchange's own) and to
each --target; with --target alone the request is sent unchanged. Names: a variant "reasoning=dropped", a family
"reasoning", or "all". JSON output is then
  {"path", "exchange", "targets", "variants": [{"name", "title", "why_not", "outcomes": [{"target", "verdict", "status",
   "rule", "pointer", "text", "calls", "losses", "seconds"}]}]}
"why_not" is why a variant cannot be tried. "verdict" is refuses if the target did, suspicious if it answered but the
tool calls are broken, unknown if there is no response.

Exit status: 1 if a named contract refuses (default: the exchange's own), 3 if its verdict is unknown. With --what-if or
--target: 1 if a target refuses a variant, 3 if one has no response.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from workbench.cli import _files, _output
from workbench.cli._progress import counting
from workbench.views import REQUEST_SIGNS

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.rules import Detail
    from workbench.send import MatrixRow

NAME = "matrix"
HELP = "find which providers accept a request; try variants of it"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument("contracts", metavar="CONTRACT", nargs="*", help="only these (default: all)")
    _files.add_exchange(parser)
    parser.add_argument("--protocol", metavar="NAME", help="protocol of FILE (default: detected)")
    parser.add_argument("--target", metavar="T", action="append", default=[], help="send to this target (repeatable)")
    parser.add_argument("--what-if", metavar="NAME", action="append", default=[], help="send this variant (repeatable)")
    parser.add_argument("--yes", action="store_true", help="send to real endpoints without asking")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(provider=None)


def run(args: argparse.Namespace) -> int:
    """Check one exchange by every contract."""
    from workbench.send import matrix

    _files.validate(args)
    matrix.labels(args.contracts)  # complains about names before a file is read
    if args.target or args.what_if:
        from workbench.cli._trials import whatif_matrix

        return whatif_matrix.run(args)
    session = _files.open_file(args.file, args)
    try:
        inspector = _files.inspector(session, args)
        index = _files.exchange_index(session, args.exchange, default=-1)
        index = matrix.longest(inspector) if index < 0 else index
        detail = inspector.detail(index)
        with counting("judging", len(matrix.labels(args.contracts))) as advance:
            rows: list[MatrixRow] = []
            for row in matrix.rows(inspector, index, args.contracts):
                rows.append(row)
                advance()
    finally:
        session.close()
    if args.format == "json":
        _output.emit_json(_as_json(args.file, detail, rows))
    else:
        _print(detail, rows)
    own = detail.row.provider
    return _status([row for row in rows if args.contracts or row.contract == own])


def _status(matrix_rows: list[MatrixRow]) -> int:
    verdicts = {row.verdict for row in matrix_rows}
    return 1 if "refuses" in verdicts else 3 if "unknown" in verdicts or not matrix_rows else 0


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
    messages = _output.number(len(request.messages), "message") if request else "no request"
    own = f"contract {detail.row.provider}" + (f", accepted by {host}" if host else "")
    model = detail.row.model or "no model"
    _output.emit(f"exchange {detail.row.index + 1}: {detail.row.protocol}, {model}, {messages}, {own}")
    if earlier := next((row.earlier for row in rows if row.earlier), ()):
        numbers = ", ".join(str(index + 1) for index in earlier)
        stored = f"the turns of {'exchange' if len(earlier) == 1 else 'exchanges'} {numbers}"
        _output.emit(f"history: this provider stores it; for the other contracts, the request also contains {stored}")
    counts = Counter(row.verdict.value for row in rows)
    _output.emit(" · ".join(f"{counts[word]} {word}" if counts[word] else f"no {word}" for word in REQUEST_SIGNS))
    _output.emit()
    width = max(len(row.contract) for row in rows)
    for row in rows:
        label = f"{REQUEST_SIGNS[row.verdict.value][0]} {row.contract:<{width}}"
        _output.emit(f"{label}  {row.verdict.value:<10}  {_verdict_words(row)}".rstrip())
        if row.finding and row.refusal:
            text = row.finding.refusal or "(the provider's error text is unknown)"
            _output.emit(f"  {'':<{width}}  {row.refusal.status:<10}  {_output.cut(text)}")


def _verdict_words(row: MatrixRow) -> str:
    """Rule and place of the verdict, and the protocol if the request was converted."""
    parts = [f"{row.finding.rule}  {row.finding.pointer or '(whole body)'}"] if row.finding else []
    if row.is_converted:
        lost = f"lost: {_output.number(len(row.losses), 'part')}" if row.losses else "nothing lost"
        parts.append(f"converted to {row.protocol}, {lost}")
    if row.verdict == "unknown":
        parts.append(_output.cut(row.note))
    return "  ".join(parts)
