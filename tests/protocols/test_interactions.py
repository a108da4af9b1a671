"""Interactions: what requests and answers say, and what their streams add up to.

Facts: the types of the ``google-genai`` SDK 3.4, and the keys and order of recorded streams.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.protocols.interaction_bodies import events
from workbench.ir import (
    Carrier,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolResultIR,
    Usage,
)
from workbench.protocols.gemini_interactions import adapter
from workbench.wire.stream import read_stream

THOUGHT = Carrier.THOUGHT_SIGNATURE
PROOF = "EqQBCkgIBxABGAIiQL8xVn4R0uKeJw=="


def asked(said: object = "hi", **more: object) -> ModelRequest:
    return adapter.decode_request(json.dumps({"model": "gemini-3-flash", "input": said, **more}).encode())


def answered(*steps: object, **more: object) -> ModelResponse:
    body = {"id": "v1_a", "object": "interaction", "status": "completed", "steps": steps, **more}
    return adapter.decode_response(json.dumps(body).encode())


def streamed(*values: dict[str, Any]) -> ModelResponse:
    decoder = adapter.stream_decoder()
    for event in read_stream(events(list(values))).events:
        decoder.feed(event)
    return decoder.result()


def parts(found: ModelRequest | ModelResponse) -> list[Part]:
    return [part for message in found.messages for part in message.parts]


def slugs(found: ModelRequest | ModelResponse) -> list[str]:
    return [anomaly.slug for anomaly in found.anomalies]


# -- requests


@pytest.mark.parametrize(
    ("said", "roles", "texts"),
    [
        ("hi", ["user"], ["hi"]),
        ({"type": "text", "text": "hi"}, ["user"], ["hi"]),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], ["user", "user"], ["a", "b"]),
        ([{"type": "user_input", "content": [{"type": "text", "text": "a"}]}], ["user"], ["a"]),
        ([{"type": "model_output", "content": [{"type": "text", "text": "a"}]}], ["assistant"], ["a"]),
        ([{"role": "user", "content": "a"}, {"role": "model", "content": "b"}], ["user", "model"], ["a", "b"]),
    ],
)
def test_the_input_in_each_of_its_forms(said: object, roles: list[str], texts: list[str]) -> None:
    request = asked(said)
    assert [message.role for message in request.messages] == roles
    assert [part.text for part in parts(request) if isinstance(part, Text)] == texts
    assert not request.anomalies


def test_calls_results_and_thoughts_of_a_history() -> None:
    summary = [{"type": "text", "text": "so"}, {"type": "image", "data": "aa"}]
    picture = {"type": "image", "uri": "https://x/y.png", "mime_type": "image/png"}
    request = asked([
        {"type": "thought", "summary": summary, "signature": PROOF},
        {"type": "function_call", "id": "c1", "name": "look", "arguments": {"at": 1}, "signature": ""},
        {"type": "function_result", "call_id": "c1", "name": "look", "result": "no", "is_error": True},
        {"type": "function_result", "call_id": "c2", "result": {"tides": [1]}},
        {"type": "function_result", "call_id": "c3", "result": [{"type": "text", "text": "a"}, picture]},
        {"type": "google_search_call", "id": "s1", "arguments": {"queries": ["a"]}, "signature": PROOF},
        {"type": "google_search_result", "call_id": "s1", "result": [{"search_suggestions": "b"}]},
        {"type": "mcp_server_tool_call", "id": "m1", "name": "find", "server_name": "docs", "arguments": {}},
        {"type": "step_of_the_future", "x": 1},
    ])  # fmt: skip
    thought, proof, call, failed, value, seen, signed, search, found, mcp, future = parts(request)
    kept = {"summary": [{"type": "text"}, {"type": "image", "data": "aa"}]}
    assert thought == Reasoning(THOUGHT, "so", extra=kept)
    assert proof == Reasoning(THOUGHT, None, PROOF)
    assert call == ToolCallIR("c1", "look", {"at": 1}, "gemini-step", extra={"signature": ""})
    assert failed == ToolResultIR("c1", (Text("no"),), True, "look")
    assert value == ToolResultIR("c2", (Opaque("json", {"tides": [1]}),))
    assert seen == ToolResultIR("c3", (Text("a"), Media("image", "image/png", url="https://x/y.png")))
    assert signed == proof
    assert isinstance(search, ToolCallIR) and (search.name, search.is_server) == ("google_search", True)
    assert isinstance(found, ToolResultIR) and (found.tool_call_id, found.is_server) == ("s1", True)
    assert isinstance(mcp, ToolCallIR) and (mcp.name, mcp.is_server) == ("find", True)
    assert future == Opaque("step_of_the_future", {"type": "step_of_the_future", "x": 1})
    roles = [message.role for message in request.messages]
    assert roles == ["assistant", "assistant", "tool", "tool", "tool", *["assistant"] * 3, "user"]
    assert not request.anomalies


def test_what_stands_beside_the_input() -> None:
    look = {"type": "function", "name": "look", "description": "Look.", "parameters": {"type": "object"}}
    config = {"temperature": 0.5, "max_output_tokens": 9, "thinking_level": "low", "thinking_summaries": "auto"}
    schema = {"type": "text", "mime_type": "application/json", "schema": {"type": "object"}}
    request = asked(
        previous_interaction_id="v1_before",
        system_instruction="Be brief.",
        tools=[look, {"type": "google_search"}],
        generation_config={**config, "tool_choice": {"allowed_tools": {"mode": "any", "tools": ["look"]}}},
        response_format=schema,
        stream=True,
        store=False,
    )
    assert (request.model, request.previous_id, request.stream) == ("gemini-3-flash", "v1_before", True)
    assert (request.thinking, request.system) == ("on", (Text("Be brief."),))
    assert [(tool.name, tool.kind) for tool in request.tools] == [("look", "client"), (None, "server")]
    assert request.tool_choice == ToolChoice("tool", "look")
    named = {param.name: param.value for param in adapter.params(request) if param.name}
    wanted = {"temperature": 0.5, "max_tokens": 9, "effort": "low", "response_schema": {"schema": {"type": "object"}}}
    assert named == wanted
    assert [param.pointer for param in adapter.params(request) if not param.name] == ["/store"]


@pytest.mark.parametrize(
    ("value", "mode"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("validated", "other"),
        ({"allowed_tools": {"mode": "none"}}, "none"),
        ({"allowed_tools": {"mode": "any", "tools": ["a", "b"]}}, "other"),
        ({"allowed_tools": {"mode": "auto", "tools": ["a"]}}, "other"),
    ],
)
def test_tool_choices(value: object, mode: str) -> None:
    request = asked(generation_config={"tool_choice": value})
    assert request.tool_choice is not None and request.tool_choice.mode == mode
    assert not request.anomalies


@pytest.mark.parametrize(
    ("step", "slug"),
    [
        ({"type": "function_call", "id": "c", "name": "f"}, "args.empty"),
        ({"type": "function_result", "call_id": "c"}, "content.empty"),
        ({"type": "user_input", "content": 5}, "content.shape"),
        ({"type": "user_input", "content": [{"type": "image"}]}, "content.shape"),
        ({"id": "c"}, "content.shape"),
        (5, "content.shape"),
    ],
)
def test_steps_of_the_wrong_shape_are_noted(step: object, slug: str) -> None:
    (found,) = asked([step]).anomalies
    assert found.slug == slug and found.pointer.startswith("/input/0")


@pytest.mark.parametrize(
    ("body", "is_ours"),
    [
        ({"model": "gemini-3-flash", "input": "hi"}, True),
        ({"agent": "deep-research-pro", "input": "hi", "background": True}, True),
        ({"model": "m", "previous_interaction_id": "v1_a", "input": []}, True),
        ({"model": "m", "input": [{"type": "function_result", "call_id": "c", "result": ""}]}, True),
        ({"model": "gemini-3-flash", "input": [{"role": "user", "content": "hi"}]}, False),
        ({"model": "gemini-3-flash", "input": "hi", "instructions": "x"}, False),
        ({"model": "gpt-5", "input": "hi"}, False),
        ({"model": "gemini-embedding-001", "messages": [], "input": "hi"}, False),
    ],
)
def test_requests_that_are_claimed(body: dict[str, object], is_ours: bool) -> None:
    assert (adapter.claims_request(body) > 0.5) is is_ours


@pytest.mark.parametrize(
    ("url", "is_ours"),
    [
        ("https://generativelanguage.googleapis.com/v1beta/interactions?alt=sse", True),
        ("https://x/v1beta1/projects/p/locations/global/interactions", True),
        ("https://x/v1beta/interactions/v1_a", True),
        ("https://x/v1beta/interactions/v1_a/cancel", True),
        ("https://discord.example/api/interactions/1/token/callback", False),
        ("https://x/v1beta/models/g:generateContent", False),
    ],
)
def test_urls_that_are_claimed(url: str, is_ours: bool) -> None:
    assert adapter.claims_url(url) is is_ours


# -- answers


@pytest.mark.parametrize(
    ("status", "steps", "stop", "is_complete"),
    [
        ("completed", (), "stop", True),
        ("requires_action", (), "tool_calls", True),
        ("completed", ({"type": "function_call", "id": "c", "name": "f", "arguments": {}},), "tool_calls", True),
        ("incomplete", (), "length", True),
        ("budget_exceeded", (), "length", True),
        ("requires_continuation", (), "pause", True),
        ("cancelled", (), "other", True),
        ("in_progress", (), None, False),
    ],
)
def test_a_status_says_why_the_answer_ended(status: str, steps: Any, stop: str | None, is_complete: bool) -> None:
    response = answered(*steps, status=status)
    assert (response.finish_reason, response.stop, response.is_complete) == (status, stop, is_complete)


def test_counts_are_made_disjoint() -> None:
    counts = {"total_input_tokens": 53, "total_cached_tokens": 3, "total_output_tokens": 15, "total_thought_tokens": 65}
    usage = answered(usage=counts).usage
    assert usage == Usage(input=50, output=80, cache_read=3, reasoning=65, raw=counts)


@pytest.mark.parametrize(
    "more",
    [
        {"status": "failed", "errors": [{"code": "internal", "message": "no"}]},
        {"status": "failed", "error": {"message": "no"}},
        {"status": "failed", "steps": [{"type": "model_output", "error": {"code": 13, "message": "no"}}]},
    ],
)
def test_an_answer_that_failed_says_why(more: dict[str, object]) -> None:
    response = answered(**more)
    assert response.error and response.error.message == "no"


def test_an_answer_from_before_may_2026_holds_outputs() -> None:
    body = {"id": "v1_a", "status": "completed", "outputs": [{"type": "text", "text": "hi"}]}
    response = adapter.decode_response(json.dumps(body).encode())
    assert (parts(response), response.messages[0].pointer) == ([Text("hi")], "/outputs/0")


# -- streams


def created(**more: object) -> dict[str, Any]:
    begun = {"id": "v1_a", "status": "in_progress", "model": "gemini-3-flash", **more}
    return {"event_type": "interaction.created", "interaction": begun}


def completed(status: str = "completed", **more: object) -> dict[str, Any]:
    return {"event_type": "interaction.completed", "interaction": {"id": "v1_a", "status": status, **more}}


def step(index: int, begun: object, *deltas: object, is_stopped: bool = True) -> list[dict[str, Any]]:
    made = [{"event_type": "step.start", "index": index, "step": begun}]
    made += [{"event_type": "step.delta", "index": index, "delta": delta} for delta in deltas]
    return [*made, *([{"event_type": "step.stop", "index": index}] if is_stopped else [])]


CALL = {"type": "function_call", "id": "c1", "name": "look", "arguments": {}, "signature": ""}


def arguments(*pieces: str) -> list[dict[str, str]]:
    return [{"type": "arguments_delta", "arguments": piece} for piece in pieces]


def test_a_stream_of_thought_calls_and_text() -> None:
    response = streamed(
        created(),
        {"event_type": "interaction.status_update", "interaction_id": "v1_a", "status": "in_progress"},
        *step(
            0,
            {"type": "thought"},
            {"type": "thought_summary", "content": {"type": "text", "text": "so "}},
            {"type": "thought_summary", "content": {"type": "text", "text": "then"}},
            {"type": "thought_signature", "signature": PROOF},
        ),
        *step(1, CALL, *arguments('{"at":', " 1}")),
        *step(2, {"type": "model_output"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}),
        completed("requires_action", usage={"total_output_tokens": 2}),
    )
    thought, proof, call, text = parts(response)
    assert (thought, proof) == (Reasoning(THOUGHT, "so then"), Reasoning(THOUGHT, None, PROOF))
    assert isinstance(call, ToolCallIR) and (call.raw, call.input, call.error) == ('{"at": 1}', {"at": 1}, None)
    assert [segment.event for segment in call.source.segments["raw"]] == [8, 9]
    assert text == Text("ab")
    assert (response.id, response.model, response.stop) == ("v1_a", "gemini-3-flash", "tool_calls")
    assert response.usage and response.usage.output == 2
    assert response.is_complete and not response.anomalies


def test_annotations_media_and_server_tools_of_a_stream() -> None:
    response = streamed(
        created(),
        *step(0, {"type": "google_search_call", "id": "s"}, {"type": "google_search_call", "arguments": {"q": 1}}),
        *step(1, {"type": "google_search_result", "call_id": "s"}, {"type": "google_search_result", "result": [1]}),
        *step(
            2,
            {"type": "model_output", "content": [{"type": "text", "text": "a"}]},
            {"type": "text", "text": "b"},
            {"type": "text_annotation_delta", "annotations": [{"url": "u"}]},
            {"type": "image", "data": "aa", "mime_type": "image/png"},
            {"type": "text", "text": "c"},
        ),
        completed(),
    )
    call, result, *rest = parts(response)
    assert isinstance(call, ToolCallIR) and (call.input, call.is_server) == ({"q": 1}, True)
    assert isinstance(result, ToolResultIR) and result.content == (Opaque("json", [1]),)
    assert rest == [Text("ab", {"annotations": [{"url": "u"}]}), Media("image", "image/png", "aa"), Text("c")]
    assert not response.anomalies


def test_the_last_event_may_hold_the_steps_once_more() -> None:
    steps = [{**CALL, "arguments": {"a": 1}}]
    response = streamed(created(), *step(0, CALL, *arguments('{"a": 1}')), completed(steps=steps))
    assert not response.anomalies
    other = streamed(created(), *step(0, CALL, *arguments('{"a": 2}')), completed(steps=steps))
    assert slugs(other) == ["stream.block-order"]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([created(), *step(0, CALL, is_stopped=False)], ["stream.truncated"]),
        ([created(), *step(0, CALL)], ["stream.no-terminator"]),
        ([created(), *step(0, CALL, is_stopped=False), completed()], ["stream.block-order"]),
        ([created(), *step(0, CALL), *step(0, CALL), completed()], ["stream.index"]),
        ([created(), *step(0, CALL, *arguments("{}"))[1:], completed()], ["stream.block-order"]),
        ([*step(0, CALL, *arguments("{}"))[1:], completed()], ["stream.framing"]),
        ([created(), *step(0, CALL), *step(0, CALL, *arguments("{}"))[1:2], completed()], ["stream.block-order"]),
        ([created(), *step(0, CALL, {"type": "text", "text": "a"}), completed()], ["stream.block-order"]),
        ([created(), *step(0, CALL), created(), completed()], ["stream.block-order"]),
        ([created(), completed(), *step(0, CALL)[:1]], ["stream.framing", "stream.block-order"]),
        ([created(), {"event_type": "error", "error": {"code": "internal", "message": "no"}}], ["stream.error-event"]),
    ],
)
def test_streams_that_are_wrong_say_so(values: list[dict[str, Any]], wanted: list[str]) -> None:
    assert slugs(streamed(*values)) == wanted


def test_events_of_the_future_are_kept() -> None:
    response = streamed(
        created(),
        {"event_type": "interaction.new", "x": 1},
        *step(0, {"type": "model_output"}, {"type": "new", "y": 2}),
        completed(),
    )
    assert response.params["unknown_events"] == [{"event_type": "interaction.new", "x": 1}]
    assert response.messages[0].extra == {"unknown_deltas": [{"type": "new", "y": 2}]}


def test_a_stream_from_before_may_2026() -> None:
    response = streamed(
        {"event_type": "interaction.start", "interaction": {"id": "v1_a", "status": "in_progress"}},
        {"event_type": "content.start", "index": 0, "content": {"type": "text"}},
        {"event_type": "content.delta", "index": 0, "delta": {"type": "text", "text": "hi"}},
        {"event_type": "content.stop", "index": 0},
        {"event_type": "interaction.complete", "interaction": {"id": "v1_a", "status": "completed"}},
    )
    assert (parts(response), response.messages[0].pointer) == ([Text("hi")], "/outputs/0")
    assert response.is_complete and not response.anomalies


# -- what is written


def test_what_is_written_reads_as_what_was_meant() -> None:
    thought, proof = Reasoning(THOUGHT, "so"), Reasoning(THOUGHT, None, PROOF)
    call = ToolCallIR("c1", "look", {"at": 1}, "function")
    message = Message("assistant", (thought, proof, call, Text("a"), Text("b")))
    meant = ModelResponse("gemini-interactions", id="v1_a", model="g", messages=(message,), stop="tool_calls")
    body = adapter.write_response(meant)
    assert [step["type"] for step in body["steps"]] == ["thought", "function_call", "model_output", "model_output"]
    whole = adapter.decode_response(json.dumps(body).encode())
    decoder = adapter.stream_decoder()
    for event in read_stream(adapter.write_stream(meant)).events:
        decoder.feed(event)
    for response in (whole, decoder.result()):
        first, second, made, *texts = parts(response)
        assert (first, second, texts) == (thought, proof, [Text("a"), Text("b")])
        assert isinstance(made, ToolCallIR) and (made.id, made.name, made.input) == ("c1", "look", {"at": 1})
        assert (response.id, response.stop, response.is_complete) == ("v1_a", "tool_calls", True)
        assert not response.anomalies


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ((), ""),
        ((Text("a"),), "a"),
        ((Opaque("json", {"a": 1}),), {"a": 1}),
        ((Opaque("json", [1]),), [{"type": "text", "text": "[1]"}]),
        ((Text("a"), Media("image", "image/png", "aa")), [
            {"type": "text", "text": "a"}, {"type": "image", "mime_type": "image/png", "data": "aa"},
        ]),
    ],
)  # fmt: skip
def test_results_are_written_as_texts_objects_or_content(content: tuple[Part, ...], result: object) -> None:
    message = Message("tool", (ToolResultIR("c1", content, is_error=True, name="look"),))
    body = adapter.write_request(ModelRequest("gemini-interactions", "g", (message,), previous_id="v1_a"))
    about = {"type": "function_result", "call_id": "c1", "name": "look", "is_error": True}
    assert body == {"model": "g", "input": [{**about, "result": result}], "previous_interaction_id": "v1_a"}
