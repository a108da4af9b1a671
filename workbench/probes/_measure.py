"""Measuring: run probes against a target, record their samples, and derive a verdict for each.

One sample of a probe, step by step: the next request, and its outcome. No I/O.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.probes._script import Ask, Outcome, Probe, Sample, Subject, unclear
from workbench.probes._verdict import ProbeResult, verdict
from workbench.protocols import DecodedExchange, refusals
from workbench.wire import Exchange, Origin, State

if TYPE_CHECKING:
    from workbench.send import Sender


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
        reason = answer.error.message if answer and answer.error else response.reason
        return f"status {response.status}: {reason}"
    if exchange.state is State.ABORTED:
        return f"incomplete response: {exchange.note or 'the connection ended'}"
    return ""


GIVES_UP_AFTER = 2
"""Consecutive unmeasured samples after which a probe stops: the network or the key is at fault."""


@dataclass(frozen=True, slots=True)
class SampleStep:
    """A sample is finished.

    Attributes:
        number, of: index of the sample, from zero, and number of samples.
        result: of the probe, with its last sample; None before that.
    """

    probe: Probe
    number: int
    of: int
    sample: Sample
    result: ProbeResult | None = None


@dataclass(slots=True)
class Measurement:
    """Measurements of one target, with their exchanges.

    Attributes:
        subject: as it was at the start.
        exchanges: in order; evidence refers to them by index.
        results: one for each probe that ran.
    """

    subject: Subject
    exchanges: list[Exchange] = field(default_factory=list)
    results: list[ProbeResult] = field(default_factory=list)

    @property
    def facts(self) -> dict[str, JsonValue]:
        """Facts of all probes."""
        return {name: value for result in self.results for name, value in result.facts.items()}


async def measure(
    measurement: Measurement,
    probes: Sequence[Probe],
    sender: Sender,
    *,
    samples: int = 1,
    clock: Callable[[], float] = time.time,
    nonce: Callable[[], str] = lambda: secrets.token_hex(3),
) -> AsyncIterator[SampleStep]:
    """Run probes in sequence; yields a step for each sample.

    Later probes use the result of the format probe: its parser reads calls in text.
    """
    subject = measurement.subject
    for probe in probes:
        finished_samples: list[Sample] = []
        evidence: list[int] = []
        for number in range(samples):
            run = ProbeRun(probe, replace(subject, nonce=nonce()))
            await _send_all(run, sender, measurement, evidence, number)
            assert run.sample
            finished_samples.append(run.sample)
            is_last = number + 1 == samples or _is_given_up(finished_samples)
            result = verdict(probe.name, finished_samples, evidence, clock()) if is_last else None
            if result:
                measurement.results.append(result)
                subject = replace(subject, parser=_parser(result, subject))
            yield SampleStep(probe, number, samples, run.sample, result)
            if is_last:
                break


async def _send_all(run: ProbeRun, sender: Sender, measurement: Measurement, evidence: list[int], number: int) -> None:
    """Send every request of one sample."""
    while ask := run.pending:
        try:
            exchange = await send(ask, run.subject, sender)
        except (WorkbenchError, OSError) as error:
            run.give_up(str(error))
            return
        evidence.append(len(measurement.exchanges))
        measurement.exchanges.append(as_evidence(exchange, ask, run.probe, number))
        run.after(exchange)


def as_evidence(exchange: Exchange, ask: Ask, probe: Probe, sample: int) -> Exchange:
    """The exchange as stored, with the name of its probe and its purpose."""
    meta = {**exchange.meta, "probe": probe.name, "sample": sample}
    return replace(exchange, origin=Origin.PROBE, note=ask.title, meta=meta)


async def send(ask: Ask, subject: Subject, sender: Sender) -> Exchange:
    """Send a request of a probe. Raises as ``Sender.send`` and ``prepare``."""
    from workbench.send import prepare

    decoded = DecodedExchange(0, Exchange("probe", ask.request), ask.protocol)
    return await sender.send(prepare(decoded, subject.target, protocol=ask.protocol))


def _is_given_up(samples: Sequence[Sample]) -> bool:
    last = samples[-GIVES_UP_AFTER:]
    return len(last) == GIVES_UP_AFTER and all(sample.outcome is Outcome.INCONCLUSIVE for sample in samples)


def _parser(result: ProbeResult, subject: Subject) -> str:
    found = result.facts.get("parser")
    return found if isinstance(found, str) else subject.parser
