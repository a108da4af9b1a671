"""Capability profile: measured facts with their samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workbench.errors import ProfileError
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.probes import Interval, Measurement, Outcome, ProbeResult
from workbench.send import Target

VERSION = 1
"""Version of the probes: profiles of another version are stale."""

NAMES = (
    "schema_level",
    "tool_call_format",
    "supports_parallel_tool_use",
    "requires_reasoning_replay",
    "supports_streaming_tool_use",
    "error_repair",
)
"""Facts that every profile has; None if not measured."""

STALE_SECONDS = 30 * 86_400.0
"""Age after which a profile is stale."""


class ProfileKey(NamedTuple):
    """Identity of a profile.

    Attributes:
        provider: label of the contract.
        endpoint: base URL, or ``sim:CONTRACT``.
        chat_template_hash: of the template that the server reports; empty if it reports none.
    """

    provider: str
    model: str
    endpoint: str
    protocol: str
    chat_template_hash: str = ""


@dataclass(frozen=True, slots=True)
class CapabilityProfile:
    """Measured facts of one key.

    Attributes:
        facts: by name: those of ``NAMES``, and finer ones.
        results: of the probes, with their sample sizes.
        verified_at: time of the measurement, seconds since the epoch.
        probe_version: of the probes.
        evidence: path of the session with the exchanges; empty if none was kept.
    """

    key: ProfileKey
    facts: Mapping[str, JsonValue]
    results: tuple[ProbeResult, ...] = ()
    verified_at: float = 0.0
    probe_version: int = VERSION
    evidence: str = ""

    def fact(self, name: str) -> JsonValue:
        """A measured fact; None if not measured."""
        return self.facts.get(name)

    def why_stale(self, now: float) -> str:
        """Why it has to be measured again; empty if it is valid, including facts taken from earlier profiles."""
        if self.probe_version != VERSION:
            return f"measured with probes of version {self.probe_version}; the installed ones have version {VERSION}"
        age = now - min((r.at for r in self.results if r.n and r.at), default=self.verified_at)
        return f"measured {age / 86_400:.0f} days ago" if age > STALE_SECONDS else ""

    def as_json(self) -> dict[str, JsonValue]:
        """The profile as data; ``of_json`` reads it."""
        return {
            **self.key._asdict(),
            **{name: self.fact(name) for name in NAMES},
            "verified_at": self.verified_at,
            "probe_version": self.probe_version,
            "evidence": self.evidence,
            "facts": {name: value for name, value in self.facts.items() if name not in NAMES},
            "probes": [_result_json(result) for result in self.results],
        }


@dataclass(frozen=True, slots=True)
class FactChange:
    """A fact that differs between two profiles; None if absent in one."""

    name: str
    before: JsonValue
    after: JsonValue


@dataclass(frozen=True, slots=True)
class ProfileDifferences:
    """Differences between two profiles.

    Attributes:
        key: parts of the key that differ.
        facts: measured in both, with different values.
        gained, lost: measured in one only.
    """

    key: tuple[FactChange, ...] = ()
    facts: tuple[FactChange, ...] = ()
    gained: tuple[FactChange, ...] = field(default=())
    lost: tuple[FactChange, ...] = field(default=())


def key_of(target: Target, provider: str, measurement: Measurement, template: str = "") -> ProfileKey:
    """Key of a measurement."""
    subject = measurement.subject
    return ProfileKey(provider, subject.model, target.url or target.name, subject.protocol, template)


def of_measurement(
    key: ProfileKey, measurement: Measurement, *, at: float, evidence: str = "", before: CapabilityProfile | None = None
) -> CapabilityProfile:
    """The profile of a measurement.

    Args:
        before: the previous profile of the same key: results that were not measured again are kept with their time.
        at: seconds since the epoch.
        evidence: path of the session of its exchanges.
    """
    anew = {result.probe for result in measurement.results if result.n}
    earlier_results = [result for result in before.results if result.probe not in anew] if before else []
    names = {result.probe for result in earlier_results}
    results = (*earlier_results, *(result for result in measurement.results if result.probe not in names))
    facts = {name: value for result in results for name, value in result.facts.items()}
    return CapabilityProfile(key, facts, results, at, VERSION, evidence)


def of_json(value: JsonValue) -> CapabilityProfile:
    """Read a profile from data. Raises ProfileError."""
    try:
        return CapabilityProfile(
            ProfileKey(**{name: value[name] for name in ProfileKey._fields}),
            {**{n: value[n] for n in NAMES if value[n] is not None}, **value["facts"]},
            tuple(_result(result) for result in value["probes"]),
            float(value["verified_at"]),
            int(value["probe_version"]),
            str(value["evidence"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ProfileError(f"not a capability profile ({type(error).__name__}: {error})") from error


def differences(before: CapabilityProfile, after: CapabilityProfile) -> ProfileDifferences:
    """Differences between two profiles."""
    olds, news = before.facts, after.facts
    names = tuple(dict.fromkeys((*NAMES, *olds, *news)))
    keys = tuple(
        FactChange(name, old, new)
        for name, old, new in zip(ProfileKey._fields, before.key, after.key, strict=True)
        if old != new
    )
    changed = [FactChange(n, olds[n], news[n]) for n in names if n in olds and n in news and olds[n] != news[n]]
    gained = [FactChange(n, None, news[n]) for n in names if n in news and n not in olds]
    lost = [FactChange(n, olds[n], None) for n in names if n in olds and n not in news]
    return ProfileDifferences(keys, tuple(changed), tuple(gained), tuple(lost))


def _result_json(result: ProbeResult) -> dict[str, JsonValue]:
    return {
        "probe": result.probe,
        "verdict": result.outcome.value,
        "n": result.n,
        "passes": result.passes,
        "unmeasured": result.unmeasured,
        "interval": list(result.interval),
        "words": result.words,
        "facts": dict(result.facts),
        "evidence": list(result.evidence),
        "at": result.at,
    }


def _result(value: JsonValue) -> ProbeResult:
    numbers: Sequence[int] = value["evidence"]
    return ProbeResult(
        value["probe"],
        Outcome(value["verdict"]),
        value["n"],
        value["passes"],
        value["unmeasured"],
        Interval(*value["interval"]),
        value["words"],
        value.get("facts") or NOTHING,
        tuple(numbers),
        value["at"],
    )
