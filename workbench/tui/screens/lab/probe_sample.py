"""One sample of a probe, step by step. Changed in threads, one at a time; read by the step screen."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.lazy_dataclass import dataclass, replace
from workbench.probes import Ask, Probe, ProbeRun, Sample, Subject, as_evidence
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules import Inspector
from workbench.tui.exchange_view import ExchangeView
from workbench.tui.models.edit_study import EditStudy, study
from workbench.tui.probing import in_memory
from workbench.wire import Exchange, HttpRequest

if TYPE_CHECKING:
    from workbench.tui.models.rowtable import Range


@dataclass(frozen=True, slots=True)
class SentRequest:
    """Request that was sent, with its response. ``is_changed`` if it differs from the probe's own."""

    ask: Ask
    opened: ExchangeView
    is_changed: bool

    @property
    def exchange(self) -> Exchange:
        """Request and response."""
        return self.opened.decoded.exchange


@dataclass(frozen=True, slots=True)
class SampleState:
    """State of a sample.

    Attributes:
        sent: requests sent so far.
        ask: pending request, as it would be sent now; None at the end.
        is_changed: the pending request differs from the probe's own.
        studied: the pending request, decoded and judged; None if impossible, for the reason ``why``.
        new: pointer and bytes of each message that the previous request did not have.
        sample: result; None before the end.
    """

    sent: tuple[SentRequest, ...]
    ask: Ask | None
    is_changed: bool = False
    studied: EditStudy | None = None
    why: str = ""
    new: tuple[tuple[str, Range], ...] = ()
    sample: Sample | None = None


class ProbeSample:
    """Sample of a probe that is stepped through."""

    def __init__(self, probe: Probe, subject: Subject) -> None:
        self.probe = probe
        self.subject = replace(subject, nonce=secrets.token_hex(3))
        self._run = ProbeRun(probe, self.subject)
        self._sent: list[tuple[Ask, Exchange, bool]] = []
        self._changed: HttpRequest | None = None

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Exchanges so far, as they are saved as evidence."""
        return tuple(as_evidence(exchange, ask, self.probe, 0) for ask, exchange, _ in self._sent)

    @property
    def pending(self) -> Ask | None:
        """Pending request as it would be sent now; None at the end."""
        ask = self._run.pending
        return replace(ask, request=self._changed) if ask and self._changed else ask

    def change(self, request: HttpRequest) -> None:
        """Send another request in place of the pending one."""
        ask = self._run.pending
        self._changed = request if ask and request != ask.request else None

    def after(self, exchange: Exchange) -> None:
        """Continue with the exchange of the pending request."""
        ask = self.pending
        assert ask
        self._sent.append((ask, exchange, self._changed is not None))
        self._changed = None
        self._run.after(exchange)

    def undo(self) -> bool:
        """Undo the change of the pending request, else the last sent request. Returns False at the beginning."""
        if self._changed:
            self._changed = None
        elif self._sent:
            self._sent.pop()
            self._run = ProbeRun(self.probe, self.subject)
            for _, exchange, _ in self._sent:
                self._run.after(exchange)
        else:
            return False
        return True

    def state(self) -> SampleState:
        """Current state."""
        ask = self.pending
        exchanges = [exchange for _, exchange, _ in self._sent]
        waiting = [Exchange("pending", ask.request)] if ask else []
        label, protocol = self.subject.contract.label, self.subject.protocol
        inspector = Inspector(in_memory("probe", (*exchanges, *waiting)), label, protocol)
        inspector.run()
        sent = tuple(
            SentRequest(a, ExchangeView(inspector.detail(n)), changed) for n, (a, _, changed) in enumerate(self._sent)
        )
        if ask is None:
            return SampleState(sent, None, sample=self._run.sample)
        is_changed = self._changed is not None
        try:
            studied = study(inspector, len(exchanges), ask.request, label)
        except WorkbenchError as error:
            return SampleState(sent, ask, is_changed, why=str(error))
        return SampleState(sent, ask, is_changed, studied, studied.meant.problem, _new(studied, exchanges))


def _new(study: EditStudy, exchanges: list[Exchange]) -> tuple[tuple[str, Range], ...]:
    """Pointer and bytes of messages that the previous request did not have; none for the first request."""
    if study.meant.trial is None or not exchanges:
        return ()
    now = study.decoded_request
    before = DecodedExchange(0, exchanges[-1], now.protocol)
    known = {_bytes(before, message.pointer) for message in before.request.messages} if before.request else set()
    messages = now.request.messages if now.request else ()
    spans = ((message.pointer, now.place(REQUEST, message.pointer).span) for message in messages)
    return tuple((at, span) for at, span in spans if span and now.request_text[slice(*span)] not in known)


def _bytes(decoded: DecodedExchange, pointer: str) -> bytes:
    span = decoded.place(REQUEST, pointer).span
    return decoded.request_text[slice(*span)] if span else b""
