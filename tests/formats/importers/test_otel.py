from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import open_input, otel
from workbench.wire.exchange import Exchange, Origin, State
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import exchanges_of


@pytest.fixture
def exchanges(data: Path) -> list[Exchange]:
    return list(exchanges_of(open_input(str(data / "otel.json"))))


def body(exchange: Exchange) -> Any:
    assert exchange.request
    return loads(exchange.request.body.raw)


def answer(exchange: Exchange) -> Any:
    assert exchange.response
    return loads(exchange.response.body.raw)


def test_each_call_of_a_model_is_an_exchange(exchanges: list[Exchange]) -> None:
    assert [(e.id, e.request.url if e.request else "") for e in exchanges] == [
        ("01", "/v1/messages"),
        ("02", "/v1/chat/completions"),
        ("03", "/v1/chat/completions"),
        ("04", "/v1beta/models/gemini-2.5-pro:generateContent"),
        ("06", "/v1/chat/completions"),
    ]
    assert {(e.origin, e.client) for e in exchanges} == {(Origin.RECONSTRUCTED, "demo")}
    assert (exchanges[0].started_at, exchanges[0].duration) == (1772359200, 1)


def test_parts_of_the_current_conventions(exchanges: list[Exchange]) -> None:
    said = body(exchanges[0])
    assert (said["system"], said["max_tokens"], said["tools"][0]["name"]) == ("Be brief.", 512, "ls")
    assert said["messages"][2]["content"][0] == {"type": "tool_result", "tool_use_id": "t1", "content": "etc"}
    assert [b["type"] for b in answer(exchanges[0])["content"]] == ["text", "tool_use"]
    assert (answer(exchanges[0])["id"], answer(exchanges[0])["stop_reason"]) == ("msg_1", "tool_use")


def test_an_event_for_each_message(exchanges: list[Exchange]) -> None:
    said = body(exchanges[1])
    assert [m["role"] for m in said["messages"]] == ["system", "user", "assistant", "tool"]
    assert said["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"path":"."}'
    assert said["temperature"] == 0.5


def test_attributes_of_openllmetry(exchanges: list[Exchange]) -> None:
    said = body(exchanges[2])
    assert said["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"path":'  # as broken as it was
    assert (said["messages"][2]["tool_call_id"], said["tools"][0]["function"]["name"]) == ("c1", "ls")
    assert answer(exchanges[2])["usage"]["total_tokens"] == 7


def test_attributes_of_openinference(exchanges: list[Exchange]) -> None:
    parts = body(exchanges[3])["contents"][0]["parts"]
    assert parts == [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}]
    call = answer(exchanges[3])["candidates"][0]["content"]["parts"][0]["functionCall"]
    assert (call["name"], call["args"]) == ("ls", {"path": "."})


def test_a_span_without_content_says_so(exchanges: list[Exchange]) -> None:
    last = exchanges[4]
    assert (last.state, last.response) == (State.INCOMPLETE, None)
    assert "content capture was off; failed: 429" in last.note
    assert last.meta["lacks"][0] == "messages"


def test_attributes_that_are_not_told_are_kept(exchanges: list[Exchange]) -> None:
    held = exchanges[0].meta["attributes"]
    assert held["gen_ai.response.finish_reasons"] == ["tool_use"]
    assert not [name for name in held if "messages" in name]


def test_log_records_belong_to_their_span(data: Path) -> None:
    (only,) = exchanges_of(open_input(str(data / "otel.jsonl")))
    assert body(only)["messages"] == [{"role": "user", "content": "hi"}]
    assert answer(only)["choices"][0]["message"]["tool_calls"][0]["id"] == "c9"


def test_json_of_all_messages_and_details_on_an_event() -> None:
    prompt = '[{"role": "user", "content": "hi"}]'
    done = '[{"role": "assistant", "content": "yo"}]'
    oldest = [event("gen_ai.content.prompt", "gen_ai.prompt", prompt)]
    oldest += [event("gen_ai.content.completion", "gen_ai.completion", done)]
    details = [event("gen_ai.client.inference.operation.details", "gen_ai.input.messages", prompt)]
    first, second = exchanges_of(otel.read(spans(oldest, details), "x"))
    assert body(first)["messages"] == body(second)["messages"] == [{"role": "user", "content": "hi"}]
    assert answer(first)["choices"][0]["message"]["content"] == "yo"


def test_calls_without_id_are_paired() -> None:
    call = {"type": "tool_call", "name": "ls", "arguments": {}}
    result = {"type": "tool_call_response", "response": {"a": 1}}
    turn = [{"role": "assistant", "parts": [call, call]}, {"role": "tool", "parts": [result, result]}]
    events = [event("gen_ai.client.inference.operation.details", "gen_ai.input.messages", dumps(turn * 2).decode())]
    said = body(otel.read(spans(events), "x").exchange(0))["messages"]
    assert [c["id"] for m in said for c in m.get("tool_calls", ())] == ["call_1", "call_2", "call_3", "call_4"]
    assert [m["tool_call_id"] for m in said if m["role"] == "tool"] == ["call_1", "call_2", "call_3", "call_4"]
    assert said[1]["content"] == '{"a":1}'


def test_spans_of_other_things_are_refused() -> None:
    text = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"GET /"}]}]}]}'
    assert otel.sniff(text) > 0.9
    with pytest.raises(UnreadableInput, match="no model call spans"):
        otel.read(text, "x")


def event(name: str, key: str, value: str) -> dict[str, Any]:
    return {"name": name, "attributes": [{"key": key, "value": {"stringValue": value}}]}


def spans(*events: list[dict[str, Any]]) -> bytes:
    model = [{"key": "gen_ai.request.model", "value": {"stringValue": "m"}}]
    held = [{"spanId": str(n), "attributes": model, "events": e} for n, e in enumerate(events)]
    return dumps({"resourceSpans": [{"scopeSpans": [{"spans": held}]}]})
