"""What the Gemini adapter writes is read back as it was meant, and the official SDK takes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocols.block_bodies import JSON, OBJECT
from tests.protocols.gemini_bodies import feed
from tests.record_anthropic import Upstream
from tests.record_gemini import PIXEL, SIGNATURE, client
from workbench.ir import (
    ApiError,
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
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols.gemini import adapter
from workbench.wire.jsontext import dumps

PROOF = Carrier.THOUGHT_SIGNATURE
SAID = st.text(min_size=1, max_size=6).filter(str.strip) | st.sampled_from(["é\n", '"\\', "😀"])
TEXT = SAID.map(Text)
THOUGHT = st.builds(Reasoning, st.just(PROOF), SAID, st.none() | st.just(SIGNATURE))
ALONE = st.just(Reasoning(PROOF, "", SIGNATURE))
PROVED = st.just(Reasoning(PROOF, None, SIGNATURE))
CALL = st.builds(ToolCallIR, st.none() | st.just("c1"), st.sampled_from(["f", "g"]), OBJECT, st.just("gemini"))
MEDIA = st.sampled_from(
    [
        Media("image", "image/png", data=PIXEL),
        Media("document", "application/pdf", url="https://harbour.example/a.pdf"),
        Media("document", None, url="gs://harbour/x"),
        Media("image", None, url="https://harbour.example/a"),
        Media("audio", None, data="QQ=="),
    ]
)


@st.composite
def answers(draw: st.DrawFn) -> Message:
    """An answer; a bare signature stands right before what it is on."""
    parts: list[Part] = []
    for part in draw(st.lists(THOUGHT | ALONE | TEXT | CALL, min_size=1, max_size=5)):
        if not isinstance(part, Reasoning) and draw(st.booleans()):
            parts.append(draw(PROVED))
        parts.append(part)
    return Message("model", tuple(parts))


@st.composite
def results(draw: st.DrawFn) -> ToolResultIR:
    content: tuple[Part, ...] = tuple(draw(st.lists(TEXT | st.just(Text("")), max_size=3)))
    content = content or tuple(draw(st.lists(OBJECT.filter(bool).map(_structured), max_size=1)))
    media = tuple(draw(st.lists(MEDIA, max_size=2)))
    return ToolResultIR(draw(st.none() | st.just("c1")), content + media, draw(st.none() | st.just(True)), "f")


def _structured(value: Any) -> Opaque:
    return Opaque("json", value)


USER = st.lists(TEXT | MEDIA, min_size=1, max_size=3).map(lambda parts: Message("user", tuple(parts)))
TOOL = st.lists(results(), min_size=1, max_size=3).map(lambda parts: Message("user", tuple(parts)))
TOOLS = st.lists(st.builds(ToolDef, st.just("f"), st.none() | SAID, st.none() | OBJECT), max_size=2)
CHOICES = st.sampled_from([None, ToolChoice("auto"), ToolChoice("none"), ToolChoice("any"), ToolChoice("tool", "f")])
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "max_tokens": st.just(9),
        "temperature": st.just(0.5),
        "top_p": st.just(0.5),
        "top_k": st.just(3),
        "stop": st.just(["END"]),
        "seed": st.just(1),
        "frequency_penalty": st.just(0.5),
        "presence_penalty": st.just(0.5),
        "effort": st.just("low"),
        "count": st.just(2),
        "service_tier": st.just("flex"),
    },
)
FORMS = st.sampled_from([{}, {"response_json": True}, {"response_schema": {"schema": {"type": "object"}}}])
REQUESTS = st.builds(
    ModelRequest,
    protocol=st.just("gemini"),
    model=st.none(),
    messages=st.lists(USER | answers() | TOOL, min_size=1, max_size=4).map(tuple),
    system=st.lists(TEXT, max_size=2).map(tuple),
    tools=TOOLS.map(tuple),
    tool_choice=CHOICES,
    thinking=st.sampled_from([None, "on", "off"]),
    params=st.tuples(PARAMS, FORMS).map(lambda both: both[0] | both[1]),
)


def normal(request: ModelRequest) -> ModelRequest:
    """The request as it is given to a writer."""
    roles = {"model": "assistant"}
    messages = (
        replace(m, role="tool" if list(m.tool_results()) else roles.get(m.role, m.role)) for m in request.messages
    )
    return replace(request, messages=tuple(messages))


def common(request: ModelRequest) -> dict[str, Any]:
    """The parameters by their common names."""
    return {param.name: param.value for param in adapter.params(request)}


@settings(max_examples=100)
@given(REQUESTS)
def test_requests_are_read_back_as_they_were_meant(request: ModelRequest) -> None:
    body = dumps(adapter.write_request(normal(request)))
    said = adapter.decode_request(body)
    assert said.messages == request.messages
    assert not said.anomalies
    assert (said.system, said.tools, said.tool_choice) == (request.system, request.tools, request.tool_choice)
    assert (said.thinking, common(said)) == (request.thinking, dict(request.params))


USAGE = st.none() | st.builds(
    Usage, st.just(9), st.integers(5, 9), st.none() | st.just(3), st.none(), st.none() | st.just(4)
)
ANSWERS = st.builds(
    ModelResponse,
    protocol=st.just("gemini"),
    id=st.none() | st.just("r1"),
    model=st.none() | st.just("gemini-x"),
    messages=st.lists(answers(), min_size=1, max_size=2).map(tuple),
    stop=st.sampled_from(["stop", "length", "filter", "other"]),
    usage=USAGE,
)


def meant(response: ModelResponse) -> ModelResponse:
    """The answer as it has to be read back: calls follow from its content."""
    called = response.stop == "stop" and any(True for _ in response.messages[0].tool_calls())
    return replace(response, stop="tool_calls" if called else response.stop)


def given_to(response: ModelResponse) -> ModelResponse:
    return replace(response, messages=tuple(replace(m, role="assistant") for m in response.messages))


def check(said: ModelResponse, response: ModelResponse) -> None:
    wanted = meant(response)
    assert (said.messages, said.stop, said.id, said.model) == (wanted.messages, wanted.stop, wanted.id, wanted.model)
    assert not said.anomalies and said.is_complete and said.error is None
    counts = [None if u is None else replace(u, raw={}) for u in (said.usage, wanted.usage)]
    assert counts[0] == counts[1]


@settings(max_examples=100)
@given(ANSWERS)
def test_answers_and_streams_are_read_back_as_they_were_meant(response: ModelResponse) -> None:
    check(adapter.decode_response(dumps(adapter.write_response(given_to(response)))), response)
    check(feed(adapter.write_stream(given_to(response))), response)


ERROR = ApiError("no such model", type="NOT_FOUND", code="404")


def test_errors() -> None:
    failed = ModelResponse("gemini", error=ERROR)
    assert adapter.write_response(failed) == {"error": {"code": 404, "message": "no such model", "status": "NOT_FOUND"}}
    assert adapter.decode_response(dumps(adapter.write_response(failed)), status=404).error == replace(ERROR, raw=None)
    begun = replace(failed, messages=(Message("assistant", (Text("a"),)),))
    said = feed(adapter.write_stream(begun))
    assert said.error == ERROR
    assert said.messages[0].parts == (Text("a"),)
    assert not said.is_complete


def test_a_blocked_prompt() -> None:
    blocked = ModelResponse("gemini", stop="filter")
    for said in (
        adapter.decode_response(dumps(adapter.write_response(blocked))),
        feed(adapter.write_stream(blocked)),
    ):
        assert (said.messages, said.stop, said.is_complete, said.anomalies) == ((), "filter", True, ())


@pytest.mark.parametrize(
    ("parts", "written"),
    [
        pytest.param(
            (Reasoning(PROOF, None, "s"), ToolCallIR(None, "f", {}, "x")),
            [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "s"}],
            id="signature-on-its-call",
        ),
        pytest.param(
            (ToolCallIR("c", "f", {"a": 1}, "x"), ToolCallIR(None, "g", {}, "x")),
            [{"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}, {"functionCall": {"name": "g", "args": {}}}],
            id="no-id-is-made-up",
        ),
        pytest.param((Reasoning(PROOF, "why"),), [{"text": "why", "thought": True}], id="thought"),
        pytest.param((Reasoning(PROOF, "", "s"),), [{"text": "", "thoughtSignature": "s"}], id="signature-at-the-end"),
        pytest.param((Reasoning(PROOF, None, "s"),), [{"thoughtSignature": "s"}], id="signature-on-nothing"),
        pytest.param(
            (Reasoning(PROOF, None, "s"), Reasoning(PROOF, "why"), Text("a")),
            [{"thoughtSignature": "s"}, {"text": "why", "thought": True}, {"text": "a"}],
            id="signature-is-never-moved-onto-a-thought",
        ),
    ],
)
def test_answer_parts(parts: tuple[Part, ...], written: list[Any]) -> None:
    request = ModelRequest("gemini", "m", (Message("assistant", parts),))
    assert adapter.write_request(request) == {"contents": [{"role": "model", "parts": written}]}


@pytest.mark.parametrize(
    ("result", "written"),
    [
        pytest.param(ToolResultIR("c", (Text("a"),), None, "f"), {"output": "a"}, id="text"),
        pytest.param(ToolResultIR("c", (Text("no"),), True, "f"), {"error": "no"}, id="error"),
        pytest.param(ToolResultIR("c", (Text("no"),), False, "f"), {"output": "no"}, id="no-error"),
        pytest.param(ToolResultIR("c", (Text("a"), Text("b")), None, "f"), {"output": ["a", "b"]}, id="texts"),
        pytest.param(ToolResultIR("c", (), None, "f"), {}, id="nothing"),
        pytest.param(ToolResultIR("c", (), True, "f"), {"error": None}, id="error-without-words"),
        pytest.param(ToolResultIR("c", (_structured({"a": 1}),), None, "f"), {"a": 1}, id="object-as-it-was"),
        pytest.param(
            ToolResultIR("c", (_structured({"error": "x"}),), None, "f"),
            {"output": {"error": "x"}},
            id="no-false-error",
        ),
        pytest.param(ToolResultIR("c", (_structured([1]),), None, "f"), {"output": [1]}, id="list"),
    ],
)
def test_results(result: ToolResultIR, written: Any) -> None:
    body = adapter.write_request(ModelRequest("gemini", "m", (Message("tool", (result,)),)))
    response = {"functionResponse": {"id": "c", "name": "f", "response": written}}
    assert body == {"contents": [{"role": "user", "parts": [response]}]}
    read = adapter.decode_request(dumps(body)).messages[0].parts
    assert read == (replace(result, is_error=result.is_error or None),)


# -- the official SDK takes it


@settings(max_examples=60)
@given(REQUESTS)
def test_the_sdk_knows_every_key_of_a_request(request: ModelRequest) -> None:
    from google.genai import types

    body: Any = adapter.write_request(normal(request))
    body.pop("serviceTier", None)
    for content in (*body.pop("contents"), *filter(None, [body.pop("systemInstruction", None)])):
        types.Content.model_validate(content)
    for tool in body.pop("tools", []):
        types.Tool.model_validate(tool)
    types.ToolConfig.model_validate(body.pop("toolConfig", {}))
    types.GenerationConfig.model_validate(body.pop("generationConfig", {}))
    assert not body


@settings(max_examples=60)
@given(ANSWERS)
def test_the_sdk_knows_every_key_of_an_answer(response: ModelResponse) -> None:
    from google.genai import types

    types.GenerateContentResponse.model_validate(adapter.write_response(given_to(response)))
    for line in adapter.write_stream(given_to(response)).splitlines():
        if line:
            types.GenerateContentResponse.model_validate_json(line.removeprefix(b"data: "))


SPOKEN = ModelResponse(
    "gemini",
    id="r1",
    model="gemini-x",
    messages=(
        Message(
            "assistant",
            (
                Reasoning(PROOF, "Two calls."),
                Text("I look."),
                Reasoning(PROOF, None, SIGNATURE),
                ToolCallIR("c1", "f", {"path": "é", "n": [1, 2.5]}, "function"),
                ToolCallIR(None, "g", {}, "function"),
            ),
        ),
    ),
    stop="tool_calls",
    usage=Usage(input=9, output=8, cache_read=3, reasoning=4),
)


@pytest.fixture
def served() -> Iterator[Any]:
    """A function that has the SDK's client ask a server which answers with these bodies."""
    upstreams: list[Upstream] = []

    def serve(*answers: Any) -> Any:
        upstreams.append(Upstream(answers))
        return client(upstreams[-1].url)

    yield serve
    for upstream in upstreams:
        upstream.server.shutdown()
        upstream.server.server_close()


def test_the_client_of_the_sdk_reads_answers_and_streams(served: Any) -> None:
    sdk = served(adapter.write_response(SPOKEN), adapter.write_stream(SPOKEN))
    whole = sdk.models.generate_content(model="m", contents="?")
    chunks = list(sdk.models.generate_content_stream(model="m", contents="?"))
    streamed = [part for chunk in chunks for part in chunk.candidates[0].content.parts if part.text != ""]
    for parts, last in ((whole.candidates[0].content.parts, whole), (streamed, chunks[-1])):
        assert [part.thought for part in parts] == [True, None, None, None]
        assert [part.text for part in parts[:2]] == ["Two calls.", "I look."]
        assert [(p.function_call.id, p.function_call.name, p.function_call.args) for p in parts[2:]] == [
            ("c1", "f", {"path": "é", "n": [1, 2.5]}),
            (None, "g", {}),
        ]
        assert parts[2].thought_signature and parts[3].thought_signature is None
        counts = last.usage_metadata
        assert (counts.prompt_token_count, counts.cached_content_token_count) == (12, 3)
        assert (counts.candidates_token_count, counts.thoughts_token_count, counts.total_token_count) == (4, 4, 20)
        assert last.candidates[0].finish_reason.value == "STOP"
        assert (last.model_version, last.response_id) == ("gemini-x", "r1")


def test_the_client_of_the_sdk_takes_an_error_for_an_error(served: Any) -> None:
    from google.genai.errors import APIError

    failed = replace(SPOKEN, error=ERROR)
    sdk = served(adapter.write_response(ModelResponse("gemini", error=ERROR)), adapter.write_stream(failed))
    for ask in (sdk.models.generate_content, lambda **more: list(sdk.models.generate_content_stream(**more))):
        with pytest.raises(APIError, match="no such model") as refused:
            ask(model="m", contents="?")
        assert refused.value.status == "NOT_FOUND"


def test_written_json_is_json() -> None:
    assert json.loads(dumps(adapter.write_response(SPOKEN)))["candidates"][0]["index"] == 0


@given(JSON)
@settings(max_examples=40)
def test_any_value_a_tool_returned_comes_back(value: Any) -> None:
    result = ToolResultIR(None, (_structured(value),), None, "f")
    body = dumps(adapter.write_request(ModelRequest("gemini", "m", (Message("tool", (result,)),))))
    (read,) = adapter.decode_request(body).messages[0].parts
    assert isinstance(read, ToolResultIR)
    texts = [part.text for part in read.content if isinstance(part, Text)]
    assert read.content == result.content or texts == value or texts == [value]
