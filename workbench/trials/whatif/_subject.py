"""What the families see: one request, decoded, in its place; and the variants they make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from workbench import protocols
from workbench.contracts import Finding, Severity
from workbench.edits import Change, edited, with_body
from workbench.edits.repairs import Fault
from workbench.errors import LocalProtocolError, WireError
from workbench.ir import Message, ModelRequest, Part
from workbench.protocols import Adapter
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Exchange, HttpRequest
from workbench.wire.session import MemorySession


@dataclass(frozen=True, slots=True)
class Variant:
    """A request with one thing different.

    Attributes:
        name: ``"reasoning=dropped"``: what people type.
        title: the same in words.
        request: what would be sent; None where there is nothing to try.
        protocol: to say it in, "" for what the target speaks.
        stream: ask for a stream, or for none; None as the request has it.
        why_not: why there is nothing to try, "" where there is.
    """

    name: str
    title: str
    request: HttpRequest | None = None
    protocol: str = ""
    stream: bool | None = None
    why_not: str = ""


@dataclass(frozen=True)
class Subject:
    """One request that is varied, in the place of an exchange. ``fault`` gives its parts their places."""

    inspector: Inspector
    index: int
    http: HttpRequest
    adapter: Adapter
    fault: Fault

    @staticmethod
    def of(inspector: Inspector, index: int, request: HttpRequest | None = None) -> Subject:
        """A request in the place of an exchange. Raises as ``variants``."""
        detail = inspector.detail(index)
        http = request or detail.decoded.exchange.request
        if http is None:
            raise LocalProtocolError("no request was recorded", where=f"exchange {index + 1}")
        trial = inspector.trial(index, http, provider=detail.contract.label)
        decoded = trial.decoded
        if decoded.request is None or decoded.protocol not in protocols.protocols():
            raise LocalProtocolError("no request of a model", where=f"exchange {index + 1}")
        whole = Finding("", Severity.INFO, index, "request", "", "")
        return Subject(inspector, index, http, protocols.get(decoded.protocol or ""), Fault(whole, trial.case))

    @staticmethod
    def alone(http: HttpRequest, protocol: str) -> Subject:
        """A request by itself. Raises LocalProtocolError where it is none of a model."""
        session = MemorySession("alone", (Exchange("alone", http),))
        return Subject.of(Inspector(session, protocol=protocol or None), 0)

    @property
    def request(self) -> ModelRequest:
        """The request as it reads."""
        return self.fault.request

    @property
    def text(self) -> bytes:
        """Its content-decoded body."""
        return self.fault.text

    def changed(self, name: str, title: str, changes: Sequence[Change], why_not: str) -> Variant:
        """A variant by changes of the structure; where there are none, ``why_not`` says why."""
        if not changes:
            return Variant(name, title, why_not=why_not)
        try:
            made = edited(self.http, self.text, changes)
        except (LocalProtocolError, WireError) as error:
            return Variant(name, title, why_not=str(error))
        return self._unless_same(name, title, made, why_not)

    def rewritten(self, name: str, title: str, change: Callable[[Part], Part], why_not: str) -> Variant:
        """A variant by other values in the parts of its messages; not a byte changes beside those."""
        messages = tuple(_with_parts(m, (change(p) for p in m.parts)) for m in self.request.messages)
        if messages == self.request.messages:
            return Variant(name, title, why_not=why_not)
        try:
            body = self.adapter.encode_request(replace(self.request, messages=messages), self.text)
        except (LocalProtocolError, WireError) as error:
            return Variant(name, title, why_not=str(error))
        return self._unless_same(name, title, with_body(self.http, body, self.text), why_not)

    def _unless_same(self, name: str, title: str, made: HttpRequest, why_not: str) -> Variant:
        return Variant(name, title, why_not=why_not) if made == self.http else Variant(name, title, made)


def _with_parts(message: Message, parts: Iterable[Part]) -> Message:
    made = tuple(parts)
    return message if made == message.parts else replace(message, parts=made)
