"""Corrections: adaptations to measured abilities, each with its reason and a switch.

Everything here is pure. ``corrections`` decides; ``profiles.corrector`` applies them to a request and to a loop. A
correction that changes nothing in a request makes no note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from workbench import protocols
from workbench.errors import UnknownName, UsageError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, replace
from workbench.probes import Outcome, ProbeResult
from workbench.probes.profiles.conservative import NO_FALL, CautionLevel, Fall
from workbench.probes.profiles.gating import risk_of
from workbench.probes.profiles.profile import CapabilityProfile
from workbench.send.loop import LEFT_OUT, VERBATIM
from workbench.toolcalls import formats
from workbench.toolcalls.schemas import LEVELS, SIMPLE, STRICT

ENCODING, PARSER, STREAMING, SCHEMA = "encoding", "parser", "streaming-off", "schema-level"
SERIAL, REASONING, PLACEMENT = "serial-calls", "reasoning-replay", "result-placement"
FEEDBACK, READ_ONLY, NO_TOOLS = "error-feedback", "read-only-tools", "no-tools"

FEW_ERRORS = 2
"""Consecutive structured errors after which the user is asked, if a model corrects calls at once."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One adaptation.

    Attributes:
        name: as typed by the user.
        does: its effect, in words.
        why: the fact, its samples and time; or that it was requested.
        value: a protocol, a text format, a level, a number; True if it takes none.
        is_on: it is applied.
    """

    name: str
    does: str
    why: str
    value: JsonValue = True
    is_on: bool = True

    def as_json(self) -> dict[str, JsonValue]:
        """The correction as data."""
        return {"name": self.name, "does": self.does, "why": self.why, "value": self.value, "on": self.is_on}


@dataclass(frozen=True, slots=True)
class CorrectionKind:
    """A kind of correction.

    Attributes:
        does: effect in words; ``{}`` is replaced by the value.
        requested_by: (value, name of the fact) from a profile; None if the profile does not require it.
        parse: parses a typed value; raises UsageError.
        default: value if none is typed; None if one is required.
    """

    does: str
    requested_by: Callable[[CapabilityProfile], tuple[JsonValue, str] | None]
    parse: Callable[[str], JsonValue]
    default: JsonValue = True


def _encoding(profile: CapabilityProfile) -> tuple[JsonValue, str] | None:
    return (profile.key.protocol, "tool_call_format") if profile.fact("tool_call_format") else None


def _parser(profile: CapabilityProfile) -> tuple[JsonValue, str] | None:
    found = profile.fact("parser")
    return (found, "parser") if isinstance(found, str) and found in formats.formats() else None


def _streaming(profile: CapabilityProfile) -> tuple[JsonValue, str] | None:
    fact = "supports_streaming_tool_use"
    return (True, fact) if profile.fact(fact) is False else None


def _schema(profile: CapabilityProfile) -> tuple[JsonValue, str] | None:
    level = profile.fact("schema_level")
    return (level, "schema_level") if level in LEVELS and level != STRICT else None


def _serial(profile: CapabilityProfile) -> tuple[JsonValue, str] | None:
    fact = "supports_parallel_tool_use"
    return (True, fact) if profile.fact(fact) is False else None


def _reasoning(profile: CapabilityProfile) -> tuple[JsonValue, str] | None:
    fates = profile.fact("reasoning_replay")
    if isinstance(fates, Mapping) and fates.get("verbatim") == "refused" and fates.get("missing") != "refused":
        return LEFT_OUT, "reasoning_replay"
    is_needed = profile.fact("requires_reasoning_replay") is True
    return (VERBATIM, "requires_reasoning_replay") if is_needed else None


def _placement(profile: CapabilityProfile) -> tuple[JsonValue, str] | None:
    return (profile.key.provider, "closes") if profile.fact("closes") is True else None


def _feedback(profile: CapabilityProfile) -> tuple[JsonValue, str] | None:
    repair, tries = profile.fact("error_repair"), profile.fact("repair_tries")
    if repair == "none":
        return 1, "error_repair"
    if repair == "limited" and isinstance(tries, int):
        return tries + 1, "error_repair"
    return (FEW_ERRORS, "error_repair") if repair else None


def _never(profile: CapabilityProfile) -> tuple[JsonValue, str] | None:
    """Required only by fallbacks."""
    return None


def _no_value(text: str) -> JsonValue:
    raise UsageError(f"this correction does not accept a value, but got {text!r:.40}")


def _protocol(text: str) -> JsonValue:
    return protocols.get(text).name


def _format(text: str) -> JsonValue:
    return formats.get(text).name


def _level(text: str) -> JsonValue:
    return _one_of(text, LEVELS)


def _replay(text: str) -> JsonValue:
    return _one_of(text, (VERBATIM, LEFT_OUT))


def _one_of(text: str, known: Sequence[str]) -> str:
    if text not in known:
        raise UsageError(f"unknown value {text!r:.40}", hint=f"known: {', '.join(known)}")
    return text


def _number(text: str) -> JsonValue:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 1000):
        raise UsageError(f"{text!r:.40} is not a number of errors", hint="1 or more")
    return int(text)


def _label(text: str) -> JsonValue:
    from workbench import contracts

    contracts.demand(text)
    return text


def _risks(text: str) -> JsonValue:
    """Parse ``read_file:read-only,delete:destructive``."""
    pairs = (word.partition(":") for word in filter(None, text.split(",")))
    return {name: str(risk_of(risk)) for name, _, risk in pairs}


_SERIALLY = "one call at a time: set by a request parameter, else by the system prompt; enforced by the loop"
_DECLARED = "tool schemas are reduced to {}; arguments are validated against the full schema"
_BEHIND = "tool results are placed where {} expects them: after their calls, before other content"
_READ = "calls are parsed from text as {}; results are sent back in that format"

KINDS: Mapping[str, CorrectionKind] = {
    ENCODING: CorrectionKind("requests are written in {}", _encoding, _protocol, None),
    STREAMING: CorrectionKind("requests with tools are not streamed", _streaming, _no_value),
    SCHEMA: CorrectionKind(_DECLARED, _schema, _level, SIMPLE),
    SERIAL: CorrectionKind(_SERIALLY, _serial, _no_value),
    REASONING: CorrectionKind("reasoning of earlier responses is sent back: {}", _reasoning, _replay, VERBATIM),
    PLACEMENT: CorrectionKind(_BEHIND, _placement, _label, "generic"),
    PARSER: CorrectionKind(_READ, _parser, _format, None),
    FEEDBACK: CorrectionKind(
        "failed calls get an error result; after {} in a row the user is asked", _feedback, _number, FEW_ERRORS
    ),
    READ_ONLY: CorrectionKind("only read-only tools are declared and run", _never, _risks, {}),
    NO_TOOLS: CorrectionKind("tool calls are forbidden", _never, _no_value),
}
"""Name → kind, in the order of application."""

_FALLING: Mapping[str, tuple[CautionLevel, JsonValue]] = {
    SERIAL: (CautionLevel.SERIAL, True),
    STREAMING: (CautionLevel.WHOLE, True),
    SCHEMA: (CautionLevel.STRICT, STRICT),
    READ_ONLY: (CautionLevel.READ_ONLY, {}),
    NO_TOOLS: (CautionLevel.NO_TOOLS, True),
}
"""Name → fallback level that requires it, and its value."""


def corrections(profile: CapabilityProfile | None, fall: Fall = NO_FALL) -> tuple[Correction, ...]:
    """Corrections that a profile or a fallback requires, in the order of application.

    Args:
        profile: None if nothing was measured.
        fall: required fallback.
    """
    result: list[Correction] = []
    for name, kind in KINDS.items():
        found = kind.requested_by(profile) if profile else None
        level, value = _FALLING.get(name, (None, True))
        if found and profile:
            result.append(_correction(name, found[0], _measured_reason(profile, found[1])))
        elif level is not None and (why := fall.why(level)):
            result.append(_correction(name, value, why))
    return tuple(result)


def apply_switches(
    decided: Sequence[Correction], on: Iterable[str] = (), off: Iterable[str] = ()
) -> tuple[Correction, ...]:
    """Corrections as the user switched them.

    Args:
        on: ``NAME`` or ``NAME=VALUE``, applied whatever was measured.
        off: names of those that are not applied.

    Raises:
        UsageError: there is no such correction, or no such value of it.
    """
    found = {each.name: each for each in decided}
    for text in on:
        name, is_valued, value = text.partition("=")
        kind = _kind(name)
        if not is_valued and kind.default is None and name not in found:
            raise UsageError(f"{name} needs a value", hint=f"use {name}=…")
        if is_valued or name not in found:
            found[name] = _correction(name, kind.parse(value) if is_valued else kind.default, "requested")
        found[name] = replace(found[name], is_on=True)
    for name in off:
        _kind(name)
        if name in found:
            found[name] = replace(found[name], is_on=False)
    return tuple(found[name] for name in KINDS if name in found)


def correction_value(decided: Sequence[Correction], name: str) -> JsonValue:
    """Value of a correction that is on; None if it is off or not decided."""
    return next((each.value for each in decided if each.name == name and each.is_on), None)


def _kind(name: str) -> CorrectionKind:
    if name not in KINDS:
        raise UnknownName("correction", name, KINDS)
    return KINDS[name]


def _correction(name: str, value: JsonValue, why: str) -> Correction:
    return Correction(name, KINDS[name].does.format(value), why, value)


def _measured_reason(profile: CapabilityProfile, fact: str) -> str:
    """The fact with its samples and date."""
    value = profile.fact(fact)
    value_text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else _short(value)
    result = next((r for r in profile.results if fact in r.facts), None)
    sample_text = f" ({result.outcome.value} in {_samples(result)})" if result else ""
    at = result.at if result else profile.verified_at
    return f"{fact}: {value_text}{sample_text}, measured {datetime.fromtimestamp(at, UTC).date().isoformat()}"


def _short(value: JsonValue) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {entry}" for key, entry in value.items())
    return str(value) or "none"


def _samples(result: ProbeResult) -> str:
    share = f"{result.passes} of {result.n}" if result.outcome is Outcome.PARTIAL else str(result.n)
    return f"{share} sample{'s' if result.n != 1 else ''}"
