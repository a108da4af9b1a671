"""Selects the profile for a request and a target, and its corrections: shared by all front ends.

Selection of the profile that applies to a target and a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workbench.lazy_dataclass import dataclass
from workbench.probes import Outcome
from workbench.probes.profiles.conservative import fall
from workbench.probes.profiles.corrections import REASONING, Correction, apply_switches, corrections, value_of
from workbench.probes.profiles.profile import CapabilityProfile
from workbench.probes.profiles.refresh import DueProbe, stale
from workbench.protocols import DecodedExchange
from workbench.send import Target
from workbench.send.loop import VERBATIM

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.rules import Inspector
    from workbench.wire import Exchange


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
        told = self.profile and {
            **self.profile.key._asdict(),
            "verified_at": self.profile.verified_at,
            "stale": [due.probe.name for due in self.due],
        }
        return {"profile": told, "corrections": [each.as_json() for each in self.decided]}


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


def of_request(
    profiles: Iterable[CapabilityProfile], target: Target, decoded: DecodedExchange, model: str = "", protocol: str = ""
) -> CapabilityProfile | None:
    """The profile for exactly the target, model and protocol of a request; None if none was measured.

    Args:
        profiles: the newest of each key.
        model: replaces that of the target or the request; empty to keep it.
        protocol: to write it in; empty for its own if the target supports it, else the target's.
    """
    request = decoded.request
    asked = model or target.model or (request.model if request else "")
    own, spoken = decoded.protocol or "", target.protocols
    wanted = protocol or (own if own in spoken or not spoken else spoken[0])
    return of_target(profiles, target, asked or "", wanted)


def earlier(inspector: Inspector, index: int, decided: Sequence[Correction]) -> list[Exchange]:
    """Earlier exchanges of the conversation, if lost reasoning has to be restored from them; else none."""
    lane = inspector.rows[index].conversation
    if lane is None or value_of(decided, REASONING) != VERBATIM:
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
