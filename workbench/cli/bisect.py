"""Find the first turn from which a conversation can no longer be continued.

Works on the history of one exchange: --exchange N, or else the first whose request fails. Beginnings of the history,
each up to a response of the model, are checked as requests: by the contract, which costs nothing, or with --target by
that target, in a logarithmic number of requests and at most --budget. A tool call that is pending at the end of a
beginning is not a fault.

  workbench bisect session.wb
  workbench bisect session.wb --target sim:deepseek

JSON output is one object:
  {"path", "exchange", "contract", "target", "messages", "good": {"messages"}, "broken": {"messages", "exchange",
   "message", "pointer", "bytes", "rule", "text", "verdict", "status", "words", "origin": {"exchange", "side",
   "pointer", "words"} | null} | null, "calls", "checks", "verified"}
"exchange" and "message" count from zero. "good" is the longest beginning that can be continued, "broken" the next one,
null if all of it can be continued. "exchange" of "broken" is the first that sent the fault, "message" the message with
the fault, null if the fault is not in a message; "words" is the provider's error message.

Exit status: 1 if the conversation is broken, 0 if it can be continued, 3 if the target gave no verdict, 4 if it cannot
be reached, 130 if interrupted.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench import regex
from workbench.cli import _files, _options, _output
from workbench.cli._send import consent
from workbench.cli._shell import INTERRUPTED
from workbench.cli._trials import target_search
from workbench.cli.minimize import first_failing
from workbench.errors import WorkbenchError
from workbench.ir import HISTORIES
from workbench.lazy_dataclass import replace

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.ir import JsonValue
    from workbench.rules import Inspector
    from workbench.send import Outgoing
    from workbench.trials.minimize import Bisection, BisectResult, Steps
    from workbench.wire.session import Session

NAME = "bisect"
HELP = "find the first turn from which a conversation cannot be continued"

_MESSAGE = regex.compile(rf"^/(?:{'|'.join(HISTORIES)})/(\d+)")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument(
        "--target", metavar="T", help="send to this target (default: check with the contract, send nothing)"
    )
    _files.add_exchange(parser)
    _files.add_provider(parser)
    parser.add_argument(
        "--as", dest="send_as", metavar="PROTOCOL", default="", help="convert the request to this protocol"
    )
    parser.add_argument("--budget", type=int, metavar="N", default=30, help="maximum number of requests (default: 30)")
    parser.add_argument("--yes", action="store_true", help="send to a real endpoint without asking")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Bisect one history."""
    _files.validate(args)
    _options.demand_budget(args.budget)
    session = _files.open_file(args.file, args)
    try:
        inspector = _files.inspector(session, args)
        index = _files.exchange_index(session, args.exchange, default=-1)
        index = first_failing(inspector) if index < 0 else index
        bisection, outgoing = _begin(inspector, index, args)
        try:
            found = _bisect(bisection, outgoing, session, args)
        except KeyboardInterrupt:
            return _output.complain("interrupted before the turn was found", INTERRUPTED)
        if isinstance(found, WorkbenchError):
            return _output.complain(str(found), 3)
        if isinstance(found, OSError):
            return _output.complain(_output.describe_os_error(found), 4)
        found = replace(found, finding=_with_origin(inspector, index, found))
    finally:
        session.close()
    contract = bisection.body_judge.contract
    if args.format == "json":
        _output.emit_json(_as_json(args, index, contract, found))
    else:
        _print(args, index, contract, found)
    return 0 if found.broken is None else 1


def _begin(inspector: Inspector, index: int, args: argparse.Namespace) -> tuple[Bisection, Outgoing | None]:
    from workbench.errors import LocalProtocolError
    from workbench.send import prepare, resolve
    from workbench.trials.minimize import Bisection, BodyJudge, judge_for

    decoded = inspector.detail(index).decoded
    if decoded.request is None:
        raise LocalProtocolError("no decodable request", where=f"exchange {index + 1}")
    if args.target is None:
        return Bisection(BodyJudge(inspector, index)), None
    target = resolve(args.target, args.send_as or args.protocol or "")
    outgoing = prepare(decoded, target, protocol=args.send_as)
    consent.agree([target], args.budget, is_agreed=args.yes)
    return Bisection(judge_for(inspector, index, outgoing), args.budget), outgoing


def _bisect(
    bisection: Bisection, outgoing: Outgoing | None, session: Session, args: argparse.Namespace
) -> BisectResult | WorkbenchError | OSError:
    """The result, or the error that ended the search."""
    results: list[BisectResult] = []

    def steps() -> Steps[None]:
        results.append((yield from bisection.run()))

    if outgoing is None:
        for _ in steps():
            pass
        return results[0]
    trouble = target_search.run(
        steps(), outgoing, session, "bisecting", lambda: f"{bisection.calls} of {args.budget} requests"
    )
    return trouble or results[0]


def _with_origin(inspector: Inspector, index: int, result: BisectResult) -> Finding | None:
    """The finding with its origin, if the inspection traced it."""
    finding = result.finding
    if finding is None or result.exchange >= len(inspector.rows):
        return finding
    known = (
        f for f in inspector.rows[result.exchange].findings if (f.rule, f.pointer) == (finding.rule, finding.pointer)
    )
    origin = next((f.origin for f in known), None)
    return replace(finding, origin=origin)


def _message(finding: Finding | None) -> int | None:
    """Index of the message that a finding is in."""
    found = _MESSAGE.match(finding.pointer) if finding else None
    return int(found[1]) if found else None


def _as_json(args: argparse.Namespace, index: int, contract: str, result: BisectResult) -> JsonValue:
    return {
        "path": args.file,
        "exchange": index,
        "contract": contract,
        "target": args.target,
        "messages": result.messages,
        "good": {"messages": result.good},
        "broken": _broken_json(result) if result.broken is not None else None,
        "calls": result.calls,
        "checks": result.checks,
        "verified": result.is_verified,
    }


def _broken_json(result: BisectResult) -> JsonValue:
    finding, origin = result.finding, result.finding.origin if result.finding else None
    return {
        "messages": result.broken,
        "exchange": result.exchange,
        "message": _message(finding),
        "pointer": finding.pointer if finding else None,
        "bytes": list(finding.span) if finding and finding.span else None,
        "rule": finding.rule if finding else None,
        "text": finding.message if finding else None,
        "verdict": result.failure.verdict if result.failure else None,
        "status": (result.failure.status or None) if result.failure else None,
        "words": result.words or None,
        "origin": {"exchange": origin.exchange, "side": origin.side, "pointer": origin.pointer, "words": origin.words}
        if origin
        else None,
    }


def _print(args: argparse.Namespace, index: int, contract: str, result: BisectResult) -> None:
    judge = args.target or f"contract {contract}"
    total = _output.number(result.messages, "message")
    if result.broken is None:
        _output.emit(f"exchange {index + 1}, {total}: can be continued to the end ({judge})")
        return
    finding = result.finding
    where = _message(finding)
    first = f"exchange {result.exchange + 1}{f', message {where + 1}' if where is not None else ''}"
    _output.emit(f"cannot be continued from {first} onwards: {finding.rule if finding else result.failure}")
    if finding:
        _output.emit(f"  {finding.pointer or '(whole body)'}  {finding.message}")
    if result.words:
        _output.emit(f"  provider error: {_output.cut(result.words)}")
    if finding and finding.origin:
        _output.emit(f"  began in exchange {finding.origin.exchange + 1}: {finding.origin.words}")
    good = f"the first {result.good} of {total} can be continued, " if result.good else f"of {total}, "
    _output.emit(f"{good}the first {result.broken} cannot ({judge})")
    checked = "" if result.is_verified else "; budget used up, not verified"
    _output.emit(f"{_output.number(result.calls, 'request')}, {_output.number(result.checks, 'local check')}{checked}")
