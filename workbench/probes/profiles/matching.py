"""Which profile holds for a target and a model."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.probes import Outcome
from workbench.probes.profiles.profile import CapabilityProfile
from workbench.send import Target


def of_target(
    profiles: Iterable[CapabilityProfile], target: Target, model: str, protocol: str = ""
) -> CapabilityProfile | None:
    """The profile of exactly this target and model; None where none was measured in the protocol that is asked in.

    Where others were measured, too, it is the one that drives tools best: calls in the protocol's own form before calls
    in text, then whose result is read, then the protocol asked in, then the newest. What was measured with another chat
    template before is gone: a server has one at a time.

    Args:
        profiles: the newest of each key.
        protocol: what the request would be written in, "" for any.
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
    """Whether it calls at all, in the protocol's own form, and reads what comes back."""
    calls = profile.fact("tool_call_format") not in (None, "none")
    passed = {result.probe for result in profile.results if result.outcome is Outcome.PASS}
    return calls, calls and not profile.fact("parser"), "closure" in passed
