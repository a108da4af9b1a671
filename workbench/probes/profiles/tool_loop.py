"""The tool-use cycle as an immutable state machine; performs no I/O.

Select the model, look up the profile, run probes if it is stale, choose adapter and parser, encode the request, receive
and parse the response, validate arguments, answer every call with a result or a structured error, encode the results,
keep reasoning and tool state, record the exchange; and again, until it ends. ``pending`` is the work for the caller; a
state without one is only displayed. Failures degrade: without a profile nothing is corrected, a correction that fails
is reported, unusable arguments are answered with an error.

    tool_loop = begin(loop, target, profile=profile, now=now)
    while not isinstance(todo := tool_loop.pending, LoopEnd):
        tool_loop = tool_loop.after(do(todo) if todo else None)
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

from workbench.lazy_dataclass import dataclass, replace
from workbench.probes.profiles.choosing import DueProbe, light
from workbench.probes.profiles.conservative import fall
from workbench.probes.profiles.corrections import Correction, apply_switches, corrections
from workbench.probes.profiles.corrector import correct_loop, correct_send, protocol_of
from workbench.probes.profiles.profile import CapabilityProfile, ProfileKey
from workbench.rules import Counts
from workbench.send import Outgoing, Target
from workbench.send.loop import AnswerCall, CallResult, ConversationLoop, Limits, LoopEnd, Say, Send, with_sent_body
from workbench.toolcalls.arguments import ArgumentStep
from workbench.wire import Exchange


class LoopState(StrEnum):
    """States of the cycle."""

    SELECTED = "model selected"
    PROFILE = "capability profile loaded"
    PROBE = "probe first"
    CHOSEN = "adapter and parser chosen"
    ENCODED = "request encoded"
    RECEIVED = "response received"
    PARSED = "response parsed"
    VALIDATED = "arguments validated"
    ANSWER = "call waiting for a result"
    RESULTS = "results encoded"
    KEPT = "reasoning and tool state stored"
    RECORDED = "recorded"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Measure:
    """Run probes first; the outcome is the new profile, or None to continue with the known one."""

    due: tuple[DueProbe, ...]


Pending: TypeAlias = Measure | Outgoing | AnswerCall | LoopEnd | None
"""Work for the caller; None if a state is only displayed."""

Outcome: TypeAlias = CapabilityProfile | Exchange | CallResult | Limits | Say | None

NO_COUNTS = Counts()


@dataclass(frozen=True)
class ToolLoop:
    """The cycle, as a value.

    Attributes:
        loop: the conversation.
        target: of requests; ``model`` replaces the recorded one, empty to keep it.
        profile: of target and model; None if there is none.
        due: stale probes.
        on, off: corrections switched by the user.
        decided: corrections in effect.
        earlier: previous exchanges, the source of reasoning that the history lost.
        counts: of the session so far.
        falls: restrict the model when the counts get worse.
    """

    loop: ConversationLoop
    target: Target
    model: str = ""
    profile: CapabilityProfile | None = None
    due: tuple[DueProbe, ...] = ()
    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    decided: tuple[Correction, ...] = ()
    earlier: tuple[Exchange, ...] = ()
    counts: Counts = NO_COUNTS
    falls: bool = True
    state: LoopState = LoopState.SELECTED

    @property
    def pending(self) -> Pending:
        """Work for the caller. Raises as ``outgoing`` if a request cannot be encoded."""
        if self.state is LoopState.PROBE:
            return Measure(self.due)
        if self.state is LoopState.ENCODED:
            return self.outgoing
        step = self.loop.step
        if self.state is LoopState.ANSWER and isinstance(step, AnswerCall):
            return step
        return step if self.state is LoopState.ENDED and isinstance(step, LoopEnd) else None

    @cached_property
    def outgoing(self) -> Outgoing:
        """The next request, corrected, on its way to the target. Raises LocalProtocolError, UsageError."""
        step = self.loop.step
        assert isinstance(step, Send)
        return correct_send(step, self.target, self.decided, self.earlier, self.model)

    @property
    def lines(self) -> tuple[str, ...]:
        """Details of this state, one line each."""
        return tuple(_LINES[self.state](self)) if self.state in _LINES else ()

    def after(self, outcome: Outcome = None) -> ToolLoop:
        """Next state, given the outcome of the pending step.

        Raises:
            TypeError: this cannot be the outcome of the step.
        """
        if isinstance(outcome, CapabilityProfile) and self.state is LoopState.PROBE:
            return replace(self, profile=outcome, due=(), state=LoopState.PROFILE)
        if isinstance(outcome, Exchange) and self.state is LoopState.ENCODED:
            leaving = self.outgoing
            return self._at(
                self.loop.after(with_sent_body(outcome, leaving), protocol=leaving.protocol), LoopState.RECEIVED
            )
        if isinstance(outcome, CallResult) and self.state is LoopState.ANSWER:
            loop = self.loop.after(outcome)
            return self._at(loop, LoopState.ANSWER if isinstance(loop.step, AnswerCall) else LoopState.RESULTS)
        if isinstance(outcome, Limits | Say) and self.state is LoopState.ENDED:
            return self._at(self.loop.after(outcome), LoopState.RECORDED)._advance()
        if outcome is not None or self.state in (LoopState.ENCODED, LoopState.ANSWER, LoopState.ENDED):
            raise TypeError(f"{self.state.value}: {type(outcome).__name__} is not an outcome of this state")
        return self._advance()

    def _at(self, loop: ConversationLoop, state: LoopState) -> ToolLoop:
        return replace(self, loop=loop, state=state)

    def _advance(self) -> ToolLoop:
        """The state after one that is only displayed."""
        if self.state is LoopState.SELECTED:
            return replace(self, state=LoopState.PROFILE)
        if self.state is LoopState.PROFILE and self.due:
            return replace(self, state=LoopState.PROBE)
        if self.state in (LoopState.PROFILE, LoopState.PROBE):
            return self._choose()
        if self.state is LoopState.CHOSEN:
            return self._next_state(LoopState.PARSED)
        if self.state is LoopState.RECEIVED:
            return replace(self, state=LoopState.PARSED)
        if self.state is LoopState.PARSED:
            return replace(self, state=LoopState.VALIDATED)._count_calls() if self.loop.calls else self._to_recorded()
        if self.state is LoopState.VALIDATED:
            return self._next_state(LoopState.RECORDED)
        if self.state is LoopState.RESULTS:
            return replace(self, state=LoopState.KEPT)
        if self.state is LoopState.KEPT:
            return replace(self, state=LoopState.RECORDED)
        again = self._with_corrections()
        return again._choose() if again.decided != self.decided else self._next_state(LoopState.ENDED)

    def _to_recorded(self) -> ToolLoop:
        return replace(self, state=LoopState.RECORDED)

    def _next_state(self, otherwise: LoopState) -> ToolLoop:
        """State for the loop's next step; an existing response is read first."""
        step = self.loop.step
        if self.state is LoopState.CHOSEN and self.loop.exchange.response and not self.loop.results and self.loop.calls:
            return replace(self, state=LoopState.PARSED)
        if isinstance(step, Send):
            return replace(self, state=LoopState.ENCODED)
        if isinstance(step, AnswerCall):
            return replace(self, state=LoopState.ANSWER)
        return replace(self, state=LoopState.ENDED if otherwise is not LoopState.RECORDED else LoopState.RECORDED)

    # -- corrections

    def _with_corrections(self) -> ToolLoop:
        """A copy with the corrections that profile, session and user require now."""
        result = corrections(self.profile, fall(self.profile, self.counts if self.falls else None))
        return replace(self, decided=apply_switches(result, self.on, self.off))

    def _choose(self) -> ToolLoop:
        tool_loop = self._with_corrections()
        return replace(tool_loop, loop=correct_loop(tool_loop.loop, tool_loop.decided), state=LoopState.CHOSEN)

    def _count_calls(self) -> ToolLoop:
        """A copy with the calls of the response counted: how many can be read, and how many match their schema."""
        loop, counts = self.loop, self.counts
        while isinstance(step := loop.step, AnswerCall):
            read = step.ladder
            is_read = read is None or ArgumentStep.STRICT in read.rungs
            fits = step.refusal is None and is_read
            counts = counts + Counts(calls=1, parsed=int(is_read), fitting=int(fits))
            loop = loop.after(CallResult(""))
        return replace(self, counts=counts)


def begin(
    loop: ConversationLoop,
    target: Target,
    *,
    model: str = "",
    profile: CapabilityProfile | None = None,
    key: ProfileKey | None = None,
    now: float = 0.0,
    on: Sequence[str] = (),
    off: Sequence[str] = (),
    counts: Counts = NO_COUNTS,
) -> ToolLoop:
    """The cycle of a conversation, in its first state.

    Args:
        profile: of this target and model; None if there is none: then nothing is corrected unasked.
        key: in use now, as far as known; a profile of another key is stale.
        now: seconds since the epoch.
        on, off: corrections, as for ``apply_switches``.
        counts: of the session until now.

    Raises:
        UsageError: no such correction.
    """
    apply_switches(corrections(profile), on, off)
    due = light(profile, now, key) if profile else ()
    return ToolLoop(loop, target, model, profile, due, tuple(on), tuple(off), counts=counts)


# -- details of each state


def _selection_lines(motion: ToolLoop) -> list[str]:
    request = motion.loop.decoded_exchange.request
    model = motion.model or motion.target.model or (request.model if request else "")
    return [f"{model or 'no model'} at {motion.target.name}"]


def _profile(motion: ToolLoop) -> list[str]:
    if motion.profile is None:
        return ["no profile was measured, so no corrections are applied"]
    known = sum(value is not None for value in motion.profile.facts.values())
    return [
        f"{motion.profile.key.endpoint} · {motion.profile.key.protocol} · {motion.profile.key.model}: {known} facts"
    ]


def _probe(motion: ToolLoop) -> list[str]:
    return [f"{due.probe.name}: {due.why}" for due in motion.due]


def _choice_lines(motion: ToolLoop) -> list[str]:
    protocol = (
        protocol_of(motion.decided, motion.target.protocols)
        or motion.loop.decoded_exchange.protocol
        or "protocol unknown"
    )
    read = f"calls parsed from text as {motion.loop.parser}" if motion.loop.parser else "calls in the protocol's format"
    correction_lines = [f"{c.name}: {c.does if c.is_on else 'switched off'} ({c.why})" for c in motion.decided]
    return [f"{protocol}, {read}", *correction_lines]


def _encoding_lines(motion: ToolLoop) -> list[str]:
    leaving = motion.outgoing
    return [f"{leaving.protocol}, {len(leaving.request.body.raw):,} bytes", *leaving.notes]


def _response_lines(motion: ToolLoop) -> list[str]:
    exchange = motion.loop.exchange
    status = exchange.response.status if exchange.response else None
    return [f"status {status}" if status else f"no response: {exchange.note}"]


def _parsing_lines(motion: ToolLoop) -> list[str]:
    calls = motion.loop.calls
    return [f"{call.name} {call.id or '(no id)'}" for call in calls] or ["no tool call"]


def _validation_lines(motion: ToolLoop) -> list[str]:
    loop, lines = motion.loop, list[str]()
    while isinstance(step := loop.step, AnswerCall):
        rungs = ", ".join(step.ladder.rungs) if step.ladder else "free text"
        lines.append(f"{step.call.name}: {step.refusal.message if step.refusal else rungs}")
        loop = loop.after(CallResult(""))
    return lines


def _results(motion: ToolLoop) -> list[str]:
    step = motion.loop.step
    return [f"{len(step.added)} new elements at {step.pointer}"] if isinstance(step, Send) else []


def _history_lines(motion: ToolLoop) -> list[str]:
    step = motion.loop.step
    names = motion.loop.carriers
    notes = list(step.notes) if isinstance(step, Send) else []
    lines = [f"{name} is sent back unchanged" for name in names if not any(note.startswith(name) for note in notes)]
    return [*lines, *notes, f"{motion.loop.turns} requests, {motion.loop.tokens:,} tokens"]


def _recording_lines(motion: ToolLoop) -> list[str]:
    return [f"exchange {motion.loop.exchange.id}"]


def _end_lines(motion: ToolLoop) -> list[str]:
    step = motion.loop.step
    return [step.text] if isinstance(step, LoopEnd) else []


_LINES = {
    LoopState.SELECTED: _selection_lines,
    LoopState.PROFILE: _profile,
    LoopState.PROBE: _probe,
    LoopState.CHOSEN: _choice_lines,
    LoopState.ENCODED: _encoding_lines,
    LoopState.RECEIVED: _response_lines,
    LoopState.PARSED: _parsing_lines,
    LoopState.VALIDATED: _validation_lines,
    LoopState.RESULTS: _results,
    LoopState.KEPT: _history_lines,
    LoopState.RECORDED: _recording_lines,
    LoopState.ENDED: _end_lines,
}
