"""Gating: read-only tools come first, those that write when the evidence is there; and what a tool can do."""

from __future__ import annotations

import pytest

from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.probes import Sample, verdict
from workbench.probes._script import Outcome
from workbench.probes.profiles import CapabilityProfile, ProfileKey
from workbench.probes.profiles.conservative import CautionLevel, Fall, FallReason, fall
from workbench.probes.profiles.gating import GateStage, RatedTool, Risk, gate, tool_risk, tools_of
from workbench.rules.metrics.tool_use_counts import Counts

KEY = ProfileKey("openai", "m", "https://x.test/v1", "openai-chat")
TOOLS = (RatedTool("read_file"), RatedTool("set_label"), RatedTool("delete_all"))
FACTS = {"tool_call_format": "openai", "closes": True, "schema_level": "simple-object", "error_repair": "reliable"}


def profile(samples: int, **facts: JsonValue) -> CapabilityProfile:
    """Everything passed, so often."""
    passed = [Sample(Outcome.PASS, "")] * samples
    return CapabilityProfile(
        KEY, {**FACTS, **facts}, tuple(verdict(name, passed) for name in ("format", "closure", "repair"))
    )


STAGES = {
    "nothing measured": (None, GateStage.READ_ONLY, "nothing was measured"),
    "one sample each": (profile(1), GateStage.READ_ONLY, "4 passing samples would suffice"),
    "four samples": (profile(4), GateStage.IDEMPOTENT, "16 passing samples would suffice"),
    "sixteen samples": (profile(16), GateStage.EVERYTHING, ""),
    "it gives up": (profile(16, error_repair="none"), GateStage.READ_ONLY, "not corrected"),
    "it mends late": (profile(16, error_repair="limited"), GateStage.EVERYTHING, ""),
    "texts only": (profile(16, schema_level="string-only"), GateStage.READ_ONLY, "schema_level is string-only"),
    "it makes no call": (profile(16, tool_call_format="none"), GateStage.NONE, "the model makes no tool calls"),
}


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_opens_on_evidence(name: str) -> None:
    measured, stage, said = STAGES[name]
    found = gate(measured, TOOLS, fall(measured))
    assert found.stage is stage
    assert [tool.is_enabled for tool in found.tools] == [n < stage for n in range(3)]
    assert any(said in line for line in found.missing) if said else not found.missing
    assert all(not t.is_enabled for t in found.tools if t.reason.startswith("not enabled"))


def test_what_goes_wrong_in_the_session_closes_tools_that_write() -> None:
    running = fall(profile(16), Counts(calls=9, parsed=9, fitting=9, executed=2))
    found = gate(profile(16), TOOLS, running)
    assert (found.stage, [tool.is_enabled for tool in found.tools]) == (GateStage.READ_ONLY, [True, False, False])
    assert "executed anyway: 2" in found.tools[1].reason
    assert gate(profile(16), TOOLS, Fall((FallReason(CautionLevel.NO_TOOLS, "broken"),))).stage is GateStage.NONE


def test_a_stale_profile_opens_nothing_that_writes() -> None:
    found = gate(profile(16), TOOLS, stale="measured 31 days ago")
    assert found.stage is GateStage.READ_ONLY
    assert found.as_json()["held"] == ["tools that write require a valid profile: measured 31 days ago"]


RISKS = {
    "listed": (RatedTool("read", risk=Risk.DESTRUCTIVE), Risk.DESTRUCTIVE),
    "read-only hint": (RatedTool("frob", {"readOnlyHint": True}), Risk.READ_ONLY),
    "destructive hint against a harmless name": (RatedTool("get_x", {"destructiveHint": True}), Risk.DESTRUCTIVE),
    "it says that it writes": (RatedTool("get_x", {"readOnlyHint": False}), Risk.DESTRUCTIVE),
    "idempotent, not destructive": (
        RatedTool("x", {"idempotentHint": True, "destructiveHint": False}),
        Risk.IDEMPOTENT,
    ),
    "idempotent alone": (RatedTool("x", {"idempotentHint": True}), Risk.DESTRUCTIVE),
    "a name that reads": (RatedTool("mcp__files__readFile"), Risk.READ_ONLY),
    "a name that sets": (RatedTool("set_label"), Risk.IDEMPOTENT),
    "a name that only begins alike": (RatedTool("getaway_car"), Risk.DESTRUCTIVE),
    "nothing tells": (RatedTool("Bash"), Risk.DESTRUCTIVE),
    "a hint that is no boolean": (RatedTool("Bash", {"readOnlyHint": "true"}), Risk.DESTRUCTIVE),
}


@pytest.mark.parametrize("name", RISKS)
def test_the_risk_of_a_tool(name: str) -> None:
    tool, risk = RISKS[name]
    assert tool_risk(tool).risk is risk
    assert tool_risk(tool).why


@pytest.mark.parametrize(
    "value",
    [
        {"result": {"tools": [{"name": "a", "annotations": {"readOnlyHint": True}}]}},
        {"tools": [{"name": "a", "annotations": {"readOnlyHint": True}}]},
        [{"name": "a", "risk": "read-only"}],
        [{"type": "function", "function": {"name": "a"}, "annotations": {"readOnlyHint": True}}],
        {"a": "read-only"},
    ],
    ids=["the answer of tools/list", "its result", "a list", "a function", "a mapping"],
)
def test_lists_of_tools_have_many_forms(value: JsonValue) -> None:
    (tool,) = tools_of(value)
    assert (tool.name, tool_risk(tool).risk) == ("a", Risk.READ_ONLY)


@pytest.mark.parametrize("value", [None, 7, {"a": 7}, [{}], [{"name": ""}], {"a": "harmless"}, [7]], ids=str)
def test_what_is_no_list_of_tools_is_said(value: JsonValue) -> None:
    with pytest.raises(UsageError):
        tools_of(value)
