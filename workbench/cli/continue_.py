"""Continue a conversation: answer the pending tool calls, send, and repeat until a decision is needed.

Works on one exchange: --exchange N, or else the last one with a pending tool call, or else the last. If its response is
missing or incomplete, its request is sent first. Tools are never run. The result of a call is the one given by an
option, else, with --recorded, the recorded result of the same call (by id, else by name and arguments), else, at a
terminal, what you type. A call with unusable arguments gets an error as its result, unless a result is given for its
id. ID is a call id or a tool name.

  workbench continue session.wb --target sim:deepseek --recorded
  workbench continue session.wb --target sim:anthropic --result list_dir='a b' --turns 5

The capability profile measured for this target and model (workbench probe) corrects the requests: --profile none uses
no profile, --no-correct NAME switches a correction off, --correct NAME[=VALUE] switches one on. NAME: {corrections}.
--refresh first runs the probes whose results are stale. --states prints every state of the loop, --step waits in each.

The next request is the previous one, byte for byte, plus the response (with reasoning, signatures and ids unchanged)
and the results. All requests and responses are recorded: in OUT, a session file that begins with the exchange itself,
else in the working session of FILE, which the app shows as a branch.

JSON output is one object:
  {{"path", "exchange", "target", "reason", "text", "turns", "tokens", "tokens_estimated", "out",
   "pending": {{"id", "name", "arguments"}} | null, "answer": TEXT | null,
   "profile": {{…, "verified_at", "stale": [PROBE…]}} | null, "corrections": [{{"name", "does", "why", "value", "on"}}],
   "steps": [{{"step": "answer", "id", "name", "arguments", "error", "result", "is_error", "from", "recorded_in"}} |
             {{"step": "send", "protocol", "url", "pointer", "added": […], "notes", "status", "calls": [NAME…]}}],
   "states": [{{"state", "lines": [TEXT…]}}]}}
"exchange" and "recorded_in" count from zero; "out" is null for the working session. "reason" is done, refused, cut,
turns, tokens, repeated, errors, text-call, unreadable, or unanswered (then "pending" is the call). "error" is why the
arguments of a call are unusable; "from" is given, recorded, typed or refusal. "added" are the new elements of the list
at "pointer".

Exit status: 0 if the model answered without a tool call; 1 if the target refused; 3 if a call has no result, a limit
was reached, or a call was written as text; 4 if a response is incomplete.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _files, _options, _output
from workbench.cli._send import consent, corrections
from workbench.cli._send.given_results import ANSWER_HELP, CallAnswers, GivenResults
from workbench.errors import UsageError
from workbench.lazy_dataclass import dataclass, field, replace

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.probes.profiles import CapabilityProfile, Measure, Pending, ProfileChoice, ToolLoop
    from workbench.rules import Inspector
    from workbench.send import Outgoing, Sender, Target
    from workbench.send.loop import ConversationLoop, Limits, LoopEnd, Send
    from workbench.wire import Exchange
    from workbench.wire.session import Session

NAME = "continue"
HELP = "answer pending tool calls and continue the loop; tools are never run"

UNANSWERED = "unanswered"
ERRORS_MORE = 2
"""Further errors in a row after which people are asked again."""

HINTS = {
    UNANSWERED: "; give one with --result, or use --recorded",
    "text-call": "; use --parser FORMAT to read it",
    "turns": "; allow more with --turns N",
    "tokens": "; allow more with --tokens N",
    "repeated": "; allow more with --repeats N",
    "errors": "; allow more with --errors N",
}
WORKING = "the working session (workbench open shows it as a branch)"
STATUSES = {"done": 0, "refused": 1, "cut": 4, "unreadable": 2}
"""Reason → exit status; 3 for every other one."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = corrections.fill_in_names(parser.description)
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument("--target", metavar="T", required=True, help="sim:CONTRACT, a name, or a URL with --as")
    parser.add_argument("--as", dest="spoken", metavar="PROTOCOL", default="", help="protocol of a URL")
    parser.add_argument("--model", metavar="NAME", default="", help="use this model instead of the recorded one")
    _files.add_exchange(parser)
    _files.add_provider(parser)
    for name, metavar in (("result", "ID=TEXT"), ("result-file", "ID=PATH"), ("error", "ID=TEXT")):
        parser.add_argument(f"--{name}", metavar=metavar, action="append", default=[], help=ANSWER_HELP[name])
    parser.add_argument("--recorded", action="store_true", help="use the recorded result of the same tool call")
    parser.add_argument(
        "--parser", metavar="FORMAT", default="", help="read tool calls that are written as text in this format"
    )
    parser.add_argument(
        "--turns", type=int, default=20, metavar="N", help="maximum number of requests (default: 20; 0: no limit)"
    )
    parser.add_argument("--tokens", type=int, default=0, metavar="N", help="maximum number of tokens (0: no limit)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="stop after N identical calls (default: 3)")
    parser.add_argument(
        "--errors",
        type=int,
        metavar="N",
        help="ask after this many consecutive turns with a failed call (default: from the profile)",
    )
    corrections.add(parser)
    parser.add_argument("--refresh", action="store_true", help="first run the probes whose results are stale")
    parser.add_argument("--states", action="store_true", help="print every step of the loop")
    parser.add_argument("--step", action="store_true", help="wait for enter after every step (needs a terminal)")
    parser.add_argument("--yes", action="store_true", help="send to a real endpoint without asking")
    parser.add_argument("--out", metavar="FILE", help="session file for requests and responses (.wb, .jsonl)")
    _files.add_force(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Continue one exchange."""
    import asyncio

    from workbench.probes.profiles import earlier
    from workbench.send import resolve
    from workbench.toolcalls import formats

    _files.validate(args)
    if args.parser:
        formats.get(args.parser)
    if min(args.turns, args.tokens, args.repeats, args.errors or 0) < 0:
        raise UsageError("a limit must not be negative", hint="0 means no limit")
    corrections.check(args)
    if args.step and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("--step needs a terminal", hint="use --states")
    target = resolve(args.target, args.spoken)
    results = GivenResults.from_arguments(args)
    if args.out:
        _files.refuse_to_replace(Path(args.out), args.file, is_forced=args.force)
    session = _files.open_file(args.file, args)
    try:
        inspector = _files.inspector(session, args)
        index = _exchange_index(inspector, session, args)
        loop = _loop(inspector, index, target, args)
        choice = corrections.choose(args, target, loop.decoded_exchange, time.time())
        run = _ContinueRun(args, session, index, target, CallAnswers(session, index, results, args), choice)
        asyncio.run(run.run(run.begin(loop, earlier(inspector, index, choice.decided))))
    finally:
        session.close()
    if args.format == "json":
        _output.emit_json(run.as_json())
    return STATUSES.get(run.reason, 3)


def _exchange_index(inspector: Inspector, session: Session, args: argparse.Namespace) -> int:
    """Index of the exchange to continue. Raises UsageError."""
    from workbench.rules import PENDING_RULE

    if args.exchange is not None or not len(session):
        return _files.exchange_index(session, args.exchange)
    rows = [row for row in inspector.run().rows if row.conversation is not None and row.summary.request_bytes]
    pending = [row for row in rows if any(f.rule == PENDING_RULE for f in row.findings)]
    if not rows:
        raise _options.no_model_request(session.name, "set the protocol with --protocol")
    return (pending or rows)[-1].index


def _loop(inspector: Inspector, index: int, target: Target, args: argparse.Namespace) -> ConversationLoop:
    from workbench.send.loop import ConversationLoop, Limits

    detail = inspector.detail(index)
    contract = target.contract or args.provider or ""
    limits = Limits(args.turns, args.tokens, args.repeats)
    exchange = detail.decoded.exchange
    return ConversationLoop(exchange, detail.decoded.protocol or "", contract, args.parser, limits).retry()


@dataclass
class _ContinueRun:
    """One run of the loop; prints its steps and keeps them for JSON."""

    args: argparse.Namespace
    session: Session
    index: int
    target: Target
    answers: CallAnswers
    choice: ProfileChoice
    states: list[dict[str, JsonValue]] = field(default_factory=list)
    steps: list[dict[str, JsonValue]] = field(default_factory=list)
    reason: str = ""
    text: str = ""
    pending: dict[str, JsonValue] | None = None
    loop: ConversationLoop | None = None

    def begin(self, loop: ConversationLoop, earlier: Sequence[Exchange]) -> ToolLoop:
        """The loop in its first state."""
        from workbench.probes.profiles import begin

        args, profile = self.args, self.choice.profile
        on = [*args.correct, *([f"error-feedback={args.errors}"] if args.errors else [])]
        off = [*args.no_correct, *(["error-feedback"] if args.errors == 0 else [])]
        tool_loop = begin(loop, self.target, model=args.model, profile=profile, now=time.time(), on=on, off=off)
        return replace(tool_loop, earlier=tuple(earlier), falls=profile is not None)

    async def run(self, motion: ToolLoop) -> None:
        """Run the loop to its end."""
        from workbench.probes.profiles import Measure
        from workbench.send import Sender
        from workbench.send.loop import AnswerCall, LoopEnd

        conversation = ContinuedConversation(self.session, self.index, self.args.out)
        self._say(
            f"exchange {self.index + 1}, {motion.loop.decoded_exchange.protocol}: continuing with {self.target.name}"
        )
        async with Sender(known=self.session) as sender:
            while True:
                todo = self._show_state(motion)
                if isinstance(todo, LoopEnd):
                    if (more := self._ask_for_more(todo, motion.loop)) is None:
                        self.reason, self.text = todo.reason.value, todo.text
                        break
                    motion = motion.after(more)
                elif todo is None:
                    motion = motion.after()
                elif isinstance(todo, Measure):
                    motion = motion.after(await self._measure(todo, motion))
                elif isinstance(todo, AnswerCall):
                    result = self.answers.result_for(todo)
                    if result is None:
                        self.reason, self.pending = UNANSWERED, self.answers.call_json(todo)
                        self.text = f"no result for tool call {todo.call.id or '(no id)'!r} ({todo.call.name})"
                        break
                    self._note_answer(self.answers.call_json(todo) | result.as_json())
                    motion = motion.after(result.result)
                else:
                    motion = await self._send(motion, todo, conversation, sender)
        self.loop, self.out = motion.loop, conversation.where
        self.choice = replace(self.choice, profile=motion.profile, decided=motion.decided, due=motion.due)
        conversation.close()
        self._end(motion.loop)

    def _ask_for_more(self, ended: LoopEnd, loop: ConversationLoop) -> Limits | None:
        """Ask whether to continue after too many errors: raised limits, or None to stop."""
        from workbench.send.loop import EndReason

        if ended.reason is not EndReason.ERRORS or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return None
        print(f"{ended.text}; continue? [y/N] ", end="", file=sys.stderr, flush=True)  # noqa: T201
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return None
        return replace(loop.limits, errors=loop.limits.errors + ERRORS_MORE)

    def _show_state(self, motion: ToolLoop) -> Pending:
        """Print a state of the loop, and return its pending step."""
        todo = motion.pending
        self.states.append({"state": motion.state.value, "lines": list(motion.lines)})
        from workbench.probes.profiles import LoopState

        if self.args.states or self.args.step:
            self._say(f"[{motion.state.value}]")
        if self.args.states or self.args.step or (motion.state is LoopState.CHOSEN and motion.decided):
            for line in motion.lines:
                self._say(f"  {_output.cut(line)}")
        if self.args.step:
            _wait()
        return todo

    async def _measure(self, todo: Measure, motion: ToolLoop) -> CapabilityProfile | None:
        """Run the stale probes with ``--refresh``; None to continue with the old results."""
        from workbench import probes
        from workbench.probes.profiles import save_evidence, save_profile
        from workbench.send import Sender

        stale = ", ".join(due.probe.name for due in todo.due)
        if not self.args.refresh or motion.profile is None:
            self._say(f"stale, but used: {stale}; --refresh measures again")
            return None
        consent.agree([self.target], sum(due.probe.requests for due in todo.due), is_agreed=self.args.yes)
        key = motion.profile.key
        measurement = probes.Measurement(probes.subject_of(self.target, key.protocol, key.model))
        async with Sender(model=probes.scripted_model()) as sender:
            async for step in probes.measure(measurement, [due.probe for due in todo.due], sender):
                self._say(f"  probe {step.probe.name}: {step.sample.outcome.value}")
        evidence = save_evidence(measurement, at=time.time())
        return save_profile(measurement, at=time.time(), evidence=evidence, template=key.chat_template_hash).profile

    async def _send(
        self, motion: ToolLoop, outgoing: Outgoing, continued_conversation: ContinuedConversation, sender: Sender
    ) -> ToolLoop:
        """Send the next request, and keep it with its response."""
        from workbench.send.loop import Send

        step = motion.loop.step
        assert isinstance(step, Send)
        self._agree(outgoing)
        exchange = await sender.send(outgoing, parent=continued_conversation.last.id)
        continued_conversation.add(step, outgoing, exchange)
        tool_loop = motion.after(exchange)
        self._note_request(step, outgoing, exchange, tool_loop.loop)
        return tool_loop

    out: str = ""

    def _agree(self, outgoing: Outgoing) -> None:
        if outgoing.asks_first and not any(step["step"] == "send" for step in self.steps):
            most = self.args.turns or 1
            consent.agree([self.target], most, is_agreed=self.args.yes)

    def _note_answer(self, step: dict[str, JsonValue]) -> None:
        import json

        self.steps.append({"step": "answer", **step})
        where = "" if step["recorded_in"] is None else f" in exchange {int(step['recorded_in']) + 1}"
        failed = "error, " if step["is_error"] else ""
        arguments = json.dumps(step["arguments"], ensure_ascii=False)
        self._say(f"  {step['name']} {_output.cut(arguments)}")
        self._say(f"    = {_output.cut(str(step['result']))}  ({failed}{step['from']}{where})")

    def _note_request(self, step: Send, outgoing: Outgoing, exchange: Exchange, loop: ConversationLoop) -> None:
        status = exchange.response.status if exchange.response else None
        notes = [*step.notes, *outgoing.notes, *(f"lost: {loss.what}" for loss in outgoing.losses)]
        calls = [call.name for call in loop.calls]
        self.steps.append(
            {
                "step": "send",
                "protocol": outgoing.protocol,
                "url": exchange.request.url if exchange.request else None,
                "pointer": step.pointer or None,
                "added": list(step.added),
                "notes": notes,
                "status": status,
                "calls": calls,
            }
        )
        new = _output.number(len(step.added), "new item") if step.added else "unchanged"
        called = f", calls {', '.join(str(name) for name in calls)}" if calls else ""
        self._say(f"sent ({new}): {status or exchange.note or 'no response'}{called}")
        for note in notes:
            self._say(f"  {_output.cut(note)}")

    def _end(self, loop: ConversationLoop) -> None:
        how = "about " if loop.is_estimated else ""
        self._say(f"{self.reason}: {self.text}{HINTS.get(self.reason, '')}")
        if self.reason == "done" and (answer := _answer(loop)):
            for line in answer.split("\n"):
                self._say(f"  {line}")
        self._say(f"{_output.number(loop.turns, 'request')}, {how}{_output.number(loop.tokens, 'token')}")
        if self.out:
            self._say(f"recorded in {self.out}")

    def _say(self, line: str) -> None:
        if self.args.format == "text":
            _output.emit(line)

    def as_json(self) -> JsonValue:
        """The JSON output, as ``--help`` documents it."""
        assert self.loop is not None
        return {
            "path": self.args.file,
            "exchange": self.index,
            "target": self.target.name,
            "reason": self.reason,
            "text": self.text,
            "turns": self.loop.turns,
            "tokens": self.loop.tokens,
            "tokens_estimated": self.loop.is_estimated,
            "out": self.args.out if self.out else None,
            "pending": self.pending,
            "answer": _answer(self.loop) or None,
            **self.choice.as_json(),
            "steps": self.steps,
            "states": self.states,
        }


def _wait() -> None:
    """Wait for enter. Raises KeyboardInterrupt at ctrl-d."""
    print("enter: continue; ctrl-d: stop ", end="", file=sys.stderr, flush=True)  # noqa: T201
    if not sys.stdin.readline():
        raise KeyboardInterrupt


def _answer(loop: ConversationLoop) -> str:
    """Text of the last response."""
    from workbench.ir import Text

    response = loop.decoded_exchange.response
    messages = response.choices[0] if response and response.choices else ()
    return "\n".join(p.text for m in messages for p in m.parts if isinstance(p, Text))


class ContinuedConversation:
    """Keeps the requests and responses: in a file, or as a branch in the working session."""

    def __init__(self, session: Session, index: int, out: str | None) -> None:
        from workbench.edits.branches import Workspace, open_for

        self._out = Path(out) if out else None
        self._workspace = Workspace(session) if out else open_for(session)
        self._node = self._workspace.root(index)
        self._exchanges = [self._node.exchange]

    @property
    def last(self) -> Exchange:
        """The newest exchange."""
        return self._node.exchange

    @property
    def where(self) -> str:
        """The file, or the words for the working session; empty if nothing was kept."""
        if len(self._exchanges) == 1:
            return ""
        return str(self._out) if self._out else "" if self._workspace.trouble else WORKING

    def add(self, step: Send, outgoing: Outgoing, exchange: Exchange) -> None:
        """Add a sent request with its response. Raises OSError."""
        from workbench.wire.session import store

        self._exchanges.append(exchange)
        if self._out:
            store.save(self._exchanges, self._out, about={"made": f"continued with {outgoing.target.name}"})
        node = self._node
        if step.added:
            node = self._workspace.commit(node, step.request, "continued with the response and its tool results")
        self._node = self._workspace.commit_response(node, exchange)

    def close(self) -> None:
        """Close the working session."""
        self._workspace.close()
