"""The request that is varied, and the variants that are made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from workbench import protocols
from workbench.contracts import Finding, Severity
from workbench.edits.fault import Fault
from workbench.edits.request import Change, apply_changes, with_body
from workbench.errors import LocalProtocolError, WireError
from workbench.ir import Message, ModelRequest, Part
from workbench.lazy_dataclass import dataclass
from workbench.protocols import Adapter
from workbench.rules import Inspector
from workbench.wire import Exchange, HttpRequest
from workbench.wire.session import MemorySession


@dataclass(frozen=True, slots=True)
class RequestVariant:
    """A request with one difference.

    Attributes:
        name: as typed by the user: ``"reasoning=dropped"``.
        title: the same in words.
        request: to send; None if there is nothing to try.
        protocol: to write it in; empty for the target's own.
        stream: request a stream or not; None as in the request.
        why_not: reason why there is nothing to try; empty if there is.
    """

    name: str
    title: str
    request: HttpRequest | None = None
    protocol: str = ""
    stream: bool | None = None
    why_not: str = ""


@dataclass(frozen=True)
class VariedRequest:
    """A request to vary, in the place of an exchange. ``fault`` gives access to its parts."""

    inspector: Inspector
    index: int
    http: HttpRequest
    adapter: Adapter
    fault: Fault

    @staticmethod
    def of(inspector: Inspector, index: int, request: HttpRequest | None = None) -> VariedRequest:
        """A request in the place of an exchange.

        Raises:
            IndexError: the session has no such exchange.
            SessionFormatError: the session cannot be read.
            LocalProtocolError: the exchange has no request to a model.
        """
        detail = inspector.detail(index)
        http = request or detail.decoded.exchange.request
        if http is None:
            raise LocalProtocolError("no request was recorded", where=f"exchange {index + 1}")
        trial = inspector.trial(index, http, provider=detail.contract.label)
        decoded = trial.decoded
        if decoded.request is None or decoded.protocol not in protocols.protocols():
            raise LocalProtocolError("not a request to a model", where=f"exchange {index + 1}")
        whole = Finding("", Severity.INFO, index, "request", "", "")
        return VariedRequest(inspector, index, http, protocols.get(decoded.protocol or ""), Fault(whole, trial.case))

    @staticmethod
    def alone(http: HttpRequest, protocol: str) -> VariedRequest:
        """A single request. Raises LocalProtocolError if it is no request to a model."""
        session = MemorySession("alone", (Exchange("alone", http),))
        return VariedRequest.of(Inspector(session, protocol=protocol or None), 0)

    @property
    def request(self) -> ModelRequest:
        """The decoded request."""
        return self.fault.request

    @property
    def text(self) -> bytes:
        """The content-decoded body."""
        return self.fault.text

    def variant_by_changes(self, name: str, title: str, changes: Sequence[Change], why_not: str) -> RequestVariant:
        """A variant made by structural changes; without changes, ``why_not`` gives the reason."""
        if not changes:
            return RequestVariant(name, title, why_not=why_not)
        try:
            made = apply_changes(self.http, self.text, changes)
        except (LocalProtocolError, WireError) as error:
            return RequestVariant(name, title, why_not=str(error))
        return self._unless_same(name, title, made, why_not)

    def variant_by_parts(self, name: str, title: str, change: Callable[[Part], Part], why_not: str) -> RequestVariant:
        """A variant made by changing parts of its messages; all other bytes stay."""
        messages = tuple(_with_parts(m, (change(p) for p in m.parts)) for m in self.request.messages)
        if messages == self.request.messages:
            return RequestVariant(name, title, why_not=why_not)
        try:
            body = self.adapter.encode_request(replace(self.request, messages=messages), self.text)
        except (LocalProtocolError, WireError) as error:
            return RequestVariant(name, title, why_not=str(error))
        return self._unless_same(name, title, with_body(self.http, body, self.text), why_not)

    def _unless_same(self, name: str, title: str, made: HttpRequest, why_not: str) -> RequestVariant:
        return RequestVariant(name, title, why_not=why_not) if made == self.http else RequestVariant(name, title, made)


def _with_parts(message: Message, parts: Iterable[Part]) -> Message:
    made = tuple(parts)
    return message if made == message.parts else replace(message, parts=made)
