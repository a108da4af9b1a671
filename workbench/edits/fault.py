"""One finding on a request, with the exchange and its contract, as repair families see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from workbench import protocols
from workbench.chain import CallLine
from workbench.contracts import Contract, Finding
from workbench.edits.message_parts import element_pointer
from workbench.edits.proposal import read_at
from workbench.errors import WireError
from workbench.ir import JsonValue, Message, ModelRequest, NodeRef, Part
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST, Adapter
from workbench.rules import RuleContext
from workbench.wire import loads, value_at


@dataclass(frozen=True)
class Fault:
    """One finding on a request. ``refused``: the exchange was answered with a refusal of the request."""

    finding: Finding
    case: RuleContext
    refused: bool = False

    @property
    def contract(self) -> Contract:
        """The contract that the finding was made under."""
        return self.case.contract

    @cached_property
    def request(self) -> ModelRequest:
        """The decoded request; an empty one if it could not be decoded."""
        return self.case.request or ModelRequest(self.case.decoded.protocol or "", None, ())

    @property
    def messages(self) -> Sequence[Message]:
        """Messages of the request."""
        return self.request.messages

    @cached_property
    def adapter(self) -> Adapter:
        """Adapter of its protocol."""
        return protocols.get(self.request.protocol)

    @cached_property
    def text(self) -> bytes:
        """Content-decoded body."""
        return self.case.decoded.request_text

    @cached_property
    def body(self) -> JsonValue:
        """The parsed body; None if it is not JSON."""
        try:
            return loads(self.text)
        except WireError:
            return None

    def value(self, pointer: str) -> JsonValue:
        """Value at a pointer of the body, also inside strings that hold JSON; None if there is none."""
        found = value_at(self.body, pointer)
        return read_at(self.case.decoded.request_index, pointer) if found is None else found

    @cached_property
    def list_pointer(self) -> str:
        """Pointer of the list of messages: "/messages"; empty if there are no messages."""
        return self.messages[0].pointer.rpartition("/")[0] if self.messages else ""

    @cached_property
    def number(self) -> int | None:
        """Index of the message with the finding; None if it is outside of the messages."""
        return self.number_at(self.finding.pointer)

    def number_at(self, pointer: str) -> int | None:
        """Index of the message that contains a pointer; None if none does."""
        at = f"{pointer}/"
        return next((n for n, m in enumerate(self.messages) if m.pointer and at.startswith(f"{m.pointer}/")), None)

    @cached_property
    def ref(self) -> NodeRef | None:
        """The part with the finding; None if it is on no part."""
        return None if self.number is None else self.ref_at(self.finding.pointer)

    def ref_at(self, pointer: str) -> NodeRef | None:
        """The innermost part that contains a pointer, the last of several; None if none does."""
        best, depth = None, -1
        for n, message in enumerate(self.messages):
            if not f"{pointer}/".startswith(f"{message.pointer}/"):
                continue
            for k, part in enumerate(message.parts):
                at = message.pointer + element_pointer(part)
                if f"{pointer}/".startswith(f"{at}/") and len(at) >= depth:
                    best, depth = NodeRef(REQUEST, n, k), len(at)
        return best

    def part(self, ref: NodeRef) -> Part:
        """The part of a reference."""
        return self.messages[ref.message].parts[ref.part]

    def line(self, ref: NodeRef | None) -> CallLine | None:
        """Closure line of a call or result; None if it has none."""
        lines = self.case.closure.lines
        return next((li for li in lines if ref is not None and (li.call == ref or ref in li.results)), None)

    def parts(self, kind: type[Part]) -> Iterator[tuple[NodeRef, Part]]:
        """Every part of a kind, with its reference."""
        for n, message in enumerate(self.messages):
            for k, part in enumerate(message.parts):
                if isinstance(part, kind):
                    yield NodeRef(REQUEST, n, k), part

    def turn(self, number: int) -> range:
        """Indices of the messages that form one answer of the model together with this one."""
        first = last = number
        if self.request.itemized or self.contract.term("content.merges-same-role"):
            role = self.messages[number].role
            while first > 0 and self.messages[first - 1].role == role:
                first -= 1
            while last + 1 < len(self.messages) and self.messages[last + 1].role == role:
                last += 1
        return range(first, last + 1)
