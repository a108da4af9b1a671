"""Steps of the loop, and their possible outcomes, as values.

The request of a loop step on its way to a target, and the exchange that results. Sends nothing itself.

Adaptation of a loop to the limits of a model, as a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

from workbench.ir import NOTHING, JsonValue, Part, Text, ToolCallIR, ToolDef
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import DecodedExchange
from workbench.send.outgoing import Outgoing, prepare
from workbench.send.target import Target
from workbench.toolcalls.arguments import ArgumentRefusal, Code, Ladder, ladder
from workbench.toolcalls.schemas import original
from workbench.wire import Exchange, HttpRequest, dumps

VERBATIM, LEFT_OUT = "verbatim", "left-out"
"""Treatment of an answer's reasoning in the next request."""

EVERY_TOOL = "*"


@dataclass(frozen=True, slots=True)
class LoopPolicy:
    """Deviations of a loop from the protocol's normal behaviour.

    Attributes:
        is_serial: run only the first call of an answer and remove the others from the history; if that is impossible
            (calls in text, answers stored by the server), they get an error result that asks for one call at a time.
        reasoning: ``VERBATIM`` or ``LEFT_OUT``, overriding the contract; empty to follow the contract.
        level: schema level (``schemas.levels``) that the tools in ``schemas`` were reduced to; empty if none.
        schemas: name of a tool → its original schema: arguments are converted back and have to fit it.
        closed: name of a tool, or ``EVERY_TOOL`` → why it is not run.
    """

    is_serial: bool = False
    reasoning: str = ""
    level: str = ""
    schemas: Mapping[str, JsonValue] = NOTHING
    closed: Mapping[str, str] = NOTHING

    def unwanted_carriers(self, carriers: Sequence[str], refused: Sequence[str]) -> Sequence[str]:
        """Carriers of an answer that are not sent back. ``refused``: by the contract."""
        if self.reasoning:
            return carriers if self.reasoning == LEFT_OUT else ()
        return refused

    def read(self, call: ToolCallIR, tools: Sequence[ToolDef]) -> Ladder:
        """Arguments of a call, read for the original schemas of the tools."""
        if call.name not in self.schemas or not self.level:
            return ladder.judge(call, tools)
        schema = self.schemas[call.name or ""]
        first = ladder.judge(call, [replace(tool, schema=None) for tool in tools])
        if first.refusal:
            return first
        then = ladder.climb(None, original(first.value, schema, self.level), schema)
        return replace(then, rungs=(*first.rungs, *then.rungs[1:]), steps=(*first.steps, *then.steps[1:]))

    def refusal_of(self, call: ToolCallIR, number: int) -> ArgumentRefusal | None:
        """Why a call is not run, with any arguments; None if it may be. ``number``: its index, from zero."""
        why = self.closed.get(call.name or "") or self.closed.get(EVERY_TOOL)
        if why:
            return ArgumentRefusal(Code.TOOL_NOT_ENABLED, f"{call.name!r:.80} is not enabled: {why}", retryable=False)
        if self.is_serial and number:
            message = "one call at a time: only the first call was run; make this one again in your next response"
            return ArgumentRefusal(Code.ONE_CALL_AT_A_TIME, message)
        return None


AS_IT_COMES = LoopPolicy()
"""No deviations."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits at which the loop stops; 0 for none.

    Attributes:
        turns: requests that are sent.
        tokens: of the requests and answers of the loop together.
        repeats: how often a model may make the same call (its name, and its arguments by meaning).
        errors: responses in a row whose calls all failed, after which the user is asked.
    """

    turns: int = 20
    tokens: int = 0
    repeats: int = 3
    errors: int = 0


BUILT_IN = "openai-item"
"""Format of calls to built-in tools that the client runs: their results have forms of their own."""


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request; the outcome is an ``Exchange`` with the response, for this request or another one.

    Attributes:
        request: the previous one, byte for byte, with the additions.
        protocol: of the request.
        pointer: of the list with the additions; empty if there are none.
        added: new elements, in order.
        notes: remarks before sending, one line each.
    """

    request: HttpRequest
    protocol: str
    pointer: str = ""
    added: tuple[JsonValue, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerCall:
    """A tool call waits for its result: the outcome is a ``CallResult``. The tool is not run.

    Attributes:
        call: as the model made it.
        number, of: index of the call in the answer, from zero, and number of calls.
        ladder: how its arguments were read; None for a tool with free-text input.
    """

    call: ToolCallIR
    number: int
    of: int
    ladder: Ladder | None = None

    @property
    def refusal(self) -> ArgumentRefusal | None:
        """Why the call cannot be run as it is; ``refusal_result`` turns it into a result for the model."""
        return self.ladder.refusal if self.ladder else None

    @property
    def arguments(self) -> JsonValue:
        """Arguments for the tool: read, repaired and coerced."""
        return self.ladder.value if self.ladder and self.ladder.rungs else self.call.input


class EndReason(StrEnum):
    """Why the loop has ended."""

    DONE = "done"  # the model answered without a tool call
    REFUSED = "refused"  # an error instead of an answer
    CUT = "cut"  # the response is incomplete
    TURNS = "turns"  # limits
    TOKENS = "tokens"
    REPEATED = "repeated"
    ERRORS = "errors"
    TEXT_CALL = "text-call"  # the model wrote a call as text, and no parser is selected
    UNREADABLE = "unreadable"  # no request, or it cannot be continued

    @property
    def is_limit(self) -> bool:
        """The loop can continue with other ``LoopLimits``."""
        return self in (EndReason.TURNS, EndReason.TOKENS, EndReason.REPEATED, EndReason.ERRORS)


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """There is no next step. After a limit ``LoopLimits`` continue the loop, after an answer ``Say`` does.

    Attributes:
        text: explanation, in one line.
        format: text format of the call, for ``EndReason.TEXT_CALL``.
    """

    reason: EndReason
    text: str
    format: str = ""


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a tool call.

    Attributes:
        text: output of the tool, if ``parts`` is empty.
        is_error: it failed.
        parts: output that is more than text: ``Text``, ``Media``, ``Opaque``.
        element: the whole recorded element, for a provider's built-in tool: it has a form of its own.
    """

    text: str = ""
    is_error: bool = False
    parts: tuple[Part, ...] = ()
    element: JsonValue = None

    @property
    def content(self) -> tuple[Part, ...]:
        """The output, as parts."""
        return self.parts or (Text(self.text),)


@dataclass(frozen=True, slots=True)
class Say:
    """The next user message."""

    text: str


Step: TypeAlias = Send | AnswerCall | LoopEnd
Outcome: TypeAlias = Exchange | CallResult | Limits | Say


def refusal_result(refusal: ArgumentRefusal) -> CallResult:
    """The result that tells a model why its call was not run, in a form that it can act on."""
    return CallResult(dumps(refusal.as_json()).decode("utf-8", "surrogatepass"), is_error=True)


def outgoing(step: Send, target: Target, model: str = "", protocol: str = "") -> Outgoing:
    """The request of a step, prepared for a target. Arguments and errors as ``prepare``."""
    decoded = DecodedExchange(0, Exchange("", step.request), step.protocol or None)
    return prepare(decoded, target, protocol=protocol, model=model)


def with_sent_body(exchange: Exchange, sent: Outgoing) -> Exchange:
    """The exchange for the loop to continue with: the body as sent, since the stored one has its secrets replaced."""
    if exchange.request is None:
        return exchange
    return replace(exchange, request=replace(exchange.request, body=sent.request.body, redactions=()))
