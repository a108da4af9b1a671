"""Refreshing: only what is stale is measured anew, and with it what costs next to nothing."""

from __future__ import annotations

from dataclasses import replace

from workbench.probes import CORE, Sample, verdict
from workbench.probes._script import Outcome
from workbench.probes.profiles import CapabilityProfile, ProfileKey
from workbench.probes.profiles.choosing import light, stale, within
from workbench.probes.profiles.profile import STALE_SECONDS, VERSION

KEY = ProfileKey("openai", "m", "https://x.test/v1", "openai-chat", "abc")
NOW = 1_782_400_000.0
HOUR = 3600.0


def profile(**ages: float) -> CapabilityProfile:
    """Every probe of the seven, measured an hour ago, or so many seconds."""
    results = tuple(verdict(n, [Sample(Outcome.PASS, "")], at=NOW - ages.get(n, HOUR)) for n in CORE)
    return CapabilityProfile(KEY, {}, results, NOW - HOUR)


def names(due: object) -> list[str]:
    return [each.probe.name for each in due]  # type: ignore[attr-defined]


def test_what_is_fresh_is_left_alone() -> None:
    assert stale(profile(), NOW, KEY) == light(profile(), NOW, KEY) == ()


def test_what_was_never_measured_is_measured_whole() -> None:
    assert names(stale(None, NOW)) == list(CORE)
    unclear = replace(profile(), results=profile().results[1:])
    assert [(d.probe.name, d.why) for d in stale(unclear, NOW)] == [("format", "never measured")]


def test_a_stale_result_is_measured_anew_with_what_is_cheap() -> None:
    old = profile(parallel=STALE_SECONDS + HOUR, format=30 * HOUR)
    assert [(d.probe.name, d.why) for d in stale(old, NOW)] == [("parallel", "measured 30 days ago")]
    assert names(light(old, NOW)) == ["format", "parallel"]
    assert names(stale(old, NOW, ttl=24 * HOUR)) == ["format", "parallel"]


def test_another_template_makes_all_of_it_stale() -> None:
    found = stale(profile(), NOW, KEY._replace(chat_template_hash="def"))
    assert names(found) == list(CORE)
    assert found[0].why == "different chat template hash"
    assert "probes of version" in stale(replace(profile(), probe_version=VERSION - 1), NOW)[0].why


def test_a_profile_is_as_old_as_its_oldest_result() -> None:
    old = profile(repair=STALE_SECONDS + HOUR)
    assert old.why_stale(NOW) == "measured 30 days ago"
    assert profile().why_stale(NOW) == ""


def test_no_more_is_run_than_a_budget_allows() -> None:
    every = stale(None, NOW)
    taken, left = within(every, 6)
    assert sum(d.probe.requests for d in taken) <= 6
    assert names(taken) and sorted(names((*taken, *left))) == sorted(CORE)
    assert within(every, 6, samples=10)[0] == ()
