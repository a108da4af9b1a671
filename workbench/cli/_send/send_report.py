"""Preview, progress and outcome of a sent request, for people and as JSON."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.cli._check.file_report import finding_json
from workbench.cli._check.formats import finding_lines
from workbench.cli._send import corrections
from workbench.errors import WorkbenchError
from workbench.lazy_dataclass import dataclass
from workbench.safetext import visible
from workbench.views import loss_words

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.ir import JsonValue
    from workbench.probes.profiles import ProfileChoice
    from workbench.rules import CheckedVariant
    from workbench.send import Event, Outgoing, Preflight, Target
    from workbench.wire import Exchange, SseEvent


STREAMS = ("text/event-stream", "application/x-ndjson")
"""Content types whose text can be shown as it comes."""

REPAINT_SECONDS = 0.1
"""Interval of updates: decoding the text again costs more the longer it is."""


class LiveAnswer:
    """Prints the progress of one request on stderr; ``on_event`` is a listener for ``Sender.send``.

    Args:
        is_shown: print the text of the response as it arrives; else only retries.
    """

    def __init__(self, outgoing: Outgoing, *, is_shown: bool) -> None:
        from workbench import protocols
        from workbench.wire import SseReader

        self._name = outgoing.target.name
        self._is_shown = is_shown and outgoing.protocol in protocols.protocols()
        self._decoder = protocols.get(outgoing.protocol).stream_decoder() if self._is_shown else None
        self._reader = SseReader()
        self._kind = ""
        self._rest = b""
        self._last_line = ""
        self._last = 0.0

    @property
    def has_shown(self) -> bool:
        """True once text of the response was printed."""
        return bool(self._last_line)

    def on_event(self, event: Event) -> None:
        """Print what an event adds."""
        from workbench.send import BodyReceived, HeadReceived, RetryWait

        if isinstance(event, RetryWait):
            again = f"{self._name}: {event.why}; attempt {event.attempt} failed, retrying in {event.wait:.1f} s"
            _output.complain(again, 0)
        elif isinstance(event, HeadReceived):
            kind = (event.headers.get("content-type") or "").partition(";")[0].strip().lower()
            is_plain = not (event.headers.get("content-encoding") or "").replace("identity", "")
            self._kind = kind if is_plain else ""
            self._is_shown = self._is_shown and self._kind in STREAMS
        elif isinstance(event, BodyReceived) and self._is_shown and self._decoder:
            for block in self._blocks(event.data):
                self._decoder.feed(block)
            if time.monotonic() - self._last >= REPAINT_SECONDS:
                self._show()

    def end(self) -> None:
        """Print the rest."""
        if self._is_shown:
            self._show()
            if self._last_line:
                self._write("\n")

    def _blocks(self, data: bytes) -> Iterable[SseEvent]:
        """Events of the stream that these bytes complete."""
        from workbench.wire import Framing, read_stream

        if self._kind == STREAMS[0]:
            return self._reader.feed(data)
        lines, end, self._rest = (self._rest + data).rpartition(b"\n")
        return read_stream(lines + end, framing=Framing.NDJSON).events if end else ()

    def _show(self) -> None:
        from workbench.ir import Text

        assert self._decoder
        messages = self._decoder.result().messages
        text = "\n".join(p.text for m in messages for p in m.parts if isinstance(p, Text))
        if text.startswith(self._last_line):
            self._write(text[len(self._last_line) :])
            self._last_line = text
        self._last = time.monotonic()

    def _write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write("\n".join(visible(line) for line in text.split("\n")))
            sys.stderr.flush()


LOSSES_SHOWN = 8


@dataclass(slots=True)
class SendRow:
    """One target: the request for it, and the outcome.

    Attributes:
        choice: capability profile and corrections.
        plan: the prepared request; None if it cannot be prepared, for the reason in ``error``.
        dropped: pointers of removed signed blocks, in the request that still has them.
        exchange: request and response; None before sending, or if the target could not be reached.
        trial: the exchange, checked by the target's contract.
        is_interrupted: ctrl-c ended it.
        was_shown: the text of the response was already printed.
    """

    target: Target
    choice: ProfileChoice
    plan: Preflight | None = None
    dropped: tuple[str, ...] = ()
    exchange: Exchange | None = None
    trial: CheckedVariant | None = None
    error: Exception | None = None
    is_interrupted: bool = False
    was_shown: bool = False

    @property
    def status(self) -> int:
        """Exit status: 1 refused, 2 not sent, 3 unreadable, 4 network or an answer broken off, 130 interrupted."""
        from workbench.wire import State

        if self.is_interrupted:
            return 130
        if self.error:
            return 2 if isinstance(self.error, WorkbenchError) else 4
        if self.exchange is None or self.exchange.response is None:
            return 4
        if self.exchange.state is State.ABORTED:
            return 3 if self.exchange.response.body.original_length else 4
        answer = self.trial.decoded.response if self.trial else None
        if not 200 <= self.exchange.response.status < 300 or (answer and answer.error):
            return 1
        return 3 if self.unread else 4 if answer and answer.is_stream and not answer.is_complete else 0

    @property
    def unread(self) -> str:
        """Reason why a response cannot be decoded; empty if it can, or is absent."""
        return self.trial.decoded.unread if self.trial else ""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of the response; those of the request are in the plan."""
        return tuple(f for f in self.trial.findings if f.side == "response") if self.trial else ()


def plan_lines(row: SendRow) -> Iterator[str]:
    """Preview of the request for one target."""
    if row.plan is None:
        yield f"{row.target.name}: cannot be sent: {row.error}"
        return
    plan, outgoing = row.plan, row.plan.outgoing
    url = (
        outgoing.request.url if outgoing.request.url.startswith("http") else f"{row.target.name} {outgoing.request.url}"
    )
    yield f"{outgoing.request.method} {url}"
    key = f"key from ${row.target.key_variable}" if row.target.key_variable else "no key"
    size = _output.number(len(outgoing.request.body.raw), "byte")
    words = (
        outgoing.protocol or "protocol unknown",
        outgoing.model or "no model",
        size,
        "stream" if outgoing.is_stream else "",
    )
    yield "  " + " · ".join(filter(None, (*words, key)))
    for name, value in row.target.headers:
        yield f"  header {name}: {value}"
    yield from (f"  {line}" for line in corrections.lines(row.choice))
    yield f"  contract {plan.contract.label}: {_verdict_words(plan)}"
    yield from (f"  note: {_output.cut(note)}" for note in outgoing.notes)
    for loss in outgoing.losses[:LOSSES_SHOWN]:
        yield f"  lost: {loss_words(loss)}"
    if len(outgoing.losses) > LOSSES_SHOWN:
        yield f"  lost: {len(outgoing.losses) - LOSSES_SHOWN} more (--format json lists all)"
    for pointer in row.dropped:
        yield f"  removed: {pointer} (an edit invalidated its signature)"
    for pointer in plan.unbound.pointers if plan.unbound else ():
        yield f"  invalid signature: {pointer}  {_output.cut(plan.unbound.message) if plan.unbound else ''}"
    if plan.unbound and plan.unbound.without:
        yield "  --drop-unbound sends the request without these blocks"


def _verdict_words(plan: Preflight) -> str:
    if plan.finding is None:
        return plan.verdict.value
    status = f" with {plan.refusal.status}" if plan.refusal else ""
    host = f" (accepted by {_output.cut(plan.accepted_by)} in the recording)" if plan.accepted_by else ""
    return f"{plan.verdict.value}{status}  {plan.finding.rule}  {plan.finding.pointer or '(whole body)'}{host}"


def result_lines(row: SendRow) -> Iterator[str]:
    """Outcome of the request at one target."""
    from workbench.rules import PENDING_RULE

    exchange = row.exchange
    if row.error:
        yield f"  not sent: {row.error}" if row.status == 2 else f"  failed: {row.error}"
    if exchange is None:
        if row.is_interrupted:
            yield "  not sent: interrupted"
        return
    status = str(exchange.response.status) if exchange.response else "none"
    body = exchange.response.body if exchange.response else None
    size = f" · {_output.number(len(body.raw) or body.original_length or 0, 'byte')}" if body else ""
    took = f" · {exchange.duration:.2f} s" if exchange.duration is not None else ""
    tries = exchange.meta.get("attempts")
    yield f"response: {status}{size}{took}" + (f" · attempt {tries}" if tries else "")
    if exchange.note:
        yield f"  {exchange.note}"
    yield from _answer_lines(row)
    for found in row.findings:
        if found.rule != PENDING_RULE:  # its call is shown above
            yield from finding_lines(found)


def _answer_lines(row: SendRow) -> Iterator[str]:
    from workbench.ir import Text, ToolCallIR

    answer = row.trial.decoded.response if row.trial else None
    if answer is None:
        if row.unread and not (row.exchange and row.exchange.state == "aborted"):  # its note says it
            yield f"  cannot be decoded: {_output.cut(row.unread, 2000)}"
        return
    if answer.error:
        yield f"  refused: {_output.cut(answer.error.message, 2000)}"
    for message in answer.messages:
        for part in message.parts:
            if isinstance(part, Text) and part.text and not row.was_shown:
                yield from (f"  {line}" for line in part.text.split("\n"))
            elif isinstance(part, ToolCallIR):
                yield f"  call {part.name or '(no name)'} {_output.cut(_arguments(part.raw, part.input), 2000)}"
    if answer.finish_reason:
        yield f"  finish reason: {answer.finish_reason}"


def _arguments(raw: str | None, value: JsonValue) -> str:
    import json

    return raw if raw is not None else json.dumps(value, ensure_ascii=False)


def as_json(row: SendRow) -> JsonValue:
    """One entry of ``sent``."""
    plan, exchange = row.plan, row.exchange
    outgoing = plan.outgoing if plan else None
    return {
        "target": row.target.name,
        "url": outgoing.request.url if outgoing else None,
        "protocol": (outgoing.protocol or None) if outgoing else None,
        "model": (outgoing.model or None) if outgoing else None,
        "stream": outgoing.is_stream if outgoing else None,
        "bytes": len(outgoing.request.body.raw) if outgoing else None,
        "key_variable": row.target.key_variable or None,
        "converted": outgoing.is_converted if outgoing else None,
        "losses": [loss._asdict() for loss in outgoing.losses] if outgoing else [],
        "ids": {new: old for old, new in outgoing.ids} if outgoing else {},
        "notes": list(outgoing.notes) if outgoing else [],
        "unbound": list(plan.unbound.pointers) if plan and plan.unbound else [],
        "dropped": list(row.dropped),
        **row.choice.as_json(),
        "before": _plan_json(plan) if plan else None,
        "status": exchange.response.status if exchange and exchange.response else None,
        "state": exchange.state.value if exchange else None,
        "seconds": exchange.duration if exchange else None,
        "attempts": exchange.meta.get("attempts", 1) if exchange else None,
        "note": (exchange.note or None) if exchange else None,
        "unread": row.unread or None,
        "answer": _answer_json(row),
        "findings": [finding_json(f) for f in row.findings],
        "error": str(row.error) if row.error else None,
        "exit": row.status,
    }


def _plan_json(plan: Preflight) -> JsonValue:
    found = plan.finding
    return {
        "contract": plan.contract.label,
        "verdict": plan.verdict.value,
        "rule": found.rule if found else None,
        "pointer": found.pointer if found else None,
        "message": found.message if found else None,
        "findings": [finding_json(f) for f in plan.findings],
    }


def _answer_json(row: SendRow) -> JsonValue:
    from workbench.ir import Text

    answer = row.trial.decoded.response if row.trial else None
    if answer is None:
        return None
    parts = [p for m in answer.messages for p in m.parts]
    calls = [call for m in answer.messages for _, call in m.tool_calls()]
    return {
        "model": answer.model,
        "text": "\n".join(p.text for p in parts if isinstance(p, Text)),
        "reasoning": any(True for m in answer.messages for _ in m.reasoning()),
        "calls": [{"id": c.id, "name": c.name, "arguments": _arguments(c.raw, c.input)} for c in calls],
        "finish_reason": answer.finish_reason,
        "error": answer.error.message if answer.error else None,
    }
