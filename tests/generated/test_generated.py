"""Drawn faults are named, and unusual traffic without a fault is left alone."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from tests.generated.__main__ import draw
from tests.generated.healthy import Sample, samples
from tests.generated.scoring import score
from workbench.contracts import Severity
from workbench.rules.inspection import Inspector
from workbench.wire.session import MemorySession

SEED = 2026
EVERY = 8
"""One of so many faults is judged here; ``python -m tests.generated`` judges all."""

LEAST = {"17 bare call": 75, "8 loop": 75, "16 stand-in": 75}
"""Rows that are judgements, in percent; the others have to reach 90, and all together 95."""


def test_most_drawn_faults_are_named() -> None:
    rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for fault in list(draw(SEED))[::EVERY]:
        for row in (fault.row, "all"):
            rows[row].update(["of", score(fault).grade])
    shares = {row: 100 * counts["named"] / counts["of"] for row, counts in rows.items() if counts["of"] >= EVERY}
    assert shares["all"] >= 95
    assert {row: share for row, share in shares.items() if share < LEAST.get(row, 90)} == {}


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: f"{sample.wire.name}: {sample.name}")
def test_what_is_unusual_and_healthy_is_left_alone(sample: Sample) -> None:
    exchange = sample.wire.exchange("1", sample.request, sample.answer)
    for provider in (sample.provider or sample.wire.provider, None):
        session = MemorySession("healthy", (exchange,))
        found = Inspector(session, provider=provider, protocol=sample.wire.name).run().findings
        assert [f for f in found if f.severity is not Severity.INFO and f.rule != "cost.tool-overhead"] == []
