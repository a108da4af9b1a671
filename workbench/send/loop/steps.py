"""Steps of the loop, and their possible outcomes, as values."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from workbench.ir import JsonValue, Part, Text, ToolCallIR
from workbench.lazy_dataclass import dataclass
from workbench.toolcalls.arguments import ArgumentRefusal, Ladder
from workbench.wire import Exchange, HttpRequest, dumps


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits at which the loop stops by itself; 0 for none.

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

    DONE = "done"  # the model answered without a call
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
