"""Findings and the repairs they offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from workbench.ir import NOTHING, JsonValue
from workbench.rules._contract import Enforced


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
    """A change of a request.

    Attributes:
        pointer: into the body as it was; ``/headers/NAME`` for a header.
        span: bytes of the content-decoded body; empty where something is inserted, None for headers.
        old, new: what stands there before and after; None for nothing.
        op: ``"replace"``, ``"insert"`` or ``"remove"``.
    """

    pointer: str
    span: tuple[int, int] | None
    old: JsonValue
    new: JsonValue
    op: str = "replace"


@dataclass(frozen=True, slots=True)
class Repair:
    """Edits that were re-checked against the contract, not against the provider.

    With each of them the finding is gone and nothing new is broken; ``verified`` when nothing else is broken either.
    """

    title: str
    verified: bool
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the damage was done that a later exchange suffers from.

    Attributes:
        exchange: index in the session, from zero.
        side: side of that exchange.
        pointer: into its body; "" for the whole.
        words: what happened there, one sentence.
        hop: where it was recorded, "" where the session names no hops.
    """

    exchange: int
    side: str
    pointer: str
    words: str
    hop: str = ""


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
        origin: where the chain was damaged, where that is another exchange, or another hop, than the one that suffers.
        check: of a fault in a request, the check of the provider that refuses it; None where it goes through.
        values: what the variables of the check's templates stand for here.
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
    origin: Origin | None = None
    check: Enforced | None = None
    values: Mapping[str, str] = field(default=NOTHING, compare=False, repr=False)
