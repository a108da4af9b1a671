"""Drift: a tested change with a floor, and not one flaky sample."""

from __future__ import annotations

import random
from bisect import bisect
from functools import cache
from itertools import accumulate
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.probes import Sample, verdict
from workbench.probes._script import Outcome
from workbench.probes.profiles import CapabilityProfile, ProfileKey, drift
from workbench.probes.profiles.drift import CHANCES, FLOOR, Counts, at_end, chance_of, latest_drift

N = 60


@cache
def cumulated(share: float) -> list[float]:
    return list(accumulate(comb(N, k) * share**k * (1 - share) ** (N - k) for k in range(N + 1)))


def run(luck: random.Random, share: float) -> Counts:
    """How many of N samples pass."""
    return min(N, bisect(cumulated(share), luck.random())) if share < 1 else N, N


def reports(luck: random.Random, share: float) -> bool:
    """A year of daily runs of one probe: is anything said of it."""
    counts = [run(luck, share) for _ in range(365)]
    passed = list(accumulate((k for k, _ in counts), initial=0))
    for end in range(2, 366):
        for window in CHANCES:
            if window >= end:
                break
            before, after = passed[end - window], passed[end] - passed[end - window]
            is_large = abs(after / (N * window) - before / (N * (end - window))) >= FLOOR
            if is_large and at_end("x", counts[:end]):
                return True
    return False


STABLE = (1.0, 1.0, 0.98, 0.95, 0.95, 0.9, 0.9)
"""Shares of passes of seven probes."""


def test_a_stable_model_is_left_in_peace() -> None:
    """At most 5 of 100 years of daily runs, with seven probes, report anything."""
    luck, years = random.Random(11), 60
    noisy = sum(any(reports(luck, share) for share in STABLE) for _ in range(years))
    assert noisy <= 0.05 * years


@pytest.mark.parametrize("share", [1.0, 0.95, 0.9, 0.8])
def test_a_drop_by_twenty_points_is_found_within_three_runs(share: float) -> None:
    luck, trials, found = random.Random(7), 200, 0
    for _ in range(trials):
        counts = [run(luck, share) for _ in range(45)]
        for _ in range(3):
            counts.append(run(luck, share - 0.2))
            if at_end("x", counts):
                found += 1
                break
    assert found >= 0.95 * trials


def test_one_flaky_sample_is_no_drift() -> None:
    assert latest_drift("x", [(5, 5)] * 10 + [(4, 5)]) is None
    assert latest_drift("x", [(1, 1)] * 10 + [(0, 1)]) is None


def test_a_small_change_is_no_drift_however_sure() -> None:
    assert latest_drift("x", [(100_000, 100_000), (95_000, 100_000)]) is None


def test_a_breakdown_is_found_at_once() -> None:
    found = latest_drift("x", [(60, 60)] * 3 + [(20, 60)])
    assert found and (found.before, found.after, found.runs) == ((180, 180), (20, 60), 1)
    assert found.change == pytest.approx(-2 / 3)


def test_what_changed_is_the_new_normal() -> None:
    assert latest_drift("x", [(60, 60)] * 5 + [(20, 60)] * 5) is None
    back = latest_drift("x", [(60, 60)] * 5 + [(20, 60)] * 5 + [(60, 60)])
    assert back and back.change > 0


counts = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda c: (c[0], c[0] + c[1])).filter(lambda c: c[1])


@given(counts, counts)
def test_a_chance_is_a_chance_and_the_same_both_ways(before: Counts, after: Counts) -> None:
    chance = chance_of(before, after)
    assert 0 <= chance <= 1
    failed = ((n - k, n) for k, n in (before, after))
    assert chance_of(*failed) == pytest.approx(chance)
    if before == after:
        assert chance == 1


def profile(at: float, passes: int, n: int, measured_at: float | None = None) -> CapabilityProfile:
    samples = [Sample(Outcome.PASS, "")] * passes + [Sample(Outcome.FAIL, "")] * (n - passes)
    result = verdict("parallel", samples, (), at if measured_at is None else measured_at)
    return CapabilityProfile(ProfileKey("openai", "m", "e", "openai-chat"), {}, (result,), at)


def test_drift_is_read_from_a_history() -> None:
    history = [profile(day, 60, 60) for day in range(4)]
    assert drift(history) == ()
    (found,) = drift([*history, profile(4, 10, 60)])
    assert (found.probe, found.runs) == ("parallel", 1)


def test_what_was_taken_over_is_counted_once() -> None:
    history = [profile(0, 60, 60)] + [profile(day, 20, 60, measured_at=1) for day in range(1, 9)]
    (found,) = drift(history)
    assert (found.before, found.after) == ((60, 60), (20, 60))
