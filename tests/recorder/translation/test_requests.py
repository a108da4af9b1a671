"""What goes upstream for a client's request, and what is answered here."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.recorder.translation.bridging import BLOCK_TOOL, bench, blocks, posted
from workbench.probes.profiles import CapabilityProfile, ProfileKey
from workbench.recorder.translation.requests import OwnReply, TranslatedRequest, translate_request
from workbench.wire.exchange import Body, Headers, HttpRequest


def test_a_request_is_written_for_the_upstream():
    one = bench("deepseek", "openai-chat", model="deepseek-v4-flash")
    status, _ = one.ask("/v1/messages?beta=true", blocks(stream=True), ("x-api-key", "k1"), ("anthropic-beta", "b"))
    assert status == 200 and one.turn.request.url == "http://127.0.0.1:9/v1/chat/completions"
    assert one.turn.request.headers.get("authorization") == "Bearer k1"
    assert one.sent["model"] == "deepseek-v4-flash" and one.sent["stream_options"] == {"include_usage": True}
    assert "conversion: from anthropic-messages to openai-chat" in one.lines
    assert "model: deepseek-v4-flash instead of claude-x" in one.lines


def test_a_compressed_body_is_read():
    one = bench("deepseek", "openai-chat")
    raw = gzip.compress(json.dumps(blocks()).encode())
    headers = Headers((("content-encoding", "gzip"), ("content-type", "application/json")))
    made = translate_request(
        HttpRequest("POST", "/v1/messages", headers, Body(raw, "gzip")), one.upstream, one.rules, one.memory
    )
    assert isinstance(made, TranslatedRequest) and made.request.headers.get("content-encoding") is None
    assert json.loads(made.request.body.raw)["messages"]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/v1/messages", b"{nope", 400, "not JSON"),
        ("/v1/messages", b"", 400, "the request has no body"),
        ("/v1/messages", {"model": 3}, 400, "messages"),
        (
            "/v1/messages/count_tokens",
            blocks(),
            501,
            "the recorder cannot count tokens for anthropic-messages clients",
        ),
        (
            "/v1beta/models/g:countTokens",
            {"contents": []},
            501,
            "the recorder cannot count tokens for gemini clients",
        ),
        ("/api/show", {"model": "m"}, 404, "the recorder does not support /api/show for ollama clients"),
    ],
)
def test_what_cannot_go_upstream_is_refused_in_the_client_s_words(path, body, status, words):
    said = bench("deepseek", "openai-chat").ask(path, body)
    assert said[0] == status and words in said[1].decode() and "error" in json.loads(said[1])


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_somebody_is_there(method):
    one = bench("deepseek", "openai-chat")
    assert translate_request(HttpRequest(method, "/"), one.upstream, one.rules, one.memory) == OwnReply(200, b"")


def test_what_asks_no_model_passes_where_the_client_speaks_as_the_upstream_does():
    one = bench("deepseek", "openai-chat")
    made = translate_request(HttpRequest("GET", "/v1/models?limit=3"), one.upstream, one.rules, one.memory)
    assert (
        isinstance(made, TranslatedRequest)
        and made.is_plain
        and made.request.url == "http://127.0.0.1:9/v1/models?limit=3"
    )


def test_the_same_protocol_passes_byte_for_byte():
    one = bench("deepseek", "openai-chat")
    raw = b'{ "model":"deepseek-v4-flash" , "messages":[{"role":"user","content":"hi"}],"x_own":1.50}'
    headers = (("Authorization", "Bearer k1"), ("X-Own", "é"))
    made = translate_request(posted("/v1/chat/completions?a=b", raw, *headers), one.upstream, one.rules, one.memory)
    assert made.request.body.raw == raw and made.request.headers.items[1:] == headers
    assert [change.text for change in made.changes] == ["unchanged: already in openai-chat"]


def test_corrections_are_those_that_were_measured_of_exactly_this_model():
    key = ProfileKey("deepseek", "deepseek-v4-flash", "sim:deepseek", "openai-chat")
    measured = CapabilityProfile(key, {"supports_parallel_tool_use": False}, (), 0.0)
    for model, is_serial in (("deepseek-v4-flash", True), ("deepseek-v4-pro", False)):
        one = bench("deepseek", "openai-chat", model=model, profiles=(measured,))
        one.ask("/v1/messages", blocks())
        assert ("correction: serial-calls" in one.lines) == is_serial
    one = bench("deepseek", "openai-chat", model="deepseek-v4-flash", profiles=(measured,), off=("serial-calls",))
    one.ask("/v1/messages", blocks())
    assert "correction" not in one.lines


def test_a_correction_of_the_same_protocol_changes_nothing_else():
    one = bench("deepseek", "openai-chat", on=("streaming-off",))
    tool = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}
    said = [{"role": "user", "content": "x"}]
    body = {"model": "deepseek-v4-flash", "stream": True, "tools": [tool], "messages": said}
    status, said = one.ask("/v1/chat/completions", body)
    assert status == 200 and one.sent == {**body, "stream": False} and json.loads(said)["choices"]


JSON = st.recursive(
    st.sampled_from([None, True, 0, 1.5, "", "x", "workbench:a1", "user", "assistant", "tool_use", "thinking", "text"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["role", "content", "type", "text", "id", "name", "input", "thinking", "signature", "parts"]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=12,
)
PATHS = ("/v1/messages", "/v1/responses", "/v1beta/models/g:generateContent")


@settings(max_examples=10)
@given(st.lists(JSON, max_size=3), st.sampled_from(PATHS))
def test_any_history_is_sent_or_refused(said, path):
    one = bench("deepseek", "openai-chat")
    key = {"/v1/messages": "messages", "/v1/responses": "input"}.get(path, "contents")
    made = translate_request(
        posted(path, {"model": "m", key: said, "tools": [BLOCK_TOOL]}), one.upstream, one.rules, one.memory
    )
    if isinstance(made, OwnReply):
        assert made.status == 400 and json.loads(made.body)
    else:
        assert b'"signature":"workbench:' not in made.request.body.raw
        json.loads(made.request.body.raw)


def test_a_schema_of_the_answer_is_said_in_words_to_who_knows_none():
    schema = {"type": "object", "properties": {"route": {"type": "string"}}}
    one = bench("deepseek", "openai-chat", model="deepseek-v4-flash")
    config = {"responseMimeType": "application/json", "responseJsonSchema": schema}
    body = {"contents": [{"role": "user", "parts": [{"text": "which?"}]}], "generationConfig": config}
    status, _ = one.ask("/v1beta/models/gemini-2.5-flash:generateContent", body)
    assert status == 200 and one.sent["response_format"] == {"type": "json_object"}
    said, asked_for = one.sent["messages"]
    assert said["role"] == "system" and json.dumps(schema, separators=(",", ":")) in said["content"]
    assert "JSON" in said["content"] and asked_for["content"] == "which?"
    assert sum("response_format requests JSON" in line for line in one.lines.splitlines()) == 1


def test_a_parameter_that_is_refused_for_two_reasons_is_corrected_once():
    one = bench("openai", "openai-chat", model="gpt-5.4")
    one.ask("/v1/messages", blocks(output_config={"effort": "enormous"}))
    assert sum(line.startswith("correction: /reasoning_effort") for line in one.lines.splitlines()) == 1
    assert one.sent.get("reasoning_effort", "none") == "none"
