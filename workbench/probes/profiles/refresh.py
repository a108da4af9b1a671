"""What is to be measured anew: what was never measured, is stale, or costs next to nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.probes import Probe, ProbeResult, all_probes
from workbench.probes.profiles.profile import STALE_SECONDS, VERSION, CapabilityProfile, ProfileKey

CHEAP_REQUESTS = 2
"""Requests of a sample up to which a probe is cheap."""

CHEAP_SECONDS = 86_400.0
"""Age from which on what is cheap is measured with whatever else is."""


@dataclass(frozen=True, slots=True)
class DueProbe:
    """A probe that is to be run, and why."""

    probe: Probe
    why: str


def stale(
    profile: CapabilityProfile | None, now: float, key: ProfileKey | None = None, ttl: float = STALE_SECONDS
) -> tuple[DueProbe, ...]:
    """The probes of a profile whose results do not hold any longer; none where all of it holds.

    Args:
        profile: None where nothing was measured.
        now: seconds since the epoch.
        key: what is in use now; None for what the profile is of.
        ttl: seconds that a result holds.
    """
    known = all_probes()
    why = _all_of_it(profile, key)
    if why or profile is None:
        return tuple(DueProbe(probe, why) for probe in known if probe.is_core)
    measured = {result.probe: result for result in profile.results if _tells(result)}
    made: list[DueProbe] = []
    for probe in known:
        result = measured.get(probe.name)
        if result is None and probe.is_core:
            made.append(DueProbe(probe, "never measured"))
        elif result and now - (result.at or profile.verified_at) > ttl:
            made.append(DueProbe(probe, f"measured {_days(now - (result.at or profile.verified_at))} ago"))
    return tuple(made)


def light(
    profile: CapabilityProfile | None, now: float, key: ProfileKey | None = None, ttl: float = STALE_SECONDS
) -> tuple[DueProbe, ...]:
    """What a light refresh runs: what is stale, and what is cheap and not of today; () where nothing is stale."""
    due = stale(profile, now, key, ttl)
    if not due or profile is None:
        return due
    have = {each.probe.name for each in due}
    cheap = (p for p in all_probes() if p.is_core and p.name not in have and p.requests <= CHEAP_REQUESTS)
    more = (DueProbe(p, "cheap, and not of today") for p in cheap if _is_of_before(profile, p, now))
    return _sort((*due, *more))


def within(due: Sequence[DueProbe], budget: int, samples: int = 1) -> tuple[tuple[DueProbe, ...], tuple[DueProbe, ...]]:
    """Those that no more requests can be needed for than a budget, in order; and those that are left out."""
    taken: list[DueProbe] = []
    for each in due:
        if sum(d.probe.requests for d in (*taken, each)) * samples <= budget:
            taken.append(each)
    return tuple(taken), tuple(each for each in due if each not in taken)


def _tells(result: ProbeResult) -> bool:
    """It was measured, or there was nothing to measure: a model that does not reason."""
    return bool(result.n or result.facts)


def _all_of_it(profile: CapabilityProfile | None, key: ProfileKey | None) -> str:
    """Why nothing of a profile holds; "" where that has to be asked of each result."""
    if profile is None:
        return "never measured"
    if profile.probe_version != VERSION:
        return f"measured by probes of version {profile.probe_version}, these are of version {VERSION}"
    if key is None:
        return ""
    other = [name for name, old, new in zip(ProfileKey._fields, profile.key, key, strict=True) if old != new]
    return f"another {' and '.join(name.replace('_', ' ') for name in other)}" if other else ""


def _is_of_before(profile: CapabilityProfile, probe: Probe, now: float) -> bool:
    found = next((r for r in profile.results if r.probe == probe.name and _tells(r)), None)
    return found is None or now - (found.at or profile.verified_at) > CHEAP_SECONDS


def _sort(due: Iterable[DueProbe]) -> tuple[DueProbe, ...]:
    order = [probe.name for probe in all_probes()]
    return tuple(sorted(due, key=lambda each: order.index(each.probe.name)))


def _days(seconds: float) -> str:
    days = int(seconds // 86_400)
    return f"{days} day{'s' if days != 1 else ''}"
