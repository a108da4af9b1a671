"""A request that continues a response which only its provider holds gets the turns before it."""

from __future__ import annotations

import json

import pytest

from workbench.convert import convert, with_held_history
from workbench.protocols import DecodedExchange
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse

URL = "https://api.openai.com/v1/responses"
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "ls", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "a b"}
TOOLS = [{"type": "function", "name": "ls", "parameters": {"type": "object"}}]


def turn(number, asked, output, previous=None, *, is_stream=False):
    body = {"model": "gpt-5", "input": asked, "tools": TOOLS} | ({"previous_response_id": previous} if previous else {})
    response = {"id": f"resp_{number}", "object": "response", "status": "completed", "model": "gpt-5"}
    if is_stream:  # Codex's server repeats no items at the end
        events = [{"type": "response.created", "response": {**response, "output": []}}]
        for n, item in enumerate(output):
            events.append({"type": "response.output_item.added", "output_index": n, "item": item})
            events.append({"type": "response.output_item.done", "output_index": n, "item": item})
        events.append({"type": "response.completed", "response": {**response, "output": []}})
        text, kind = "".join(f"data: {json.dumps(event)}\n\n" for event in events), "text/event-stream"
    else:
        text, kind = json.dumps({**response, "output": output}), "application/json"
    answer = HttpResponse(200, Headers((("content-type", kind),)), Body(text.encode()))
    return Exchange(str(number), HttpRequest("POST", URL, Headers(()), Body(json.dumps(body).encode())), answer)


@pytest.mark.parametrize("is_stream", [False, True])
def test_the_turns_before_are_joined(is_stream):
    first = turn(1, "what is here?", [CALL], is_stream=is_stream)
    second = turn(2, [RESULT], [], "resp_1", is_stream=is_stream)
    third = turn(3, [{"role": "user", "content": "and there?"}], [], "resp_2")
    session = [first, turn(9, "elsewhere", []), second, third]
    whole = with_held_history(DecodedExchange(3, third), session.__getitem__)
    assert whole and whole.earlier == (0, 2)
    body = json.loads(whole.exchange.request.body.raw)
    assert "previous_response_id" not in body and body["tools"] == TOOLS
    asked = {"type": "message", "role": "user", "content": "what is here?"}
    assert body["input"] == [asked, CALL, RESULT, {"role": "user", "content": "and there?"}]
    made = json.loads(convert(DecodedExchange(3, whole.exchange), "anthropic-messages").body)
    kinds = [part["type"] for message in made["messages"][1:] for part in message["content"]]
    assert kinds == ["tool_use", "tool_result", "text"]


def test_nothing_is_joined_where_a_turn_is_missing_or_none_is_continued():
    alone, orphan = turn(1, "hi", []), turn(2, [RESULT], [], "resp_0")
    late = turn(3, [RESULT], [], "resp_2")
    session = [alone, orphan, late]
    assert [with_held_history(DecodedExchange(n, one), session.__getitem__) for n, one in enumerate(session)] == [
        None
    ] * 3
