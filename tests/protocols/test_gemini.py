"""The Gemini adapter, by tables: URLs, claims, requests, answers, edits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.protocols.block_bodies import dump
from tests.protocols.gemini_bodies import answer, answer_body, feed, frame, parts, request
from workbench.errors import LocalProtocolError, ProtocolMismatch, WireError
from workbench.ir import (
    Carrier,
    JsonValue,
    Media,
    ModelRequest,
    Opaque,
    Reasoning,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols import Param, UrlFacts
from workbench.protocols.gemini import adapter
from workbench.protocols.shapes.contents.request import json_schema
from workbench.wire.sse import read_events

PROOF = Carrier.THOUGHT_SIGNATURE
API = "https://generativelanguage.googleapis.com/v1beta/models/"
VERTEX = "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/google/models/"
CODE_ASSIST = "https://cloudcode-pa.googleapis.com/v1internal"


# -- URLs


@pytest.mark.parametrize(
    ("url", "facts"),
    [
        (f"{API}gemini-3-pro:generateContent", UrlFacts("gemini-3-pro", False)),
        (f"{API}gemini-3-pro:streamGenerateContent?alt=sse&key=k", UrlFacts("gemini-3-pro", True)),
        (f"{VERTEX}gemini-2.5-flash:generateContent", UrlFacts("gemini-2.5-flash", False)),
        ("http://localhost:1/proxy/v1/models/a%2Fb:streamGenerateContent", UrlFacts("a/b", True)),
        ("https://x.example/v1/projects/p/locations/l/endpoints/42:generateContent", UrlFacts("42", False)),
        (f"{CODE_ASSIST}:streamGenerateContent?alt=sse", UrlFacts(None, True)),
        (f"{CODE_ASSIST}:generateContent", UrlFacts(None, False)),
    ],
)
def test_urls(url: str, facts: UrlFacts) -> None:
    assert adapter.claims_url(url)
    assert adapter.read_url(url) == facts


@pytest.mark.parametrize(
    "url",
    [
        f"{API}gemini-3-pro:countTokens",
        f"{API}gemini-3-pro:batchGenerateContent",
        f"{API}gemini-3-pro:embedContent",
        f"{API}gemini-3-pro",
        "https://generativelanguage.googleapis.com/v1beta/interactions",
        "https://x.example/v1/publishers/anthropic/models/claude:streamRawPredict",
        "https://x.example/?next=/models/m:generateContentLater",
    ],
)
def test_other_urls(url: str) -> None:
    assert not adapter.claims_url(url)
    assert adapter.read_url(url) == UrlFacts()


@pytest.mark.parametrize(
    ("model", "stream", "path"),
    [
        ("gemini-3-pro", False, "/v1beta/models/gemini-3-pro:generateContent"),
        ("gemini-3-pro", True, "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse"),
        ("models/gemini-3-pro", False, "/v1beta/models/gemini-3-pro:generateContent"),
        ("a b?", False, "/v1beta/models/a%20b%3F:generateContent"),
    ],
)
def test_paths(model: str, stream: bool, path: str) -> None:
    said = ModelRequest("gemini", model, (), stream=stream)
    assert adapter.path(said) == path
    assert adapter.claims_url(f"https://x.example{path}")


def test_a_name_that_is_no_text_has_a_path() -> None:
    assert adapter.path(ModelRequest("gemini", "\ud83d", ())).startswith("/v1beta/models/%ED%A0%BD:")


# -- claims


@pytest.mark.parametrize(
    ("body", "least"),
    [
        ({"contents": [{"parts": [{"text": "a"}]}]}, 0.9),
        ({"model": "m", "project": "p", "request": {"contents": [{"role": "user", "parts": []}]}}, 0.9),
        ({"contents": {"parts": {"text": "a"}}}, 0.9),
        ({"contents": [], "generation_config": {}}, 0.7),
        ({"contents": []}, 0.2),
        ({"contents": [{"role": "user"}]}, 0.2),
        ({"contents": ["go"]}, 0.2),
    ],
)
def test_claims_of_requests(body: Any, least: float) -> None:
    assert adapter.claims_request(body) > least


@pytest.mark.parametrize(
    "body",
    [
        *({}, [], None, {"messages": []}, {"contents": 3}, {"contents": {"text": True}}, {"request": {"messages": []}}),
        {"analyzerId": "a", "contents": [{"markdown": "# A", "kind": "document"}]},
    ],
)
def test_requests_of_others(body: Any) -> None:
    assert adapter.claims_request(body) == 0


@pytest.mark.parametrize(
    ("body", "least"),
    [
        (answer_body([{"text": "a"}]), 0.9),
        ({"response": answer_body([])}, 0.9),
        ({"candidates": [{"finishReason": "SAFETY"}]}, 0.9),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, 0.9),
        ({"usageMetadata": {"trafficType": "X"}, "modelVersion": "m"}, 0.8),
        ({"candidates": []}, 0.5),
    ],
)
def test_claims_of_answers(body: Any, least: float) -> None:
    assert adapter.claims_response(body) > least
    assert adapter.claims_event(None, body) > least


@pytest.mark.parametrize("body", [{}, [], None, {"choices": []}, {"response": {"id": "r"}}, {"event_type": "x"}])
def test_answers_of_others(body: Any) -> None:
    assert adapter.claims_response(body) == adapter.claims_event("x", body) == 0


# -- parts


@pytest.mark.parametrize(
    ("value", "said"),
    [
        pytest.param({"text": "a"}, (Text("a"),), id="text"),
        pytest.param({"text": "a", "thought": False}, (Text("a", {"thought": False}),), id="no-thought"),
        pytest.param({"text": "a", "thought": True}, (Reasoning(PROOF, "a"),), id="thought"),
        pytest.param(
            {"text": "a", "thought": True, "thoughtSignature": "s"}, (Reasoning(PROOF, "a", "s"),), id="signed-thought"
        ),
        pytest.param(
            {"text": "a", "thoughtSignature": "s"}, (Reasoning(PROOF, None, "s"), Text("a")), id="signed-text"
        ),
        pytest.param({"text": "", "thoughtSignature": "s"}, (Reasoning(PROOF, "", "s"),), id="empty-signed-text"),
        pytest.param({"thought_signature": "s"}, (Reasoning(PROOF, None, "s"),), id="nothing-but-a-signature"),
        pytest.param({"text": ""}, (Text(""),), id="empty-text"),
        pytest.param(
            {"functionCall": {"name": "f"}}, (ToolCallIR(None, "f", {}, "gemini"),), id="call-without-id-and-args"
        ),
        pytest.param(
            {"function_call": {"name": "f", "args": {"a": 1}, "id": "c"}, "thought_signature": "s"},
            (Reasoning(PROOF, None, "s"), ToolCallIR("c", "f", {"a": 1}, "gemini")),
            id="signed-call-in-snake-case",
        ),
        pytest.param(
            {"functionCall": {"name": "f", "x": 1}, "y": 2},
            (ToolCallIR(None, "f", {}, "gemini", extra={"functionCall": {"x": 1}, "y": 2}),),
            id="unknown-keys-where-they-stood",
        ),
        pytest.param(
            {"inlineData": {"mimeType": "image/png", "data": "QQ=="}},
            (Media("image", "image/png", data="QQ=="),),
            id="inline",
        ),
        pytest.param(
            {"fileData": {"mimeType": "video/*", "fileUri": "u"}}, (Media("video", None, url="u"),), id="kind-alone"
        ),
        pytest.param(
            {"file_data": {"mime_type": "application/pdf", "file_uri": "gs://b/o"}, "videoMetadata": {"fps": 1}},
            (Media("document", "application/pdf", url="gs://b/o", extra={"videoMetadata": {"fps": 1}}),),
            id="file",
        ),
        pytest.param(
            {"executableCode": {"language": "PYTHON", "code": "1", "id": "c"}},
            (ToolCallIR("c", "executableCode", {"language": "PYTHON", "code": "1"}, "gemini", is_server=True),),
            id="code",
        ),
        pytest.param(
            {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "1"}},
            (
                ToolResultIR(
                    None,
                    (Text("1"),),
                    True,
                    is_server=True,
                    extra={"codeExecutionResult": {"outcome": "OUTCOME_FAILED"}},
                ),
            ),
            id="code-result",
        ),
        pytest.param(
            {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {"q": 1}, "id": "s"}},
            (ToolCallIR("s", "GOOGLE_SEARCH_WEB", {"q": 1}, "gemini", is_server=True),),
            id="server-call",
        ),
        pytest.param(
            {"toolResponse": {"toolType": "X", "response": {"a": 1}, "id": "s"}},
            (ToolResultIR("s", (Opaque("json", {"a": 1}),), None, "X", is_server=True),),
            id="server-result",
        ),
        pytest.param({"hologram": {"a": 1}}, (Opaque("hologram", {"hologram": {"a": 1}}),), id="unknown"),
        pytest.param(
            {"hologram": 1, "thoughtSignature": "s"},
            (Reasoning(PROOF, None, "s"), Opaque("hologram", {"hologram": 1})),
            id="signed-unknown",
        ),
    ],
)
def test_parts(value: Any, said: Any) -> None:
    message = request({"role": "model", "parts": [value]})
    assert message.messages[0].parts == said
    assert not message.anomalies
    assert {part.source.pointer for part in message.messages[0].parts} == {"/parts/0"}


@pytest.mark.parametrize(
    ("response", "content", "is_error"),
    [
        pytest.param({"output": "a"}, (Text("a"),), None, id="output"),
        pytest.param({"return_value": "a"}, (Text("a"),), None, id="wrapper-of-a-client"),
        pytest.param({"error": "no"}, (Text("no"),), True, id="error"),
        pytest.param({"error": {"code": 1}}, (Opaque("json", {"code": 1}),), True, id="structured-error"),
        pytest.param({"output": "a", "error": "b"}, (Text("a"), Text("b")), None, id="output-and-error"),
        pytest.param({"output": ["a", "b"]}, (Text("a"), Text("b")), None, id="texts"),
        pytest.param({"output": {"a": 1}}, (Opaque("json", {"a": 1}),), None, id="structured-output"),
        pytest.param({"path": "a"}, (Opaque("json", {"path": "a"}),), None, id="object"),
        pytest.param({"output": "a", "x": 1}, (Opaque("json", {"output": "a", "x": 1}),), None, id="more-than-output"),
        pytest.param({}, (), None, id="empty"),
    ],
)
def test_results(response: Any, content: Any, is_error: bool | None) -> None:
    (result,) = parts({"functionResponse": {"name": "f", "id": "c", "response": response}})
    assert result == ToolResultIR("c", content, is_error, "f")


def test_media_of_a_result_come_after_what_it_says() -> None:
    media = {"inline_data": {"mime_type": "image/png", "data": "QQ=="}}
    (result,) = parts({"functionResponse": {"name": "f", "response": {"output": "a"}, "parts": [media]}})
    assert isinstance(result, ToolResultIR)
    assert result.content == (Text("a"), Media("image", "image/png", data="QQ=="))
    assert result.content[1].source.pointer == "/parts/0/functionResponse/parts/0"


@pytest.mark.parametrize(
    ("value", "slug", "pointer"),
    [
        pytest.param("a", "content.shape", "/contents/0/parts/0", id="string"),
        pytest.param({}, "content.shape", "/contents/0/parts/0", id="empty"),
        pytest.param({"text": 3}, "content.shape", "/contents/0/parts/0/text", id="text"),
        pytest.param({"functionCall": "f"}, "content.shape", "/contents/0/parts/0/functionCall", id="call"),
        pytest.param({"text": "a", "inlineData": {}}, "content.shape", "/contents/0/parts/0", id="two-kinds"),
        pytest.param(
            {"functionCall": {"name": "f", "args": "{}"}},
            "args.not-object",
            "/contents/0/parts/0/functionCall/args",
            id="args",
        ),
        pytest.param(
            {"functionResponse": {"name": "f", "response": "a"}},
            "content.shape",
            "/contents/0/parts/0/functionResponse/response",
            id="response",
        ),
        pytest.param(
            {"functionResponse": {"name": "f", "response": {}, "parts": [{"text": "a"}]}},
            "content.shape",
            "/contents/0/parts/0/functionResponse/parts/0",
            id="part-of-a-response",
        ),
    ],
)
def test_wrong_parts_are_kept_and_noted(value: Any, slug: str, pointer: str) -> None:
    said = request({"role": "user", "parts": [value]})
    assert [(a.slug, a.pointer) for a in said.anomalies] == [(slug, pointer)]
    assert said.messages[0].parts


# -- contents


@pytest.mark.parametrize(
    ("contents", "roles", "pointers", "slugs"),
    [
        pytest.param([{"parts": [{"text": "a"}]}], ["user"], ["/contents/0"], [], id="no-role"),
        pytest.param([{"role": "function", "parts": {"text": "a"}}], ["function"], ["/contents/0"], [], id="one-part"),
        pytest.param({"role": "user", "parts": [{"text": "a"}]}, ["user"], ["/contents"], [], id="one-content"),
        pytest.param("a", ["user"], ["/contents"], ["content.shape"], id="string"),
        pytest.param(["a"], ["user"], ["/contents/0"], ["content.shape"], id="strings"),
        pytest.param([{"role": "user"}], ["user"], ["/contents/0"], ["content.empty"], id="no-parts"),
        pytest.param([3], [""], ["/contents/0"], ["content.shape"], id="number"),
        pytest.param(3, [], [], ["content.shape"], id="no-contents"),
    ],
)
def test_contents(contents: Any, roles: list[str], pointers: list[str], slugs: list[str]) -> None:
    said = adapter.decode_request(dump({"contents": contents}))
    assert [m.role for m in said.messages] == roles
    assert [m.pointer for m in said.messages] == pointers
    assert [a.slug for a in said.anomalies] == slugs


# -- requests

SCHEMA = {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}, "maxProperties": "2"}
READ = {
    "type": "object",
    "properties": {"a": {"type": ["string", "null"]}},
    "maxProperties": 2,
}


@pytest.mark.parametrize(
    ("own", "read"),
    [
        ({"type": "INTEGER", "nullable": False}, {"type": "integer"}),
        ({"type": "NULL", "nullable": True}, {"type": "null"}),
        (
            {"type": "STRING", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}], "nullable": True},
            {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
        ),
        (
            {"type": "OBJECT", "properties": {"nullable": {"type": "BOOLEAN"}}},
            {"type": "object", "properties": {"nullable": {"type": "boolean"}}},
        ),
    ],
)
def test_null_is_said_as_json_schema_says_it(own: JsonValue, read: JsonValue) -> None:
    assert json_schema(own) == read


def test_the_order_of_properties_is_their_order() -> None:
    own: JsonValue = {"properties": {"a": {}, "b": {}, "c": {}}, "propertyOrdering": ["c", "x", "a"]}
    assert list(json_schema(own)["properties"]) == ["c", "a", "b"]
    assert list(json_schema(own)) == ["properties"]


def test_a_request() -> None:
    said = request(
        {"role": "user", "parts": [{"text": "a"}]},
        systemInstruction={"role": "user", "parts": [{"text": "s"}]},
        tools=[
            {
                "functionDeclarations": [
                    {"name": "f", "description": "d", "parameters": SCHEMA, "behavior": "BLOCKING"},
                    {"name": "g", "parametersJsonSchema": SCHEMA},
                    {"name": "h"},
                ],
                "googleSearch": {"x": 1},
            }
        ],
        toolConfig={"functionCallingConfig": {"mode": "ANY"}, "retrievalConfig": {"languageCode": "de"}},
        generationConfig={"temperature": 0.5},
        safetySettings=[],
    )
    assert said.system == (Text("s"),)
    assert said.system[0].source.pointer == "/systemInstruction/parts/0"
    assert said.tools == (
        ToolDef("f", "d", READ, extra={"behavior": "BLOCKING"}),
        ToolDef("g", None, SCHEMA),
        ToolDef("h", None, None),
        ToolDef("googleSearch", None, None, "server", extra={"x": 1}),
    )
    assert [tool.pointer for tool in said.tools] == [
        *(f"/tools/0/functionDeclarations/{n}" for n in range(3)),
        "/tools/0/googleSearch",
    ]
    assert said.tool_choice == ToolChoice("any")
    assert said.params == {
        "toolConfig": {"retrievalConfig": {"languageCode": "de"}},
        "generationConfig": {"temperature": 0.5},
        "safetySettings": [],
    }
    assert (said.model, said.stream, said.parallel, said.anomalies) == (None, False, None, ())


@pytest.mark.parametrize(
    ("config", "choice", "slugs"),
    [
        ({"mode": "AUTO"}, ToolChoice("auto"), []),
        ({}, ToolChoice("auto"), []),
        ({"mode": "NONE"}, ToolChoice("none"), []),
        ({"mode": "ANY", "allowedFunctionNames": []}, ToolChoice("any"), []),
        ({"mode": "ANY", "allowed_function_names": ["f"]}, ToolChoice("tool", "f"), []),
        ({"mode": "ANY", "allowedFunctionNames": ["f", "g"]}, ToolChoice("other"), []),
        ({"mode": "none"}, ToolChoice("none"), []),
        ({"mode": "VALIDATED"}, ToolChoice("other"), []),
        ({"mode": "SOME"}, ToolChoice("other"), ["choice.unsupported"]),
        ("ANY", ToolChoice("other"), ["choice.unsupported"]),
    ],
)
def test_tool_choice(config: Any, choice: ToolChoice, slugs: list[str]) -> None:
    said = request(toolConfig={"functionCallingConfig": config})
    assert said.tool_choice == choice
    assert [a.slug for a in said.anomalies] == slugs


@pytest.mark.parametrize(
    ("config", "thinking"),
    [
        ({"thinkingBudget": 0}, "off"),
        ({"thinkingBudget": -1}, "adaptive"),
        ({"thinking_budget": 1024}, "on"),
        ({"includeThoughts": True, "thinkingLevel": "LOW"}, "on"),
        ({"thinkingLevel": "LOW"}, None),
        ({"includeThoughts": False}, None),
        ({}, None),
        (3, None),
    ],
)
def test_thinking(config: Any, thinking: str | None) -> None:
    assert request(generationConfig={"thinkingConfig": config}).thinking == thinking


def test_params_by_their_common_names() -> None:
    config = {
        "maxOutputTokens": 9,
        "top_p": 0.5,
        "stopSequences": ["END"],
        "thinkingConfig": {"include_thoughts": True, "thinkingBudget": 1024},
        "responseMimeType": "application/json",
        "responseSchema": SCHEMA,
        "speechConfig": {},
    }
    assert adapter.params(request(generationConfig=config, cachedContent="c")) == (
        Param("/generationConfig/maxOutputTokens", 9, "max_tokens"),
        Param("/generationConfig/top_p", 0.5, "top_p"),
        Param("/generationConfig/stopSequences", ["END"], "stop"),
        Param("/generationConfig/thinkingConfig/thinkingBudget", 1024, "thinking_budget"),
        Param("/generationConfig/responseSchema", {"schema": READ}, "response_schema"),
        Param("/generationConfig/speechConfig", {}),
        Param("/cachedContent", "c"),
    )


# -- the envelope of Code Assist

INNER = {
    "contents": [{"role": "user", "parts": [{"text": "a"}]}],
    "systemInstruction": {"parts": [{"text": "s"}]},
    "tools": [{"functionDeclarations": [{"name": "f", "parameters": SCHEMA}]}],
    "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    "generationConfig": {"temperature": 0.5},
    "session_id": "x",
}
ENVELOPE = {"model": "gemini-3-pro", "project": "p", "user_prompt_id": "u", "request": INNER}


def test_an_envelope_is_a_request() -> None:
    said, bare = adapter.decode_request(dump(ENVELOPE)), adapter.decode_request(dump(INNER))
    assert (said.messages, said.system, said.tools, said.tool_choice) == (
        bare.messages,
        bare.system,
        bare.tools,
        bare.tool_choice,
    )
    assert said.model == "gemini-3-pro"
    assert said.messages[0].pointer == "/request/contents/0"
    assert said.system[0].source.pointer == "/request/systemInstruction/parts/0"
    assert said.tools[0].pointer == "/request/tools/0/functionDeclarations/0"
    assert said.params == {
        "project": "p",
        "user_prompt_id": "u",
        "request": {"generationConfig": {"temperature": 0.5}, "session_id": "x"},
    }
    assert Param("/request/generationConfig/temperature", 0.5, "temperature") in adapter.params(said)


def test_an_envelope_around_an_answer() -> None:
    body = answer_body([{"text": "a"}])
    said, streamed = answer({"response": body, "traceId": "t"}), feed(frame({"response": body, "traceId": "t"}))
    for found in (said, streamed):
        assert found.messages[0].pointer == "/response/candidates/0/content"
        assert (found.messages[0].parts, found.id, found.stop) == ((Text("a"),), "r1", "stop")
        assert found.params == {"traceId": "t"}
        assert not found.anomalies


# -- answers


def test_an_answer() -> None:
    body = answer_body([{"functionCall": {"name": "f", "args": {}}}])
    body["candidates"][0] |= {"finishMessage": "m", "safetyRatings": [{"x": 1}]}
    body["createTime"] = "2026"
    said = answer(body)
    assert (said.id, said.model, said.finish_reason, said.stop) == ("r1", "gemini-x", "STOP", "tool_calls")
    assert said.messages[0].pointer == "/candidates/0/content"
    assert said.messages[0].role == "model"
    assert said.params == {
        "createTime": "2026",
        "candidates": [{"finishMessage": "m", "safetyRatings": [{"x": 1}]}],
    }


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "filter"),
        ("RECITATION", "filter"),
        ("CONTINUATION", "pause"),
        ("MALFORMED_FUNCTION_CALL", "other"),
        ("UNEXPECTED_TOOL_CALL", "other"),
        ("MISSING_THOUGHT_SIGNATURE", "other"),
        ("FROM_THE_FUTURE", "other"),
        (None, None),
    ],
)
def test_stops(reason: str | None, stop: str | None) -> None:
    said = answer(answer_body([{"text": "a"}], reason))
    assert (said.finish_reason, said.stop) == (reason, stop)


def test_a_server_tool_is_no_call_of_the_client() -> None:
    assert answer(answer_body([{"toolCall": {"toolType": "X", "id": "s"}}])).stop == "stop"


def test_a_malformed_call_and_what_is_said_of_it() -> None:
    candidate = {
        "finishReason": "MALFORMED_FUNCTION_CALL",
        "finishMessage": "Malformed function call: print(f(",
        "index": 0,
    }
    for said in (answer({"candidates": [candidate]}), feed(frame({"candidates": [candidate]}))):
        assert [m.parts for m in said.messages] == [()]
        assert (said.finish_reason, said.stop) == ("MALFORMED_FUNCTION_CALL", "other")
        assert said.params == {"candidates": [{"finishMessage": "Malformed function call: print(f("}]}
        assert not said.anomalies and said.is_complete


def test_a_blocked_prompt() -> None:
    body = {"promptFeedback": {"blockReason": "SAFETY", "safetyRatings": [1]}, "usageMetadata": {"promptTokenCount": 3}}
    for said in (answer(body), feed(frame(body))):
        assert (said.messages, said.finish_reason, said.stop) == ((), "SAFETY", "filter")
        assert said.params == {"promptFeedback": {"safetyRatings": [1]}}
        assert said.usage and said.usage.input == 3
        assert not said.anomalies and said.is_complete


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        (
            {"promptTokenCount": 10, "cachedContentTokenCount": 4, "candidatesTokenCount": 5, "thoughtsTokenCount": 7},
            Usage(6, 12, 4, None, 7),
        ),
        ({"promptTokenCount": 10, "toolUsePromptTokenCount": 5, "candidatesTokenCount": 1}, Usage(15, 1)),
        ({"promptTokenCount": 10, "thoughtsTokenCount": 2}, Usage(10, 2, reasoning=2)),
        ({"trafficType": "ON_DEMAND"}, Usage()),
        ({"promptTokenCount": "10"}, Usage()),
    ],
)
def test_usage_is_disjoint(counts: Any, usage: Usage) -> None:
    assert answer({"candidates": [], "usageMetadata": counts}).usage == replace(usage, raw=counts)


def test_alternatives() -> None:
    body = answer_body([{"text": "a"}])
    body["candidates"].append({"content": {"parts": [{"text": "b"}]}, "finishReason": "MAX_TOKENS", "index": 1})
    for said in (answer(body), feed(frame(body))):
        assert [m.parts for m in said.messages] == [(Text("a"),), (Text("b"),)]
        assert [m.pointer for m in said.messages] == ["/candidates/0/content", "/candidates/1/content"]
        assert said.finish_reason == "STOP"


ERROR = {"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [{"x": 1}]}}


@pytest.mark.parametrize("body", [ERROR, [ERROR]], ids=["object", "list"])
def test_errors(body: Any) -> None:
    error = answer(body, 429).error
    assert error and (error.message, error.type, error.code) == ("quota", "RESOURCE_EXHAUSTED", "429")


@pytest.mark.parametrize("body", [{}, [], 3, {"choices": []}, [{"candidates": []}]])
def test_what_is_no_answer(body: Any) -> None:
    with pytest.raises(ProtocolMismatch):
        answer(body)


@pytest.mark.parametrize("body", [{}, [], 3, {"messages": []}, {"request": {}}, {"request": {"contents": 1}, "x": 1}])
def test_what_is_no_request(body: Any) -> None:
    if isinstance(body, dict) and "x" in body:
        assert [a.slug for a in adapter.decode_request(dump(body)).anomalies] == ["content.shape"]
        return
    with pytest.raises(ProtocolMismatch):
        adapter.decode_request(dump(body))


def test_no_json() -> None:
    with pytest.raises(WireError):
        adapter.decode_request(b"{")
    with pytest.raises(WireError):
        adapter.decode_response(b"{")


# -- edits

BODY = json.dumps(
    INNER
    | {
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": SCHEMA}]}, {"googleSearch": {"x": 1}}],
        "model": "m",
    },
    indent=1,
).encode()


def edited(body: bytes, **changes: Any) -> bytes:
    return adapter.encode_request(replace(adapter.decode_request(body), **changes), body)


@pytest.mark.parametrize("body", [BODY, dump(ENVELOPE)], ids=["bare", "envelope"])
def test_edits_of_a_request(body: bytes) -> None:
    said = adapter.decode_request(body)
    tool = replace(said.tools[0], name="g")
    assert edited(body, tools=(tool, *said.tools[1:])) == body.replace(b'"name": "f"', b'"name": "g"')
    schema = json.loads(json.dumps(READ)) | {"maxProperties": 3}
    other = edited(body, tools=(replace(said.tools[0], schema=schema), *said.tools[1:]))
    assert other == body.replace(b'"maxProperties": "2"', b'"maxProperties": 3')
    assert edited(body, tool_choice=ToolChoice("none", value={"mode": "AUTO"})) == body.replace(b"AUTO", b"NONE")
    assert edited(body, system=(replace(said.system[0], text="S"),)) == body.replace(b'"s"', b'"S"')
    assert edited(body, model="n") == body.replace(f'"{said.model}"'.encode(), b'"n"')
    assert edited(body, stream=True) == body  # the URL says that


@pytest.mark.parametrize(
    "changes",
    [
        {"thinking": "on"},
        {"parallel": False},
        {"tool_choice": None},
        {"tools": ()},
        {"messages": ()},
        {"params": {}},
        {"tool_choice": ToolChoice("tool", "f")},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_edits_of_structure_are_refused(changes: Any) -> None:
    with pytest.raises(LocalProtocolError):
        edited(BODY, **changes)


def test_a_model_that_only_the_url_says_is_no_edit() -> None:
    body = dump(INNER)
    assert edited(body, model="gemini-3-pro", stream=True) == body


@pytest.mark.parametrize("wrapped", [False, True])
def test_edits_of_an_answer(wrapped: bool) -> None:
    value = answer_body([{"text": "a"}])
    body = dump({"response": value} if wrapped else value)
    said = adapter.decode_response(body)
    for change, new in (
        ({"id": "r2"}, body.replace(b'"r1"', b'"r2"')),
        ({"model": "y"}, body.replace(b'"gemini-x"', b'"y"')),
        ({"finish_reason": "OTHER"}, body.replace(b'"STOP"', b'"OTHER"')),
    ):
        assert adapter.encode_response(replace(said, **change), body) == new


def test_an_edit_of_a_blocked_prompt() -> None:
    body = b'{"promptFeedback": {"blockReason": "SAFETY"}}'
    said = adapter.decode_response(body)
    assert adapter.encode_response(replace(said, finish_reason="OTHER"), body) == body.replace(b"SAFETY", b"OTHER")


def test_an_edit_of_a_stream_in_an_array() -> None:
    """What comes without ``alt=sse``: one list, whose elements are the chunks."""
    body = dump([answer_body([{"text": "Bo"}], None), answer_body([{"text": "th"}]), answer_body([{"text": ""}])])
    chunks = [json.dumps(c).encode() for c in json.loads(body)]
    decoder = adapter.stream_decoder()
    for event in read_events(b"".join(b"data: %s\n\n" % chunk for chunk in chunks)):
        decoder.feed(event)
    said = decoder.result()
    assert said.messages[0].parts == (Text("Both"),)
    part = replace(said.messages[0].parts[0], text="Both!")  # type: ignore[arg-type]
    changed = replace(said, messages=(replace(said.messages[0], parts=(part,)),))
    assert adapter.encode_response(changed, body) == body.replace(b'"th"', b'"th!"')
