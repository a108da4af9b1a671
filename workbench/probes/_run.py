"""One sample of a probe, step by step: what would be sent next, and what came of it. No I/O."""

from __future__ import annotations

from workbench.probes._script import Ask, Probe, Sample, unclear
from workbench.probes._subject import Subject
from workbench.protocols import DecodedExchange, refusals
from workbench.wire import Exchange, State


class ProbeRun:
    """One sample.

    Attributes:
        pending: the request to send next, None when it is over.
        sample: what it came to, None while it goes on.
        exchanges: what was sent so far.
    """

    def __init__(self, probe: Probe, subject: Subject) -> None:
        self.probe, self.subject = probe, subject
        self.exchanges: list[Exchange] = []
        self.pending: Ask | None = None
        self.sample: Sample | None = None
        self._script = probe.script(subject)
        self._go_on(None)

    def after(self, exchange: Exchange) -> None:
        """Take what came of the pending request, or of another one that was sent in its place."""
        self.exchanges.append(exchange)
        why_not = why_unmeasured(exchange)
        if why_not:
            self._script.close()
            self.pending, self.sample = None, unclear(why_not)
        else:
            self._go_on(exchange)

    def give_up(self, why: str) -> None:
        """It cannot be sent: nothing is measured."""
        self._script.close()
        self.pending, self.sample = None, unclear(why)

    def _go_on(self, exchange: Exchange | None) -> None:
        try:
            self.pending = next(self._script) if exchange is None else self._script.send(exchange)
        except StopIteration as over:
            self.pending, self.sample = None, over.value


def why_unmeasured(exchange: Exchange) -> str:
    """Why an exchange says nothing of the model, in words; "" where it does."""
    response = exchange.response
    if response is None or not response.status:
        return f"no answer came: {exchange.note or exchange.state}"
    decoded = DecodedExchange(0, exchange)
    refusal = refusals.of_exchange(response.status, response.headers, decoded.response_text)
    if response.status >= 500 or (refusal and refusal.is_unjudged):
        answer = decoded.response
        told = answer.error.message if answer and answer.error else response.reason
        return f"status {response.status}: {told}"
    if exchange.state is State.ABORTED:
        return f"the answer broke off: {exchange.note or 'the connection ended'}"
    return ""
