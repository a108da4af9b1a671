"""The scripted model: answers a request deterministically, without any knowledge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from threading import Lock
from typing import Any

from workbench import regex
from workbench.contracts import Contract
from workbench.errors import WireError
from workbench.ir import (
    Carrier,
    JsonValue,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.limits import BYTES_PER_TOKEN
from workbench.protocols import Adapter
from workbench.simulator import _request_text
from workbench.simulator._dials import HEALTHY, NATIVE, Dials, HttpFault
from workbench.simulator._ids import Ids, call_ids
from workbench.simulator._request_text import (
    ERROR,
    SHOWN,
    as_json,
    input_tokens,
    is_error,
    last_results,
    result_text,
    tokens,
    user_words,
)
from workbench.simulator._values import arguments_for, spoil_call
from workbench.toolcalls import formats
from workbench.wire import loads

_CANCELLED = "cancelled"
_LEAST_FOR_CALLS = 16
_STARTS_AGENTS = regex.compile(r"(?i)agent|^task$|delegate")
"""Names of tools that start another agent, which would ask the same model again, without end."""
"""Most tokens of an answer below which no call is tried: clients that ask for one token only try their key."""

REASONING_TEXT = "The user asks for something; a tool can find it."
THOUGHTS = (REASONING_TEXT, "The tool returned a result; I can answer now.")
SPLIT = "Done ✓ naïve 東京 🗂️"
"""Ending of texts whose characters are to be split: characters of every length."""


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A call of a script; ``arguments``: JSON value, or None to generate it from the schema."""

    name: str
    arguments: JsonValue = None


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """An answer of a script; None means the model's default, but a text without calls makes none."""

    text: str | None = None
    thinking: str | None = None
    calls: tuple[ScriptedCall, ...] | None = None


@dataclass(frozen=True, slots=True)
class RequestMatch:
    """Selects requests for a turn; unset fields match all.

    Attributes:
        text: part of the user's last text, case-insensitive.
        model: glob of the model's name.
        tool: name of a declared tool.
        results: whether the request ends with tool results.
        turn: number of the answer in the conversation, from one.
    """

    text: str = ""
    model: str = ""
    tool: str = ""
    results: bool | None = None
    turn: int = 0

    def fits(self, request: ModelRequest) -> bool:
        """The request is selected."""
        answers = sum(1 for m in request.messages if m.role in ("assistant", "model"))
        return (
            self.text.lower() in user_words(request).lower()
            and (not self.model or fnmatchcase(request.model or "", self.model))
            and (not self.tool or any(tool.name == self.tool for tool in request.tools))
            and (self.results is None or self.results == bool(last_results(request)))
            and (not self.turn or self.turn == answers + 1)
        )


@dataclass(frozen=True, slots=True)
class ScriptTurn:
    """A turn of a script. ``times``: number of requests it answers, 0 for all."""

    match: RequestMatch = RequestMatch()
    dials: Dials = HEALTHY
    answer: ScriptedAnswer = ScriptedAnswer()
    times: int = 0


@dataclass(slots=True)
class ScriptedModel:
    """Answers requests by a script, and by its dials if no turn fits. Thread-safe.

    Args:
        dials: how answers are given.
        turns: a script; the first turn that fits and is not used up answers.
    """

    dials: Dials = HEALTHY
    turns: Sequence[ScriptTurn] = ()
    _used: dict[int, int] = field(default_factory=dict)
    _failed: dict[int, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def turn(self, request: ModelRequest) -> tuple[ScriptTurn, HttpFault | None]:
        """The turn for a request, and the refusal that replaces its answer; None for no refusal."""
        with self._lock:
            for number, turn in enumerate(self.turns):
                if turn.match.fits(request) and not 0 < turn.times <= self._used.get(number, 0):
                    fault = self._fault(number, turn.dials)
                    if fault is None:
                        self._used[number] = self._used.get(number, 0) + 1
                    return turn, fault
            return ScriptTurn(dials=self.dials), self._fault(-1, self.dials)

    def _fault(self, number: int, dials: Dials) -> HttpFault | None:
        fault, failed = dials.http, self._failed.get(number, 0)
        if fault is None or 0 < fault.times <= failed:
            return None
        self._failed[number] = failed + 1
        return fault


def answer(request: ModelRequest, contract: Contract, adapter: Adapter, turn: ScriptTurn, ids: Ids) -> ModelResponse:
    """The answer to a request, in a form that the adapter can write.

    Raises:
        LocalProtocolError: a text format cannot express the calls.
    """
    return _Writer(request, contract, adapter, turn, ids).answer()


class _Writer:
    """Builds one answer."""

    def __init__(self, request: ModelRequest, contract: Contract, adapter: Adapter, turn: ScriptTurn, ids: Ids) -> None:
        self.request = request
        self.contract = contract
        self.adapter = adapter
        self.dials = turn.dials
        self.script = turn.answer
        self.ids = ids
        self.call_ids = set(call_ids(request.messages))
        self.params = {p.name: p.value for p in adapter.params(request) if p.name}
        self.tools = [t for t in request.tools if t.name and t.kind in ("client", "custom")]

    def answer(self) -> ModelResponse:
        calls = list(self.calls())
        text = self.script.text if self.script.text is not None else "" if calls else self.words()
        thinking = self.reasoning_text(calls)
        text_calls = calls if self.dials.calls != NATIVE else []
        if text_calls:
            call_text = formats.get(self.dials.calls).render(text_calls)
            if self.dials.calls_in == "reasoning":
                thinking = f"{thinking or REASONING_TEXT}\n{call_text}"
            else:
                text = f"{text}\n{call_text}".strip()
            calls = []
        text, is_cut = self.truncate(text)
        thoughts = tuple(self.reasoning(thinking, text, calls))
        proofs = tuple(part for part in thoughts if _is_on_a_call(part))
        parts = (*(part for part in thoughts if part not in proofs), *self.text(text), *proofs, *calls)
        stop = "tool_calls" if calls else "length" if is_cut else "stop"
        shape = self.adapter.serving.answer_id
        return ModelResponse(
            protocol=self.adapter.name,
            id=self.ids.make(shape) if shape else None,
            model=self.request.model or "simulated",
            messages=(Message("assistant", parts),),
            stop=stop,
            usage=self.usage(parts),
            is_stream=self.request.stream,
        )

    # Text

    def text(self, text: str) -> Iterator[Part]:
        if text:
            yield (
                Text(text, {"id": self.ids.make(self.adapter.serving.item_ids["text"])})
                if self.is_itemized
                else Text(text)
            )

    def words(self) -> str:
        """An answer that ends the turn: the tool results, or the user's text."""
        if "response_schema" in self.params or "response_json" in self.params:
            form = self.params.get("response_schema")
            schema = form.get("schema") if isinstance(form, dict) else None
            return as_json(arguments_for(schema, user_words(self.request)))
        ending = f" {SPLIT}" if self.dials.stream == "split-utf8" else ""
        results = last_results(self.request)
        if (results or self.text_calls) and not (self.dials.reads and self.remembers()):
            return f"I am done.{ending}"
        if "codeword" in user_words(self.request):
            codewords = ", ".join(_request_text.codewords(self.request))
            return f"The codeword: {codewords}.{ending}" if codewords else f"I see no such word.{ending}"
        if results:
            names = {c.id: c.name for m in self.request.messages for _, c in m.tool_calls()}
            lines = (f"{r.name or names.get(r.tool_call_id) or 'The tool'} returned: {result_text(r)}" for r in results)
            return "\n".join(lines) + ending
        return f"You said: {user_words(self.request)[:SHOWN] or 'nothing'}{ending}"

    def remembers(self) -> bool:
        """The reasoning that it needs is complete."""
        if not self.dials.needs_reasoning:
            return True
        last_call = next((m for m in reversed(self.request.messages) if any(m.tool_calls())), None)
        behind = self.request.messages if self.request.itemized or last_call is None else (last_call,)
        thoughts = [part for m in behind for _, part in m.reasoning()]
        return any(part.text in THOUGHTS or (not part.text and (part.data or part.signature)) for part in thoughts)

    def truncate(self, text: str) -> tuple[str, bool]:
        """The text within the request's token limit."""
        most = self.params.get("max_tokens")
        if isinstance(most, int) and not isinstance(most, bool) and 0 < most * BYTES_PER_TOKEN < len(text):
            return text[: most * BYTES_PER_TOKEN], True
        return text, False

    # Calls

    def calls(self) -> Iterator[ToolCallIR]:
        calls = self.script.calls
        if calls is None:
            calls = tuple(self.default_calls()) if self.script.text is None else ()
        for number, call in enumerate(calls):
            tool = next((t for t in self.tools if t.name == call.name), None)
            yield self.call(call, tool, number)

    def default_calls(self) -> Iterator[ScriptedCall]:
        """Calls without a script: none if there are results, unless a call is required."""
        choice, results = self.request.tool_choice, last_results(self.request)
        mode = choice.mode if choice else "auto"
        most = self.params.get("max_tokens")
        is_short = isinstance(most, int) and most < _LEAST_FOR_CALLS
        is_asked = _request_text.asks_codeword(user_words(self.request)) and mode in ("auto", "none")
        if mode == "none" or not self.tools or is_short or is_asked:
            return
        if results and mode not in ("any", "tool"):
            yield from self.corrected_calls(results)
            return
        if self.text_calls and mode not in ("any", "tool"):
            yield from self.corrected_text_calls()
            return
        count = max(self.dials.parallel, 2 if self.dials.stream == "reused-index" else 1)
        ordered = self.ranked_tools(choice.name if choice and mode == "tool" else None)
        for number in range(1 if self.request.parallel is False else count):
            yield ScriptedCall(ordered[number % len(ordered)].name or "")

    @cached_property
    def text_calls(self) -> Sequence[formats.TextCall]:
        """Calls that the last answer wrote as text; the user message after them contains their results."""
        if self.dials.calls == NATIVE or len(self.request.messages) < 2:
            return ()
        before = self.request.messages[-2]
        texts = [p.text or "" for p in before.parts if isinstance(p, Text | Reasoning)]
        return formats.find_calls("\n".join(texts), self.tools, (self.dials.calls,), is_thought_shown=True)

    def corrected_text_calls(self) -> Iterator[ScriptedCall]:
        """Repeat calls in text if the results contain an error."""
        texts = [" ".join(p.text for p in m.parts if isinstance(p, Text)) for m in self.request.messages]
        errors = sum(len(ERROR.findall(text)) for text in texts)
        is_over = self.dials.stops and _CANCELLED in texts[-1]
        if self.dials.mends and ERROR.search(texts[-1]) and not is_over:
            for call in self.text_calls:
                yield ScriptedCall(call.name or "", _absolute(call.input) if errors >= self.dials.mends else call.input)

    def corrected_calls(self, results: Sequence[ToolResultIR]) -> Iterator[ScriptedCall]:
        """Repeat failed calls: with absolute paths after enough errors."""
        calls = {c.id: c for m in self.request.messages for _, c in m.tool_calls()}
        everything = [r for m in self.request.messages for _, r in m.tool_results()]
        errors = sum(map(is_error, everything))
        for result in results if self.dials.mends else ():
            call = calls.get(result.tool_call_id)
            name = call.name if call else result.name
            is_over = self.dials.stops and _CANCELLED in result_text(result)
            if is_error(result) and name and not is_over:
                arguments = call.input if call else None
                yield ScriptedCall(name, _absolute(arguments) if errors >= self.dials.mends else arguments)

    def ranked_tools(self, name: str | None) -> list[ToolDef]:
        """Tools to call, the likeliest first: required, named by the user, not yet called."""
        if name is not None:
            return [t for t in self.tools if t.name == name] or self.tools
        words = user_words(self.request)
        called = (
            {c.name for m in self.request.messages for _, c in m.tool_calls()} if last_results(self.request) else ()
        )
        return sorted(
            self.tools,
            key=lambda t: (
                t.name in called,
                not re.search(rf"\b{re.escape(t.name or '')}\b", words),
                bool(_STARTS_AGENTS.search(t.name or "")),
            ),
        )

    def call(self, call: ScriptedCall, tool: ToolDef | None, number: int) -> ToolCallIR:
        arguments = call.arguments
        is_custom = tool is not None and tool.kind == "custom"
        if arguments is None:
            words = user_words(self.request)
            arguments = words or "text" if is_custom else arguments_for(tool.schema if tool else None, words, number)
            arguments = _as_quoted(arguments, words)
        shape = self.contract.call_ids or self.adapter.serving.call_id
        call_id = self.ids.of_call(shape, call.name, number, self.call_ids) if shape else None
        self.call_ids |= {call_id} if call_id else set()
        own = dict(self.call_members(call, number, is_custom=is_custom))
        if is_custom:
            return ToolCallIR(call_id, call.name, arguments, "custom", extra=own)
        healthy = ToolCallIR(call_id, call.name, arguments, "function", as_json(arguments), extra=own)
        return self.with_native_arguments(spoil_call(healthy, self.dials.arguments, tool.schema if tool else None))

    def call_members(self, call: ScriptedCall, number: int, *, is_custom: bool) -> Iterator[tuple[str, JsonValue]]:
        """Further members of a call: the id of its item, the signature of the first one."""
        if self.is_itemized:
            yield "id", self.ids.make(self.adapter.serving.item_ids["custom" if is_custom else "call"])
        is_signed = Carrier.THOUGHT_SIGNATURE in self.contract.reasoning.carriers
        sign = self.adapter.serving.signature_beside_call
        if is_signed and sign and number == 0:
            yield from sign(self.ids.proof(call.name)).items()

    def with_native_arguments(self, call: ToolCallIR) -> ToolCallIR:
        """The call with arguments as this protocol holds them: text, or object; invalid text as a string."""
        if self.adapter.capabilities.tools.arguments == "string" and self.dials.calls == NATIVE:
            return call
        try:
            return replace(call, input=loads((call.raw or "").encode("utf-8", "surrogatepass")), raw=None)
        except WireError:
            return replace(call, input=call.raw, raw=None, error="not JSON")

    # Reasoning

    @property
    def is_itemized(self) -> bool:
        """Texts, calls and reasoning are items with their own ids."""
        return bool(self.adapter.serving.item_ids)

    def reasoning_text(self, calls: Sequence[ToolCallIR]) -> str | None:
        """Reasoning text; None if thinking is off."""
        if self.script.thinking is not None:
            return self.script.thinking
        thinking = self.request.thinking
        if thinking is None and (self.is_sealed() or self.params.keys() & {"effort", "thinking_budget"}):
            thinking = "on"
        is_on = thinking not in (None, "off") or (thinking is None and self.contract.reasoning.thinking_default)
        is_on = is_on if self.dials.thinks is None else self.dials.thinks
        if not (is_on or (self.dials.calls_in == "reasoning" and self.dials.calls != NATIVE and calls)):
            return None
        return THOUGHTS[0 if calls or not last_results(self.request) else 1]

    def carrier(self) -> Carrier | None:
        """The carrier of reasoning in this protocol; None if there is none."""
        carriers = self.adapter.capabilities.reasoning.carriers
        named = [c for c in self.contract.reasoning.carriers if c in carriers]
        if not named and not self.contract.reasoning.carriers:
            named = [self.adapter.capabilities.reasoning.plain or next(iter(sorted(carriers)), "")]
        return Carrier(named[0]) if named and named[0] else None

    def reasoning(self, thinking: str | None, text: str, calls: Sequence[ToolCallIR]) -> Iterator[Reasoning]:
        carrier = self.carrier()
        if carrier is Carrier.THOUGHT_SIGNATURE:
            if thinking is not None and self.script.thinking is not None:
                yield Reasoning(carrier, thinking)
            if calls:  # Gemini signs the first call of an answer, whether thoughts are shown or not
                yield Reasoning(carrier, None, self.ids.proof(f"{text}{calls[0].name}"))
        elif thinking is None or carrier is None:
            return
        elif carrier is Carrier.ENCRYPTED_ITEM:
            own = {"id": self.ids.make(self.adapter.serving.item_ids.get("reasoning", "rs_{48}")), "summary": []}
            sealed = self.is_sealed()
            yield Reasoning(carrier, None, data=self.ids.proof(thinking, sealed=True) if sealed else None, extra=own)
        elif carrier is Carrier.REDACTED_THINKING:
            yield Reasoning(carrier, None, data=self.ids.proof(thinking))
        elif carrier in (Carrier.THINKING, Carrier.REASONING_BLOCK):
            yield Reasoning(carrier, thinking, self.ids.proof(thinking))
        else:
            yield Reasoning(carrier, thinking)

    def is_sealed(self) -> bool:
        """The request asks for encrypted reasoning; else the server keeps the item."""
        include = self.request.params.get("include")
        return isinstance(include, list) and "reasoning.encrypted_content" in include

    # Usage

    def usage(self, parts: Sequence[Part]) -> Usage | None:
        capabilities = self.adapter.capabilities
        if self.request.stream and not self.adapter.traits.counts_stream(self.request.params):
            return None
        thoughts = tokens(p.text or "" for p in parts if isinstance(p, Reasoning))
        calls = (f"{p.name}{p.raw or p.input}" for p in parts if isinstance(p, ToolCallIR))
        output = tokens(p.text for p in parts if isinstance(p, Text)) + tokens(calls) + thoughts
        needed: dict[str, Any] = dict.fromkeys(capabilities.answer.usage_needed - {"input", "output"}, 0)
        known: dict[str, Any] = {
            **needed,
            **({"reasoning": thoughts} if "reasoning" in capabilities.answer.usage_fields and thoughts else {}),
        }
        return Usage(input_tokens(self.request), output, **known)


def _is_on_a_call(part: Reasoning) -> bool:
    """A signature without thoughts: a member of the following call."""
    return part.carrier is Carrier.THOUGHT_SIGNATURE and part.text is None


def _absolute(arguments: JsonValue) -> JsonValue:
    """Arguments with absolute paths."""
    if not isinstance(arguments, dict):
        return arguments
    return {key: f"/srv/{value}" if _is_relative(key, value) else value for key, value in arguments.items()}


def _is_relative(key: str, value: JsonValue) -> bool:
    return "path" in key.lower() and isinstance(value, str) and not value.startswith("/")


def _as_quoted(arguments: JsonValue, words: str) -> JsonValue:
    """Arguments with the quoted texts, one for each string."""
    quoted = _request_text.quoted_texts(words)
    if not quoted or not isinstance(arguments, dict):
        return arguments
    names = [name for name, value in arguments.items() if isinstance(value, str)]
    return {**arguments, **dict(zip(names, quoted, strict=False))}
