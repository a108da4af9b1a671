"""Requests of the Responses API for upstreams that know less: tools with free text, and parameters."""

from __future__ import annotations

import json

import pytest

from tests.recorder.translation.bridging import bench
from workbench.simulator import Simulator, read_script
from workbench.wire.stream import read_stream

CODE = 'text("ä\\n")\n// "so"'
SCRIPT = {
    "version": 1,
    "turns": [
        {
            "match": {"results": False},
            "answer": {"text": "Look.", "calls": [{"name": "exec", "arguments": {"input": CODE}}]},
        }
    ],
}
TOOLS = [{"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}]
ASKED = {"type": "message", "role": "user", "content": "run it"}


def body(*said, stream=False):
    return {"model": "gpt-5.2", "input": [ASKED, *said], "tools": TOOLS, "stream": stream}


def output(said):
    events = [json.loads(event.data) for event in read_stream(said).events]
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    pieces = [event for event in events if event["type"] == "response.custom_tool_call_input.delta"]
    if not events:
        return json.loads(said)["output"]
    assert events[-1]["response"]["output"] == done and "".join(event["delta"] for event in pieces) == CODE
    added = [event["item"]["id"] for event in events if event["type"] == "response.output_item.added"]
    assert added == [item["id"] for item in done], "an item keeps its id"
    return done


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(
    ("label", "spoken", "model"),
    [("deepseek", "openai-chat", "deepseek-v4-flash"), ("anthropic", "anthropic-messages", "claude-opus-5-5")],
)
def test_a_custom_tool_is_a_function_upstream_and_itself_for_the_client(label, spoken, model, is_stream):
    simulator = Simulator(label, model=read_script(json.dumps(SCRIPT), "script"))
    one = bench(label, spoken, model=model, simulator=simulator)
    status, first = one.ask("/v1/responses", body(stream=is_stream))
    assert (
        status == 200
        and "correction: 'exec': the free-text input is sent as the string argument 'input' of a function" in one.lines
    )
    *before, call = output(first)
    assert (call["type"], call["name"], call["input"], call["namespace"]) == (
        *("custom_tool_call", "exec", CODE, "functions"),
    )
    assert call["id"].startswith("ctc_") and len({item["id"] for item in (*before, call)}) == len(before) + 1
    result = {"type": "custom_tool_call_output", "call_id": call["call_id"], "output": "ä"}
    status, second = one.ask("/v1/responses", body(*before, call, result, stream=False))
    assert status == 200, second
    sent = json.dumps(one.sent)
    assert "ctc_" not in sent and "custom" not in sent.replace("customer", "")
    assert json.loads(second)["id"].startswith("resp_") and json.loads(second)["id"] != first


def test_openai_itself_gets_them_as_they_are():
    one = bench("openai", "openai-chat", model="gpt-4.1")
    one.ask("/v1/responses", body())
    assert one.sent["tools"] == [{"type": "custom", "custom": {"name": "exec"}}] and "correction" not in one.lines


@pytest.mark.parametrize(
    ("spoken", "model", "gone", "instead"),
    [
        ("openai-chat", "gpt-6.1-sol", "reasoning_effort", "none"),
        ("anthropic-messages", "claude-sonnet-4-5", "thinking", None),
    ],
)
def test_what_the_upstream_is_known_to_refuse_does_not_go_there(spoken, model, gone, instead):
    one = bench("openai" if spoken == "openai-chat" else "anthropic", spoken, model=model)
    status, said = one.ask("/v1/responses", body() | {"reasoning": {"effort": "low"}})
    assert status == 200 and one.sent.get(gone) == instead, said
    assert f"correction: /{gone} is " in one.lines
