"""The state of a loop, and its next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from workbench import contracts, protocols
from workbench.contracts import Contract, choose
from workbench.edits import text_of
from workbench.errors import LocalProtocolError, WireError
from workbench.ir import Message, Reasoning, Text, ToolCallIR
from workbench.limits import BYTES_PER_TOKEN
from workbench.protocols.decode import DecodedExchange
from workbench.send.loop.following import Following, following, result_values, text_result_values, user_values
from workbench.send.loop.policy import AS_IT_COMES, Policy
from workbench.send.loop.recorded import call_key
from workbench.send.loop.said import answer_values
from workbench.send.loop.steps import BUILT_IN, Answer, Ended, Limits, Outcome, Reason, Result, Say, Send, Step
from workbench.toolcalls import formats
from workbench.toolcalls.arguments import ladder
from workbench.toolcalls.arguments.ladder import Ladder
from workbench.wire.exchange import Exchange, State

DEFAULT_LIMITS = Limits()

FREE_TEXT = ("openai-custom", BUILT_IN)
"""Formats of calls whose input is no JSON text."""


@dataclass(frozen=True)
class Loop:
    """A conversation that goes on, as a value.

    Attributes:
        exchange: the last one; without an answer, its request is sent first.
        protocol: what it is written in; "" to find it.
        contract: label of the contract that says which reasoning goes back; "" to choose one for each exchange.
        parser: text format in which the model writes calls into its text; "" where calls come in the protocol's form.
        limits: when it stops by itself.
        results: of the calls of the answer, as far as they were given, in order.
        said: what the user says next, None for nothing.
        turns: requests that were sent.
        tokens: of these and their answers.
        is_estimated: some of the answers brought no counts, and their length stands for them.
        made: keys (``call_key``) of the calls of earlier answers; what one answer makes twice counts once.
        policy: how it goes along with what the model cannot do.
        errors: answers in a row, before this one, whose calls all came to an error.
    """

    exchange: Exchange
    protocol: str = ""
    contract: str = ""
    parser: str = ""
    limits: Limits = DEFAULT_LIMITS
    results: tuple[Result, ...] = ()
    said: str | None = None
    turns: int = 0
    tokens: int = 0
    is_estimated: bool = False
    made: tuple[str, ...] = ()
    policy: Policy = AS_IT_COMES
    errors: int = 0

    def again(self) -> Loop:
        """The loop with its last request to be sent once more, where what came of it is no whole answer."""
        step = self.step
        is_lost = isinstance(step, Ended) and step.reason in (Reason.REFUSED, Reason.CUT)
        return replace(self, exchange=replace(self.exchange, response=None, state=State.COMPLETE)) if is_lost else self

    def limited(self, limits: Limits) -> Loop:
        """The loop with other limits."""
        return self._with(limits=limits)

    def _with(self, **changes: Any) -> Loop:
        """Another value about the same exchange, which is not read anew."""
        made = replace(self, **changes)
        kept = {name: value for name, value in self.__dict__.items() if name in ("decoded", "terms", "calls")}
        made.__dict__.update(kept)
        return made

    @cached_property
    def decoded(self) -> DecodedExchange:
        """The last exchange, read."""
        return DecodedExchange(0, self.exchange, self.protocol or None)

    @cached_property
    def terms(self) -> Contract:
        """The contract of the last exchange."""
        request = self.exchange.request
        clues = contracts.Clues(
            url=request.url if request else None, model=self.decoded.request.model if self.decoded.request else None
        )
        if self.contract:
            return contracts.get(self.contract, protocol=self.decoded.protocol, clues=clues)
        return choose(clues, self.decoded.protocol)[0]

    @cached_property
    def calls(self) -> tuple[ToolCallIR, ...]:
        """The calls of the answer that wait for results, or had them given."""
        answer = self.decoded.answer
        if answer is None or not answer.choices:
            return ()
        return self._native[:1] if self._drops_calls else self._native or self._text_calls(answer.choices[0])

    @cached_property
    def _native(self) -> tuple[ToolCallIR, ...]:
        """The calls of the answer in the protocol's own form."""
        answer = self.decoded.answer
        messages = answer.choices[0] if answer and answer.choices else ()
        return tuple(call for message in messages for _, call in message.tool_calls())

    @property
    def _drops_calls(self) -> bool:
        """Calls behind the first are left out of what goes back; where the server keeps its answer, they cannot be."""
        request = self.decoded.request
        return self.policy.is_serial and len(self._native) > 1 and request is not None and request.previous_id is None

    @cached_property
    def step(self) -> Step:
        """What is to be done next. The same however often it is asked for."""
        stopped = self._unreadable() or (self._broken() if self.exchange.response else None)
        if stopped:
            return stopped
        if self.exchange.response is None:
            return self._limited() or self._first()
        if len(self.results) < len(self.calls):
            return self._repeated() or self._answer(len(self.results))
        if not self.calls and self.said is None and not self._is_paused:
            return self._done()
        return self._limited() or self._failing() or self._next()

    def after(self, outcome: Outcome, *, protocol: str = "") -> Loop:
        """The loop after its step, given what came of that.

        Args:
            outcome: of a ``Send`` an ``Exchange``, of an ``Answer`` a ``Result``; of an ``Ended`` what lets it go on.
            protocol: of the exchange, where it is another one than before: its target speaks another.

        Raises:
            TypeError: nothing of the kind can come of it.
        """
        step = self.step
        if isinstance(step, Send) and isinstance(outcome, Exchange):
            return self._sent(outcome, protocol or self.protocol)
        if isinstance(step, Answer) and isinstance(outcome, Result):
            return self._with(results=(*self.results, outcome))
        if isinstance(step, Ended) and isinstance(outcome, Limits) and step.reason.is_limit:
            return self.limited(outcome)
        if isinstance(step, Ended) and isinstance(outcome, Say) and step.reason in (Reason.DONE, Reason.TEXT_CALL):
            return self._with(said=outcome.text)
        raise TypeError(f"a step of type {type(step).__name__} does not take {type(outcome).__name__}")

    def _sent(self, exchange: Exchange, protocol: str) -> Loop:
        """After a request: what it cost."""
        made = (*self.made, *dict.fromkeys(map(call_key, self.calls)))
        sent = replace(
            self,
            exchange=exchange,
            protocol=protocol,
            results=(),
            said=None,
            turns=self.turns + 1,
            made=made,
            errors=self._errors,
        )
        spent, is_estimated = sent._spent()
        return replace(sent, tokens=self.tokens + spent, is_estimated=self.is_estimated or is_estimated)

    def _spent(self) -> tuple[int, bool]:
        """Tokens of the last exchange, and whether they are estimated."""
        usage = self.decoded.response.usage if self.decoded.response else None
        if usage and usage.input is not None and usage.output is not None:
            return sum(n or 0 for n in (usage.input, usage.output, usage.cache_read, usage.cache_write)), False
        size = len(self.decoded.request_text) + len(self.decoded.response_text)
        return -(-size // BYTES_PER_TOKEN), True

    # -- steps

    def _first(self) -> Send:
        request = self.exchange.request
        assert request is not None
        return Send(request, self.decoded.protocol or "")

    def _answer(self, number: int) -> Answer:
        call = self.calls[number]
        read, why_not = self._ladder(call), self.policy.held_back(call, number)
        if why_not:
            read = replace(read or Ladder(), refusal=why_not)
        return Answer(call, number, len(self.calls), read)

    def _ladder(self, call: ToolCallIR) -> Ladder | None:
        request = self.decoded.request
        if call.format in FREE_TEXT:
            return None
        if request and not request.tools and request.previous_id is not None:  # the server holds the tools
            return ladder.climb(call.raw, call.input, None)
        return self.policy.read(call, request.tools if request else ())

    def _next(self) -> Send | Ended:
        try:
            made = self._following()
        except (LocalProtocolError, WireError) as error:
            return Ended(Reason.UNREADABLE, f"no request can follow: {error}")
        return Send(made.request, self.decoded.protocol or "", made.pointer, made.added, tuple(self._notes()))

    def _following(self) -> Following:
        request = self.decoded.request
        assert request is not None
        adapter = protocols.get(request.protocol)
        told = user_values(adapter, self.said) if self.said is not None else []
        if self.calls and self._are_in_text:
            told = [*text_result_values(adapter, self.parser, self.calls, self.results), *told]
        elif self.calls:
            told = [*result_values(adapter, self.calls, self.results), *told]
        said = answer_values(self.decoded, self._unwanted, only_first_call=self._drops_calls)
        return following(self.decoded, said, told)

    @property
    def _unwanted(self) -> Sequence[str]:
        refused = self.terms.term("reasoning.refused-carriers")
        return self.policy.unwanted(self.carriers, refused if isinstance(refused, list) else ())

    @property
    def carriers(self) -> Sequence[str]:
        """The carriers of the reasoning in the answer, each once."""
        response = self.decoded.response
        messages = response.choices[0] if response and response.choices else ()
        return list(dict.fromkeys(part.carrier.value for m in messages for _, part in m.reasoning()))

    def _notes(self) -> list[str]:
        response = self.decoded.response
        who = "the endpoint was measured to refuse" if self.policy.reasoning else f"{self.terms.label} refuses"
        notes = [f"{name} is left out: {who} it" for name in self.carriers if name in self._unwanted]
        if self._drops_calls:
            notes.append(f"one call at a time: calls behind the first are left out, {len(self._native) - 1}")
        for call, result in zip(self.calls, self.results, strict=False):
            if call.format == BUILT_IN and result.element is None:
                notes.append(f"{call.name or 'a call'} is a built-in tool: the form of its result may be another one")
        if response and len(response.choices) > 1:
            notes.append(f"the first of {len(response.choices)} choices is continued")
        return notes

    # -- why it ends

    def _unreadable(self) -> Ended | None:
        if self.exchange.request is None:
            return Ended(Reason.UNREADABLE, "no request was recorded")
        if self.decoded.protocol not in protocols.protocols() or self.decoded.request is None:
            if self.exchange.response is None and text_of(self.exchange.request):
                return None  # it can still be sent as it is
            return Ended(Reason.UNREADABLE, "the request cannot be read: nothing can be added to it")
        return None

    def _broken(self) -> Ended | None:
        answer, http = self.decoded.answer, self.exchange.response
        if answer and answer.error:
            status = f"{http.status}: " if http and http.status >= 400 else ""
            return Ended(Reason.REFUSED, f"{status}{answer.error.message}")
        if http and http.status >= 400:
            return Ended(Reason.REFUSED, f"status {http.status}")
        if self.exchange.state is not State.COMPLETE:
            return Ended(Reason.CUT, f"the answer is {self.exchange.state}: {self.exchange.note or 'it is not whole'}")
        if answer is None:
            return Ended(Reason.CUT, "there is no answer that can be read")
        if not answer.is_complete:
            return Ended(Reason.CUT, "the answer breaks off")
        return None

    def _done(self) -> Ended:
        answer, request = self.decoded.response, self.decoded.request
        text = "\n".join(_texts(answer.choices[0])) if answer and answer.choices else ""
        found = formats.find(text, request.tools if request else ()) if not self.parser else ()
        if found:
            what = f"the model wrote a call of {found[0].name!r} as text ({found[0].format})"
            return Ended(Reason.TEXT_CALL, what, found[0].format)
        stop = answer.stop if answer else None
        more = {"length": ", cut at its length", "filter": ", stopped by a filter"}.get(stop or "", "")
        return Ended(Reason.DONE, f"the model answered without a call{more}")

    def _limited(self) -> Ended | None:
        if 0 < self.limits.turns <= self.turns:
            return Ended(Reason.TURNS, f"requests sent: {self.turns}, which is the limit")
        if 0 < self.limits.tokens <= self.tokens:
            how = "an estimated " if self.is_estimated else ""
            return Ended(Reason.TOKENS, f"{how}{self.tokens:,} tokens were used, the limit is {self.limits.tokens:,}")
        return None

    def _repeated(self) -> Ended | None:
        if self.limits.repeats:
            made = Counter(self.made)
            for call in self.calls:
                times = made[call_key(call)] + 1
                if times >= self.limits.repeats:
                    return Ended(Reason.REPEATED, f"the same call of {call.name!r} came {times} times")
        return None

    @property
    def _errors(self) -> int:
        """Answers in a row whose calls all came to an error, this one with them once its calls are answered."""
        if not self.calls:
            return 0
        return self.errors + 1 if all(result.is_error for result in self.results) else 0

    def _failing(self) -> Ended | None:
        if self.calls and 0 < self.limits.errors <= self._errors:
            many = f"{self._errors} answers in a row came" if self._errors > 1 else "the call came"
            return Ended(Reason.ERRORS, f"{many} to an error, which is the limit")
        return None

    @property
    def _is_paused(self) -> bool:
        """The provider wants its answer back to go on with it."""
        return self.decoded.response is not None and self.decoded.response.stop == "pause"

    # -- calls in text

    @property
    def _are_in_text(self) -> bool:
        return bool(self.calls) and self.calls[0].format == self.parser != ""

    def _text_calls(self, messages: Sequence[Message]) -> tuple[ToolCallIR, ...]:
        """The calls in what the model wrote, in what it thought where it wrote none."""
        if not self.parser:
            return ()
        tools = self.decoded.request.tools if self.decoded.request else ()
        thoughts = (p.text for m in messages for p in m.parts if isinstance(p, Reasoning) and p.text)
        for text in ("\n".join(_texts(messages)), "\n".join(thoughts)):
            reader = formats.get(self.parser).parser(tools)
            found = [f for f in (*reader.feed(text), *reader.close()) if isinstance(f, formats.TextCall)]
            if found:
                return tuple(
                    ToolCallIR(
                        call.id or f"call_{self.turns}_{n}",
                        call.name,
                        call.input,
                        self.parser,
                        raw=call.raw if call.input is None else None,
                        error="; ".join(call.problems) or None,
                    )
                    for n, call in enumerate(found)
                )
        return ()


def _texts(messages: Sequence[Message]) -> list[str]:
    return [p.text for m in messages for p in m.parts if isinstance(p, Text)]
