"""Selects the profile for a request and a target, and its corrections: shared by all front ends.

Selection of the profile that applies to a target and a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workbench.lazy_dataclass import dataclass
from workbench.probes import Outcome, Probe, ProbeResult, all_probes
from workbench.probes.profiles.conservative import fall
from workbench.probes.profiles.corrections import REASONING, Correction, apply_switches, correction_value, corrections
from workbench.probes.profiles.profile import STALE_SECONDS, VERSION, CapabilityProfile, ProfileKey
from workbench.protocols import DecodedExchange
from workbench.send import Target
from workbench.send.loop import VERBATIM

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.rules import Inspector
    from workbench.wire import Exchange


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
    due_probes: list[DueProbe] = []
    for probe in known:
        result = measured.get(probe.name)
        if result is None and probe.is_core:
            due_probes.append(DueProbe(probe, "never measured"))
        elif result and now - (result.at or profile.verified_at) > ttl:
            due_probes.append(DueProbe(probe, f"measured {_days(now - (result.at or profile.verified_at))} ago"))
    return tuple(due_probes)


def light(
    profile: CapabilityProfile | None, now: float, key: ProfileKey | None = None, ttl: float = STALE_SECONDS
) -> tuple[DueProbe, ...]:
    """Probes of a light refresh: stale ones, plus cheap ones that are not of today; empty if nothing is stale."""
    due = stale(profile, now, key, ttl)
    if not due or profile is None:
        return due
    have = {each.probe.name for each in due}
    cheap = (p for p in all_probes() if p.is_core and p.name not in have and p.requests <= CHEAP_REQUESTS)
    more = (DueProbe(p, "older than a day and cheap to measure again") for p in cheap if _is_of_before(profile, p, now))
    return _sort((*due, *more))


def within(due: Sequence[DueProbe], budget: int, samples: int = 1) -> tuple[tuple[DueProbe, ...], tuple[DueProbe, ...]]:
    """Probes that fit a budget of requests, in order; and the others."""
    affordable: list[DueProbe] = []
    for each in due:
        if sum(d.probe.requests for d in (*affordable, each)) * samples <= budget:
            affordable.append(each)
    return tuple(affordable), tuple(each for each in due if each not in affordable)


def _tells(result: ProbeResult) -> bool:
    """True if it was measured, or if there was nothing to measure, as for a model without reasoning."""
    return bool(result.n or result.facts)


def _all_of_it(profile: CapabilityProfile | None, key: ProfileKey | None) -> str:
    """Why the whole profile is stale; empty if each result has to be checked."""
    if profile is None:
        return "never measured"
    if profile.probe_version != VERSION:
        return f"measured with probes of version {profile.probe_version}; the installed ones have version {VERSION}"
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


@dataclass(frozen=True, slots=True)
class ProfileChoice:
    """Profile and corrections for one target.

    Attributes:
        profile: None if nothing was measured, or it is not to be used.
        decided: the corrections, on and off.
        due: stale probes.
    """

    profile: CapabilityProfile | None = None
    decided: tuple[Correction, ...] = ()
    due: tuple[DueProbe, ...] = ()

    @property
    def title(self) -> str:
        """Endpoint, protocol and model of the profile; empty if there is none."""
        key = self.profile.key if self.profile else None
        return f"{key.endpoint} · {key.protocol} · {key.model}" if key else ""

    @property
    def stale(self) -> str:
        """Names of stale probes, with the reason of the first; empty if there are none."""
        return f"{', '.join(due.probe.name for due in self.due)} ({self.due[0].why})" if self.due else ""

    def as_json(self) -> dict[str, JsonValue]:
        """``profile`` and ``corrections`` of a JSON output."""
        summary = self.profile and {
            **self.profile.key._asdict(),
            "verified_at": self.profile.verified_at,
            "stale": [due.probe.name for due in self.due],
        }
        return {"profile": summary, "corrections": [each.as_json() for each in self.decided]}


def choose(
    profile: CapabilityProfile | None, now: float, on: Iterable[str] = (), off: Iterable[str] = ()
) -> ProfileChoice:
    """Corrections of a profile, as switched by the user.

    Args:
        now: seconds since the epoch.
        on, off: as for ``apply_switches``, which also documents the errors.
    """
    decided = apply_switches(corrections(profile, fall(profile)), on, off)
    return ProfileChoice(profile, decided, stale(profile, now) if profile else ())


def profile_of_request(
    profiles: Iterable[CapabilityProfile], target: Target, decoded: DecodedExchange, model: str = "", protocol: str = ""
) -> CapabilityProfile | None:
    """The profile for exactly the target, model and protocol of a request; None if none was measured.

    Args:
        profiles: the newest of each key.
        model: replaces that of the target or the request; empty to keep it.
        protocol: to write it in; empty for its own if the target supports it, else the target's.
    """
    request = decoded.request
    model_name = model or target.model or (request.model if request else "")
    own, protocols = decoded.protocol or "", target.protocols
    chosen_protocol = protocol or (own if own in protocols or not protocols else protocols[0])
    return of_target(profiles, target, model_name or "", chosen_protocol)


def earlier(inspector: Inspector, index: int, decided: Sequence[Correction]) -> list[Exchange]:
    """Earlier exchanges of the conversation, if lost reasoning has to be restored from them; else none."""
    lane = inspector.rows[index].conversation
    if lane is None or correction_value(decided, REASONING) != VERBATIM:
        return []
    return [inspector.session.exchange(row.index) for row in inspector.rows[:index] if row.conversation == lane]


def of_target(
    profiles: Iterable[CapabilityProfile], target: Target, model: str, protocol: str = ""
) -> CapabilityProfile | None:
    """The profile of exactly this target and model; None if none was measured in the requested protocol.

    If several protocols were measured, it is the one that drives tools best: calls in the protocol's own form before
    calls in text, then results that are read, then the requested protocol, then the newest. Of several chat templates
    only the newest counts: a server has one at a time.

    Args:
        profiles: the newest of each key.
        protocol: of the request; empty for any.
    """
    endpoints = {target.url or target.name, *(url for _, url in target.others)}
    every = (p for p in profiles if p.key.endpoint in endpoints and p.key.model == model)
    fitting = list(
        {p.key._replace(chat_template_hash=""): p for p in sorted(every, key=lambda p: p.verified_at)}.values()
    )
    if protocol and all(p.key.protocol != protocol for p in fitting):
        return None
    return max(fitting, key=lambda p: (*_worth(p), p.key.protocol == protocol, p.verified_at), default=None)


def _worth(profile: CapabilityProfile) -> tuple[bool, bool, bool]:
    """Sort key: it makes calls, in the protocol's own form, and reads results."""
    calls = profile.fact("tool_call_format") not in (None, "none")
    passed = {result.probe for result in profile.results if result.outcome is Outcome.PASS}
    return calls, calls and not profile.fact("parser"), "closure" in passed
