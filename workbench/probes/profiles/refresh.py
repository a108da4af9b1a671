"""Probes to run again: never measured, stale, or cheap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.lazy_dataclass import dataclass
from workbench.probes import Probe, ProbeResult, all_probes
from workbench.probes.profiles.profile import STALE_SECONDS, VERSION, CapabilityProfile, ProfileKey

CHEAP_REQUESTS = 2
"""Most requests per sample of a cheap probe."""

CHEAP_SECONDS = 86_400.0
"""Age after which cheap probes are repeated along with others."""


@dataclass(frozen=True, slots=True)
class DueProbe:
    """A probe to run, and the reason."""

    probe: Probe
    why: str


def stale(
    profile: CapabilityProfile | None, now: float, key: ProfileKey | None = None, ttl: float = STALE_SECONDS
) -> tuple[DueProbe, ...]:
    """Probes of a profile whose results are stale; empty if all are valid.

    Args:
        profile: None if nothing was measured.
        now: seconds since the epoch.
        key: in use now; None for the profile's own.
        ttl: lifetime of a result in seconds.
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
    """Probes of a light refresh: stale ones, plus cheap ones that are not of today; empty if nothing is stale."""
    due = stale(profile, now, key, ttl)
    if not due or profile is None:
        return due
    have = {each.probe.name for each in due}
    cheap = (p for p in all_probes() if p.is_core and p.name not in have and p.requests <= CHEAP_REQUESTS)
    more = (
        DueProbe(p, "older than a day, and cheap to measure again") for p in cheap if _is_of_before(profile, p, now)
    )
    return _sort((*due, *more))


def within(due: Sequence[DueProbe], budget: int, samples: int = 1) -> tuple[tuple[DueProbe, ...], tuple[DueProbe, ...]]:
    """Probes that fit a budget of requests, in order; and the others."""
    taken: list[DueProbe] = []
    for each in due:
        if sum(d.probe.requests for d in (*taken, each)) * samples <= budget:
            taken.append(each)
    return tuple(taken), tuple(each for each in due if each not in taken)


def _tells(result: ProbeResult) -> bool:
    """True if it was measured, or if there was nothing to measure, as for a model without reasoning."""
    return bool(result.n or result.facts)


def _all_of_it(profile: CapabilityProfile | None, key: ProfileKey | None) -> str:
    """Why the whole profile is stale; empty if each result has to be checked."""
    if profile is None:
        return "never measured"
    if profile.probe_version != VERSION:
        return f"measured by probes of version {profile.probe_version}, these are of version {VERSION}"
    if key is None:
        return ""
    other = [name for name, old, new in zip(ProfileKey._fields, profile.key, key, strict=True) if old != new]
    return f"different {' and '.join(name.replace('_', ' ') for name in other)}" if other else ""


def _is_of_before(profile: CapabilityProfile, probe: Probe, now: float) -> bool:
    found = next((r for r in profile.results if r.probe == probe.name and _tells(r)), None)
    return found is None or now - (found.at or profile.verified_at) > CHEAP_SECONDS


def _sort(due: Iterable[DueProbe]) -> tuple[DueProbe, ...]:
    order = [probe.name for probe in all_probes()]
    return tuple(sorted(due, key=lambda each: order.index(each.probe.name)))


def _days(seconds: float) -> str:
    days = int(seconds // 86_400)
    return f"{days} day{'s' if days != 1 else ''}"
