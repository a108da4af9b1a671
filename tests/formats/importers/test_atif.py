from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import atif, open_input
from workbench.wire.exchange import Exchange, Origin, State
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import exchanges_of


@pytest.fixture
def exchanges(data: Path) -> list[Exchange]:
    return list(exchanges_of(open_input(str(data / "atif.json"))))


def body(exchange: Exchange) -> Any:
    assert exchange.request
    return loads(exchange.request.body.raw)


def test_each_step_of_the_agent_is_an_exchange_of_its_models_protocol(exchanges: list[Exchange]) -> None:
    assert [(e.id, e.request.url if e.request else "") for e in exchanges] == [
        ("step 3", "/v1/messages"),
        ("step 4", "/v1/chat/completions"),
    ]
    assert {(e.origin, e.client) for e in exchanges} == {(Origin.RECONSTRUCTED, "openhands 1.1.0")}


def test_what_the_agent_has_is_in_every_request(exchanges: list[Exchange]) -> None:
    assert (body(exchanges[0])["system"], body(exchanges[0])["tools"][0]["name"]) == ("You are an agent.", "ls")
    assert body(exchanges[1])["messages"][0] == {"role": "system", "content": "You are an agent."}


def test_results_of_a_step_stand_in_the_next_request(exchanges: list[Exchange]) -> None:
    said = body(exchanges[1])["messages"][3:]
    assert [(m["role"], m["content"]) for m in said] == [("tool", "etc"), ("tool", "a.txt"), ("user", "both done")]
    assert [m.get("tool_call_id") for m in said] == ["c2", "c1", None]


def test_an_answer_has_its_reasoning_and_counts(exchanges: list[Exchange]) -> None:
    assert exchanges[0].response
    answer = loads(exchanges[0].response.body.raw)
    assert answer["content"][0] == {"type": "thinking", "thinking": "First ls."}
    assert (answer["usage"]["input_tokens"], answer["usage"]["cache_read_input_tokens"]) == (80, 20)
    assert exchanges[0].meta["step"]["metrics"]["cost_usd"] == 0.01
    assert exchanges[0].meta["trajectory"]["final_metrics"] == {"total_prompt_tokens": 100}


def test_a_result_without_id_belongs_to_the_only_call() -> None:
    step = {
        "source": "agent",
        "tool_calls": [{"function_name": "ls", "arguments": {}}],
        "observation": {"results": [{"content": "x"}]},
    }
    session = atif.read(dumps({"schema_version": "ATIF-v1.0", "steps": [step]}), "x")
    assert [e.state for e in exchanges_of(session)] == [State.COMPLETE, State.INCOMPLETE]
    call, result = body(session.exchange(1))["messages"]
    assert call["tool_calls"][0]["id"] == result["tool_call_id"]


def test_a_trajectory_without_steps_is_refused() -> None:
    text = b'{"schema_version": "ATIF-v1.5", "steps": 5}'
    assert atif.sniff(text) > 0.9
    with pytest.raises(UnreadableInput, match="no step"):
        atif.read(text, "x")


def test_sniff_asks_for_the_schema() -> None:
    assert atif.sniff(b'{"schema_version": "1.0", "steps": []}') == 0
