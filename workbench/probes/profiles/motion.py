"""The whole motion of tool use, one visible state after the other: a value, without I/O.

Model selected, profile looked up, probes first where it is stale, adapter and parser chosen, request encoded, answer
received, parsed, its arguments validated, every call answered by a result or a structured error, results encoded,
reasoning and tool state kept, exchange recorded; and again, until it ends. ``pending`` says what whoever drives it has
to do; a state without one only wants to be seen. Whatever degrades does so in its state: a missing profile corrects
nothing, a correction that cannot be made is said, arguments that cannot be used come back as an error.

    motion = begin(loop, target, profile=profile, now=now)
    while not isinstance(todo := motion.pending, Ended):
        motion = motion.after(do(todo) if todo else None)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

from workbench.probes.profiles.conservative import fall
from workbench.probes.profiles.corrected import correct_loop, correct_send, protocol_of
from workbench.probes.profiles.corrections import Correction, apply_switches, corrections
from workbench.probes.profiles.profile import CapabilityProfile, ProfileKey
from workbench.probes.profiles.refresh import DueProbe, light
from workbench.rules import Counts
from workbench.send import Outgoing, Target
from workbench.send.loop import AnswerCall, CallResult, ConversationLoop, Limits, LoopEnd, Say, Send, with_sent_body
from workbench.toolcalls.arguments import Rung
from workbench.wire import Exchange, HttpRequest


class LoopState(StrEnum):
    """Where the motion stands."""

    SELECTED = "model selected"
    PROFILE = "profile looked up"
    PROBE = "probe first"
    CHOSEN = "adapter and parser chosen"
    ENCODED = "request encoded"
    RECEIVED = "answer received"
    PARSED = "answer parsed"
    VALIDATED = "arguments validated"
    ANSWER = "call to be answered"
    RESULTS = "results encoded"
    KEPT = "reasoning and tool state kept"
    RECORDED = "recorded"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Measure:
    """Probes are to be run first; what comes of it is the new profile, or None to go on with what is known."""

    due: tuple[DueProbe, ...]


Pending: TypeAlias = Measure | Outgoing | AnswerCall | LoopEnd | None
"""What is to be done; None where a state only wants to be seen."""

Outcome: TypeAlias = CapabilityProfile | Exchange | CallResult | Limits | Say | None

NO_COUNTS = Counts()


@dataclass(frozen=True)
class ToolLoop:
    """The motion, as a value.

    Attributes:
        loop: the conversation.
        target: where requests go; ``model`` is asked for in place of the recorded one, "" for that one.
        profile: what holds for them, None for nothing.
        due: probes that are stale.
        on, off: corrections that people switched.
        decided: what is corrected.
        earlier: what was sent and answered before it: reasoning that its history lost is there.
        counts: of the session so far.
        falls: when the counts fall, more is held back.
        request: what people make of the request that is next, None for as it is.
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
    request: HttpRequest | None = None
    state: LoopState = LoopState.SELECTED

    @property
    def pending(self) -> Pending:
        """What is to be done. Raises as ``outgoing`` where a request cannot be said."""
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
        """The request that is next, corrected, on its way to the target. Raises LocalProtocolError, UsageError."""
        step = self.loop.step
        assert isinstance(step, Send)
        made = correct_send(step, self.target, self.decided, self.earlier, self.model)
        return made if self.request is None else replace(made, request=self.request)

    def with_request(self, request: HttpRequest) -> ToolLoop:
        """With another request to be sent in the place of the one that is next."""
        return replace(self, request=request)

    @property
    def lines(self) -> tuple[str, ...]:
        """What there is to see in this state, one line each."""
        return tuple(_LINES[self.state](self)) if self.state in _LINES else ()

    def after(self, outcome: Outcome = None) -> ToolLoop:
        """The motion after its state, given what came of what was pending.

        Raises:
            TypeError: nothing of the kind can come of it.
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
            raise TypeError(f"{self.state.value}: nothing that {type(outcome).__name__} could be the outcome of")
        return self._advance()

    def _at(self, loop: ConversationLoop, state: LoopState) -> ToolLoop:
        return replace(self, loop=loop, request=None, state=state)

    def _advance(self) -> ToolLoop:
        """The state that follows on one that only wanted to be seen."""
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
        """By what the loop wants next; an answer that is there already is read first."""
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
        """With the corrections that profile and session ask for now, and people want."""
        made = corrections(self.profile, fall(self.profile, self.counts if self.falls else None))
        return replace(self, decided=apply_switches(made, self.on, self.off))

    def _choose(self) -> ToolLoop:
        made = self._with_corrections()
        return replace(made, loop=correct_loop(made.loop, made.decided), state=LoopState.CHOSEN)

    def _count_calls(self) -> ToolLoop:
        """With the calls of the answer counted: how many can be read, and how many fit."""
        loop, counts = self.loop, self.counts
        while isinstance(step := loop.step, AnswerCall):
            read = step.ladder
            is_read = read is None or Rung.STRICT in read.rungs
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
    """The motion of a conversation, from its first state.

    Args:
        profile: the cached one of this target and model, None for none: then nothing is corrected unasked.
        key: what is in use now, as far as it is known; a profile of another one is stale.
        now: seconds since the epoch.
        on, off: corrections as ``switched`` takes them.
        counts: of the session until now.

    Raises:
        UsageError: no such correction.
    """
    apply_switches(corrections(profile), on, off)
    due = light(profile, now, key) if profile else ()
    return ToolLoop(loop, target, model, profile, due, tuple(on), tuple(off), counts=counts)


# -- what there is to see


def _selected(motion: ToolLoop) -> list[str]:
    request = motion.loop.decoded.request
    model = motion.model or motion.target.model or (request.model if request else "")
    return [f"{model or 'no model'} at {motion.target.name}"]


def _profile(motion: ToolLoop) -> list[str]:
    if motion.profile is None:
        return ["none was measured: nothing is corrected unasked"]
    known = sum(value is not None for value in motion.profile.facts.values())
    return [
        f"{motion.profile.key.endpoint} · {motion.profile.key.protocol} · {motion.profile.key.model}: {known} facts"
    ]


def _probe(motion: ToolLoop) -> list[str]:
    return [f"{due.probe.name}: {due.why}" for due in motion.due]


def _chosen(motion: ToolLoop) -> list[str]:
    protocol = (
        protocol_of(motion.decided, motion.target.protocols) or motion.loop.decoded.protocol or "protocol unknown"
    )
    read = f"calls read from the text as {motion.loop.parser}" if motion.loop.parser else "calls in the protocol's form"
    told = [f"{c.name}: {c.does if c.is_on else 'switched off'} ({c.why})" for c in motion.decided]
    return [f"{protocol}, {read}", *told]


def _encoded(motion: ToolLoop) -> list[str]:
    leaving = motion.outgoing
    return [f"{leaving.protocol}, {len(leaving.request.body.raw):,} bytes", *leaving.notes]


def _received(motion: ToolLoop) -> list[str]:
    exchange = motion.loop.exchange
    status = exchange.response.status if exchange.response else None
    return [f"status {status}" if status else f"no answer: {exchange.note}"]


def _parsed(motion: ToolLoop) -> list[str]:
    calls = motion.loop.calls
    return [f"{call.name} {call.id or '(no id)'}" for call in calls] or ["no call"]


def _validated(motion: ToolLoop) -> list[str]:
    loop, lines = motion.loop, list[str]()
    while isinstance(step := loop.step, AnswerCall):
        rungs = ", ".join(step.ladder.rungs) if step.ladder else "free text"
        lines.append(f"{step.call.name}: {step.refusal.message if step.refusal else rungs}")
        loop = loop.after(CallResult(""))
    return lines


def _results(motion: ToolLoop) -> list[str]:
    step = motion.loop.step
    return [f"{len(step.added)} new elements at {step.pointer}"] if isinstance(step, Send) else []


def _kept(motion: ToolLoop) -> list[str]:
    step = motion.loop.step
    came = motion.loop.carriers
    gone = list(step.notes) if isinstance(step, Send) else []
    kept = [f"{name} goes back as it came" for name in came if not any(note.startswith(name) for note in gone)]
    return [*kept, *gone, f"{motion.loop.turns} requests, {motion.loop.tokens:,} tokens"]


def _recorded(motion: ToolLoop) -> list[str]:
    return [f"exchange {motion.loop.exchange.id}"]


def _ended(motion: ToolLoop) -> list[str]:
    step = motion.loop.step
    return [step.text] if isinstance(step, LoopEnd) else []


_LINES = {
    LoopState.SELECTED: _selected,
    LoopState.PROFILE: _profile,
    LoopState.PROBE: _probe,
    LoopState.CHOSEN: _chosen,
    LoopState.ENCODED: _encoded,
    LoopState.RECEIVED: _received,
    LoopState.PARSED: _parsed,
    LoopState.VALIDATED: _validated,
    LoopState.RESULTS: _results,
    LoopState.KEPT: _kept,
    LoopState.RECORDED: _recorded,
    LoopState.ENDED: _ended,
}
