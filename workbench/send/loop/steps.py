"""Steps of the loop, and what can come of them: values, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from workbench.ir import JsonValue, Part, Text, ToolCallIR
from workbench.toolcalls.arguments.ladder import Ladder
from workbench.toolcalls.arguments.refusal import Refusal
from workbench.wire.exchange import Exchange, HttpRequest
from workbench.wire.jsontext import dumps


@dataclass(frozen=True, slots=True)
class Limits:
    """When the loop stops by itself; 0 for never.

    Attributes:
        turns: requests that are sent.
        tokens: of the requests and answers of the loop together.
        repeats: how often a model may make the same call (its name, and its arguments by meaning).
        errors: answers in a row whose calls all came to an error, after which people are asked.
    """

    turns: int = 20
    tokens: int = 0
    repeats: int = 3
    errors: int = 0


BUILT_IN = "openai-item"
"""Format of calls of built-in tools that the client runs: their results have forms of their own."""


@dataclass(frozen=True, slots=True)
class Send:
    """A request is to be sent; what comes of it is an ``Exchange`` with the answer, of this request or another one.

    Attributes:
        request: all of the one before, byte for byte, and what is new.
        protocol: what it is written in.
        pointer: of the list that holds what is new, "" where nothing is.
        added: what is new, in order.
        notes: what else is worth a word before it is sent, one line each.
    """

    request: HttpRequest
    protocol: str
    pointer: str = ""
    added: tuple[JsonValue, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A call waits for its result: a ``Result``. Nobody runs the tool.

    Attributes:
        call: as the model made it.
        number, of: which call of the answer it is, from zero, and how many there are.
        ladder: how its arguments were read; None for a tool whose input is free text.
    """

    call: ToolCallIR
    number: int
    of: int
    ladder: Ladder | None = None

    @property
    def refusal(self) -> Refusal | None:
        """Why the call cannot be run as it stands; ``refused`` makes the result that says so to the model."""
        return self.ladder.refusal if self.ladder else None

    @property
    def arguments(self) -> JsonValue:
        """What the tool would be given: as they were read, repaired and coerced."""
        return self.ladder.value if self.ladder and self.ladder.rungs else self.call.input


class Reason(StrEnum):
    """Why the loop has ended."""

    DONE = "done"  # the model answered, and called nothing
    REFUSED = "refused"  # an error in the place of an answer
    CUT = "cut"  # the answer is not whole
    TURNS = "turns"  # limits
    TOKENS = "tokens"
    REPEATED = "repeated"
    ERRORS = "errors"
    TEXT_CALL = "text-call"  # the model wrote a call as text, and nobody was asked to read it there
    UNREADABLE = "unreadable"  # no request, or one that cannot be continued

    @property
    def is_limit(self) -> bool:
        """Other ``Limits`` let the loop go on."""
        return self in (Reason.TURNS, Reason.TOKENS, Reason.REPEATED, Reason.ERRORS)


@dataclass(frozen=True, slots=True)
class Ended:
    """There is no next step. After a limit ``Limits`` let it go on, after an answer ``Say`` does.

    Attributes:
        text: in one line.
        format: of ``Reason.TEXT_CALL`` the text format that was found.
    """

    reason: Reason
    text: str
    format: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call.

    Attributes:
        text: what the tool says, where ``parts`` is empty.
        is_error: it failed.
        parts: what it says where that is more than text: ``Text``, ``Media``, ``Opaque``.
        element: of a recorded result of a provider's built-in tool, the whole element: it has a form of its own.
    """

    text: str = ""
    is_error: bool = False
    parts: tuple[Part, ...] = ()
    element: JsonValue = None

    @property
    def content(self) -> tuple[Part, ...]:
        """What it says, as parts."""
        return self.parts or (Text(self.text),)


@dataclass(frozen=True, slots=True)
class Say:
    """What the user says next."""

    text: str


Step: TypeAlias = Send | Answer | Ended
Outcome: TypeAlias = Exchange | Result | Limits | Say


def refused(refusal: Refusal) -> Result:
    """The result that tells a model why its call was not run, in a form that it can act on."""
    return Result(dumps(refusal.as_json()).decode("utf-8", "surrogatepass"), is_error=True)
