"""Drift: has what a model does changed, by a test and not by one flaky sample.

For each probe the last runs together (one, two or three) are held against all runs before them since the last change:
a likelihood-ratio test of two shares (Wilks 1938), with Yates' correction so that few samples do not look like many. A
change counts only where it is also large: ``FLOOR``. ``CHANCES`` are small because the question is asked every day, of
every probe; what they cost and find is simulated in the tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import erfc, log, sqrt

from workbench.probes.profiles.profile import CapabilityProfile

FLOOR = 0.1
"""Change of a share that is worth a word, however sure it is."""

CHANCES: Mapping[int, float] = {1: 1e-6, 2: 1e-5, 3: 7e-5}
"""Runs at the end that are held against those before → the chance by luck alone below which they differ.

With 60 samples a run, of a stable model with seven probes 2 of 100 years of daily runs report anything, and a drop by
20 points is found within three runs in 95 of 100 trials wherever the share was 75 % or more.
"""

Counts = tuple[int, int]
"""Samples that passed, and samples that were measured."""


@dataclass(frozen=True, slots=True)
class Drift:
    """A probe whose share of passes changed.

    Attributes:
        before, after: passes and samples.
        runs: how many of the last runs show it.
        chance: of so large a difference where nothing has changed.
    """

    probe: str
    before: Counts
    after: Counts
    runs: int
    chance: float

    @property
    def change(self) -> float:
        """Of the share, -1 to 1."""
        return self.after[0] / self.after[1] - self.before[0] / self.before[1]

    def __str__(self) -> str:
        (a, n), (b, m) = self.before, self.after
        runs = "the last run" if self.runs == 1 else f"the last {self.runs} runs"
        return f"{self.probe} passed {a} of {n}, and {b} of {m} in {runs} ({self.change:+.0%})"


def drift(history: Sequence[CapabilityProfile]) -> tuple[Drift, ...]:
    """Probes that pass otherwise than they did. ``history``: every profile of one key, oldest first."""
    names = dict.fromkeys(result.probe for profile in history for result in profile.results)
    found = (latest_drift(name, series(history, name)) for name in names)
    return tuple(change for change in found if change)


def series(history: Sequence[CapabilityProfile], probe: str) -> list[Counts]:
    """The counts of one probe, run by run; what a profile took over from the one before it counts once."""
    by_time = {r.at: (r.passes, r.n) for profile in history for r in profile.results if r.probe == probe and r.n}
    return [by_time[at] for at in sorted(by_time)]


def latest_drift(probe: str, counts: Sequence[Counts]) -> Drift | None:
    """Whether the last runs of a probe differ from those before them, as far back as nothing had changed.

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
    """Whether the last runs differ from all others."""
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
    """Chance of a difference as large as this, or larger, where both shares are the same."""
    (a, n), (b, m) = before, after
    whole, passes = n + m, a + b
    expected = m * passes / whole
    nearer = b + max(-0.5, min(0.5, expected - b))  # Yates: half a sample towards what would be expected
    moved = a + (b - nearer)
    cells = ((moved, n, passes), (n - moved, n, whole - passes), (nearer, m, passes), (m - nearer, m, whole - passes))
    g = 2 * sum(seen * log(seen * whole / (of * share)) for seen, of, share in cells if seen > 0 and share)
    return erfc(sqrt(max(0.0, g) / 2))
