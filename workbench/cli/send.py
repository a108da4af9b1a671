"""Send a recorded request again: to a simulator, a provider, or your own server. The response is recorded.

Sends one exchange: --exchange N, or else the one with the longest history. FILE may be a bare request body; a body that
cannot be decoded is sent unchanged if --protocol or --as names its protocol.

  workbench send session.wb --target sim:deepseek
  workbench send session.wb --target anthropic --model claude-sonnet-4-5 --yes
  workbench send body.json --target http://127.0.0.1:8000/v1 --as openai-chat --stream --yes

T is sim:CONTRACT, a name from workbench targets, or a URL, and may be repeated. If the target uses another protocol,
the request is converted; else the recorded bytes are sent, changed only by --model, --stream and --no-stream. Keys,
cookies and connection headers of the recording are not sent. The key is read from the target's environment variable,
sent to its scheme, host and port only, and replaced in the recording; redirects are not followed.
The capability profile measured for this target and model (workbench probe) corrects the request, which is announced
before sending: --profile none uses no profile, --no-correct NAME switches a correction off, --correct NAME[=VALUE]
switches one on. NAME: {corrections}.
A preview is printed first: URL, losses, signed blocks that an edit invalidated, and the verdict of the target's
contract. Sending to a real endpoint has to be confirmed once; without a terminal by --yes. 429, 5xx and connections
that break before a response are retried, after the time that the server names or with backoff; not a 5xx whose error
blames the request. Tools are never run.

Requests and responses are recorded in OUT, a session file that begins with the exchange itself, else in the working
session of FILE, which the app shows as a branch. A response interrupted by ctrl-c is recorded, too.

JSON output is one object:
  {{"path", "exchange", "protocol", "recorded_in", "sent": [{{"target", "url", "protocol", "model", "stream", "bytes",
   "key_variable", "converted", "losses", "ids", "notes", "unbound", "dropped",
   "profile": {{…, "verified_at", "stale": [PROBE…]}} | null, "corrections": [{{"name", "does", "why", "value", "on"}}],
   "before": {{"contract", "verdict", "rule", "pointer", "message", "findings"}},
   "status", "state", "seconds", "attempts", "note", "unread",
   "answer": {{"model", "text", "reasoning", "calls": [{{"id", "name", "arguments"}}], "finish_reason", "error"}} |
   null, "findings", "error", "exit"}}]}}
"exchange" counts from zero; "recorded_in" is OUT, or "working session". "before" is the verdict of the contract on the
request, "findings" are those of the response, both as in workbench check; "state" is complete or aborted; "unread" is
why a response cannot be decoded; "exit" is the exit status of this target.

Exit status: 1 if a target refuses (any status but 2xx, or an error in the stream); 2 if it was not sent; 3 if a
response cannot be decoded within limits; 4 if the network fails or a response is incomplete; 130 if interrupted; of
several the first of 130, 4, 2, 1, 3.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _files, _output, _streams
from workbench.cli._send import consent, corrections, send_report
from workbench.cli._send.send_report import LiveAnswer, SendRow
from workbench.cli._shell import INTERRUPTED, worst
from workbench.cli._signals import interrupted_by
from workbench.errors import LocalProtocolError, UnreadableInput, UsageError, WorkbenchError
from workbench.lazy_dataclass import replace

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange
    from workbench.rules import Inspector
    from workbench.send import Event, Outgoing, Sender, Target
    from workbench.wire import Exchange
    from workbench.wire.session import Session

NAME = "send"
HELP = "send a recorded request to a simulator or a provider"
WORKING = "working session"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = corrections.fill_in_names(parser.description)
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument("--target", metavar="T", action="append", required=True, help="target to send to (repeatable)")
    parser.add_argument("--as", dest="spoken", metavar="PROTOCOL", default="", help="protocol of the target")
    _files.add_exchange(parser)
    _files.add_provider(parser)
    parser.add_argument(
        "--stream", action=argparse.BooleanOptionalAction, help="request a stream, or a single response"
    )
    parser.add_argument("--model", default="", help="use this model")
    parser.add_argument("--key-variable", metavar="NAME", default="", help="environment variable with the API key")
    parser.add_argument("--drop-unbound", action="store_true", help="remove signed blocks that an edit invalidated")
    corrections.add(parser)
    parser.add_argument("--yes", action="store_true", help="send to a real endpoint without asking")
    parser.add_argument("--retries", type=int, default=3, metavar="N", help="retries of a failed request (default: 3)")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="time to wait for a response (default: 600)")
    parser.add_argument("--out", metavar="FILE", help="session file for requests and responses (.wb, .jsonl)")
    _files.add_force(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Send one request."""
    targets = _targets(args)
    session = _open(args)
    try:
        inspector = _files.inspector(session, args)
        index = _exchange_index(inspector, session, args)
        job = _SendJob(args, session, inspector, index, [_plan(inspector, index, t, args) for t in targets])
        with closing(job.recording):
            job.show_plans()
            job.agree()
            status = job.send()
            job.show()
    finally:
        session.close()
    return worst([status, *(row.status for row in job.rows)])


def _targets(args: argparse.Namespace) -> list[Target]:
    """Check all options, and resolve the targets. Raises UsageError."""
    from workbench.send import resolve

    _files.validate(args)
    corrections.check(args)
    if args.retries < 0 or (args.timeout is not None and not 0 < args.timeout < 1e6):
        raise UsageError("--retries or --timeout is out of range", hint="--retries 0 or more, --timeout more than 0")
    if args.out:
        _files.refuse_to_replace(Path(args.out), args.file, is_forced=args.force)
        _refuse_unwritable(Path(args.out))
    found = [resolve(text, args.spoken, key_variable=args.key_variable) for text in dict.fromkeys(args.target)]
    return [replace(target, contract=target.contract or args.provider or "") for target in found]


def _refuse_unwritable(out: Path) -> None:
    """Raise UsageError if OUT cannot be written: a response may cost money, so it must be kept."""
    folder = out.absolute().parent
    if (out.exists() and not out.is_file()) or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UsageError(f"{out} cannot be written", hint="give a file in a writable folder")


def _open(args: argparse.Namespace) -> Session:
    """Open the session; an undecodable body becomes a session with its bytes. Raises UnreadableInput, OSError."""
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
    from workbench.wire import Body, Exchange, HttpRequest
    from workbench.wire.session import MemorySession

    path = protocols.get(protocol).path(ModelRequest(protocol, None, ()))
    label = "standard input" if name == "-" else name
    return MemorySession(label, (Exchange("1", HttpRequest("POST", path, body=Body(data))),))


def _exchange_index(inspector: Inspector, session: Session, args: argparse.Namespace) -> int:
    from workbench.send import matrix

    if args.exchange is not None or len(session) < 2:
        return _files.exchange_index(session, args.exchange)
    return matrix.longest(inspector)


def _plan(inspector: Inspector, index: int, target: Target, args: argparse.Namespace) -> SendRow:
    """Prepare the request for a target, or note the error."""
    from workbench.probes.profiles import correct_outgoing, earlier
    from workbench.send import authenticate, find_unbound, prepare, run_preflight

    own = inspector.detail(index).decoded
    choice = corrections.choose(args, target, own, time.time())
    row = SendRow(target, choice)
    before = _made_of(inspector, own)
    try:
        if args.drop_unbound and (found := find_unbound(inspector, own, target, before)):
            if found.without is None:
                raise LocalProtocolError("no signed block can be removed here", hint="leave out --drop-unbound")
            row.dropped, before = found.pointers, None
            own = inspector.trial(index, found.without, protocol=own.protocol).decoded
        protocol = corrections.protocol_for(args, target, choice.decided)
        outgoing = prepare(own, target, protocol=protocol, stream=args.stream, model=args.model)
        outgoing = correct_outgoing(outgoing, choice.decided, earlier(inspector, index, choice.decided))
        row.plan = run_preflight(inspector, index, outgoing, own, before)
        if not target.is_simulator:
            authenticate(outgoing, os.environ)
    except WorkbenchError as error:
        if len(set(args.target)) == 1:
            raise
        row.plan, row.error = None, error
    return row


def _made_of(inspector: Inspector, own: DecodedExchange) -> DecodedExchange | None:
    """The exchange that an edited request was made from; None if the session does not contain it."""
    parent = own.exchange.parent
    known = (s.index for s in inspector.session.summaries() if parent and s.id == parent)
    index = next(known, None)
    return None if index is None else inspector.detail(index).decoded


class _SendJob:
    """Sends one request to all targets, one after the other."""

    def __init__(
        self, args: argparse.Namespace, session: Session, inspector: Inspector, index: int, rows: list[SendRow]
    ) -> None:
        self.args, self.session, self.inspector, self.index, self.rows = args, session, inspector, index, rows
        self.recording = _SentExchanges(session, index, args.out)

    @property
    def is_text(self) -> bool:
        return bool(self.args.format == "text")

    def show_plans(self) -> None:
        """Print the preview of each target."""
        if self.is_text:
            for row in self.rows:
                for line in send_report.plan_lines(row):
                    _output.emit(line)
            _streams.flush()

    def agree(self) -> None:
        """Ask for consent to send to real endpoints. Raises UsageError without it."""
        real = [row.target for row in self.rows if row.plan and row.plan.outgoing.asks_first]
        if real and not self.args.yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError(f"this sends to a real endpoint, {real[0].url}", hint="add --yes to allow it")
        consent.agree(real, 1, is_agreed=self.args.yes)

    def send(self) -> int:
        """Send to all targets; 130 if interrupted, else 0."""
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
        from workbench.send import Sender

        seconds = self.args.timeout or ANSWER_SECONDS
        async with Sender(known=self.session, retries=self.args.retries, seconds=seconds) as sender:
            for row in self.rows:
                if row.plan:
                    await self._one(sender, row)

    async def _one(self, sender: Sender, row: SendRow) -> None:
        from workbench.send import SendInterrupted

        assert row.plan
        live = LiveAnswer(row.plan.outgoing, is_shown=self.is_text and sys.stderr.isatty())

        def on_event(event: Event) -> None:
            live.on_event(event)
            if isinstance(event, SendInterrupted):
                row.is_interrupted = True
                self._keep(row, event.exchange)

        try:
            self._keep(row, await sender.send(row.plan.outgoing, on_event, parent=self.recording.parent))
        except (WorkbenchError, OSError) as error:
            row.error = error
        finally:
            live.end()
            row.was_shown = live.has_shown and sys.stdout.isatty()

    def _keep(self, row: SendRow, exchange: Exchange) -> None:
        from workbench.send import judge_exchange

        assert row.plan
        row.exchange = exchange
        self.recording.add(row.plan.outgoing, exchange)
        row.trial = judge_exchange(self.inspector, self.index, row.plan.outgoing, exchange)

    def show(self) -> None:
        """Print the responses."""
        if not self.is_text:
            _output.emit_json(
                {
                    "path": self.args.file,
                    "exchange": self.index,
                    "protocol": self.inspector.detail(self.index).decoded.protocol,
                    "recorded_in": self.recording.where or None,
                    "sent": [send_report.as_json(row) for row in self.rows],
                }
            )
            return
        for row in self.rows:
            if len(self.rows) > 1:
                _output.emit()
                _output.emit(f"{row.target.name}:")
            for line in send_report.result_lines(row):
                _output.emit(line)
        if self.recording.where:
            place = self.recording.where if self.args.out else f"the {WORKING} (shown in the app as a branch)"
            _output.emit(f"recorded in {place}")
        if self.recording.trouble:
            _output.complain(self.recording.trouble, 0)


class _SentExchanges:
    """Keeps the requests and responses: in a file, or as branches in the working session."""

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
        """Reason why the exchanges could not be saved; empty if they were."""
        return self._workspace.trouble

    @property
    def where(self) -> str:
        """The file, or "working session"; empty if nothing was kept."""
        return str(self._out or WORKING) if len(self._exchanges) > 1 and not self._workspace.trouble else ""

    def close(self) -> None:
        """Close the working session."""
        self._workspace.close()

    def add(self, outgoing: Outgoing, exchange: Exchange) -> None:
        """Add a sent request with its response. Raises OSError."""
        from workbench.wire.session import store

        self._exchanges.append(exchange)
        if self._out:
            store.save(self._exchanges, self._out, about={"made": f"sent to {outgoing.target.name}"})
            return
        here = self._workspace.current(self._root.index)
        node, own = self._root, self._root.exchange.request
        if own is None or own.body.raw != outgoing.request.body.raw:
            node = self._workspace.commit(
                node, outgoing.request, outgoing.notes[0] if outgoing.notes else "changed for sending"
            )
        self._workspace.commit_response(node, exchange)
        if outgoing.is_converted:
            self._workspace.go(here)
