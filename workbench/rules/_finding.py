"""Findings and the repairs they offer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from workbench.ir import JsonValue


class Severity(StrEnum):
    """How bad: an error makes the provider refuse or the chain break, a warning will bite, info explains."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return ("error", "warning", "info").index(self.value)


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace what stands at ``pointer`` (``span``: bytes of the content-decoded body). ``new`` None removes it."""

    pointer: str
    span: tuple[int, int] | None
    old: JsonValue
    new: JsonValue


@dataclass(frozen=True, slots=True)
class Repair:
    """An edit that was re-checked; ``verified`` when the contract accepts the result."""

    title: str
    verified: bool
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and where.

    Attributes:
        rule: slug, ``"closure.missing-result"``.
        exchange: index in the session, from zero.
        side: ``"request"`` or ``"response"``.
        pointer: JSON pointer into the body of that side; of a stream, into the accumulated message.
        events: blocks of the stream concerned, from zero.
        span: byte range in the content-decoded body, None where there is none.
        message: one sentence, what is wrong.
        evidence: what was seen: values quoted, other exchanges named (from one), stream events.
        source: why this is a fault: document, issue, or contract fact, with date.
        refusal: what the provider answers, where the contract knows it.
        related: pointers of the nodes that belong to it (the call of a result …), same side.
    """

    rule: str
    severity: Severity
    exchange: int
    side: str
    pointer: str
    message: str
    events: tuple[int, ...] = ()
    span: tuple[int, int] | None = None
    evidence: str = ""
    source: str = ""
    refusal: str = ""
    related: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()
