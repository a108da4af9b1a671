"""Fallbacks: how carefully to use a model, by its profile and by the running session.

A share counts as too low only if its whole 95 % interval is below the threshold.
"""

from __future__ import annotations

from enum import IntEnum

from workbench.lazy_dataclass import dataclass
from workbench.probes import Outcome
from workbench.probes._verdict import interval
from workbench.probes.profiles.profile import CapabilityProfile
from workbench.rules import Counts


class CautionLevel(IntEnum):
    """Caution levels; each includes the previous ones."""

    NORMAL = 0
    SERIAL = 1
    WHOLE = 2
    STRICT = 3
    READ_ONLY = 4
    NO_TOOLS = 5

    @property
    def words(self) -> str:
        """The restriction, in words."""
        return _WORDS[self]


_WORDS = {
    CautionLevel.NORMAL: "no restrictions",
    CautionLevel.SERIAL: "one tool call at a time",
    CautionLevel.WHOLE: "no streaming of tool calls",
    CautionLevel.STRICT: "strict schemas, arguments validated locally",
    CautionLevel.READ_ONLY: "read-only tools",
    CautionLevel.NO_TOOLS: "no tools",
}

WELL, BADLY, HARDLY = 0.9, 0.7, 0.5
"""Thresholds of a share: degraded, strongly degraded, useless."""


@dataclass(frozen=True, slots=True)
class FallReason:
    """Reason for at least this level."""

    level: CautionLevel
    text: str


@dataclass(frozen=True, slots=True)
class Fall:
    """Required fallback. ``reasons``: the most severe first."""

    reasons: tuple[FallReason, ...] = ()

    @property
    def level(self) -> CautionLevel:
        """The highest required level."""
        return max((reason.level for reason in self.reasons), default=CautionLevel.NORMAL)

    def why(self, level: CautionLevel) -> str:
        """The most severe reason for a level; empty if nothing requires it."""
        return next((f"{r.text}: {r.level.words}" for r in self.reasons if r.level >= level), "")


NO_FALL = Fall()


def fall(profile: CapabilityProfile | None = None, counts: Counts | None = None) -> Fall:
    """Required fallback.

    Args:
        counts: of the running session.
    """
    found = [*(_measured_reasons(profile) if profile else ()), *(_running(counts) if counts else ())]
    return Fall(tuple(sorted(found, key=lambda reason: -reason.level)))


def _measured_reasons(profile: CapabilityProfile) -> list[FallReason]:
    found: list[FallReason] = []
    if profile.fact("tool_call_format") == "none":
        found.append(
            FallReason(CautionLevel.NO_TOOLS, f"the model makes no tool calls ({_samples(profile, 'format')})")
        )
    if profile.fact("closes") is False and _fails(profile, "closure"):
        found.append(
            FallReason(CautionLevel.NO_TOOLS, f"the model ignores tool results ({_samples(profile, 'closure')})")
        )
    if profile.fact("error_repair") == "none":
        found.append(
            FallReason(CautionLevel.READ_ONLY, f"failed calls are not corrected ({_samples(profile, 'repair')})")
        )
    if profile.fact("schema_level") == "string-only":
        found.append(
            FallReason(CautionLevel.STRICT, f"arguments do not match their schema ({_samples(profile, 'schema')})")
        )
    return found


def _fails(profile: CapabilityProfile, probe: str) -> bool:
    return any(r.probe == probe and r.outcome is Outcome.FAIL and r.interval.high < WELL for r in profile.results)


def _samples(profile: CapabilityProfile, probe: str) -> str:
    found = next((r for r in profile.results if r.probe == probe), None)
    return f"{found.passes} of {found.n} samples passed" if found else "not sampled"


def _running(counts: Counts) -> list[FallReason]:
    """By the session: readable arguments, fitting arguments, corrected calls, answered calls."""
    shares = (
        ("{k} of {n} calls have readable arguments", counts.parsed, counts.calls, WELL, CautionLevel.WHOLE),
        (
            "{k} of {n} calls have readable arguments",
            counts.parsed,
            counts.calls,
            BADLY,
            CautionLevel.READ_ONLY,
        ),
        (
            "{k} of {n} calls have readable arguments",
            counts.parsed,
            counts.calls,
            HARDLY,
            CautionLevel.NO_TOOLS,
        ),
        ("{k} of {n} calls match their schemas", counts.fitting, counts.calls, WELL, CautionLevel.STRICT),
        ("{k} of {n} calls match their schemas", counts.fitting, counts.calls, HARDLY, CautionLevel.READ_ONLY),
        ("{k} of {n} broken calls were corrected", counts.repaired, counts.broken, HARDLY, CautionLevel.READ_ONLY),
        (
            "{k} of {n} requests with tool calls have a result for every call",
            counts.histories - counts.unclosed,
            counts.histories,
            WELL,
            CautionLevel.SERIAL,
        ),
    )
    found = [
        FallReason(level, _below(words, k, n, mark)) for words, k, n, mark, level in shares if _is_below(k, n, mark)
    ]
    if counts.executed:
        found.append(FallReason(CautionLevel.READ_ONLY, f"invalid calls that were executed anyway: {counts.executed}"))
    return found


def _is_below(k: int, n: int, mark: float) -> bool:
    return n > 0 and interval(k, n).high < mark


def _below(words: str, k: int, n: int, mark: float) -> str:
    return f"{words.format(n=n, k=k)} in this session (below {mark:.0%}, with 95 % confidence)"
