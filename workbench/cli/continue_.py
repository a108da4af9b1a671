"""Continue a conversation: answer the calls that wait for a result, send, and go on until something has to be decided.

Takes one exchange of the file: --exchange N, or else the last one with a call that nobody answered, or else the last.
Where it has no whole answer, its request is sent first. Tools are never run: a call is answered by what is given, else,
with --recorded, by what the recording answered to the same call (by id, else by name and arguments), else, at a
terminal, by what you type. A call whose arguments cannot be used gets an error that says so, unless a result is given
for its id. An ID is the id of a call or the name of its tool.

  workbench continue session.wb --target sim:deepseek --recorded
  workbench continue session.wb --target sim:anthropic --result list_dir='a b' --turns 5

What was measured of exactly this target and model (workbench probe) corrects requests and loop: --profile none for no
profile, --no-correct NAME to leave a correction out, --correct NAME[=VALUE] to do one that nothing was measured for.
NAME: {corrections}.
--refresh runs the probes first whose results are stale. --states tells every state of the motion, --step waits in each.

The next request is the one before, byte for byte, with the answer as it came (its reasoning, proofs and ids) and the
results put in. Every request and answer is recorded: in OUT, a session file that begins with the exchange itself, else
in the working session of FILE, whose branches the app shows.

JSON output is one object:
  {{"path", "exchange", "target", "reason", "text", "turns", "tokens", "tokens_estimated", "out",
   "pending": {{"id", "name", "arguments"}} | null, "answer": TEXT | null,
   "profile": {{…, "verified_at", "stale": [PROBE…]}} | null, "corrections": [{{"name", "does", "why", "value", "on"}}],
   "steps": [{{"step": "answer", "id", "name", "arguments", "error", "result", "is_error", "from", "recorded_in"}} |
             {{"step": "send", "protocol", "url", "pointer", "added": […], "notes", "status", "calls": [NAME…]}}],
   "states": [{{"state", "lines": [TEXT…]}}]}}
"exchange" and "recorded_in" count from zero; "out" is null where it is the working session. "reason" is done, refused,
cut, turns, tokens, repeated, errors, text-call, unreadable, or unanswered: then "pending" is the call. "error" says why
the arguments of a call cannot be used, "from" is given, recorded, typed or refusal. "added" are the elements that are
new in the list at "pointer".

Exit status: 0 when the model has answered and called nothing; 1 when the target refuses; 3 when a call has no answer,
a limit stops it, or a call is written as text; 4 when an answer breaks off.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _asking, _correcting, _files, _output
from workbench.cli._continue_answers import ANSWER_HELP, Answers, Given
from workbench.cli._continue_kept import Kept
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.probes.profiles import CapabilityProfile
    from workbench.probes.profiles.choosing import ProfileChoice
    from workbench.probes.profiles.motion import Measure, Pending, ToolLoop
    from workbench.rules.inspection import Inspector
    from workbench.send.loop import ConversationLoop, Limits, LoopEnd, Send
    from workbench.send.outgoing import Outgoing
    from workbench.send.sending import Sender
    from workbench.send.target import Target
    from workbench.wire.exchange import Exchange
    from workbench.wire.session import Session

NAME = "continue"
HELP = "answer pending calls, send, and go on; tools are never run"

UNANSWERED = "unanswered"
ERRORS_MORE = 2
"""Further errors in a row after which people are asked again."""

HINTS = {
    UNANSWERED: "; give one with --result, or say --recorded",
    "text-call": "; --parser reads it",
    "turns": "; --turns N allows more",
    "tokens": "; --tokens N allows more",
    "repeated": "; --repeats N allows more",
    "errors": "; --errors N allows more",
}
STATUSES = {"done": 0, "refused": 1, "cut": 4, "unreadable": 2}
"""Reason → exit status; 3 for every other one."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = _correcting.described(parser.description)
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument("--target", metavar="T", required=True, help="sim:CONTRACT, a name, or a URL with --as")
    parser.add_argument("--as", dest="spoken", metavar="PROTOCOL", default="", help="what a URL speaks")
    parser.add_argument("--model", metavar="NAME", default="", help="ask for another model than the recorded one")
    _files.add_exchange(parser)
    _files.add_provider(parser)
    for name, metavar in (("result", "ID=TEXT"), ("result-file", "ID=PATH"), ("error", "ID=TEXT")):
        parser.add_argument(f"--{name}", metavar=metavar, action="append", default=[], help=ANSWER_HELP[name])
    parser.add_argument(
        "--recorded", action="store_true", help="answer by what the recording answered to the same call"
    )
    parser.add_argument("--parser", metavar="FORMAT", default="", help="the model writes calls as text of this format")
    parser.add_argument("--turns", type=int, default=20, metavar="N", help="requests at most (20; 0 for any number)")
    parser.add_argument("--tokens", type=int, default=0, metavar="N", help="tokens at most (0: any number)")
    parser.add_argument(
        "--repeats", type=int, default=3, metavar="N", help="stop when the same call comes so often (3)"
    )
    parser.add_argument(
        "--errors", type=int, metavar="N", help="ask when so many answers in a row came to an error (as was measured)"
    )
    _correcting.add(parser)
    parser.add_argument("--refresh", action="store_true", help="run the probes first whose results are stale")
    parser.add_argument("--states", action="store_true", help="tell every state")
    parser.add_argument("--step", action="store_true", help="wait in every state, at a terminal")
    parser.add_argument("--yes", action="store_true", help="send to a real endpoint without asking")
    parser.add_argument("--out", metavar="FILE", help="session file for what is sent and answered (.wb, .jsonl)")
    _files.add_force(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Go on with one exchange."""
    import asyncio

    from workbench.probes.profiles.choosing import earlier
    from workbench.send.target import resolve
    from workbench.toolcalls import formats

    _files.validate(args)
    if args.parser:
        formats.get(args.parser)
    if min(args.turns, args.tokens, args.repeats, args.errors or 0) < 0:
        raise UsageError("a limit is below zero", hint="0 is no limit")
    _correcting.check(args)
    if args.step and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("--step waits for you, and there is no terminal", hint="say --states")
    target = resolve(args.target, args.spoken)
    given = Given.of(args)
    if args.out:
        _files.refuse_to_replace(Path(args.out), args.file, is_forced=args.force)
    session = _files.open_file(args.file, args)
    try:
        inspector = _files.inspector(session, args)
        index = _chosen(inspector, session, args)
        loop = _loop(inspector, index, target, args)
        choice = _correcting.choose(args, target, loop.decoded, time.time())
        run = _Run(args, session, index, target, Answers(session, index, given, args), choice)
        asyncio.run(run.all(run.begun(loop, earlier(inspector, index, choice.decided))))
    finally:
        session.close()
    if args.format == "json":
        _output.emit_json(run.as_json())
    return STATUSES.get(run.reason, 3)


def _chosen(inspector: Inspector, session: Session, args: argparse.Namespace) -> int:
    """Index of the exchange to go on with. Raises UsageError."""
    from workbench.rules.inspection import PENDING

    if args.exchange is not None or not len(session):
        return _files.chosen(session, args.exchange)
    rows = [row for row in inspector.run().rows if row.conversation is not None and row.summary.request_bytes]
    pending = [row for row in rows if any(f.rule == PENDING for f in row.findings)]
    if not rows:
        raise UsageError(f"no request of a model in {session.name}", hint="name its protocol with --protocol")
    return (pending or rows)[-1].index


def _loop(inspector: Inspector, index: int, target: Target, args: argparse.Namespace) -> ConversationLoop:
    from workbench.send.loop import ConversationLoop, Limits

    detail = inspector.detail(index)
    contract = target.contract or args.provider or ""
    limits = Limits(args.turns, args.tokens, args.repeats)
    exchange = detail.decoded.exchange
    return ConversationLoop(exchange, detail.decoded.protocol or "", contract, args.parser, limits).retry()


@dataclass
class _Run:
    """One run of the loop, as it is told while it goes on, and at its end."""

    args: argparse.Namespace
    session: Session
    index: int
    target: Target
    answers: Answers
    choice: ProfileChoice
    states: list[dict[str, JsonValue]] = field(default_factory=list)
    steps: list[dict[str, JsonValue]] = field(default_factory=list)
    reason: str = ""
    text: str = ""
    pending: dict[str, JsonValue] | None = None
    loop: ConversationLoop | None = None

    def begun(self, loop: ConversationLoop, earlier: Sequence[Exchange]) -> ToolLoop:
        """The motion in its first state."""
        from workbench.probes.profiles.motion import begin

        args, profile = self.args, self.choice.profile
        on = [*args.correct, *([f"error-feedback={args.errors}"] if args.errors else [])]
        off = [*args.no_correct, *(["error-feedback"] if args.errors == 0 else [])]
        made = begin(loop, self.target, model=args.model, profile=profile, now=time.time(), on=on, off=off)
        return replace(made, earlier=tuple(earlier), falls=profile is not None)

    async def all(self, motion: ToolLoop) -> None:
        """State after state, until it ends."""
        from workbench.probes.profiles.motion import Measure
        from workbench.send.loop import AnswerCall, LoopEnd
        from workbench.send.sending import Sender

        kept = Kept(self.session, self.index, self.args.out)
        self._say(f"exchange {self.index + 1}, {motion.loop.decoded.protocol}: continued with {self.target.name}")
        async with Sender(known=self.session) as sender:
            while True:
                todo = self._seen(motion)
                if isinstance(todo, LoopEnd):
                    if (more := self._confirmed(todo, motion.loop)) is None:
                        self.reason, self.text = todo.reason.value, todo.text
                        break
                    motion = motion.after(more)
                elif todo is None:
                    motion = motion.after()
                elif isinstance(todo, Measure):
                    motion = motion.after(await self._measured(todo, motion))
                elif isinstance(todo, AnswerCall):
                    told = self.answers.to(todo)
                    if told is None:
                        self.reason, self.pending = UNANSWERED, self.answers.shown(todo)
                        self.text = f"no result for the call of {todo.call.name!r} ({todo.call.id or 'no id'})"
                        break
                    self._told(self.answers.shown(todo) | told.as_json())
                    motion = motion.after(told.result)
                else:
                    motion = await self._send(motion, todo, kept, sender)
        self.loop, self.out = motion.loop, kept.where
        self.choice = replace(self.choice, profile=motion.profile, decided=motion.decided, due=motion.due)
        kept.close()
        self._end(motion.loop)

    def _confirmed(self, ended: LoopEnd, loop: ConversationLoop) -> Limits | None:
        """The limits that people let it go on with after so many errors; None where they do not, or are not there."""
        from workbench.send.loop import EndReason

        if ended.reason is not EndReason.ERRORS or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return None
        print(f"{ended.text}; go on? [y/N] ", end="", file=sys.stderr, flush=True)  # noqa: T201
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return None
        return replace(loop.limits, errors=loop.limits.errors + ERRORS_MORE)

    def _seen(self, motion: ToolLoop) -> Pending:
        """What is to be done in a state, once it was told."""
        from workbench.probes.profiles.motion import LoopState

        todo = motion.pending
        self.states.append({"state": motion.state.value, "lines": list(motion.lines)})
        if self.args.states or self.args.step:
            self._say(f"[{motion.state.value}]")
        if self.args.states or self.args.step or (motion.state is LoopState.CHOSEN and motion.decided):
            for line in motion.lines:
                self._say(f"  {_output.cut(line)}")
        if self.args.step:
            _wait()
        return todo

    async def _measured(self, todo: Measure, motion: ToolLoop) -> CapabilityProfile | None:
        """What the stale probes find, where people ask for that; None to go on with what is known."""
        from workbench import probes
        from workbench.probes.profiles.keeping import save_evidence, save_profile
        from workbench.send.sending import Sender

        stale = ", ".join(due.probe.name for due in todo.due)
        if not self.args.refresh or motion.profile is None:
            self._say(f"stale, and used all the same: {stale}; --refresh measures anew")
            return None
        _asking.agree([self.target], sum(due.probe.requests for due in todo.due), is_agreed=self.args.yes)
        key = motion.profile.key
        measurement = probes.Measurement(probes.subject_of(self.target, key.protocol, key.model))
        async with Sender(model=probes.scripted_model()) as sender:
            async for step in probes.measure(measurement, [due.probe for due in todo.due], sender):
                self._say(f"  probe {step.probe.name}: {step.sample.outcome.value}")
        evidence = save_evidence(measurement, at=time.time())
        return save_profile(measurement, at=time.time(), evidence=evidence, template=key.chat_template_hash).profile

    async def _send(self, motion: ToolLoop, leaving: Outgoing, kept: Kept, sender: Sender) -> ToolLoop:
        """Send what is next, and keep what comes of it."""
        from workbench.send.loop import Send

        step = motion.loop.step
        assert isinstance(step, Send)
        self._agree(leaving)
        exchange = await sender.send(leaving, parent=kept.last.id)
        kept.add(step, leaving, exchange)
        made = motion.after(exchange)
        self._sent(step, leaving, exchange, made.loop)
        return made

    out: str = ""

    def _agree(self, leaving: Outgoing) -> None:
        if leaving.asks_first and not any(step["step"] == "send" for step in self.steps):
            most = self.args.turns or 1
            _asking.agree([self.target], most, is_agreed=self.args.yes)

    def _told(self, step: dict[str, JsonValue]) -> None:
        import json

        self.steps.append({"step": "answer", **step})
        where = "" if step["recorded_in"] is None else f" in exchange {int(step['recorded_in']) + 1}"
        failed = "an error, " if step["is_error"] else ""
        arguments = json.dumps(step["arguments"], ensure_ascii=False)
        self._say(f"  {step['name']} {_output.cut(arguments)}")
        self._say(f"    = {_output.cut(str(step['result']))}  ({failed}{step['from']}{where})")

    def _sent(self, step: Send, leaving: Outgoing, exchange: Exchange, loop: ConversationLoop) -> None:
        status = exchange.response.status if exchange.response else None
        notes = [*step.notes, *leaving.notes, *(f"lost: {loss.what}" for loss in leaving.losses)]
        calls = [call.name for call in loop.calls]
        self.steps.append(
            {
                "step": "send",
                "protocol": leaving.protocol,
                "url": exchange.request.url if exchange.request else None,
                "pointer": step.pointer or None,
                "added": list(step.added),
                "notes": notes,
                "status": status,
                "calls": calls,
            }
        )
        new = _output.number(len(step.added), "new element") if step.added else "as it was"
        called = f", calls {', '.join(str(name) for name in calls)}" if calls else ""
        self._say(f"sent, {new}: {status or exchange.note or 'no answer'}{called}")
        for note in notes:
            self._say(f"  {_output.cut(note)}")

    def _end(self, loop: ConversationLoop) -> None:
        how = "about " if loop.is_estimated else ""
        self._say(f"{self.reason}: {self.text}{HINTS.get(self.reason, '')}")
        if self.reason == "done" and (said := _answer(loop)):
            for line in said.split("\n"):
                self._say(f"  {line}")
        self._say(f"{_output.number(loop.turns, 'request')}, {how}{_output.number(loop.tokens, 'token')}")
        if self.out:
            self._say(f"recorded in {self.out}")

    def _say(self, line: str) -> None:
        if self.args.format == "text":
            _output.emit(line)

    def as_json(self) -> JsonValue:
        """The object that ``--help`` describes."""
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
    """Until people want to go on. Raises KeyboardInterrupt where they do not."""
    print("enter: go on; ctrl-d: stop ", end="", file=sys.stderr, flush=True)  # noqa: T201
    if not sys.stdin.readline():
        raise KeyboardInterrupt


def _answer(loop: ConversationLoop) -> str:
    """What the model said last."""
    from workbench.ir import Text

    response = loop.decoded.response
    messages = response.choices[0] if response and response.choices else ()
    return "\n".join(p.text for m in messages for p in m.parts if isinstance(p, Text))
