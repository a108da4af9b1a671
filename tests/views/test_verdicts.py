"""Every verdict has a sign of its own, and its word."""

from __future__ import annotations

import pytest

from workbench.contracts import Verdict
from workbench.probes import Outcome
from workbench.views.lines import STYLES
from workbench.views.words import PROBE_SIGNS, REQUEST_SIGNS, SCHEMA_SIGNS, Signs


def test_every_verdict_has_a_sign() -> None:
    assert set(REQUEST_SIGNS) == {verdict.value for verdict in Verdict}
    assert set(PROBE_SIGNS) == {outcome.value for outcome in Outcome}


@pytest.mark.parametrize("signs", [REQUEST_SIGNS, PROBE_SIGNS, SCHEMA_SIGNS])
def test_no_two_verdicts_look_alike(signs: Signs) -> None:
    assert len({sign for sign, _ in signs.values()}) == len(signs)
    assert all(style in STYLES for _, style in signs.values())
