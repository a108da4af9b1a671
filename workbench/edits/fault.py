"""What a family sees: one finding on a request, and the exchange under its contract."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench import protocols
from workbench.chain.closure import CallLine, NodeRef
from workbench.contracts import Contract, Finding
from workbench.edits.places import element
from workbench.edits.proposal import read_at, value_at
from workbench.errors import WireError
from workbench.ir import JsonValue, Message, ModelRequest, Part
from workbench.protocols import Adapter
from workbench.protocols.decode import REQUEST
from workbench.rules import RuleContext
from workbench.wire.jsontext import loads


@dataclass(frozen=True)
class Fault:
    """One finding on a request. ``refused``: the exchange was answered with a refusal of the request."""

    finding: Finding
    case: RuleContext
    refused: bool = False

    @property
    def contract(self) -> Contract:
        """The contract it is a fault under."""
        return self.case.contract

    @cached_property
    def request(self) -> ModelRequest:
        """The request; an empty one where it could not be decoded."""
        return self.case.request or ModelRequest(self.case.decoded.protocol or "", None, ())

    @property
    def messages(self) -> Sequence[Message]:
        """Its messages."""
        return self.request.messages

    @cached_property
    def adapter(self) -> Adapter:
        """The adapter of its protocol."""
        return protocols.get(self.request.protocol)

    @cached_property
    def text(self) -> bytes:
        """Its content-decoded body."""
        return self.case.decoded.request_text

    @cached_property
    def body(self) -> JsonValue:
        """The parsed body; None where it is no JSON."""
        try:
            return loads(self.text)
        except WireError:
            return None

    def value(self, pointer: str) -> JsonValue:
        """What stands at a pointer of the body, also inside strings that hold JSON; None for nothing."""
        found = value_at(self.body, pointer)
        return read_at(self.case.decoded.request_index, pointer) if found is None else found

    @cached_property
    def list_pointer(self) -> str:
        """Where the list of messages is: "/messages"."""
        return self.messages[0].pointer.rpartition("/")[0] if self.messages else ""

    @cached_property
    def number(self) -> int | None:
        """Index of the message the finding is on; None where it is on none."""
        return self.number_at(self.finding.pointer)

    def number_at(self, pointer: str) -> int | None:
        """Index of the message that holds a pointer."""
        at = f"{pointer}/"
        return next((n for n, m in enumerate(self.messages) if m.pointer and at.startswith(f"{m.pointer}/")), None)

    @cached_property
    def ref(self) -> NodeRef | None:
        """The part the finding is on, or in; None where it is on none."""
        return None if self.number is None else self.ref_at(self.finding.pointer)

    def ref_at(self, pointer: str) -> NodeRef | None:
        """The part at a pointer: the last of those that hold it and go deepest."""
        best, depth = None, -1
        for n, message in enumerate(self.messages):
            if not f"{pointer}/".startswith(f"{message.pointer}/"):
                continue
            for k, part in enumerate(message.parts):
                at = message.pointer + element(part)
                if f"{pointer}/".startswith(f"{at}/") and len(at) >= depth:
                    best, depth = NodeRef(REQUEST, n, k), len(at)
        return best

    def part(self, ref: NodeRef) -> Part:
        """The part a reference points at."""
        return self.messages[ref.message].parts[ref.part]

    def line(self, ref: NodeRef | None) -> CallLine | None:
        """The line of the closure that a call or a result belongs to."""
        lines = self.case.closure.lines
        return next((li for li in lines if ref is not None and (li.call == ref or ref in li.results)), None)

    def parts(self, kind: type[Part]) -> Iterator[tuple[NodeRef, Part]]:
        """Every part of a kind, with its place."""
        for n, message in enumerate(self.messages):
            for k, part in enumerate(message.parts):
                if isinstance(part, kind):
                    yield NodeRef(REQUEST, n, k), part

    def turn(self, number: int) -> range:
        """The messages that are one answer together with a message of the model."""
        first = last = number
        if self.request.itemized or self.contract.term("content.merges-same-role"):
            role = self.messages[number].role
            while first > 0 and self.messages[first - 1].role == role:
                first -= 1
            while last + 1 < len(self.messages) and self.messages[last + 1].role == role:
                last += 1
        return range(first, last + 1)
