"""One sample of a probe, step by step: the next request, and its outcome. No I/O."""

from __future__ import annotations

from workbench.probes._script import Ask, Probe, Sample, unclear
from workbench.probes._subject import Subject
from workbench.protocols import DecodedExchange, refusals
from workbench.wire import Exchange, State


class ProbeRun:
    """One sample.

    Attributes:
        pending: the request to send next; None at the end.
        sample: the result; None until the end.
        exchanges: finished so far.
    """

    def __init__(self, probe: Probe, subject: Subject) -> None:
        self.probe, self.subject = probe, subject
        self.exchanges: list[Exchange] = []
        self.pending: Ask | None = None
        self.sample: Sample | None = None
        self._script = probe.script(subject)
        self._go_on(None)

    def after(self, exchange: Exchange) -> None:
        """Continue with the exchange of the pending request, or of another one that was sent instead."""
        self.exchanges.append(exchange)
        why_not = why_unmeasured(exchange)
        if why_not:
            self._script.close()
            self.pending, self.sample = None, unclear(why_not)
        else:
            self._go_on(exchange)

    def give_up(self, why: str) -> None:
        """End the sample as inconclusive, because it cannot be sent."""
        self._script.close()
        self.pending, self.sample = None, unclear(why)

    def _go_on(self, exchange: Exchange | None) -> None:
        try:
            self.pending = next(self._script) if exchange is None else self._script.send(exchange)
        except StopIteration as over:
            self.pending, self.sample = None, over.value


def why_unmeasured(exchange: Exchange) -> str:
    """Reason why an exchange says nothing about the model; empty if it does."""
    response = exchange.response
    if response is None or not response.status:
        return f"no response: {exchange.note or exchange.state}"
    decoded = DecodedExchange(0, exchange)
    refusal = refusals.of_exchange(response.status, response.headers, decoded.response_text)
    if response.status >= 500 or (refusal and refusal.is_unjudged):
        answer = decoded.response
        told = answer.error.message if answer and answer.error else response.reason
        return f"status {response.status}: {told}"
    if exchange.state is State.ABORTED:
        return f"incomplete response: {exchange.note or 'the connection ended'}"
    return ""
