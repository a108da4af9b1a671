"""Requirements of a provider on a chain, as plain values: contracts fill them in, the chain applies them."""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from workbench.lazy_dataclass import dataclass, replace


class Placement(StrEnum):
    """Place of the results of a turn."""

    NEXT_MESSAGE = "next-message"  # all in the message after the calls (neighbours of one role are one turn)
    CONTIGUOUS = "contiguous"  # in messages of their own, right after the calls, nothing between
    ANYWHERE = "anywhere"  # paired by id alone


class Scope(StrEnum):
    """Assistant turns that have to send their reasoning in later requests."""

    NEVER = "never"
    TOOL_LOOP = "tool-loop"  # turns with calls since the last real user message
    TOOL_TURNS = "tool-turns"  # every turn that made a call, for ever
    ALWAYS = "always"  # every turn that had reasoning, for ever


@dataclass(frozen=True, slots=True)
class ClosureTerms:
    """Rules for pairing calls with results.

    Attributes:
        placement: where results are.
        results_first: in a message that holds results, nothing may be before or between them.
        calls_last: of the items of a turn nothing is behind a call but calls.
        unique_ids: ``"request"`` (no id twice anywhere), ``"turn"`` (no id twice in one assistant turn), ``"none"``.
        id_pattern: regular expression ids match in full, "" for any.
        id_max_length: characters, None for any.
        call_role, result_role: roles that may carry calls and results.
    """

    placement: Placement = Placement.ANYWHERE
    results_first: bool = False
    calls_last: bool = False
    unique_ids: str = "turn"
    id_pattern: str = ""
    id_max_length: int | None = None
    call_role: str = "assistant"
    result_role: str = ""

    @property
    def pairing(self) -> ClosureTerms:
        """The terms that closure depends on: the form of ids pairs nothing."""
        return _pairing(self)


@dataclass(frozen=True, slots=True)
class ReasoningTerms:
    """Reasoning that has to be sent back.

    Attributes:
        carriers: values of ``ir.Carrier`` this provider speaks.
        scope: which turns have to send it.
        thinking_default: thinking is on when the request does not say.
        exact: what is replayed must equal what was received (``"latest"`` turn only, ``"all"``, or ``"none"``).
        required_when: value of ``ModelRequest.thinking`` that makes a missing carrier an error (``"on"``), "" for any
            thinking. With ``"on"``, adaptive thinking accepts that all of it is left out.
        leading: the reasoning has to be first in its message.
    """

    carriers: tuple[str, ...] = ()
    scope: Scope = Scope.NEVER
    thinking_default: bool = False
    exact: str = "none"
    required_when: str = ""
    leading: bool = False

    def is_asked(self, thinking: str | None) -> bool:
        """True if a request with this value of ``ModelRequest.thinking`` has to send reasoning at all."""
        return self.scope is not Scope.NEVER and (self.thinking_default if thinking is None else thinking != "off")

    def duties(self, thinking: str | None) -> ReasoningTerms:
        """The terms that the ledger of such a request depends on."""
        return _duties(self, thinking)


@cache
def _pairing(terms: ClosureTerms) -> ClosureTerms:
    return replace(terms, id_pattern="", id_max_length=None)


@cache
def _duties(terms: ReasoningTerms, thinking: str | None) -> ReasoningTerms:
    if terms.is_asked(thinking):
        return replace(terms, exact="none", leading=False)
    return ReasoningTerms(scope=Scope.NEVER if terms.scope is Scope.NEVER else Scope.TOOL_LOOP)
