"""Falling back: how carefully a model is to be used, by what was measured of it and by how the session goes.

A share counts as too low only where it surely is: where all of its 95 % interval lies below the mark.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from workbench.probes import Outcome
from workbench.probes._verdict import interval
from workbench.probes.profiles.profile import CapabilityProfile
from workbench.rules import Counts


class CautionLevel(IntEnum):
    """Each holds what those before it do."""

    NORMAL = 0
    SERIAL = 1
    WHOLE = 2
    STRICT = 3
    READ_ONLY = 4
    NO_TOOLS = 5

    @property
    def words(self) -> str:
        """What it holds, in words."""
        return _WORDS[self]


_WORDS = {
    CautionLevel.NORMAL: "nothing is held back",
    CautionLevel.SERIAL: "one call at a time",
    CautionLevel.WHOLE: "no streamed calls",
    CautionLevel.STRICT: "strict schemas, and arguments checked here",
    CautionLevel.READ_ONLY: "tools that only read",
    CautionLevel.NO_TOOLS: "it does not drive tools",
}

WELL, BADLY, HARDLY = 0.9, 0.7, 0.5
"""Shares below which a metric has fallen, has fallen far, and is of no use."""


@dataclass(frozen=True, slots=True)
class FallReason:
    """Why no level below this one will do."""

    level: CautionLevel
    text: str


@dataclass(frozen=True, slots=True)
class Fall:
    """How far to fall back, and why. ``reasons``: the gravest first."""

    reasons: tuple[FallReason, ...] = ()

    @property
    def level(self) -> CautionLevel:
        """The highest that something asks for."""
        return max((reason.level for reason in self.reasons), default=CautionLevel.NORMAL)

    def why(self, level: CautionLevel) -> str:
        """Why something of a level is done: the gravest reason; "" where none asks for it."""
        return next((f"{r.text}: {r.level.words}" for r in self.reasons if r.level >= level), "")


NO_FALL = Fall()


def fall(profile: CapabilityProfile | None = None, counts: Counts | None = None) -> Fall:
    """How far to fall back.

    Args:
        counts: of the running session (``metrics``).
    """
    found = [*(_measured(profile) if profile else ()), *(_running(counts) if counts else ())]
    return Fall(tuple(sorted(found, key=lambda reason: -reason.level)))


def _measured(profile: CapabilityProfile) -> list[FallReason]:
    found: list[FallReason] = []
    if profile.fact("tool_call_format") == "none":
        found.append(FallReason(CautionLevel.NO_TOOLS, f"no call came in any form ({_samples(profile, 'format')})"))
    if profile.fact("closes") is False and _fails(profile, "closure"):
        found.append(
            FallReason(CautionLevel.NO_TOOLS, f"results of tools are not read ({_samples(profile, 'closure')})")
        )
    if profile.fact("error_repair") == "none":
        found.append(
            FallReason(CautionLevel.READ_ONLY, f"failed calls are not corrected ({_samples(profile, 'repair')})")
        )
    if profile.fact("schema_level") == "string-only":
        found.append(
            FallReason(CautionLevel.STRICT, f"arguments are not filled in as declared ({_samples(profile, 'schema')})")
        )
    return found


def _fails(profile: CapabilityProfile, probe: str) -> bool:
    return any(r.probe == probe and r.outcome is Outcome.FAIL and r.interval.high < WELL for r in profile.results)


def _samples(profile: CapabilityProfile, probe: str) -> str:
    found = next((r for r in profile.results if r.probe == probe), None)
    return f"{found.passes} of {found.n} samples passed" if found else "not sampled"


def _running(counts: Counts) -> list[FallReason]:
    """By the session: readable arguments, fitting arguments, mended calls, answered calls."""
    shares = (
        ("of {n} calls {k} have arguments that can be read", counts.parsed, counts.calls, WELL, CautionLevel.WHOLE),
        (
            "of {n} calls {k} have arguments that can be read",
            counts.parsed,
            counts.calls,
            BADLY,
            CautionLevel.READ_ONLY,
        ),
        (
            "of {n} calls {k} have arguments that can be read",
            counts.parsed,
            counts.calls,
            HARDLY,
            CautionLevel.NO_TOOLS,
        ),
        ("of {n} calls {k} fit their schemas", counts.fitting, counts.calls, WELL, CautionLevel.STRICT),
        ("of {n} calls {k} fit their schemas", counts.fitting, counts.calls, HARDLY, CautionLevel.READ_ONLY),
        ("of {n} broken calls {k} were corrected", counts.repaired, counts.broken, HARDLY, CautionLevel.READ_ONLY),
        (
            "of {n} requests with calls {k} answer every call",
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
        found.append(
            FallReason(
                CautionLevel.READ_ONLY, f"calls that could not be used, and were run all the same: {counts.executed}"
            )
        )
    return found


def _is_below(k: int, n: int, mark: float) -> bool:
    return n > 0 and interval(k, n).high < mark


def _below(words: str, k: int, n: int, mark: float) -> str:
    return f"{words.format(n=n, k=k)} in this session (surely below {mark:.0%})"
