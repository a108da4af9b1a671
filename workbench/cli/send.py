"""Send a request of a file again: to a simulator, a provider, or a server of your own. What comes back is recorded.

Takes one exchange of the file: --exchange N, or else the one with the longest history. FILE may be a bare request body;
one that cannot be read is sent as it is where --protocol or --as names what it is meant to be.

  workbench send session.wb --target sim:deepseek
  workbench send session.wb --target anthropic --model claude-sonnet-4-5 --yes
  workbench send body.json --target http://127.0.0.1:8000/v1 --as openai-chat --stream --yes

T is sim:CONTRACT, a name that "workbench targets" lists, or a URL, and may be repeated. Where the target speaks another
protocol the request is converted; else its bytes go as they were recorded, but for --model, --stream and --no-stream.
Keys, cookies and whatever belonged to the recorded connection stay behind. The key comes from the variable of the
target, goes to its scheme, host and port alone, and is replaced in whatever is recorded; redirects are not followed.
What was measured of exactly this target and model (workbench probe) corrects the request, and that is said before it is
sent: --profile none for no profile, --no-correct NAME to leave a correction out, --correct NAME[=VALUE] to do one that
nothing was measured for. NAME: {corrections}.
First it is shown what would be done: the URL, what is lost, signed blocks that an edit unbound, and the verdict of the
target's contract. Anything but a simulator is asked about, once; without a terminal it takes --yes. 429, 5xx and
connections that break before an answer are tried again, as the server says or with backoff; a 5xx is not whose error
says that the request is at fault. Tools are never run.

What was sent and answered is kept in OUT, a session file that begins with the exchange itself, else in the working
session of FILE, which the app shows as a branch. What came before ctrl-c is kept, too.

JSON output is one object:
  {{"path", "exchange", "protocol", "recorded_in", "sent": [{{"target", "url", "protocol", "model", "stream", "bytes",
   "key_variable", "converted", "losses", "ids", "notes", "unbound", "dropped",
   "profile": {{…, "verified_at", "stale": [PROBE…]}} | null, "corrections": [{{"name", "does", "why", "value", "on"}}],
   "before": {{"contract", "verdict", "rule", "pointer", "message", "findings"}},
   "status", "state", "seconds", "attempts", "note", "unread",
   "answer": {{"model", "text", "reasoning", "calls": [{{"id", "name", "arguments"}}], "finish_reason", "error"}} |
   null, "findings", "error", "exit"}}]}}
"exchange" counts from zero there; "recorded_in" is OUT, or "working session". "before" is what the contract says of
the request, "findings" what the rules say of the answer, both as "workbench check" gives them; "state" is complete or
aborted; "unread" says why an answer cannot be read; "exit" is this target's exit status.

Exit status: 1 when a target refuses (any status but 2xx, or an error in the stream); 2 when it is not sent; 3 when an
answer cannot be read, or decoded within bounds; 4 when the network fails or an answer breaks off; 130 when it is
interrupted; of several the first of 130, 4, 2, 1, 3.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import INTERRUPTED, _asking, _correcting, _files, _output, _send_report
from workbench.cli._send_live import Live
from workbench.cli._send_report import Row
from workbench.cli._signals import interrupted_by
from workbench.errors import LocalProtocolError, UnreadableInput, UsageError, WorkbenchError

if TYPE_CHECKING:
    from workbench.protocols.decode import DecodedExchange
    from workbench.rules.inspection import Inspector
    from workbench.send.outgoing import Outgoing
    from workbench.send.sending import Event, Sender
    from workbench.send.target import Target
    from workbench.wire.exchange import Exchange
    from workbench.wire.session import Session

NAME = "send"
HELP = "send a request again, and record what comes back"
WORKING = "working session"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = _correcting.described(parser.description)
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument("--target", metavar="T", action="append", required=True, help="where to; may be repeated")
    parser.add_argument("--as", dest="spoken", metavar="PROTOCOL", default="", help="what to send it as")
    _files.add_exchange(parser)
    _files.add_provider(parser)
    parser.add_argument("--stream", action=argparse.BooleanOptionalAction, help="ask for a stream, or for none")
    parser.add_argument("--model", default="", help="ask for this model")
    parser.add_argument("--key-variable", metavar="NAME", default="", help="the variable that holds the key")
    parser.add_argument("--drop-unbound", action="store_true", help="leave out signed blocks that an edit unbound")
    _correcting.add(parser)
    parser.add_argument("--yes", action="store_true", help="send to a real endpoint without asking")
    parser.add_argument("--retries", type=int, default=3, metavar="N", help="attempts after the first (3)")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="wait for an answer (600)")
    parser.add_argument("--out", metavar="FILE", help="session file for what is sent and answered (.wb, .jsonl)")
    _files.add_force(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Send one request."""
    from workbench.cli._shell import worst

    targets = _targets(args)
    session = _opened(args)
    try:
        inspector = _files.inspector(session, args)
        index = _chosen(inspector, session, args)
        job = _Job(args, session, inspector, index, [_planned(inspector, index, t, args) for t in targets])
        with closing(job.kept):
            job.show_plans()
            job.agree()
            status = job.send()
            job.show()
    finally:
        session.close()
    return worst([status, *(row.status for row in job.rows)])


def _targets(args: argparse.Namespace) -> list[Target]:
    """The targets, once everything else that can be wrong with the words is known to be right. Raises UsageError."""
    from workbench.send.target import resolve

    _files.validate(args)
    _correcting.check(args)
    if args.retries < 0 or (args.timeout is not None and not 0 < args.timeout < 1e6):
        raise UsageError("a limit is below zero, or no time at all", hint="give --retries N, --timeout SECONDS")
    if args.out:
        _files.refuse_to_replace(Path(args.out), args.file, is_forced=args.force)
        _refuse_unwritable(Path(args.out))
    found = [resolve(text, args.spoken, key_variable=args.key_variable) for text in dict.fromkeys(args.target)]
    return [replace(target, contract=target.contract or args.provider or "") for target in found]


def _refuse_unwritable(out: Path) -> None:
    """An answer may have cost something: where it cannot be kept, nothing is sent. Raises UsageError."""
    folder = out.absolute().parent
    if (out.exists() and not out.is_file()) or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UsageError(f"{out} cannot be written", hint="name a file in a folder that can be")


def _opened(args: argparse.Namespace) -> Session:
    """The session; of a body that nobody can read, one that holds it as it is. Raises UnreadableInput, OSError."""
    from workbench.formats.importers import open_input

    if args.file == "-":
        data = sys.stdin.buffer.read()
    try:
        named = args.protocol or args.spoken  # then what is no body is sent as it is
        stdin = io.BytesIO(data) if args.file == "-" else None
        return open_input(args.file, stdin=stdin, protocol=args.protocol, may_unwrap=not named)
    except UnreadableInput:
        protocol = args.protocol or args.spoken
        if not protocol:
            raise
        return _as_it_is(args.file, data if args.file == "-" else Path(args.file).read_bytes(), protocol)


def _as_it_is(name: str, data: bytes, protocol: str) -> Session:
    from workbench import protocols
    from workbench.ir import ModelRequest
    from workbench.wire.exchange import Body, Exchange, HttpRequest
    from workbench.wire.session import MemorySession

    path = protocols.get(protocol).path(ModelRequest(protocol, None, ()))
    shown = "standard input" if name == "-" else name
    return MemorySession(shown, (Exchange("1", HttpRequest("POST", path, body=Body(data))),))


def _chosen(inspector: Inspector, session: Session, args: argparse.Namespace) -> int:
    from workbench.send import matrix

    if args.exchange is not None or len(session) < 2:
        return _files.chosen(session, args.exchange)
    return matrix.longest(inspector)


def _planned(inspector: Inspector, index: int, target: Target, args: argparse.Namespace) -> Row:
    """What would go to a target, or why nothing can."""
    from workbench.probes.profiles.choosing import earlier
    from workbench.probes.profiles.corrected import correct_outgoing
    from workbench.send.credentials import authenticate
    from workbench.send.outgoing import prepare
    from workbench.send.preflight import preflight
    from workbench.send.unbound import find_unbound

    own = inspector.detail(index).decoded
    choice = _correcting.choose(args, target, own, time.time())
    row = Row(target, choice)
    before = _made_of(inspector, own)
    try:
        if args.drop_unbound and (found := find_unbound(inspector, own, target, before)):
            if found.without is None:
                raise LocalProtocolError("no signed block can be left out here", hint="leave --drop-unbound out")
            row.dropped, before = found.pointers, None
            own = inspector.trial(index, found.without, protocol=own.protocol).decoded
        protocol = _correcting.protocol_for(args, target, choice.decided)
        outgoing = prepare(own, target, protocol=protocol, stream=args.stream, model=args.model)
        outgoing = correct_outgoing(outgoing, choice.decided, earlier(inspector, index, choice.decided))
        row.plan = preflight(inspector, index, outgoing, own, before)
        if not target.is_simulator:
            authenticate(outgoing, os.environ)
    except WorkbenchError as error:
        if len(set(args.target)) == 1:
            raise
        row.plan, row.error = None, error
    return row


def _made_of(inspector: Inspector, own: DecodedExchange) -> DecodedExchange | None:
    """The exchange that a request was made of by an edit, where the session holds it."""
    parent = own.exchange.parent
    known = (s.index for s in inspector.session.summaries() if parent and s.id == parent)
    index = next(known, None)
    return None if index is None else inspector.detail(index).decoded


class _Job:
    """One request to all its targets, one after the other."""

    def __init__(
        self, args: argparse.Namespace, session: Session, inspector: Inspector, index: int, rows: list[Row]
    ) -> None:
        self.args, self.session, self.inspector, self.index, self.rows = args, session, inspector, index, rows
        self.kept = _Kept(session, index, args.out)

    @property
    def is_text(self) -> bool:
        return bool(self.args.format == "text")

    def show_plans(self) -> None:
        """Say what would be done."""
        if self.is_text:
            for row in self.rows:
                for line in _send_report.plan_lines(row):
                    _output.emit(line)
            _output.flush()

    def agree(self) -> None:
        """Ask whether it may go to real endpoints. Raises UsageError where nobody says so."""
        real = [row.target for row in self.rows if row.plan and row.plan.outgoing.asks_first]
        if real and not self.args.yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError(f"this sends to a real endpoint, {real[0].url}", hint="say --yes")
        _asking.agree(real, 1, is_agreed=self.args.yes)

    def send(self) -> int:
        """Send them; 130 where people stopped it, else 0."""
        import asyncio

        try:
            with interrupted_by(signal.SIGTERM, signal.SIGHUP):
                asyncio.run(self._all())
        except KeyboardInterrupt:
            for row in self.rows:
                row.is_interrupted |= row.exchange is None and row.error is None
            return INTERRUPTED
        return 0

    async def _all(self) -> None:
        from workbench.limits import ANSWER_SECONDS
        from workbench.send.sending import Sender

        seconds = self.args.timeout or ANSWER_SECONDS
        async with Sender(known=self.session, retries=self.args.retries, seconds=seconds) as sender:
            for row in self.rows:
                if row.plan:
                    await self._one(sender, row)

    async def _one(self, sender: Sender, row: Row) -> None:
        from workbench.send.sending import SendInterrupted

        assert row.plan
        live = Live(row.plan.outgoing, is_shown=self.is_text and sys.stderr.isatty())

        def heard(event: Event) -> None:
            live.heard(event)
            if isinstance(event, SendInterrupted):
                row.is_interrupted = True
                self._keep(row, event.exchange)

        try:
            self._keep(row, await sender.send(row.plan.outgoing, heard, parent=self.kept.parent))
        except (WorkbenchError, OSError) as error:
            row.error = error
        finally:
            live.end()
            row.was_shown = live.has_shown and sys.stdout.isatty()

    def _keep(self, row: Row, exchange: Exchange) -> None:
        from workbench.send.preflight import judge_exchange

        assert row.plan
        row.exchange = exchange
        self.kept.add(row.plan.outgoing, exchange)
        row.trial = judge_exchange(self.inspector, self.index, row.plan.outgoing, exchange)

    def show(self) -> None:
        """Say what came of it."""
        if not self.is_text:
            _output.emit_json(
                {
                    "path": self.args.file,
                    "exchange": self.index,
                    "protocol": self.inspector.detail(self.index).decoded.protocol,
                    "recorded_in": self.kept.where or None,
                    "sent": [_send_report.as_json(row) for row in self.rows],
                }
            )
            return
        for row in self.rows:
            if len(self.rows) > 1:
                _output.emit()
                _output.emit(f"{row.target.name}:")
            for line in _send_report.result_lines(row):
                _output.emit(line)
        if self.kept.where:
            place = self.kept.where if self.args.out else f"the {WORKING}: the app shows it as a branch"
            _output.emit(f"recorded in {place}")
        if self.kept.trouble:
            _output.complain(self.kept.trouble, 0)


class _Kept:
    """Where what is sent and answered is kept."""

    def __init__(self, session: Session, index: int, out: str | None) -> None:
        from workbench.edits.branches import Workspace, open_for

        self._out = Path(out) if out else None
        self._workspace = Workspace(session) if out else open_for(session)
        self._root = self._workspace.root(index)
        self._exchanges = [self._root.exchange]

    @property
    def parent(self) -> str:
        """Id of the exchange that is sent again."""
        return self._root.id

    @property
    def trouble(self) -> str:
        """Why what came of it is not kept, "" where it is."""
        return self._workspace.trouble

    @property
    def where(self) -> str:
        """The file that holds it, or ``working session``; "" for nothing."""
        return str(self._out or WORKING) if len(self._exchanges) > 1 and not self._workspace.trouble else ""

    def close(self) -> None:
        """Leave one single file."""
        self._workspace.close()

    def add(self, sent: Outgoing, exchange: Exchange) -> None:
        """A request that was sent, with what came of it. Raises OSError."""
        from workbench.wire.session import store

        self._exchanges.append(exchange)
        if self._out:
            store.save(self._exchanges, self._out, about={"made": f"sent to {sent.target.name}"})
            return
        here = self._workspace.current(self._root.index)
        node, own = self._root, self._root.exchange.request
        if own is None or own.body.raw != sent.request.body.raw:
            node = self._workspace.commit(node, sent.request, sent.notes[0] if sent.notes else "changed to be sent")
        self._workspace.commit_response(node, exchange)
        if sent.is_converted:
            self._workspace.go(here)
