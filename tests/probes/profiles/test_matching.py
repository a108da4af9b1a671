"""Which of several profiles holds."""

from __future__ import annotations

import pytest

from workbench.probes import Interval, Outcome, ProbeResult
from workbench.probes.profiles.choosing import of_target
from workbench.probes.profiles.profile import CapabilityProfile, ProfileKey
from workbench.send.target_names import resolve


def profile(template: str, at: float, *, drives: bool) -> CapabilityProfile:
    facts = {"tool_call_format": "json" if drives else "none"}
    results = (ProbeResult("closure", Outcome.PASS, 1, 1, 0, Interval(0.0, 1.0), ""),) if drives else ()
    return CapabilityProfile(ProfileKey("openai", "m", "sim:openai", "openai-chat", template), facts, results, at)


@pytest.mark.parametrize("is_reversed", [False, True])
def test_of_two_chat_templates_the_newest_holds_however_well_the_older_did(is_reversed: bool) -> None:
    older, newer = profile("aa", 1.0, drives=True), profile("bb", 2.0, drives=False)
    profiles = [newer, older] if is_reversed else [older, newer]
    assert of_target(profiles, resolve("sim:openai"), "m") is newer
    assert of_target(profiles, resolve("sim:openai"), "m", "openai-chat") is newer
