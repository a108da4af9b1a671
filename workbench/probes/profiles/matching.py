"""Selection of the profile that applies to a target and a model."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.probes import Outcome
from workbench.probes.profiles.profile import CapabilityProfile
from workbench.send import Target


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
