"""List the paused exchanges of a running recording and decide about them, from any terminal, script or editor.

FILE is the session that workbench record writes. Without an option, shows what is armed and what is paused.

  workbench record --break closure --break 'filter:tool:Bash' --out today.wb -- claude
  workbench breakpoints today.wb
  workbench breakpoints today.wb --wait --timeout 60 --format json
  workbench breakpoints today.wb --continue 3
  workbench breakpoints today.wb --body 3 > body.json; workbench breakpoints today.wb --edit 3 body.json
  workbench breakpoints today.wb --answer 3 sim:anthropic
  workbench breakpoints today.wb --answer 4 recording
  workbench breakpoints today.wb --arm repeat

Kinds of breakpoints:

{kinds}

A request is paused once it is complete, before it is forwarded. A response is sent up to its first tool call; the rest
waits until the response is complete. A response without tool calls is never held. --continue passes the message on
unchanged. --edit forwards another body, and the recording has both: the client's exchange, and a child exchange with
what was sent to the upstream or received from it. With --answer, a strict simulator that knows the session responds
instead of the upstream, as a stream if the request asks for one. --drop aborts the client's connection. If part of a
response is already sent, an edited body must begin with the same bytes, and no simulator can replace it.

A tools/call to a tool server (MCP) is paused before it is sent, its result before it goes back; other messages of the
connection pass meanwhile. --answer N recording gives the client the result that this session has for the same call,
recording:FILE that of another one; the server gets no call. Over stdio, --drop discards the message.

A WebSocket message is held before it is passed on (frame:TYPE), and so is the request of one of its turns, or the
response from its first tool call to its end, if one of the other kinds is hit. Later messages of that direction wait
behind it, including pings. --edit and --drop (of the message alone) need a connection without compression, or with one
that keeps nothing between messages: record --break does not offer compression to the server, and the recording says so.
A connection that was open before the first breakpoint was armed is not held.

N is the number of a pause, or the id of its exchange: if several recorders write FILE, each has its own numbers. --arm,
--disarm and --wait apply to all of them.

JSON output is one object: {{"armed": [KIND], "trouble", "pauses": [{{"id", "exchange" (its id in the session), "side":
"request"|"response", "reasons": [{{"kind", "rule", "words", "pointer"}}], "method", "url", "client", "since" (seconds
since the epoch), "answered_by": "simulator"|"recording", "timeout" (seconds the client waits, or null), "timeout_from",
"times_out_at", "bytes", "sent" (bytes of the response already sent), "deeds": ["continue", "edit", "answer", "drop"],
"limit" (why not each decision is possible), "note"}}]}}, as it is afterwards.

Exit status: 0 done, or nothing is paused; 1 nothing was asked for and something is paused; 2 no recorder writes FILE,
or a decision is not possible; 3 --wait timed out; 4 the recorder ended meanwhile. With --timeout, --wait waits
for the recorder as well.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.cli._record import breakpoint_lines
from workbench.errors import NoSuchFile, UsageError, WorkbenchError
from workbench.ir import JsonValue

if TYPE_CHECKING:
    from workbench.recorder.breakpoints import Recorders

__doc__ = __doc__.format(kinds=breakpoint_lines.KINDS_TEXT)

NAME = "breakpoints"
HELP = "list the paused exchanges of a recording; forward, edit, answer or drop them"

_PAUSED, _IN_VAIN, _GONE = 1, 3, 4
_LOOK_AGAIN = 0.1
"""Seconds between two looks for a recorder that has not started."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="a session that is being recorded")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--arm", metavar="KIND", action="append", help="arm a breakpoint")
    one.add_argument("--disarm", metavar="KIND", action="append", help="disarm a breakpoint (all: all of them)")
    one.add_argument("--continue", dest="go_on", metavar="N", help="forward the paused bytes unchanged")
    one.add_argument("--edit", nargs=2, metavar=("N", "BODYFILE"), help="forward this body instead (- for stdin)")
    one.add_argument("--answer", nargs=2, metavar=("N", "TARGET"), help="let a simulator or a recording respond")
    one.add_argument("--drop", metavar="N", help="abort the client's connection")
    one.add_argument("--body", metavar="N", help="print only the paused body")
    one.add_argument("--wait", action="store_true", help="wait until an exchange is paused")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="with --wait: maximum time to wait")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Carry out the option, then show what is armed and paused."""
    if args.timeout is not None and not args.wait:
        raise UsageError("--timeout needs --wait")
    until = None if args.timeout is None else time.monotonic() + args.timeout
    recorders = _recorders(Path(args.file), until)
    if recorders is None:
        return _output.complain("no recorder started, and nothing was paused", _IN_VAIN)
    with recorders:
        try:
            if args.body is not None:
                remote, number = recorders.find_pause(args.body)
                sys.stdout.buffer.write(remote.body(number))
                return 0
            if args.wait and recorders.wait(until and max(0.0, until - time.monotonic())) is None:
                return _output.complain("nothing was paused", _IN_VAIN)
            _do(recorders, args)
            state = recorders.state()
        except UsageError:
            raise
        except WorkbenchError as error:
            return _output.complain(str(error), _GONE)
    return _show_state(state, args)


def _recorders(path: Path, until: float | None) -> Recorders | None:
    """The recorders of a session; waits for one until then, None if none comes. Raises UsageError."""
    from workbench.recorder.breakpoints import Recorders

    while True:
        try:
            if not path.exists():
                raise NoSuchFile(str(path))
            return Recorders(path)
        except (NoSuchFile, UsageError):
            if until is None:
                raise
        if time.monotonic() >= until:
            return None
        time.sleep(_LOOK_AGAIN)


def _do(recorders: Recorders, args: argparse.Namespace) -> None:
    for kind in args.arm or ():
        recorders.arm(kind)
    for kind in args.disarm or ():
        recorders.disarm(kind)
    if args.go_on is not None:
        remote, number = recorders.find_pause(args.go_on)
        remote.resume(number)
    elif args.drop is not None:
        remote, number = recorders.find_pause(args.drop)
        remote.drop(number)
    elif args.edit:
        name, file = args.edit
        body = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        remote, number = recorders.find_pause(name)
        remote.edit(number, body)
    elif args.answer:
        name, target = args.answer
        remote, number = recorders.find_pause(name)
        remote.answer(number, target)


def _show_state(state: Mapping[str, JsonValue], args: argparse.Namespace) -> int:
    from workbench.recorder.breakpoints import pause_names

    pauses = state["pauses"]
    if args.format == "json":
        _output.emit_json({word: state[word] for word in ("armed", "trouble", "pauses")})
    else:
        _output.emit(f"armed: {', '.join(state['armed']) or 'nothing'}")
        if state["trouble"]:
            _output.emit(f"  ✗ {state['trouble']}")
        for pause, name in zip(pauses, pause_names(pauses), strict=True):
            for line in breakpoint_lines.pause_lines(pause, name):
                _output.emit(line)
        if not pauses:
            _output.emit("nothing is paused")
    is_asked = args.arm or args.disarm or args.edit or args.answer or args.wait
    is_done = is_asked or args.go_on is not None or args.drop is not None
    return _PAUSED if pauses and not is_done else 0
