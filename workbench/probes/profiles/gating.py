"""Gate for tools: which tools a model may use, by its measured abilities; read-only ones first.

A stage opens if the lower end of the 95 % interval of every required share is above its threshold, so that one lucky
sample opens no tool that writes.

Risk of tools: read-only, repeatable writes, or irreversible effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum, StrEnum

from workbench import regex
from workbench.errors import UnknownName, UsageError
from workbench.ir import NOTHING, JsonValue, ToolDef
from workbench.lazy_dataclass import dataclass
from workbench.probes import ProbeResult
from workbench.probes._verdict import interval
from workbench.probes.profiles.conservative import NO_FALL, CautionLevel, Fall
from workbench.probes.profiles.profile import CapabilityProfile


class Risk(StrEnum):
    """Risk classes, lowest first."""

    READ_ONLY = "read-only"
    IDEMPOTENT = "idempotent-write"
    DESTRUCTIVE = "destructive"


RISKS = tuple(Risk)

_READS = frozenset(
    (
        *("read", "get", "list", "search", "find", "show", "view", "fetch", "query", "look", "lookup", "grep", "glob"),
        *("ls", "cat", "head", "tail", "stat", "describe", "count", "check", "inspect", "status", "diff", "echo"),
    )
)
_WRITES_AGAIN = frozenset(("set", "put", "upsert", "ensure", "mark", "tag", "label", "subscribe", "todo"))
_WORDS = regex.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


@dataclass(frozen=True, slots=True)
class RatedTool:
    """A tool with its annotations.

    Attributes:
        annotations: of MCP: ``readOnlyHint``, ``destructiveHint``, ``idempotentHint``.
        risk: given by the user; None if not given.
    """

    name: str
    annotations: Mapping[str, JsonValue] = NOTHING
    risk: Risk | None = None


@dataclass(frozen=True, slots=True)
class ToolRisk:
    """A tool, its risk, and how that is known."""

    name: str
    risk: Risk
    why: str


def tool_risk(tool: RatedTool) -> ToolRisk:
    """Risk of a tool: given by the user, else by its annotations, else by its name; the highest if unknown."""
    if tool.risk:
        return ToolRisk(tool.name, tool.risk, "given by the user")
    hints = tool.annotations
    if hints.get("readOnlyHint") is True:
        return ToolRisk(tool.name, Risk.READ_ONLY, "readOnlyHint (claimed by the tool itself)")
    if hints.get("destructiveHint") is True:
        return ToolRisk(tool.name, Risk.DESTRUCTIVE, "destructiveHint")
    if hints.get("idempotentHint") is True and hints.get("destructiveHint") is False:
        return ToolRisk(tool.name, Risk.IDEMPOTENT, "idempotentHint (claimed by the tool itself)")
    if hints.get("readOnlyHint") is not False:
        first = next(iter(_WORDS.findall(tool.name.rpartition("__")[2] or tool.name)), "").lower()
        if first in _READS:
            return ToolRisk(tool.name, Risk.READ_ONLY, f"the tool name begins with {first!r} (no annotations)")
        if first in _WRITES_AGAIN:
            return ToolRisk(tool.name, Risk.IDEMPOTENT, f"the tool name begins with {first!r} (no annotations)")
    return ToolRisk(tool.name, Risk.DESTRUCTIVE, "nothing indicates that the tool is harmless")


def risks_of_request(tools: Iterable[ToolDef], risks: Mapping[str, str] = NOTHING) -> tuple[ToolRisk, ...]:
    """Risks of the tools that a request declares.

    Args:
        risks: name → risk, from the user.
    """
    named = (tool for tool in tools if tool.name)
    return tuple(
        tool_risk(
            RatedTool(t.name or "", annotations_of(t.extra), Risk(risks[t.name or ""]) if t.name in risks else None)
        )
        for t in named
    )


def annotations_of(declaration: JsonValue) -> Mapping[str, JsonValue]:
    """The annotations of a declaration; empty if it has none."""
    found = declaration.get("annotations") if isinstance(declaration, Mapping) else None
    return found if isinstance(found, Mapping) else NOTHING


def tools_of(value: JsonValue) -> tuple[RatedTool, ...]:
    """Tools from a list written by a user or a server.

    Args:
        value: result or response of MCP's ``tools/list``; a list of tools or names; or ``{name: risk}``.

    Raises:
        UsageError: it is none of these.
    """
    if isinstance(value, dict):
        inner = value.get("result", value)
        if isinstance(inner, dict) and isinstance(inner.get("tools"), list):
            return tools_of(inner["tools"])
        if all(isinstance(risk, str) for risk in value.values()):
            return tuple(RatedTool(str(name), risk=risk_of(risk)) for name, risk in value.items())
    if isinstance(value, list):
        return tuple(_tool(each) for each in value)
    raise UsageError("not a list of tools", hint="MCP's tools/list, a list of names, or {name: risk}")


def _tool(value: JsonValue) -> RatedTool:
    if isinstance(value, str):
        return RatedTool(value)
    name = value.get("name") if isinstance(value, dict) else None
    if name is None and isinstance(value, dict) and isinstance(value.get("function"), dict):
        name = value["function"].get("name")
    if not isinstance(name, str) or not name:
        raise UsageError("a tool without a name", hint='[{"name": "read_file", "annotations": {"readOnlyHint": true}}]')
    risk_name = value.get("risk")
    return RatedTool(name, annotations_of(value), risk_of(risk_name) if isinstance(risk_name, str) else None)


def risk_of(text: str) -> Risk:
    """The risk of that name. Raises UsageError."""
    if text not in RISKS:
        raise UnknownName("risk", text, RISKS)
    return Risk(text)


def names(tools: Sequence[ToolRisk], most: Risk) -> frozenset[str]:
    """Names of tools with at most this risk."""
    return frozenset(tool.name for tool in tools if RISKS.index(tool.risk) <= RISKS.index(most))


LIKELY, SURELY = 0.5, 0.8
"""Required shares: for repeatable writes (4 of 4 samples), for all other tools (16 of 16)."""

_MOST_SAMPLES = 1000


class GateStage(IntEnum):
    """Enabled tools; each stage includes the previous ones."""

    NONE = 0
    READ_ONLY = 1
    IDEMPOTENT = 2
    EVERYTHING = 3

    def allows(self, risk: Risk) -> bool:
        """Tools of this risk are enabled."""
        return RISKS.index(risk) < self


STAGES = ("no tool", "read-only tools", "read-only tools and idempotent writes", "every tool")


@dataclass(frozen=True, slots=True)
class GatedTool:
    """One tool.

    Attributes:
        because: source of its risk.
        reason: why it is enabled or not.
    """

    name: str
    risk: Risk
    because: str
    is_enabled: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ToolGate:
    """The enabled tools.

    Attributes:
        missing: requirements of the next stage, one line each; empty if every tool is enabled.
    """

    stage: GateStage
    tools: tuple[GatedTool, ...]
    missing: tuple[str, ...] = ()

    def as_json(self) -> dict[str, JsonValue]:
        """The gate as data."""
        return {
            "stage": self.stage.name.lower().replace("_", "-"),
            "held": list(self.missing),
            "tools": [
                {"name": t.name, "risk": str(t.risk), "because": t.because, "enabled": t.is_enabled, "reason": t.reason}
                for t in self.tools
            ],
        }


def gate(
    profile: CapabilityProfile | None, tools: Sequence[RatedTool], fall: Fall = NO_FALL, stale: str = ""
) -> ToolGate:
    """The tools that may be used now, and the reasons for the others.

    Args:
        profile: None if nothing was measured: then only read-only tools are enabled.
        fall: required fallback, with any measurement.
        stale: why the profile is stale; empty if it is valid.
    """
    stage, requirements = _stage(profile, fall, stale)
    return ToolGate(stage, tuple(_gate_tool(tool, stage, requirements) for tool in tools), requirements)


def _gate_tool(tool: RatedTool, stage: GateStage, requirements: tuple[str, ...]) -> GatedTool:
    found = tool_risk(tool)
    is_enabled = stage.allows(found.risk)
    reason = f"enabled at this stage: {STAGES[stage]}" if is_enabled else f"not enabled: {requirements[0]}"
    return GatedTool(found.name, found.risk, found.why, is_enabled, reason)


def _stage(profile: CapabilityProfile | None, fall: Fall, stale: str) -> tuple[GateStage, tuple[str, ...]]:
    """The stage, and the requirements of the next one."""
    stage = GateStage.NONE
    for following in (GateStage.READ_ONLY, GateStage.IDEMPOTENT, GateStage.EVERYTHING):
        requirements = tuple(_lacks(following, profile, fall, stale))
        if requirements:
            return stage, requirements
        stage = following
    return stage, ()


def _lacks(stage: GateStage, profile: CapabilityProfile | None, fall: Fall, stale: str) -> list[str]:
    """Missing requirements of a stage."""
    if fall.level >= (CautionLevel.NO_TOOLS if stage is GateStage.READ_ONLY else CautionLevel.READ_ONLY):
        return [fall.why(CautionLevel.READ_ONLY)]
    if stage is GateStage.READ_ONLY:
        return []
    if profile is None or stale:
        return [f"tools that write require a valid profile: {stale or 'nothing was measured'}"]
    mark = LIKELY if stage is GateStage.IDEMPOTENT else SURELY
    found = [_below(profile, probe, mark) for probe in ("format", "closure")]
    if profile.fact("schema_level") in (None, "string-only"):
        found.append(
            f"tools that write are blocked: the measured schema_level is {profile.fact('schema_level')}, "
            "so arguments may be invalid"
        )
    if profile.fact("error_repair") in (None, "none"):
        found.append(f"tools that write need error correction: error_repair is {profile.fact('error_repair')}")
    elif stage is GateStage.EVERYTHING:
        found.append(_below(profile, "repair", mark))
    return [line for line in found if line]


def _below(profile: CapabilityProfile, probe: str, mark: float) -> str:
    """Why a probe does not pass surely enough; empty if it does."""
    result = next((r for r in profile.results if r.probe == probe), None)
    if result is None or not result.n:
        return f"{probe} was not measured"
    if result.interval.low >= mark:
        return ""
    pass_rate = f"{probe} passed {result.passes} of {result.n}: above {result.interval.low:.0%} with 95 % confidence"
    return f"{pass_rate}, but {mark:.0%} is required{_enough(result, mark)}"


def _enough(result: ProbeResult, mark: float) -> str:
    """Number of samples that would suffice, if all passed so far."""
    if result.passes < result.n:
        return ""
    enough = next((n for n in range(result.n, _MOST_SAMPLES) if interval(n, n).low >= mark), None)
    return f"; {enough} passing samples would suffice" if enough else ""
