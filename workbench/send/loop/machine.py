"""The state of a loop, and its next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from workbench import contracts, protocols
from workbench.contracts import Contract, choose
from workbench.edits import text_of
from workbench.errors import LocalProtocolError, WireError
from workbench.ir import Message, Reasoning, Text, ToolCallIR
from workbench.lazy_dataclass import dataclass, replace
from workbench.limits import BYTES_PER_TOKEN
from workbench.protocols import DecodedExchange
from workbench.send.loop.next_request import (
    NextRequest,
    answer_values,
    next_request,
    result_values,
    text_result_values,
    user_values,
)
from workbench.send.loop.recorded_results import call_key
from workbench.send.loop.steps import (
    AS_IT_COMES,
    BUILT_IN,
    AnswerCall,
    CallResult,
    EndReason,
    Limits,
    LoopEnd,
    LoopPolicy,
    Outcome,
    Say,
    Send,
    Step,
)
from workbench.toolcalls import formats
from workbench.toolcalls.arguments import Ladder, ladder
from workbench.wire import Exchange, State

DEFAULT_LIMITS = Limits()

FREE_TEXT = ("openai-custom", BUILT_IN)
"""Formats of calls whose input is no JSON text."""


@dataclass(frozen=True)
class ConversationLoop:
    """A conversation to continue, as a value.

    Attributes:
        exchange: the last one; without a response, its request is sent first.
        protocol: of the exchange; empty to detect it.
        contract: label of the contract that decides which reasoning is sent back; empty to choose one per exchange.
        parser: text format of calls that the model writes as text; empty if calls have the protocol's form.
        limits: at which it stops.
        results: of the answer's calls, as far as given, in order.
        user_text: next user message; None if there is none.
        turns: requests sent.
        tokens: used by these and their responses.
        is_estimated: some responses contained no token counts, so their length was used.
        call_keys: keys (``call_key``) of the calls of earlier answers; duplicates within one answer count once.
        policy: adaptation to the limits of the model.
        errors: number of consecutive earlier answers whose calls all failed.
    """

    exchange: Exchange
    protocol: str = ""
    contract: str = ""
    parser: str = ""
    limits: Limits = DEFAULT_LIMITS
    results: tuple[CallResult, ...] = ()
    user_text: str | None = None
    turns: int = 0
    tokens: int = 0
    is_estimated: bool = False
    call_keys: tuple[str, ...] = ()
    policy: LoopPolicy = AS_IT_COMES
    errors: int = 0

    def retry(self) -> ConversationLoop:
        """The loop with its last request pending again, if the response was an error or incomplete."""
        step = self.step
        is_lost = isinstance(step, LoopEnd) and step.reason in (EndReason.REFUSED, EndReason.CUT)
        return replace(self, exchange=replace(self.exchange, response=None, state=State.COMPLETE)) if is_lost else self

    def with_limits(self, limits: Limits) -> ConversationLoop:
        """The loop with other limits."""
        return self._with(limits=limits)

    def _with(self, **changes: Any) -> ConversationLoop:
        """Another loop on the same exchange, which is not decoded again."""
        copy = replace(self, **changes)
        cache = {name: value for name, value in self.__dict__.items() if name in ("decoded", "terms", "calls")}
        copy.__dict__.update(cache)
        return copy

    @cached_property
    def decoded_exchange(self) -> DecodedExchange:
        """The last exchange, decoded."""
        return DecodedExchange(0, self.exchange, self.protocol or None)

    @cached_property
    def terms(self) -> Contract:
        """Contract of the last exchange."""
        request = self.exchange.request
        clues = contracts.Clues(
            url=request.url if request else None,
            model=self.decoded_exchange.request.model if self.decoded_exchange.request else None,
        )
        if self.contract:
            return contracts.get(self.contract, protocol=self.decoded_exchange.protocol, clues=clues)
        return choose(clues, self.decoded_exchange.protocol)[0]

    @cached_property
    def calls(self) -> tuple[ToolCallIR, ...]:
        """Calls of the answer that the client answers."""
        answer = self.decoded_exchange.answer
        if answer is None or not answer.choices:
            return ()
        return self._native[:1] if self._drops_calls else self._native or self._text_calls(answer.choices[0])

    @cached_property
    def _native(self) -> tuple[ToolCallIR, ...]:
        """Calls of the answer in the protocol's own form."""
        answer = self.decoded_exchange.answer
        messages = answer.choices[0] if answer and answer.choices else ()
        return tuple(call for message in messages for _, call in message.tool_calls())

    @property
    def _drops_calls(self) -> bool:
        """Calls after the first are removed from the history; impossible if the server stores the answer."""
        request = self.decoded_exchange.request
        return self.policy.is_serial and len(self._native) > 1 and request is not None and request.previous_id is None

    @cached_property
    def step(self) -> Step:
        """The next step."""
        stopped = self._unreadable() or (self._error_or_cut() if self.exchange.response else None)
        if stopped:
            return stopped
        if self.exchange.response is None:
            return self._limit_end() or self._first()
        if len(self.results) < len(self.calls):
            return self._repeat_end() or self._answer(len(self.results))
        if not self.calls and self.user_text is None and not self._is_paused:
            return self._end()
        return self._limit_end() or self._error_end() or self._next()

    def after(self, outcome: Outcome, *, protocol: str = "") -> ConversationLoop:
        """The loop after its step, given the outcome.

        Args:
            outcome: an ``Exchange`` for ``Send``, a ``CallResult`` for ``AnswerCall``; for ``LoopEnd`` new limits or a
                user message.
            protocol: of the exchange, if the target uses another one than before.

        Raises:
            TypeError: this cannot be the outcome of the step.
        """
        step = self.step
        if isinstance(step, Send) and isinstance(outcome, Exchange):
            return self._after_send(outcome, protocol or self.protocol)
        if isinstance(step, AnswerCall) and isinstance(outcome, CallResult):
            return self._with(results=(*self.results, outcome))
        if isinstance(step, LoopEnd) and isinstance(outcome, Limits) and step.reason.is_limit:
            return self.with_limits(outcome)
        if (
            isinstance(step, LoopEnd)
            and isinstance(outcome, Say)
            and step.reason in (EndReason.DONE, EndReason.TEXT_CALL)
        ):
            return self._with(user_text=outcome.text)
        raise TypeError(f"{type(outcome).__name__} cannot be the outcome of a step of type {type(step).__name__}")

    def _after_send(self, exchange: Exchange, protocol: str) -> ConversationLoop:
        """The loop after a request, with its token usage."""
        call_keys = (*self.call_keys, *dict.fromkeys(map(call_key, self.calls)))
        sent = replace(
            self,
            exchange=exchange,
            protocol=protocol,
            results=(),
            user_text=None,
            turns=self.turns + 1,
            call_keys=call_keys,
            errors=self._errors,
        )
        tokens, is_estimated = sent._usage()
        return replace(sent, tokens=self.tokens + tokens, is_estimated=self.is_estimated or is_estimated)

    def _usage(self) -> tuple[int, bool]:
        """Tokens of the last exchange, and whether they are estimated."""
        usage = self.decoded_exchange.response.usage if self.decoded_exchange.response else None
        if usage and usage.input is not None and usage.output is not None:
            return sum(n or 0 for n in (usage.input, usage.output, usage.cache_read, usage.cache_write)), False
        size = len(self.decoded_exchange.request_text) + len(self.decoded_exchange.response_text)
        return -(-size // BYTES_PER_TOKEN), True

    # -- steps

    def _first(self) -> Send:
        request = self.exchange.request
        assert request is not None
        return Send(request, self.decoded_exchange.protocol or "")

    def _answer(self, number: int) -> AnswerCall:
        call = self.calls[number]
        read, why_not = self._ladder(call), self.policy.refusal_of(call, number)
        if why_not:
            read = replace(read or Ladder(), refusal=why_not)
        return AnswerCall(call, number, len(self.calls), read)

    def _ladder(self, call: ToolCallIR) -> Ladder | None:
        request = self.decoded_exchange.request
        if call.format in FREE_TEXT:
            return None
        if request and not request.tools and request.previous_id is not None:  # the server stores the tools
            return ladder.climb(call.raw, call.input, None)
        return self.policy.read(call, request.tools if request else ())

    def _next(self) -> Send | LoopEnd:
        try:
            step = self._following()
        except (LocalProtocolError, WireError) as error:
            return LoopEnd(EndReason.UNREADABLE, f"the conversation cannot be continued: {error}")
        return Send(step.request, self.decoded_exchange.protocol or "", step.pointer, step.added, tuple(self._notes()))

    def _following(self) -> NextRequest:
        request = self.decoded_exchange.request
        assert request is not None
        adapter = protocols.get(request.protocol)
        input_values = user_values(adapter, self.user_text) if self.user_text is not None else []
        if self.calls and self._are_in_text:
            input_values = [*text_result_values(adapter, self.parser, self.calls, self.results), *input_values]
        elif self.calls:
            input_values = [*result_values(adapter, self.calls, self.results), *input_values]
        answer = answer_values(self.decoded_exchange, self._unwanted_carriers, only_first_call=self._drops_calls)
        return next_request(self.decoded_exchange, answer, input_values)

    @property
    def _unwanted_carriers(self) -> Sequence[str]:
        refused = self.terms.term("reasoning.refused-carriers")
        return self.policy.unwanted_carriers(self.carriers, refused if isinstance(refused, list) else ())

    @property
    def carriers(self) -> Sequence[str]:
        """Carriers of the reasoning in the answer, each once."""
        response = self.decoded_exchange.response
        messages = response.choices[0] if response and response.choices else ()
        return list(dict.fromkeys(part.carrier.value for m in messages for _, part in m.reasoning()))

    def _notes(self) -> list[str]:
        response = self.decoded_exchange.response
        who = (
            "according to the profile, the endpoint refuses" if self.policy.reasoning else f"{self.terms.label} refuses"
        )
        notes = [f"{name} removed: {who} it" for name in self.carriers if name in self._unwanted_carriers]
        if self._drops_calls:
            notes.append(f"one call at a time: {len(self._native) - 1} further calls removed")
        for call, result in zip(self.calls, self.results, strict=False):
            if call.format == BUILT_IN and result.element is None:
                notes.append(f"{call.name or 'a call'} is a built-in tool: its result may need a different format")
        if response and len(response.choices) > 1:
            notes.append(f"the response has {len(response.choices)} choices: only the first is continued")
        return notes

    # -- why it ends

    def _unreadable(self) -> LoopEnd | None:
        if self.exchange.request is None:
            return LoopEnd(EndReason.UNREADABLE, "no request was recorded")
        if self.decoded_exchange.protocol not in protocols.protocols() or self.decoded_exchange.request is None:
            if self.exchange.response is None and text_of(self.exchange.request):
                return None  # it can still be sent unchanged
            return LoopEnd(EndReason.UNREADABLE, "the request is unreadable, so no message can be added to it")
        return None

    def _error_or_cut(self) -> LoopEnd | None:
        answer, http = self.decoded_exchange.answer, self.exchange.response
        if answer and answer.error:
            status = f"{http.status}: " if http and http.status >= 400 else ""
            return LoopEnd(EndReason.REFUSED, f"{status}{answer.error.message}")
        if http and http.status >= 400:
            return LoopEnd(EndReason.REFUSED, f"status {http.status}")
        if self.exchange.state is not State.COMPLETE:
            return LoopEnd(
                EndReason.CUT,
                f"the response is {self.exchange.state}: {self.exchange.note or 'the response is incomplete'}",
            )
        if answer is None:
            return LoopEnd(EndReason.CUT, "there is no readable response")
        if not answer.is_complete:
            return LoopEnd(EndReason.CUT, "the response is incomplete")
        return None

    def _end(self) -> LoopEnd:
        answer, request = self.decoded_exchange.response, self.decoded_exchange.request
        text = "\n".join(_texts(answer.choices[0])) if answer and answer.choices else ""
        found = formats.find_calls(text, request.tools if request else ()) if not self.parser else ()
        if found:
            what = f"the model wrote a call to {found[0].name!r} as text ({found[0].format})"
            return LoopEnd(EndReason.TEXT_CALL, what, found[0].format)
        stop = answer.stop if answer else None
        more = {"length": ", truncated at the token limit", "filter": ", stopped by a filter"}.get(stop or "", "")
        return LoopEnd(EndReason.DONE, f"the model answered without a call{more}")

    def _limit_end(self) -> LoopEnd | None:
        if 0 < self.limits.turns <= self.turns:
            return LoopEnd(EndReason.TURNS, f"limit of {self.turns} requests reached")
        if 0 < self.limits.tokens <= self.tokens:
            how = "an estimated " if self.is_estimated else ""
            return LoopEnd(EndReason.TOKENS, f"{how}{self.tokens:,} tokens used, the limit is {self.limits.tokens:,}")
        return None

    def _repeat_end(self) -> LoopEnd | None:
        if self.limits.repeats:
            counts = Counter(self.call_keys)
            for call in self.calls:
                times = counts[call_key(call)] + 1
                if times >= self.limits.repeats:
                    return LoopEnd(EndReason.REPEATED, f"the model made the same call to {call.name!r} {times} times")
        return None

    @property
    def _errors(self) -> int:
        """Consecutive answers whose calls all failed, including this one once its calls are answered."""
        if not self.calls:
            return 0
        return self.errors + 1 if all(result.is_error for result in self.results) else 0

    def _error_end(self) -> LoopEnd | None:
        if self.calls and 0 < self.limits.errors <= self._errors:
            many = f"all calls in {self._errors} consecutive responses" if self._errors > 1 else "the call"
            return LoopEnd(EndReason.ERRORS, f"{many} failed, which is the limit")
        return None

    @property
    def _is_paused(self) -> bool:
        """The provider wants its answer sent back to continue it."""
        return self.decoded_exchange.response is not None and self.decoded_exchange.response.stop == "pause"

    # -- calls in text

    @property
    def _are_in_text(self) -> bool:
        return bool(self.calls) and self.calls[0].format == self.parser != ""

    def _text_calls(self, messages: Sequence[Message]) -> tuple[ToolCallIR, ...]:
        """Calls in the model's text, or in its reasoning if the text has none."""
        if not self.parser:
            return ()
        tools = self.decoded_exchange.request.tools if self.decoded_exchange.request else ()
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
