"""A response that does not follow the choice of its request, on every protocol."""

from __future__ import annotations

from typing import Any

import pytest

from tests.siblings.wires import CALL, TOOL, WIRES, Call, Tool, Wire
from workbench.rules import Inspector
from workbench.wire.session import MemorySession

FORCED: dict[str, dict[str, Any]] = {
    "anthropic-messages": {"tool_choice": {"type": "any"}},
    "openai-chat": {"tool_choice": "required"},
    "openai-responses": {"tool_choice": "required"},
    "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
}
NAMED: dict[str, dict[str, Any]] = {
    "anthropic-messages": {"tool_choice": {"type": "tool", "name": "weather"}},
    "openai-chat": {"tool_choice": {"type": "function", "function": {"name": "weather"}}},
    "openai-responses": {"tool_choice": {"type": "function", "name": "weather"}},
}
NONE: dict[str, dict[str, Any]] = {
    "anthropic-messages": {"tool_choice": {"type": "none"}},
    "openai-chat": {"tool_choice": "none"},
    "openai-responses": {"tool_choice": "none"},
    "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
}
BY_NAME = {wire.name: wire for wire in WIRES}
OTHER = Call("call_bbbbbbb2", "climate", {"city": "Rome"})


def found(wire: Wire, more: dict[str, Any], calls: tuple[Call, ...], text: str, stop: str = "") -> list[str]:
    request = wire.request([wire.user()], (TOOL, Tool("climate")), **more)
    bodies = (wire.answer(calls, text, stop), wire.stream(wire.events(calls, text, stop)))
    exchanges = [wire.exchange(str(n), request, body) for n, body in enumerate(bodies)]
    runs = [Inspector(MemorySession("wire", (exchange,))).run().findings for exchange in exchanges]
    assert len({tuple(f.rule for f in run if f.rule == "call.choice-ignored") for run in runs}) == 1
    return [f.message for f in runs[0] if f.rule == "call.choice-ignored"]


@pytest.mark.parametrize("name", FORCED)
def test_a_forced_call_is_missing(name):
    wire = BY_NAME[name]
    assert "forces a call" in found(wire, FORCED[name], (), "It is cold.")[0]
    assert found(wire, FORCED[name], (CALL,), "") == []
    assert found(wire, FORCED[name], (), "It is c", wire.cut) == []
    assert found(wire, {}, (), "It is cold.") == []


@pytest.mark.parametrize("name", NAMED)
def test_another_tool_is_called(name):
    assert "'climate'" in found(BY_NAME[name], NAMED[name], (OTHER,), "")[0]
    assert found(BY_NAME[name], NAMED[name], (CALL,), "") == []


@pytest.mark.parametrize("name", NONE)
def test_a_call_comes_although_none_is_allowed(name):
    assert "forbids calls" in found(BY_NAME[name], NONE[name], (CALL,), "")[0]
    assert found(BY_NAME[name], NONE[name], (), "It is cold.") == []
