"""Profiles: kept line by line, named, compared, and stale in time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workbench.errors import ProfileError, UsageError
from workbench.probes import Measurement, Sample, Subject, verdict
from workbench.probes._script import Outcome
from workbench.probes.profiles import (
    NAMES,
    CapabilityProfile,
    ProfileKey,
    ProfileStore,
    differences,
    key_of,
    of_measurement,
)
from workbench.probes.profiles.profile import STALE_SECONDS, VERSION, of_json
from workbench.send.target import Target

KEY = ProfileKey("openai", "gpt-4.1", "https://api.openai.com/v1", "openai-chat")
TARGET = Target("openai", "openai-chat", "https://api.openai.com/v1", "openai")


def measured(**facts: object) -> Measurement:
    """A measurement with one probe for each fact."""
    made = Measurement(Subject(TARGET, "openai-chat", "gpt-4.1", ""))
    for name, value in facts.items():
        made.results.append(verdict(f"{name}-probe", [Sample(Outcome.PASS, "", {name: value})]))
    return made


def profile(at: float = 0.0, **facts: object) -> CapabilityProfile:
    return of_measurement(KEY, measured(**facts), at=at)


def test_a_profile_has_every_fact_and_those_not_measured_are_none() -> None:
    told = profile(error_repair="limited").as_json()
    assert [told[name] for name in NAMES] == [None, None, None, None, None, "limited"]
    assert (told["provider"], told["model"], told["endpoint"]) == KEY[:3]
    assert key_of(TARGET, "openai", measured()) == KEY


def test_a_profile_is_read_back_as_it_was_written() -> None:
    made = profile(12.5, error_repair="limited", repair_tries=3, reasoning_replay={"empty": "refused"})
    assert of_json(made.as_json()) == made


@pytest.mark.parametrize("value", [None, 7, {}, {"provider": "x"}, []], ids=str)
def test_what_is_no_profile_is_said(value: object) -> None:
    with pytest.raises(ProfileError, match="not a capability profile"):
        of_json(value)


def test_what_was_not_measured_anew_is_taken_over() -> None:
    first = profile(1.0, error_repair="none", schema_level="string-only")
    second = of_measurement(KEY, measured(error_repair="reliable"), at=2.0, before=first)
    assert second.facts == {"schema_level": "string-only", "error_repair": "reliable"}
    assert [result.probe for result in second.results] == ["schema_level-probe", "error_repair-probe"]


def test_what_could_not_be_measured_does_not_take_away_what_was() -> None:
    first = profile(1.0, error_repair="none")
    failed = Measurement(Subject(TARGET, "openai-chat", "gpt-4.1", ""))
    failed.results.append(verdict("error_repair-probe", [Sample(Outcome.INCONCLUSIVE, "429")]))
    assert of_measurement(KEY, failed, at=2.0, before=first).facts == {"error_repair": "none"}


def test_profiles_differ_in_facts_gained_lost_and_changed() -> None:
    found = differences(profile(a=1, b=2, c=[3]), profile(b=5, c=[3], d=4))
    assert [(c.name, c.before, c.after) for c in found.facts] == [("b", 2, 5)]
    assert [c.name for c in found.gained] == ["d"]
    assert [c.name for c in found.lost] == ["a"]
    other = replace(profile(), key=KEY._replace(model="gpt-5"))
    assert [c.name for c in differences(profile(), other).key] == ["model"]


def test_a_profile_goes_stale() -> None:
    assert profile(0.0).why_stale(STALE_SECONDS) == ""
    assert profile(0.0).why_stale(STALE_SECONDS + 1) == "measured 30 days ago"
    assert "version 0" in replace(profile(0.0), probe_version=VERSION - 1).why_stale(0.0)


def test_the_history_of_a_key_grows_and_is_never_changed(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path)
    path = store.save(profile(1.0, a=1))
    before = path.read_bytes()
    assert store.save(profile(2.0, a=2)) == path
    assert path.read_bytes().startswith(before)
    assert [p.facts["a"] for p in store.history(KEY)] == [1, 2]
    assert [p.facts["a"] for p in store.latest()] == [2]


def test_profiles_are_named_by_number_and_by_part(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path)
    other = replace(profile(1.0, a=9), key=KEY._replace(model="gpt-5"))
    for made in (profile(1.0, a=1), profile(2.0, a=2), other):
        store.save(made)
    assert store.find("1").facts["a"] == 2
    assert store.find("gpt-4").facts["a"] == 2
    assert store.find("gpt-4@2").facts["a"] == 1
    for name, said in (
        ("openai", "2 profiles match"),
        ("nope", "no profiles match"),
        ("gpt-4@3", "no measurement '3'"),
    ):
        with pytest.raises(UsageError, match=said):
            store.find(name)


def test_a_torn_line_is_passed_over_and_said(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path)
    path = store.save(profile(1.0, a=1))
    with path.open("ab") as file:
        file.write(b'{"provider": "openai", "mod')
    assert [p.facts["a"] for p in store.latest()] == [1]
    assert [fault.partition(": ")[0] for fault in store.faults] == [f"{path}, line 2"]


def test_no_folder_holds_no_profile(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path / "none")
    assert store.latest() == store.faults == []
