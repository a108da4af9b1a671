"""Findings and the repairs they offer."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from workbench import regex
from workbench.contracts.contract import EnforcedCheck
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple


class Severity(StrEnum):
    """Severity: an error is refused or breaks the chain; a warning is likely to cause trouble; info explains."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return ("error", "warning", "info").index(self.value)


class Breaks(StrEnum):
    """Effect of a fault: on one request, or on the conversation."""

    REQUEST = "request"  # the provider refuses it; one that it accepts is whole
    CONVERSATION = "conversation"  # something is lost or cannot be used, also where the provider accepts it


class Basis(StrEnum):
    """Basis of a finding, the strongest first."""

    RECORDING = "recording"  # what this recording shows
    MEASURED = "measured"  # what was measured at this endpoint
    CONTRACT = "contract"  # a fact about the provider, with source and date
    COMMON = "common"  # what most providers refuse
    FORM = "form"  # the wire format itself


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A fact that an accepted request contradicts.

    Attributes:
        contract: label of the contract that has the fact.
        rule: slug of the rule that reports the refusal.
        fact: what the provider is said to refuse.
        source, date: of the fact; empty strings if the fact is common practice of most providers.
        exchange: index of the accepted exchange, from zero.
        by: who accepted it: a host, or a gateway.
    """

    contract: str
    rule: str
    fact: str
    source: str
    date: str
    exchange: int
    by: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a request.

    Attributes:
        pointer: into the body as it was; ``/headers/NAME`` for a header.
        span: byte range of the content-decoded body; empty for an insertion, None for headers.
        old, new: text before and after; None if there is none.
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

    With each of them the finding is gone and nothing new is broken; ``verified`` means that nothing else is broken
    either.
    """

    title: str
    verified: bool
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class FaultOrigin:
    """Place at which the fault of a later exchange was made.

    Attributes:
        exchange: index in the session, from zero.
        side: side of that exchange.
        pointer: into its body; "" for the whole.
        words: what happened there, one sentence.
        hop: name of the hop that recorded it; "" if the session names no hops.
    """

    exchange: int
    side: str
    pointer: str
    words: str
    hop: str = ""


BESIDE = -1
"""Index that stands for the fields of a request other than its messages."""


class WireOrder(NamedTuple):
    """Place of a finding among those of its exchange, as it was made.

    Attributes:
        message: index of the message that it is about, or ``BESIDE``, if it holds for each request that continues this
            one; None if it depends on more.
    """

    rank: int
    side: str
    span: tuple[int, int]
    pointer: str
    rule: str
    message: int | None


class FaultId(NamedTuple):
    """Identity of a fault: the id of its conversation, and its number in the session."""

    conversation: int
    number: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and where.

    Attributes:
        rule: slug, ``"closure.missing-result"``.
        exchange: index in the session, from zero.
        side: ``"request"`` or ``"response"``.
        pointer: JSON pointer into the body of that side; of a stream, into the accumulated message.
        events: events of the stream that it is about, from zero.
        span: byte range in the content-decoded body; None if there is none.
        message: one sentence, what is wrong.
        evidence: quoted values, other exchanges (counted from one), stream events.
        source: why this is a fault: document, issue, or contract fact, with date.
        refusal: the provider's error message, if the contract knows it.
        related: pointers of the nodes that belong to it (the call of a result …), same side.
        origin: where the fault began, if that was in another exchange or at another hop; else None.
        check: of a fault in a request, the check of the provider that refuses it; None if the request is accepted.
        values: values of the variables in the check's templates.
        basis: what it rests on.
        breaks: what the fault breaks; None if its rule does not state it.
        fact: name of the contract's fact behind it: a check, or a term; empty string if there is none.
        unenforced: the severity without the contract's check; None if no contract changed it.
        contradicts: the fact that this is refused, if the recording shows that it was accepted; else None.
        cause: identity of the fault in its conversation, equal in every request that repeats it; None for a finding
            that stands for itself.
        counts_as: severity by which it belongs to its cause, if the same fault has another severity at another hop.
        last: index of the last exchange in which it holds; None for ``exchange`` alone.
        places: the findings that were joined to this one, itself first: its exchange and place are those of the first,
            its range is that of all.
        order: its position among the findings of its exchange; None if that does not matter.
        kind: kind of refusal (``workbench.protocols.refusals``), ``"rate-limit"``; empty for everything else.
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
    origin: FaultOrigin | None = None
    check: EnforcedCheck | None = None
    values: Mapping[str, str] = field(default=NOTHING, compare=False, repr=False)
    basis: Basis = Basis.FORM
    breaks: Breaks | None = field(default=None, compare=False, repr=False)
    fact: str = field(default="", compare=False, repr=False)
    unenforced: Severity | None = field(default=None, compare=False, repr=False)
    contradicts: Contradiction | None = None
    cause: FaultId | None = field(default=None, compare=False, repr=False)
    counts_as: Severity | None = field(default=None, compare=False, repr=False)
    last: int | None = field(default=None, compare=False)
    places: tuple[Finding, ...] = field(default=(), compare=False, repr=False)
    order: WireOrder | None = field(default=None, compare=False, repr=False)
    kind: str = ""


def split_evidence(finding: Finding) -> tuple[str, str]:
    """What was seen, and the provider's words that the evidence quotes from the recording."""
    seen, _, quotation = finding.evidence.partition("provider error: ")
    return seen.removesuffix("; "), quotation


_QUOTATION = regex.compile(r"(?s)(['\"])(.*)\1( \(provider's .* = \S+, the fault is at .*\)| \(provider's .* = .*\))?")
"""A recorded text, and where the provider counts otherwise."""


def refusal_words(finding: Finding) -> str:
    """The provider's words about a finding: as recorded, else as its contract expects them; empty if none are known."""
    recorded = split_evidence(finding)[1]
    quotation = _QUOTATION.fullmatch(recorded)
    if quotation is None:
        return recorded or finding.refusal
    counts = quotation[3] or ""
    return quotation[2] + (counts if "the fault is at" in counts else "")
