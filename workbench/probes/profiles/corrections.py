"""Corrections: what is done otherwise because of what was measured, each with its reason, and each to be switched off.

Everything here is pure. ``corrections`` decides, ``profiles.corrected`` applies them to a request and to a
loop. A correction that changes nothing of a request says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from workbench import protocols
from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.probes import Outcome, ProbeResult
from workbench.probes.profiles.conservative import NO_FALL, CautionLevel, Fall
from workbench.probes.profiles.profile import CapabilityProfile
from workbench.probes.profiles.risk import risk_of
from workbench.send.loop import LEFT_OUT, VERBATIM
from workbench.toolcalls import formats
from workbench.toolcalls.schemas import LEVELS, SIMPLE, STRICT

ENCODING, PARSER, STREAMING, SCHEMA = "encoding", "parser", "streaming-off", "schema-level"
SERIAL, REASONING, PLACEMENT = "serial-calls", "reasoning-replay", "result-placement"
FEEDBACK, READ_ONLY, NO_TOOLS = "error-feedback", "read-only-tools", "no-tools"

FEW_ERRORS = 2
"""Structured errors in a row after which people are asked, where a model mends calls at once."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One thing that is done otherwise.

    Attributes:
        name: what people type.
        does: what it does, in words.
        why: the fact, the samples and when it was measured; or who asked for it.
        value: what it takes: a protocol, a text format, a level, a number; True for nothing.
        is_on: it is done.
    """

    name: str
    does: str
    why: str
    value: JsonValue = True
    is_on: bool = True

    def as_json(self) -> dict[str, JsonValue]:
        """It as data."""
        return {"name": self.name, "does": self.does, "why": self.why, "value": self.value, "on": self.is_on}


@dataclass(frozen=True, slots=True)
class CorrectionKind:
    """A correction there can be.

    Attributes:
        does: in words; ``{}`` stands for its value.
        found: (value, name of the fact) that a profile asks for; None where it asks for nothing.
        typed: the value of a text that people type; raises UsageError.
        usual: its value where people give none, None where they have to.
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
    """Only falling back asks for it."""
    return None


def _no_value(text: str) -> JsonValue:
    raise UsageError(f"it takes no value, not {text!r:.40}")


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
        raise UsageError(f"no {text!r:.40} here", hint=f"known: {', '.join(known)}")
    return text


def _number(text: str) -> JsonValue:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 1000):
        raise UsageError(f"{text!r:.40} is no number of errors", hint="1 or more")
    return int(text)


def _label(text: str) -> JsonValue:
    from workbench import contracts

    contracts.demand(text)
    return text


def _risks(text: str) -> JsonValue:
    """``read_file:read-only,delete:destructive``."""
    pairs = (word.partition(":") for word in filter(None, text.split(",")))
    return {name: str(risk_of(risk)) for name, _, risk in pairs}


_SERIALLY = "one call at a time: by the request's switch, else by a word to the model; and held by the loop"
_DECLARED = "schemas of tools are declared as {}; arguments are checked by the whole schema"
_BEHIND = "results are where {} reads them: after their calls, before other text"
_READ = "calls are read from the text, as {}; results go back as that format has them"

KINDS: Mapping[str, CorrectionKind] = {
    ENCODING: CorrectionKind("requests are written in {}", _encoding, _protocol, None),
    STREAMING: CorrectionKind("requests with tools ask for no stream", _streaming, _no_value),
    SCHEMA: CorrectionKind(_DECLARED, _schema, _level, SIMPLE),
    SERIAL: CorrectionKind(_SERIALLY, _serial, _no_value),
    REASONING: CorrectionKind("reasoning of earlier answers goes back: {}", _reasoning, _replay, VERBATIM),
    PLACEMENT: CorrectionKind(_BEHIND, _placement, _label, "generic"),
    PARSER: CorrectionKind(_READ, _parser, _format, None),
    FEEDBACK: CorrectionKind(
        "failed calls get the reason; after {} in a row a person is asked", _feedback, _number, FEW_ERRORS
    ),
    READ_ONLY: CorrectionKind("only tools that read are declared and run", _never, _risks, {}),
    NO_TOOLS: CorrectionKind("no tool may be called", _never, _no_value),
}
"""Name → what it is, in the order in which they are applied."""

_FALLING: Mapping[str, tuple[CautionLevel, JsonValue]] = {
    SERIAL: (CautionLevel.SERIAL, True),
    STREAMING: (CautionLevel.WHOLE, True),
    SCHEMA: (CautionLevel.STRICT, STRICT),
    READ_ONLY: (CautionLevel.READ_ONLY, {}),
    NO_TOOLS: (CautionLevel.NO_TOOLS, True),
}
"""What falling back asks for: from which level on, and with what value."""


def corrections(profile: CapabilityProfile | None, fall: Fall = NO_FALL) -> tuple[Correction, ...]:
    """What a profile asks for, and falling back; in the order in which it is applied.

    Args:
        profile: None where nothing was measured.
        fall: how far to fall back.
    """
    made: list[Correction] = []
    for name, kind in KINDS.items():
        found = kind.requested_by(profile) if profile else None
        level, value = _FALLING.get(name, (None, True))
        if found and profile:
            made.append(_correction(name, found[0], _measured_reason(profile, found[1])))
        elif level is not None and (why := fall.why(level)):
            made.append(_correction(name, value, why))
    return tuple(made)


def apply_switches(
    decided: Sequence[Correction], on: Iterable[str] = (), off: Iterable[str] = ()
) -> tuple[Correction, ...]:
    """Corrections as people want them.

    Args:
        on: ``NAME`` or ``NAME=VALUE``: what is done, whatever was measured.
        off: names of what is not done.

    Raises:
        UsageError: there is no such correction, or no such value of it.
    """
    found = {each.name: each for each in decided}
    for text in on:
        name, is_valued, value = text.partition("=")
        kind = _kind(name)
        if not is_valued and kind.default is None and name not in found:
            raise UsageError(f"{name} needs a value", hint=f"say {name}=…")
        if is_valued or name not in found:
            found[name] = _correction(name, kind.parse(value) if is_valued else kind.default, "asked for")
        found[name] = replace(found[name], is_on=True)
    for name in off:
        _kind(name)
        if name in found:
            found[name] = replace(found[name], is_on=False)
    return tuple(found[name] for name in KINDS if name in found)


def value_of(decided: Sequence[Correction], name: str) -> JsonValue:
    """The value of a correction that is on; None where it is off, or was not decided."""
    return next((each.value for each in decided if each.name == name and each.is_on), None)


def _kind(name: str) -> CorrectionKind:
    if name not in KINDS:
        raise UsageError(f"no correction named {name!r:.60}", hint=f"known: {', '.join(KINDS)}")
    return KINDS[name]


def _correction(name: str, value: JsonValue, why: str) -> Correction:
    return Correction(name, KINDS[name].does.format(value), why, value)


def _measured_reason(profile: CapabilityProfile, fact: str) -> str:
    """The fact, the samples behind it, and when."""
    value = profile.fact(fact)
    said = {True: "yes", False: "no"}[value] if isinstance(value, bool) else _short(value)
    result = next((r for r in profile.results if fact in r.facts), None)
    told = f" ({result.outcome.value} in {_samples(result)})" if result else ""
    at = result.at if result else profile.verified_at
    return f"{fact}: {said}{told}, measured {datetime.fromtimestamp(at, UTC).date().isoformat()}"


def _short(value: JsonValue) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {held}" for key, held in value.items())
    return str(value) or "none"


def _samples(result: ProbeResult) -> str:
    share = f"{result.passes} of {result.n}" if result.outcome is Outcome.PARTIAL else str(result.n)
    return f"{share} sample{'s' if result.n != 1 else ''}"
