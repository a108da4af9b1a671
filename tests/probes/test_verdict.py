"""From samples to a verdict."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.probes import Outcome, Sample, verdict
from workbench.probes._verdict import interval

PASS, PARTIAL, FAIL, UNCLEAR = Outcome.PASS, Outcome.PARTIAL, Outcome.FAIL, Outcome.INCONCLUSIVE

TABLE = [
    ([PASS, PASS], PASS, 2),
    ([FAIL, FAIL], FAIL, 2),
    ([PASS, FAIL], PARTIAL, 2),
    ([PARTIAL], PARTIAL, 1),
    ([PARTIAL, FAIL], PARTIAL, 2),
    ([UNCLEAR, UNCLEAR], UNCLEAR, 0),
    ([UNCLEAR, PASS], PASS, 1),
    ([UNCLEAR, FAIL], FAIL, 1),
    ([], UNCLEAR, 0),
]


@pytest.mark.parametrize(("samples", "outcome", "n"), TABLE, ids=range(len(TABLE)))
def test_a_verdict_rests_on_what_was_measured(samples: list[Outcome], outcome: Outcome, n: int) -> None:
    found = verdict("format", [Sample(o, o.value) for o in samples])
    assert (found.outcome, found.n, found.unmeasured) == (outcome, n, len(samples) - n)


def test_the_words_are_those_of_the_sample_that_decided() -> None:
    samples = [Sample(PASS, "fine"), Sample(FAIL, "no call"), Sample(UNCLEAR, "429")]
    assert verdict("format", samples).words == "no call"


def test_of_each_fact_most_samples_decide() -> None:
    samples = [Sample(PASS, "", {"a": 1}), Sample(PASS, "", {"a": [2]}), Sample(PASS, "", {"a": [2], "b": 3})]
    assert verdict("format", samples).facts == {"a": [2], "b": 3}


def test_what_could_not_be_measured_teaches_nothing_beside_what_could() -> None:
    samples = [Sample(UNCLEAR, "", {"a": 1}), Sample(PASS, "", {"a": 2})]
    assert verdict("format", samples).facts == {"a": 2}


@given(st.integers(0, 500), st.integers(0, 500))
def test_an_interval_holds_its_share(passes: int, more: int) -> None:
    n = passes + more
    low, high = interval(passes, n)
    assert 0 <= low <= high <= 1
    if n:
        assert low <= passes / n <= high
        assert (low == 0) == (passes == 0) and (high == 1) == (passes == n)


@pytest.mark.parametrize(("passes", "n", "low", "high"), [(1, 1, 0.206, 1), (0, 10, 0, 0.278), (50, 100, 0.404, 0.596)])
def test_intervals_of_the_literature(passes: int, n: int, low: float, high: float) -> None:
    assert interval(passes, n) == pytest.approx((low, high), abs=0.002)
