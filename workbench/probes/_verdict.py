"""From samples to a verdict, with how sure it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import NamedTuple

from workbench.ir import NOTHING, JsonValue
from workbench.probes._script import Outcome, Sample
from workbench.wire import dumps

Z = 1.96
"""Of a 95 % interval."""


class Interval(NamedTuple):
    """A 95 % interval of a share, 0 to 1 (Wilson 1927: it holds for few samples and for shares of 0 and 1, too)."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What all samples of a probe came to.

    Attributes:
        n: samples that could be measured; ``unmeasured``: those that could not.
        passes: of them, those that passed.
        interval: of the share that passes.
        words: why, in a sentence: of the worst sample that decided it.
        facts: what most of the samples learned.
        evidence: numbers of the exchanges in the probe's session.
        at: when the last sample ended, seconds since the epoch.
    """

    probe: str
    outcome: Outcome
    n: int
    passes: int
    unmeasured: int
    interval: Interval
    words: str
    facts: Mapping[str, JsonValue] = field(default=NOTHING)
    evidence: tuple[int, ...] = ()
    at: float = 0.0


def interval(passes: int, n: int) -> Interval:
    """The interval of a share; 0 to 1 where nothing was measured."""
    if not n:
        return Interval(0.0, 1.0)
    share, zz = passes / n, Z * Z
    middle, half = share + zz / (2 * n), Z * sqrt(share * (1 - share) / n + zz / (4 * n * n))
    low, high = (middle - half) / (1 + zz / n), (middle + half) / (1 + zz / n)
    return Interval(0.0 if not passes else max(0.0, low), 1.0 if passes == n else min(1.0, high))


def verdict(probe: str, samples: Sequence[Sample], evidence: Sequence[int] = (), at: float = 0.0) -> ProbeResult:
    """The verdict of a probe.

    All samples that could be measured passed: pass. None did, and none in part: fail. Else partial. What could not be
    measured is never a failure: with nothing measured the verdict is inconclusive.
    """
    measured = [s for s in samples if s.outcome is not Outcome.INCONCLUSIVE]
    passes = sum(s.outcome is Outcome.PASS for s in measured)
    fails = sum(s.outcome is Outcome.FAIL for s in measured)
    if not measured:
        outcome = Outcome.INCONCLUSIVE
    elif passes == len(measured):
        outcome = Outcome.PASS
    else:
        outcome = Outcome.FAIL if fails == len(measured) else Outcome.PARTIAL
    return ProbeResult(
        probe,
        outcome,
        len(measured),
        passes,
        len(samples) - len(measured),
        interval(passes, len(measured)),
        _words(outcome, samples),
        _facts(measured or samples),
        tuple(evidence),
        at,
    )


def _words(outcome: Outcome, samples: Sequence[Sample]) -> str:
    """What the sample says that made the verdict no better than it is."""
    for wanted in (outcome, Outcome.FAIL, Outcome.PARTIAL):
        said = [s.words for s in samples if s.outcome is wanted]
        if said:
            return Counter(said).most_common(1)[0][0]
    return "" if samples else "nothing was asked"


def _facts(samples: Sequence[Sample]) -> dict[str, JsonValue]:
    """Of each fact the value that most samples learned, of several the first."""
    found: dict[str, JsonValue] = {}
    for name in dict.fromkeys(name for sample in samples for name in sample.facts):
        said = [sample.facts[name] for sample in samples if name in sample.facts]
        counts = Counter(dumps(value) for value in said)
        found[name] = max(said, key=lambda value: counts[dumps(value)])
    return found
