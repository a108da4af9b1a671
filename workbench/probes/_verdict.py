"""Verdict of a probe from its samples, with a confidence interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from math import sqrt
from typing import NamedTuple

from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.probes._script import Outcome, Sample
from workbench.wire import dumps

Z = 1.96
"""Quantile of a 95 % interval."""


class Interval(NamedTuple):
    """A 95 % interval of a share, 0 to 1 (Wilson 1927: valid for few samples, and for shares of 0 and 1)."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Result of all samples of a probe.

    Attributes:
        n: number of measured samples; ``unmeasured``: of the others.
        passes: number of measured samples that passed.
        interval: of the share of passes.
        words: explanation in one sentence, from the worst sample.
        facts: of most samples.
        evidence: indices of the exchanges in the probe's session.
        at: end of the last sample, seconds since the epoch.
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
    """The interval of a share; 0 to 1 if nothing was measured."""
    if not n:
        return Interval(0.0, 1.0)
    share, zz = passes / n, Z * Z
    middle, half = share + zz / (2 * n), Z * sqrt(share * (1 - share) / n + zz / (4 * n * n))
    low, high = (middle - half) / (1 + zz / n), (middle + half) / (1 + zz / n)
    return Interval(0.0 if not passes else max(0.0, low), 1.0 if passes == n else min(1.0, high))


def verdict(probe: str, samples: Sequence[Sample], evidence: Sequence[int] = (), at: float = 0.0) -> ProbeResult:
    """The verdict of a probe.

    All measured samples passed: pass. All failed: fail. Otherwise: partial. Unmeasured samples are never failures: if
    nothing was measured, the verdict is inconclusive.
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
    """Explanation of the most frequent sample that decided the outcome."""
    for wanted in (outcome, Outcome.FAIL, Outcome.PARTIAL):
        said = [s.words for s in samples if s.outcome is wanted]
        if said:
            return Counter(said).most_common(1)[0][0]
    return "" if samples else "no samples"


def _facts(samples: Sequence[Sample]) -> dict[str, JsonValue]:
    """Of each fact the most frequent value, the first of several."""
    found: dict[str, JsonValue] = {}
    for name in dict.fromkeys(name for sample in samples for name in sample.facts):
        said = [sample.facts[name] for sample in samples if name in sample.facts]
        counts = Counter(dumps(value) for value in said)
        found[name] = max(said, key=lambda value: counts[dumps(value)])
    return found
