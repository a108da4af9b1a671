"""Gate for tools: which tools a model may use, by its measured abilities; read-only ones first.

A stage opens if the lower end of the 95 % interval of every required share is above its threshold, so that one lucky
sample opens no tool that writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.probes import ProbeResult
from workbench.probes._verdict import interval
from workbench.probes.profiles.conservative import NO_FALL, CautionLevel, Fall
from workbench.probes.profiles.profile import CapabilityProfile
from workbench.probes.profiles.risk import RISKS, RatedTool, Risk, tool_risk

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


STAGES = ("no tool", "read-only tools", "and repeatable writes", "every tool")


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
        fall: required fallback, whatever was measured.
        stale: why the profile is stale; empty if it is valid.
    """
    stage, held = _stage(profile, fall, stale)
    return ToolGate(stage, tuple(_gate_tool(tool, stage, held) for tool in tools), held)


def _gate_tool(tool: RatedTool, stage: GateStage, held: tuple[str, ...]) -> GatedTool:
    found = tool_risk(tool)
    is_enabled = stage.allows(found.risk)
    reason = f"enabled at this stage: {STAGES[stage]}" if is_enabled else f"not enabled: {held[0]}"
    return GatedTool(found.name, found.risk, found.why, is_enabled, reason)


def _stage(profile: CapabilityProfile | None, fall: Fall, stale: str) -> tuple[GateStage, tuple[str, ...]]:
    """The stage, and the requirements of the next one."""
    stage = GateStage.NONE
    for following in (GateStage.READ_ONLY, GateStage.IDEMPOTENT, GateStage.EVERYTHING):
        held = tuple(_lacks(following, profile, fall, stale))
        if held:
            return stage, held
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
        found.append(f"tools that write need valid arguments: schema_level is {profile.fact('schema_level')}")
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
    told = f"{probe} passed {result.passes} of {result.n}: certainly above {result.interval.low:.0%}"
    return f"{told}, but {mark:.0%} is required{_enough(result, mark)}"


def _enough(result: ProbeResult, mark: float) -> str:
    """Number of samples that would suffice, if all passed so far."""
    if result.passes < result.n:
        return ""
    wanted = next((n for n in range(result.n, _MOST_SAMPLES) if interval(n, n).low >= mark), None)
    return f"; {wanted} passing samples would suffice" if wanted else ""
