"""What was measured is kept as a session and as a profile, or it is said why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.probes import Measurement, Outcome, Sample, subject_of, verdict
from workbench.probes.profiles import ProfileStore
from workbench.probes.profiles.store import save_evidence, save_profile
from workbench.send.target_names import resolve


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def measured(*outcomes: Outcome) -> Measurement:
    samples = [Sample(outcome, "so it was", {"closes": outcome is Outcome.PASS}) for outcome in outcomes]
    made = Measurement(subject_of(resolve("sim:openai")))
    made.results.append(verdict("closure", samples, (), 1.0))
    return made


def test_each_profile_follows_the_one_before() -> None:
    first = save_profile(measured(Outcome.PASS), at=1.0)
    second = save_profile(measured(Outcome.FAIL), at=2.0, evidence="e.wb")
    assert first.before is None and second.before == first.profile and not second.trouble
    assert [p.fact("closes") for p in ProfileStore.of_user().history(first.profile.key)] == [True, False]
    assert second.profile.evidence == "e.wb" and not second.drift


def test_drift_is_noticed_where_it_is_kept() -> None:
    save_profile(measured(*[Outcome.PASS] * 60), at=1.0)
    made = measured(*[Outcome.PASS] * 30, *[Outcome.FAIL] * 30)
    made.results[0] = verdict("closure", [Sample(Outcome.FAIL, "no", {})] * 60, (), 2.0)
    (found,) = save_profile(made, at=2.0).drift
    assert str(found) == "closure passed 60 of 60 before, and 0 of 60 in the last run (-100%)"


def test_what_cannot_be_written_is_said(state: Path) -> None:
    (state / "workbench").write_text("in the way")
    assert save_profile(measured(Outcome.PASS), at=1.0).trouble
    assert save_evidence(measured(Outcome.PASS), at=1.0) == ""  # no exchange, no session
