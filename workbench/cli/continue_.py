"""Continue a conversation: answer the calls that wait for a result, send, and go on until something has to be decided.

Takes one exchange of the file: --exchange N, or else the last one with a call that nobody answered, or else the last.
Where it has no whole answer, its request is sent first. Tools are never run: a call is answered by what is given, else,
with --recorded, by what the recording answered to the same call (by id, else by name and arguments), else, at a
terminal, by what you type. A call whose arguments cannot be used gets an error that says so, unless a result is given
for its id. An ID is the id of a call or the name of its tool.

  workbench continue session.wb --target sim:deepseek --recorded
  workbench continue session.wb --target sim:anthropic --result list_dir='a b' --turns 5

The next request is the one before, byte for byte, with the answer as it came (its reasoning, proofs and ids) and the
results put in. Every request and answer is recorded: in OUT, a session file that begins with the exchange itself, else
in the working session of FILE, whose branches the app shows.

JSON output is one object:
  {"path", "exchange", "target", "reason", "text", "turns", "tokens", "tokens_estimated", "out",
   "pending": {"id", "name", "arguments"} | null, "answer": TEXT | null,
   "steps": [{"step": "answer", "id", "name", "arguments", "error", "result", "is_error", "from", "recorded_in"} |
             {"step": "send", "protocol", "url", "pointer", "added": […], "notes", "status", "calls": [NAME…]}]}
"exchange" and "recorded_in" count from zero; "out" is null where it is the working session. "reason" is done, refused,
cut, turns, tokens, repeated, text-call, unreadable, or unanswered: then "pending" is the call. "error" says why the
arguments of a call cannot be used, "from" is given, recorded, typed or refusal. "added" are the elements that are new
in the list at "pointer".

Exit status: 0 when the model has answered and called nothing; 1 when the target refuses; 3 when a call has no answer,
a limit stops it, or a call is written as text; 4 when an answer breaks off.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _asking, _files, _output
from workbench.cli._continue_answers import ANSWER_HELP, Answers, Given
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.inspection import Inspector
    from workbench.ir import JsonValue
    from workbench.loop import Loop, Send
    from workbench.targets.outgoing import Outgoing
    from workbench.targets.target import Target
    from workbench.wire.exchange import Exchange
    from workbench.wire.session import Session

NAME = "continue"
HELP = "answer pending calls, send, and go on; tools are never run"

UNANSWERED = "unanswered"
WORKING = "the working session: workbench open shows it as a branch"
HINTS = {
    UNANSWERED: "; give one with --result, or say --recorded",
    "text-call": "; --parser reads it",
    "turns": "; --turns N allows more",
    "tokens": "; --tokens N allows more",
    "repeated": "; --repeats N allows more",
}
STATUSES = {"done": 0, "refused": 1, "cut": 4, "unreadable": 2}
"""Reason → exit status; 3 for every other one."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
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
    parser.add_argument("--yes", action="store_true", help="send to a real endpoint without asking")
    parser.add_argument("--out", metavar="FILE", help="session file for what is sent and answered (.wb, .jsonl)")
    _files.add_force(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Go on with one exchange."""
    import asyncio

    from workbench import textcalls
    from workbench.targets.target import resolve

    _files.validate(args)
    if args.parser:
        textcalls.get(args.parser)
    if min(args.turns, args.tokens, args.repeats) < 0:
        raise UsageError("a limit is below zero", hint="0 is no limit")
    target = resolve(args.target, args.spoken)
    given = Given.of(args)
    if args.out:
        _files.refuse_to_replace(Path(args.out), args.file, is_forced=args.force)
    session = _files.open_file(args.file)
    try:
        inspector = _files.inspector(session, args)
        index = _chosen(inspector, session, args)
        run = _Run(args, session, index, target, Answers(session, index, given, args))
        asyncio.run(run.all(_loop(inspector, index, target, args)))
    finally:
        session.close()
    if args.format == "json":
        _output.emit_json(run.as_json())
    return STATUSES.get(run.reason, 3)


def _chosen(inspector: Inspector, session: Session, args: argparse.Namespace) -> int:
    """Index of the exchange to go on with. Raises UsageError."""
    from workbench.inspection import PENDING

    if args.exchange is not None or not len(session):
        return _files.chosen(session, args.exchange)
    rows = [row for row in inspector.run().rows if row.conversation is not None and row.summary.request_bytes]
    pending = [row for row in rows if any(f.rule == PENDING for f in row.findings)]
    if not rows:
        raise UsageError(f"no request of a model in {session.name}", hint="name its protocol with --protocol")
    return (pending or rows)[-1].index


def _loop(inspector: Inspector, index: int, target: Target, args: argparse.Namespace) -> Loop:
    from workbench.loop import Limits, Loop

    detail = inspector.detail(index)
    contract = target.contract or args.provider or ""
    limits = Limits(args.turns, args.tokens, args.repeats)
    exchange = detail.decoded.exchange
    return Loop(exchange, detail.decoded.protocol or "", contract, args.parser, limits).again()


@dataclass
class _Run:
    """One run of the loop, as it is told while it goes on, and at its end."""

    args: argparse.Namespace
    session: Session
    index: int
    target: Target
    answers: Answers
    steps: list[dict[str, JsonValue]] = field(default_factory=list)
    reason: str = ""
    text: str = ""
    pending: dict[str, JsonValue] | None = None
    loop: Loop | None = None

    async def all(self, loop: Loop) -> None:
        """Step after step, until it ends."""
        from workbench.loop import Answer, Ended, Send
        from workbench.loop.sending import as_sent, outgoing
        from workbench.targets.sending import Sender

        kept = _Kept(self.session, self.index, self.args.out)
        self._say(f"exchange {self.index + 1}, {loop.decoded.protocol}: continued with {self.target.name}")
        async with Sender(known=self.session) as sender:
            while not isinstance(step := loop.step, Ended):
                if isinstance(step, Answer):
                    told = self.answers.to(step)
                    if told is None:
                        self.reason, self.pending = UNANSWERED, self.answers.shown(step)
                        self.text = f"no result for the call of {step.call.name!r} ({step.call.id or 'no id'})"
                        break
                    self._told(self.answers.shown(step) | told.as_json())
                    loop = loop.after(told.result)
                else:
                    assert isinstance(step, Send)
                    leaving = outgoing(step, self.target, self.args.model)
                    self._agree(leaving)
                    exchange = await sender.send(leaving, parent=kept.last.id)
                    kept.add(step, leaving, exchange)
                    loop = loop.after(as_sent(exchange, leaving), protocol=leaving.protocol)
                    self._sent(step, leaving, exchange, loop)
            else:
                self.reason, self.text = step.reason.value, step.text
        self.loop, self.out = loop, kept.where
        kept.close()
        self._end(loop)

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

    def _sent(self, step: Send, leaving: Outgoing, exchange: Exchange, loop: Loop) -> None:
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

    def _end(self, loop: Loop) -> None:
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
            "steps": self.steps,
        }


def _answer(loop: Loop) -> str:
    """What the model said last."""
    from workbench.ir import Text

    response = loop.decoded.response
    messages = response.choices[0] if response and response.choices else ()
    return "\n".join(p.text for m in messages for p in m.parts if isinstance(p, Text))


class _Kept:
    """Where what is sent and answered is kept."""

    def __init__(self, session: Session, index: int, out: str | None) -> None:
        from workbench.workspace import Workspace, open_for

        self._out = Path(out) if out else None
        self._workspace = Workspace(session) if out else open_for(session)
        self._node = self._workspace.root(index)
        self._exchanges = [self._node.exchange]

    @property
    def last(self) -> Exchange:
        """The newest."""
        return self._node.exchange

    @property
    def where(self) -> str:
        """The file that holds it, "" for none."""
        if len(self._exchanges) == 1:
            return ""
        return str(self._out) if self._out else "" if self._workspace.trouble else WORKING

    def add(self, step: Send, sent: Outgoing, exchange: Exchange) -> None:
        """A request that was sent, with what came of it. Raises OSError."""
        from workbench.wire.session import store

        self._exchanges.append(exchange)
        if self._out:
            store.save(self._exchanges, self._out, about={"made": f"continued with {sent.target.name}"})
        node = self._node
        if step.added:
            node = self._workspace.commit(node, step.request, "continued with the answer and its results")
        self._node = self._workspace.sent(node, exchange)

    def close(self) -> None:
        """No more comes."""
        self._workspace.close()
