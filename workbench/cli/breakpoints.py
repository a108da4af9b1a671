"""See and decide what a running recording has paused, from any terminal, script or editor.

FILE is the session that workbench record writes. Without an option: what is armed, and what is paused.

  workbench record --break closure --break 'filter:tool:Bash' --out today.wb -- claude
  workbench breakpoints today.wb
  workbench breakpoints today.wb --wait --format json
  workbench breakpoints today.wb --continue 3
  workbench breakpoints today.wb --body 3 > body.json; workbench breakpoints today.wb --edit 3 body.json
  workbench breakpoints today.wb --answer 3 sim:anthropic
  workbench breakpoints today.wb --arm repeat

What there is to break on:

{kinds}

A request is paused when its last byte is there, before it is forwarded. An answer leaves up to its first tool call; the
rest waits until it is whole; an answer that makes no call is never held. Continued, what was paused passes as it came.
Edited, the other body passes, and the recording holds both: the client's exchange, and a child with what went to the
upstream or came from it. Answered, a strict simulator that remembers the session answers in place of the upstream,
streaming if the request asks for it. Dropped, the client's connection is broken off. Of an answer whose beginning has
left, an edited one has to begin with the same bytes.

JSON output is one object: {{"armed": [KIND], "trouble", "pauses": [{{"id", "exchange" (its id in the session), "side":
"request"|"response", "reasons": [{{"kind", "rule", "words", "pointer"}}], "method", "url", "client", "since" (seconds
since the epoch), "timeout" (seconds the client waits, or null), "timeout_from", "times_out_at", "bytes", "sent" (bytes
of the answer that have left), "deeds": ["continue", "edit", "answer", "drop"]}}]}}, as things stand afterwards.

Exit status 0 when it is done, or nothing is paused; 1 when nothing was asked for and something is paused; 2 when nobody
records to FILE, or a pause cannot be ended so; 3 when --wait waited in vain; 4 when the recorder ended meanwhile.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _breaks_text, _output
from workbench.errors import UsageError, WorkbenchError
from workbench.ir import JsonValue

if TYPE_CHECKING:
    from workbench.breakpoints.remote import Remote

__doc__ = __doc__.format(kinds=_breaks_text.KINDS_TEXT)

NAME = "breakpoints"
HELP = "see and decide what a recording has paused"

_PAUSED, _IN_VAIN, _GONE = 1, 3, 4


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="a session that is being recorded")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--arm", metavar="KIND", action="append", help="break on this, too")
    one.add_argument("--disarm", metavar="KIND", action="append", help="break on this no more (all: on nothing)")
    one.add_argument("--continue", dest="go_on", metavar="N", type=int, help="pass it on as it came")
    one.add_argument("--edit", nargs=2, metavar=("N", "BODYFILE"), help="pass this body on instead (- for stdin)")
    one.add_argument("--answer", nargs=2, metavar=("N", "sim:CONTRACT"), help="have a simulator answer")
    one.add_argument("--drop", metavar="N", type=int, help="break the client's connection off")
    one.add_argument("--body", metavar="N", type=int, help="print the body that is held, and nothing else")
    one.add_argument("--wait", action="store_true", help="wait until something is paused")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="with --wait: no longer than this")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Do what is asked, then say how things stand."""
    from workbench.breakpoints.remote import Remote

    path = Path(args.file)
    if not path.exists():
        raise UsageError("no such file", where=args.file)
    with Remote.of(path) as remote:
        try:
            if args.body is not None:
                sys.stdout.buffer.write(remote.body(args.body))
                return 0
            if args.wait and remote.wait(args.timeout) is None:
                return _output.complain("nothing was paused", _IN_VAIN)
            _do(remote, args)
            told = remote.list()
        except UsageError:
            raise
        except WorkbenchError as error:
            return _output.complain(str(error), _GONE)
    return _shown(told, args)


def _do(remote: Remote, args: argparse.Namespace) -> None:
    for kind in args.arm or ():
        remote.arm(kind)
    for kind in args.disarm or ():
        remote.disarm(kind)
    if args.go_on is not None:
        remote.go_on(args.go_on)
    elif args.drop is not None:
        remote.drop(args.drop)
    elif args.edit:
        number, file = args.edit
        body = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        remote.edit(_number(number), body)
    elif args.answer:
        number, target = args.answer
        remote.answer(_number(number), target)


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"{text!a} is no number of a pause", hint="workbench breakpoints FILE lists them")
    return int(text)


def _shown(told: Mapping[str, JsonValue], args: argparse.Namespace) -> int:
    pauses = told["pauses"]
    if args.format == "json":
        _output.emit_json({word: told[word] for word in ("armed", "trouble", "pauses")})
    else:
        _output.emit(f"armed: {', '.join(told['armed']) or 'nothing'}")
        if told["trouble"]:
            _output.emit(f"  ✗ {told['trouble']}")
        for pause in pauses:
            for line in _breaks_text.pause_lines(pause):
                _output.emit(line)
        if not pauses:
            _output.emit("nothing is paused")
    is_asked = args.arm or args.disarm or args.edit or args.answer or args.wait
    is_done = is_asked or args.go_on is not None or args.drop is not None
    return _PAUSED if pauses and not is_done else 0
