"""Measuring: probes run against a target, their samples recorded, and a verdict for each."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.ir import JsonValue
from workbench.probes._run import ProbeRun
from workbench.probes._script import Ask, Outcome, Probe, Sample
from workbench.probes._subject import Subject
from workbench.probes._verdict import ProbeResult, verdict
from workbench.protocols import DecodedExchange
from workbench.wire import Exchange, Origin

if TYPE_CHECKING:
    from workbench.send import Sender

GIVES_UP_AFTER = 2
"""Samples in a row that could not be measured, after which a probe is left: the network, or the key, is at fault."""


@dataclass(frozen=True, slots=True)
class SampleStep:
    """A sample is over.

    Attributes:
        number, of: which sample of the probe, from zero.
        result: of the probe, with its last sample; None before.
    """

    probe: Probe
    number: int
    of: int
    sample: Sample
    result: ProbeResult | None = None


@dataclass(slots=True)
class Measurement:
    """What was measured of one target, and the exchanges that show it.

    Attributes:
        subject: as it was at the start.
        exchanges: in order; evidence counts them.
        results: one for each probe that was run.
    """

    subject: Subject
    exchanges: list[Exchange] = field(default_factory=list)
    results: list[ProbeResult] = field(default_factory=list)

    @property
    def facts(self) -> dict[str, JsonValue]:
        """What all probes learned."""
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
    """Run probes, one after the other; a step for each sample.

    What the format probe finds is used by those behind it: calls in text are read by their parser from then on.
    """
    subject = measurement.subject
    for probe in probes:
        made: list[Sample] = []
        evidence: list[int] = []
        for number in range(samples):
            run = ProbeRun(probe, replace(subject, nonce=nonce()))
            await _send_all(run, sender, measurement, evidence, number)
            assert run.sample
            made.append(run.sample)
            is_last = number + 1 == samples or _is_hopeless(made)
            result = verdict(probe.name, made, evidence, clock()) if is_last else None
            if result:
                measurement.results.append(result)
                subject = replace(subject, parser=_parser(result, subject))
            yield SampleStep(probe, number, samples, run.sample, result)
            if is_last:
                break


async def _send_all(run: ProbeRun, sender: Sender, measurement: Measurement, evidence: list[int], number: int) -> None:
    """Every request of one sample."""
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
    """The exchange as it is kept: it says which probe it is of, and what it was for."""
    meta = {**exchange.meta, "probe": probe.name, "sample": sample}
    return replace(exchange, origin=Origin.PROBE, note=ask.title, meta=meta)


async def send(ask: Ask, subject: Subject, sender: Sender) -> Exchange:
    """What comes of a request of a probe. Raises as ``Sender.send`` and ``prepare``."""
    from workbench.send import prepare

    decoded = DecodedExchange(0, Exchange("probe", ask.request), ask.protocol)
    return await sender.send(prepare(decoded, subject.target, protocol=ask.protocol))


def _is_hopeless(made: Sequence[Sample]) -> bool:
    last = made[-GIVES_UP_AFTER:]
    return len(last) == GIVES_UP_AFTER and all(sample.outcome is Outcome.INCONCLUSIVE for sample in made)


def _parser(result: ProbeResult, subject: Subject) -> str:
    found = result.facts.get("parser")
    return found if isinstance(found, str) else subject.parser
