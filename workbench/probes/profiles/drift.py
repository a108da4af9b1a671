"""Drift: statistically confirmed changes in what a model does.

For each probe the last one, two or three runs together are compared with all runs since the last change: a
likelihood-ratio test of two shares (Wilks 1938), with Yates' correction for small samples. A change counts only if it
is also large: ``FLOOR``. ``CHANCES`` are small because every probe is tested every day; the tests simulate false alarms
and detection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import erfc, log, sqrt

from workbench.lazy_dataclass import dataclass
from workbench.probes.profiles.profile import CapabilityProfile

FLOOR = 0.1
"""Smallest change of a share that is reported, however certain."""

CHANCES: Mapping[int, float] = {1: 1e-6, 2: 1e-5, 3: 7e-5}
"""Number of last runs that are compared → largest probability of a chance result.

With 60 samples a run and seven probes, a stable model raises an alarm in 2 of 100 years of daily runs; a drop by 20
points from 75 % or more is found within three runs in 95 of 100 trials.
"""

Counts = tuple[int, int]
"""Number of passes, and number of measured samples."""


@dataclass(frozen=True, slots=True)
class Drift:
    """A probe whose share of passes changed.

    Attributes:
        before, after: passes and samples.
        runs: number of last runs that show it.
        chance: probability of such a difference without a change.
    """

    probe: str
    before: Counts
    after: Counts
    runs: int
    chance: float

    @property
    def change(self) -> float:
        """Change of the share, -1 to 1."""
        return self.after[0] / self.after[1] - self.before[0] / self.before[1]

    def __str__(self) -> str:
        (a, n), (b, m) = self.before, self.after
        runs = "the last run" if self.runs == 1 else f"the last {self.runs} runs"
        return f"{self.probe} passed {a} of {n} before, and {b} of {m} in {runs} ({self.change:+.0%})"


def drift(history: Sequence[CapabilityProfile]) -> tuple[Drift, ...]:
    """Probes whose results changed. ``history``: every profile of one key, oldest first."""
    names = dict.fromkeys(result.probe for profile in history for result in profile.results)
    found = (latest_drift(name, series(history, name)) for name in names)
    return tuple(change for change in found if change)


def series(history: Sequence[CapabilityProfile], probe: str) -> list[Counts]:
    """Counts of one probe, run by run; results kept from an earlier profile count once."""
    by_time = {r.at: (r.passes, r.n) for profile in history for r in profile.results if r.probe == probe and r.n}
    return [by_time[at] for at in sorted(by_time)]


def latest_drift(probe: str, counts: Sequence[Counts]) -> Drift | None:
    """Difference between the last runs of a probe and those before, back to the last change; None if there is none.

    Args:
        counts: of each run, oldest first.
    """
    start = 0
    found: Drift | None = None
    for end in range(2, len(counts) + 1):
        found = at_end(probe, counts[start:end])
        if found:
            start = end - found.runs
    return found


def at_end(probe: str, counts: Sequence[Counts]) -> Drift | None:
    """Difference between the last runs and all others; None if there is none."""
    for window, luck in CHANCES.items():
        if window >= len(counts):
            return None
        before, after = _totals(counts[:-window]), _totals(counts[-window:])
        if abs(after[0] / after[1] - before[0] / before[1]) < FLOOR:
            continue
        chance = chance_of(before, after)
        if chance < luck:
            return Drift(probe, before, after, window, chance)
    return None


def _totals(counts: Sequence[Counts]) -> Counts:
    return sum(passes for passes, _ in counts), sum(n for _, n in counts)


def chance_of(before: Counts, after: Counts) -> float:
    """Probability of a difference this large or larger, if both shares are equal."""
    (a, n), (b, m) = before, after
    whole, passes = n + m, a + b
    expected = m * passes / whole
    nearer = b + max(-0.5, min(0.5, expected - b))  # Yates: half a sample towards what would be expected
    moved = a + (b - nearer)
    cells = ((moved, n, passes), (n - moved, n, whole - passes), (nearer, m, passes), (m - nearer, m, whole - passes))
    g = 2 * sum(seen * log(seen * whole / (of * share)) for seen, of, share in cells if seen > 0 and share)
    return erfc(sqrt(max(0.0, g) / 2))
