"""Study of an edited request: verdict of the contract, closure and reasoning, difference from the recorded request.

It is created in the inspector's thread; a screen reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from workbench import regex
from workbench.contracts import Verdict, refusal_of
from workbench.diff import Difference, ItemChangeKind, compare
from workbench.edits import EditAssessment, Element, assess, elements_of, json_problem, say_place, text_of
from workbench.errors import LocalProtocolError, WireError
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST, DecodedExchange
from workbench.send import MatrixRow
from workbench.tui.models.diff import Places
from workbench.wire import HttpRequest, JsonIndex, loads

if TYPE_CHECKING:
    from workbench.rules import CheckedVariant, Inspector


_BYTE = regex.compile(r"^line [0-9]+, column [0-9]+, byte ([0-9]+):")
"""Start of the text of ``json_problem``."""


@dataclass(frozen=True)
class EditStudy:
    """An edited request with its verdict and its changes.

    Attributes:
        contract: label of the contract that judges it.
        meant: its assessment, compared with the recorded request.
        places: places in that difference.
        told: verdict of the contract.
        is_changed: True if body, URL or headers differ from the recorded request.
        elements: editable elements; () if the request cannot be read.
    """

    request: HttpRequest
    contract: str
    meant: EditAssessment
    places: Places
    told: MatrixRow
    is_changed: bool
    elements: tuple[Element, ...] = ()

    @property
    def difference(self) -> Difference:
        """Difference from the recorded body to this one."""
        return self.meant.difference

    @property
    def text(self) -> bytes:
        """The body, decoded from its content encoding."""
        return self.difference.after

    @cached_property
    def index(self) -> JsonIndex:
        """Index of the values of its body."""
        return self.meant.trial.decoded.request_index if self.meant.trial else JsonIndex(self.text)

    @property
    def broken_at(self) -> int | None:
        """Offset of the byte at which its body stops being JSON; None if it is JSON."""
        found = _BYTE.search(self.meant.problem)
        return min(int(found[1]), max(0, len(self.text) - 1)) if found else None

    @property
    def decoded_request(self) -> DecodedExchange:
        """The decoded request. Raises LocalProtocolError if it cannot be decoded."""
        if self.meant.trial is None:
            raise LocalProtocolError("the body cannot be decoded as a request", where=self.meant.problem)
        return self.meant.trial.decoded

    @property
    def changed_pointers(self) -> Iterator[str]:
        """Pointers of values that differ from the recorded request."""
        for change in self.difference.changes:
            if change.kind is ItemChangeKind.CHANGED:
                yield from (detail.place for detail in change.details)
            elif change.after is not None:
                yield change.after

    def span(self, pointer: str) -> tuple[int, int] | None:
        """Byte range of a value in the body; None if the body does not have it."""
        return (0, len(self.text)) if not pointer else self.index.span(pointer)

    def value(self, pointer: str) -> bytes:
        """The bytes of a value as they are in the body; empty if the value is not there."""
        span = self.span(pointer)
        return self.text[slice(*span)] if span else b""

    def json(self, pointer: str) -> bytes:
        """The bytes of a value as JSON, unescaped if it is inside a string; empty if it is absent or incomplete."""
        place = self.index.find(pointer)
        whole = self.span(pointer) if pointer else None
        return place.layer.text[place.node.start : place.node.end] if place and whole else b""

    def hint(self, pointer: str) -> str:
        """What may be at a pointer, in words; "" where that is not known."""
        if not pointer or self.meant.trial is None:
            return ""
        return say_place(self.meant.trial.decoded, self.provider, pointer)

    @property
    def provider(self) -> str:
        """Name of the contract that judges it, without its variant."""
        return self.contract.partition(":")[0]

    def text_of(self, element: Element) -> str | None:
        """The text of an element; None if it has no text."""
        if element.text_at is None:
            return None
        try:
            value = loads(self.json(element.text_at))
        except WireError:
            return None
        return "" if value == [] else value if isinstance(value, str) else None


def study(inspector: Inspector, index: int, request: HttpRequest, contract: str = "") -> EditStudy:
    """Study a request in place of a recorded one, after the exchanges before it. Call it in the inspector's thread.

    Args:
        inspector: inspector of the session.
        index: index of the recorded exchange.
        contract: label of the contract that judges it; "" for the exchange's own.

    Raises:
        IndexError, SessionFormatError: the exchange cannot be read.
        UsageError: no such contract.
    """
    detail = inspector.detail(index)
    recorded = detail.decoded.exchange.request or HttpRequest()
    if request.url == recorded.url:
        label = contract or detail.contract.label
        assessment = assess(inspector, index, request, provider=label)
    else:
        label = contract
        assessment = _meant_elsewhere(inspector, index, request, contract)
    trial = assessment.trial
    return EditStudy(
        request=request,
        contract=trial.contract.label if trial else label,
        meant=assessment,
        places=Places(assessment.difference),
        told=_contract_result(trial)
        if trial
        else MatrixRow(label, label, "", Verdict.UNKNOWN, note=assessment.problem),
        is_changed=request != recorded,
        elements=elements_of(trial.decoded) if trial else (),
    )


def _meant_elsewhere(inspector: Inspector, index: int, request: HttpRequest, contract: str) -> EditAssessment:
    """Study a request that was sent to another target, and may be in another protocol."""
    difference = compare(inspector.detail(index).decoded.request_text, text_of(request))
    trial = inspector.trial(index, request, provider=contract)
    if trial.decoded.request is None:
        return EditAssessment(difference, json_problem(difference.after) or "not a request of a known protocol")
    return EditAssessment(difference, "", trial)


def _contract_result(trial: CheckedVariant) -> MatrixRow:
    found, contract = trial.judgement, trial.contract
    return MatrixRow(
        contract=contract.label,
        title=contract.title,
        protocol=trial.decoded.protocol or "",
        verdict=found.verdict,
        finding=found.finding,
        refusal=refusal_of(found.finding, contract) if found.finding else None,
        findings=tuple(f for f in trial.findings if f.side == REQUEST),
        note=contract.note,
    )
