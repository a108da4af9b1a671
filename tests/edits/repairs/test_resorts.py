"""Where no proposal holds alone: two together, or a conversation that ends before the damage."""

from __future__ import annotations

from typing import Any

import pytest

from tests.edits.repairs.test_damaged import PROVIDERS, TOOL, body, inspector, interrupted, misnamed
from tests.edits.repairs.test_repairs import exchange, inspecting
from workbench.contracts import Severity, Verdict
from workbench.edits import repairs
from workbench.edits.repairs import RepairCost
from workbench.edits.repairs._search import RepairSearch
from workbench.ir import Message, ModelRequest, Text, ToolCallIR, ToolResultIR
from workbench.wire.jsontext import loads

TEXT = {"type": "text", "text": "here"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}
LOOK, DONE = {"role": "user", "content": "look"}, {"role": "assistant", "content": "Nothing there."}


def result(call_id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "a"}


def block(*messages: Any) -> dict[str, Any]:
    tool = {"name": "ls", "input_schema": {"type": "object"}}
    return {"model": "claude-sonnet-4-5", "max_tokens": 64, "tools": [tool], "messages": list(messages)}


BOTH = block(LOOK, {"role": "assistant", "content": [USE]}, {"role": "user", "content": [TEXT, result("toolu_x")]})


def test_two_damages_at_one_place_are_one_repair() -> None:
    """A wrong id hides that the result stands behind a text: what ends the one uncovers the other."""
    inspector = inspecting(exchange(1, BOTH), provider="anthropic")
    (finding,) = [f for f in inspector.rows[0].findings if repairs.is_repairable(f)]
    (best, *_) = repairs.checked_repairs(inspector, 0, finding)
    assert best.repair.verified and best.proposal.cost is RepairCost.NONE
    assert best.repair.title == (
        "set the tool result's id to 'toolu_1', and move the tool results to the front of their message"
    )
    assert loads(best.request.body.raw)["messages"][2]["content"] == [result("toolu_1"), TEXT]
    edits = [(e.op, e.pointer) for e in best.repair.edits]
    assert edits == [("insert", "/messages/2/content/0"), ("remove", "/messages/2/content/1")]
    fixed = repairs.fix(inspector, 0)
    assert (fixed.after, [r.title for r in fixed.repairs]) == (Verdict.ACCEPTS, [best.repair.title])


def test_what_holds_alone_is_offered_alone() -> None:
    alone = block(LOOK, BOTH["messages"][1], {"role": "user", "content": [result("toolu_x")]})
    inspector = inspecting(exchange(1, alone), provider="anthropic")
    (finding,) = [f for f in inspector.rows[0].findings if repairs.is_repairable(f)]
    assert [r.title for r in repairs.offer(inspector, 0, finding)] == ["set the tool result's id to 'toolu_1'"]


@pytest.mark.parametrize("budget", [0, 1, 2])
def test_a_budget_holds_for_both_together(budget: int) -> None:
    inspector = inspecting(exchange(1, BOTH), provider="anthropic")
    (finding,) = [f for f in inspector.rows[0].findings if repairs.is_repairable(f)]
    assert repairs.offer(inspector, 0, finding, budget=budget) == ()


def turns(count: int) -> ModelRequest:
    """Questions, each answered by two calls with results and a text."""
    messages = list[Message]()
    for turn in range(count):
        ids = [f"call_{turn}{n:07d}" for n in range(2)]
        calls = tuple(ToolCallIR(i, "read", {"path": "a"}, "function") for i in ids)
        results = tuple(ToolResultIR(i, (Text("seen"),), name="read") for i in ids)
        said = (("user", (Text("go"),)), ("assistant", calls), ("tool", results), ("assistant", (Text("ok"),)))
        messages += [Message(role, parts) for role, parts in said]
    asked = Message("user", (Text("and now?"),))
    return ModelRequest("", None, (*messages, asked), tools=(TOOL,), params={"max_tokens": 64})


@pytest.mark.parametrize("protocol", PROVIDERS)
def test_without_any_proposal_the_conversation_ends_before_the_damage(protocol: str) -> None:
    broken = inspector(protocol, body(protocol, interrupted(misnamed(turns(2), 1), 1), None))
    found = [f for f in broken.run().findings if repairs.is_repairable(f) and f.severity is Severity.ERROR]
    if not found:
        return  # nothing is told apart by ids here, or it goes through
    (end,) = RepairSearch({}, broken, 0).offers(found[0])
    assert end.repair.verified and end.proposal.cost is RepairCost.CUT
    assert end.repair.title.startswith("truncate the history after message")
    last = end.trial.decoded.request.messages[-1]  # type: ignore[union-attr]
    assert last.role == "user" and [p.text for p in last.parts if isinstance(p, Text)] == ["go"]


@pytest.mark.parametrize("protocol", ["anthropic-messages", "openai-chat", "gemini"])
def test_two_damages_far_apart_are_repaired_one_by_one_and_nothing_is_cut(protocol: str) -> None:
    far = inspector(protocol, body(protocol, interrupted(interrupted(turns(3), 2), 0), None))
    far.run()
    fixed = repairs.fix(far, 0)
    assert fixed.after is Verdict.ACCEPTS and len(fixed.repairs) == 2
    assert not any(r.title.startswith("cut") for r in fixed.repairs)
