"""InvokeModel: Anthropic's bodies without model and stream, and streams whose events are wrapped in base64."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace

import pytest

from tests.protocols import block_bodies
from workbench import protocols
from workbench.errors import ProtocolMismatch
from workbench.ir import ApiError, Message, ModelRequest, ModelResponse, Text, ToolCallIR, Usage
from workbench.protocols import UrlFacts
from workbench.protocols.decode import RESPONSE, DecodedExchange
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.jsontext import dumps
from workbench.wire.stream import aws_message, read_stream, sealed_payload

adapter = protocols.get("bedrock-invoke")
MESSAGES = protocols.get("anthropic-messages")
URL = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude-x-v1%3A0/invoke"
AWS_TYPE = "application/vnd.amazon.eventstream"


def chunks(*events: object) -> bytes:
    return b"".join(aws_message("chunk", sealed_payload(dumps(event))) for event in events)


def play(data: bytes, protocol: protocols.Adapter = adapter) -> ModelResponse:
    decoder = protocol.stream_decoder()
    for event in read_stream(data).events:
        decoder.feed(event)
    return decoder.result()


@pytest.mark.parametrize(
    ("url", "facts"),
    [
        (URL, UrlFacts("eu.anthropic.claude-x-v1:0", False)),
        (URL + "-with-response-stream", UrlFacts("eu.anthropic.claude-x-v1:0", True)),
        ("/model/a/converse", UrlFacts()),
        ("/v1/messages", UrlFacts()),
    ],
)
def test_urls(url, facts):
    assert adapter.read_url(url) == facts
    assert adapter.claims_url(url) is (facts != UrlFacts())


def test_a_request_is_one_of_messages():
    value = {
        "anthropic_version": "bedrock-2023-05-31",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 5,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    body = json.dumps(value).encode()
    result = adapter.decode_request(body)
    assert result == replace(MESSAGES.decode_request(body), protocol="bedrock-invoke")
    assert {p.name for p in adapter.params(result)} == {"max_tokens", "thinking_budget"}
    edited = replace(result, model="of the URL", stream=True, messages=(Message("user", (Text("ho"),)),))
    same_place = replace(result.messages[0].parts[0], text="ho")
    edited = replace(edited, messages=(replace(result.messages[0], parts=(same_place,)),))
    assert adapter.encode_request(edited, body) == body.replace(b'"hi"', b'"ho"')


def test_a_stream_is_one_of_messages():
    result = play(chunks(*block_bodies.OK))
    named = b"".join(block_bodies.frame(event) for event in block_bodies.OK)
    assert result == replace(play(named, MESSAGES), protocol="bedrock-invoke")
    assert result.anomalies == ()


@pytest.mark.parametrize("cut", range(0, 400, 23))
def test_torn_streams(cut):
    data = chunks(*block_bodies.OK)
    result = play(data[: len(data) - 1 - cut])
    assert not result.is_complete
    assert result.error is None


def test_a_leaf_of_a_stream_is_where_its_base64_is():
    data = chunks(*block_bodies.OK)
    http = HttpResponse(headers=Headers((("content-type", AWS_TYPE),)), body=Body(data))
    exchange = Exchange("1", request=HttpRequest(url=URL + "-with-response-stream"), response=http)
    decoded = DecodedExchange(0, exchange)
    assert (decoded.protocol, [p.message for p in decoded.problems]) == (
        "bedrock-invoke",
        ["request: the request has no body"],
    )
    (message,) = decoded.messages(RESPONSE)
    for part in message.parts:
        for name, segments in part.source.segments.items():
            place = decoded.place_of(RESPONSE, message, part, name)
            assert place.events == tuple(dict.fromkeys(s.event for s in segments))
            for span in place.spans:
                assert json.loads(b64decode(data[slice(*span)], validate=True))


def test_an_edit_of_a_stream():
    data = chunks(*block_bodies.OK)
    before = play(data)
    (message,) = before.messages
    parts = [replace(part, text="other") if isinstance(part, Text) else part for part in message.parts]
    assert parts != list(message.parts)
    edited = replace(before, messages=(replace(message, parts=tuple(parts)),))
    written = adapter.encode_response(edited, data)
    assert play(written).messages == edited.messages
    assert read_stream(written).faults == ()
    assert adapter.encode_response(before, data) == data


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (aws_message("throttlingException", b'{"message":"slow"}', kind="exception"), ("slow", "throttlingException")),
        (aws_message("odd", b"no JSON"), ("", "odd")),
    ],
)
def test_exceptions_in_a_stream(message, said):
    result = play(chunks(*block_bodies.OK[:2]) + message)
    assert result.error
    assert (result.error.message, result.error.type) == said
    assert [a.slug for a in result.anomalies] == ["stream.error-event"]


@pytest.mark.parametrize(
    ("headers", "kind"),
    [((("x-amzn-ErrorType", "ValidationException:http://x"),), "ValidationException"), ((), None)],
)
def test_the_type_of_an_error_is_in_a_header(headers, kind):
    http = HttpResponse(status=400, headers=Headers(headers), body=Body(b'{"message":"no"}'))
    decoded = DecodedExchange(0, Exchange("1", request=HttpRequest(url=URL), response=http))
    assert decoded.response
    assert decoded.response.error == ApiError("no", type=kind)


def test_the_url_names_model_and_stream():
    body = Body(b'{"anthropic_version":"bedrock-2023-05-31","messages":[]}')
    decoded = DecodedExchange(0, Exchange("1", request=HttpRequest(url=URL + "-with-response-stream", body=body)))
    assert decoded.request
    assert (decoded.request.model, decoded.request.stream) == ("eu.anthropic.claude-x-v1:0", True)


# -- the older form: one text


def test_prompt_and_completion():
    body = b'{"prompt":"\\n\\nHuman: hi\\n\\nAssistant:","max_tokens_to_sample":3}'
    result = adapter.decode_request(body)
    assert result.messages == (Message("user", (Text("\n\nHuman: hi\n\nAssistant:"),)),)
    assert result.params == {"max_tokens_to_sample": 3}
    assert adapter.encode_request(result, body) == body
    answer = b'{"completion":" yes","stop_reason":"stop_sequence","stop":"\\n\\nHuman:"}'
    whole = adapter.decode_response(answer)
    pieces = [{"completion": " y", "stop_reason": None}, {"completion": "es", "stop_reason": "stop_sequence"}]
    streamed = play(chunks(*pieces))
    for response in (whole, streamed):
        assert response.messages == (Message("assistant", (Text(" yes"),)),)
        assert (response.stop, response.is_complete) == ("stop", True)
    assert adapter.encode_response(whole, answer) == answer
    edited = replace(streamed.messages[0].parts[0], text=" no")
    changed = replace(streamed, messages=(replace(streamed.messages[0], parts=(edited,)),))
    assert play(adapter.encode_response(changed, chunks(*pieces))).messages == changed.messages
    assert not play(chunks(pieces[0])).is_complete


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"prompt":1}'])
def test_what_is_no_request(body):
    with pytest.raises(ProtocolMismatch):
        adapter.decode_request(body)


# -- written anew

NORMAL = ModelRequest("bedrock-invoke", "m:0", (Message("user", (Text("hi"),)),), stream=True, params={"max_tokens": 3})
NEW = ModelResponse(
    "bedrock-invoke",
    messages=(Message("assistant", (Text("x"), ToolCallIR("toolu_1", "f", {"a": 1}, "function"))),),
    stop="tool_calls",
    usage=Usage(1, 2),
)


def test_written_anew():
    assert adapter.write_request(NORMAL) == {
        "anthropic_version": "bedrock-2023-05-31",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 3,
    }
    assert adapter.path(NORMAL) == "/model/m%3A0/invoke-with-response-stream"
    assert adapter.read_url(adapter.path(NORMAL)) == UrlFacts("m:0", True)
    whole, streamed = adapter.decode_response(dumps(adapter.write_response(NEW))), play(adapter.write_stream(NEW))
    for response in (whole, streamed):
        assert [type(part) for part in response.messages[0].parts] == [Text, ToolCallIR]
        assert (response.stop, response.is_complete, response.anomalies) == ("tool_calls", True, ())


def test_errors_written_anew():
    failed = replace(NEW, error=ApiError("slow", type="throttlingException"))
    assert adapter.write_response(failed) == {"message": "slow"}
    result = play(adapter.write_stream(failed))
    assert result.error
    assert (result.error.message, result.error.type) == ("slow", "throttlingException")
    assert result.messages[0].parts


ASKED_NOVA = {"schemaVersion": "messages-v1", "messages": [{"role": "user", "content": [{"text": "hi"}]}]}
TOLD_NOVA = {
    "output": {"message": {"role": "assistant", "content": [{"text": "ho"}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 1, "outputTokens": 1},
}
CHUNKS_NOVA = (
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"delta": {"text": "ho"}, "contentBlockIndex": 0}},
    {"contentBlockStop": {"contentBlockIndex": 0}},
    {"messageStop": {"stopReason": "end_turn"}},
    {"metadata": {"usage": {"inputTokens": 1}}, "amazon-bedrock-invocationMetrics": {"inputTokenCount": 1}},
)
CHAT = {"messages": [{"role": "user", "content": "hi"}]}
TOLD_CHAT = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "ho"}, "finish_reason": "stop"}]}

MAKERS = [
    ("Nova", ASKED_NOVA, TOLD_NOVA, "bedrock-converse"),
    ("Nova, streamed", ASKED_NOVA, CHUNKS_NOVA, "bedrock-converse"),
    ("Titan", {"inputText": "hi"}, {"results": [{"outputText": "ho", "completionReason": "FINISH"}]}, "bedrock-invoke"),
    ("Llama", {"prompt": "hi", "max_gen_len": 9}, {"generation": "ho", "stop_reason": "stop"}, "bedrock-invoke"),
    (
        "Llama, streamed",
        {"prompt": "hi"},
        ({"generation": "h", "stop_reason": None}, {"generation": "o", "stop_reason": "stop"}),
        "bedrock-invoke",
    ),
    ("Mistral", {"prompt": "hi"}, {"outputs": [{"text": "ho", "stop_reason": "stop"}]}, "bedrock-invoke"),
    (
        "Claude 2",
        {"prompt": "hi", "max_tokens_to_sample": 9},
        {"type": "completion", "completion": "ho", "stop_reason": "stop_sequence", "stop": "\n\nHuman:"},
        "bedrock-invoke",
    ),
    (
        "Claude 2, streamed",
        {"prompt": "hi", "max_tokens_to_sample": 9},
        (
            {"type": "completion", "completion": "h", "stop_reason": None},
            {"type": "completion", "completion": "o", "stop_reason": "stop_sequence"},
        ),
        "bedrock-invoke",
    ),
    ("imported", {"prompt": "hi"}, {"choices": [{"text": "ho", "finish_reason": "stop"}]}, "bedrock-invoke"),
    ("Mistral Large", CHAT, TOLD_CHAT, "openai-chat"),
    (
        "Jamba, streamed",
        CHAT,
        (
            {"id": "c", "choices": [{"index": 0, "delta": {"content": "ho"}, "finish_reason": None}]},
            {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 1}},
        ),
        "openai-chat",
    ),
    (
        "Claude, without anthropic_version",
        {**CHAT, "max_tokens": 9, "tools": [{"name": "ls", "input_schema": {"type": "object"}}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "ho"}],
            "stop_reason": "end_turn",
        },
        "bedrock-invoke",
    ),
    ("Command", {"prompt": "hi"}, {"generations": [{"text": "ho", "finish_reason": "COMPLETE"}]}, "bedrock-invoke"),
]


@pytest.mark.parametrize(("asked", "told", "protocol"), [m[1:] for m in MAKERS], ids=[m[0] for m in MAKERS])
def test_the_body_tells_whose_model_it_is(asked, told, protocol):
    is_stream = isinstance(told, tuple)
    body = chunks(*told) if is_stream else json.dumps(told).encode()
    kind = AWS_TYPE if is_stream else "application/json"
    request = HttpRequest(
        url=URL + ("-with-response-stream" if is_stream else ""), body=Body(json.dumps(asked).encode())
    )
    decoded = DecodedExchange(
        0, Exchange("1", request, HttpResponse(200, Headers((("content-type", kind),)), Body(body)))
    )
    assert (decoded.protocol, decoded.problems) == (protocol, [])
    assert decoded.request and decoded.request.model and decoded.response
    (message,) = decoded.response.messages
    assert "".join(part.text for part in message.parts) == "ho"
    assert (decoded.response.anomalies, decoded.response.stop) == ((), "stop")
    adapter = protocols.get(protocol)
    assert adapter.encode_request(decoded.request, request.body.raw) == request.body.raw
    assert adapter.encode_response(decoded.response, body) == body


COMMAND_R = (
    {"is_finished": False, "event_type": "stream-start", "generation_id": "g"},
    {"is_finished": False, "event_type": "text-generation", "text": "ho"},
    {"is_finished": True, "event_type": "stream-end", "finish_reason": "COMPLETE", "response": {"text": "ho"}},
)
"""Amazon Bedrock User Guide, "Cohere Command R and Command R+ models", streaming."""


@pytest.mark.parametrize(
    ("asked", "told", "problems"),
    [
        ({"message": "hi"}, b'{"text": "ho", "generation_id": "g"}', ["request.unread", "answer.unread"]),
        ({"message": "hi"}, chunks(*COMMAND_R), ["request.unread", "answer.unread"]),
        (CHAT, chunks({"piece": "h"}, {"piece": "o"}), ["answer.unread"]),
    ],
)
def test_a_body_of_nobody_known_is_not_decoded(asked, told, problems):
    kind = "application/json" if told[:1] == b"{" else AWS_TYPE
    request = HttpRequest(url=URL, body=Body(json.dumps(asked).encode()))
    answer = HttpResponse(200, Headers((("content-type", kind),)), Body(told))
    decoded = DecodedExchange(0, Exchange("1", request, answer))
    assert [p.slug for p in decoded.problems] == problems
    assert decoded.response is None


def test_an_exception_is_read_whoever_s_model_was_asked():
    request = HttpRequest(url=URL, body=Body(b'{"message": "hi"}'))
    body = aws_message("throttlingException", b'{"message": "slow"}')
    decoded = DecodedExchange(
        0, Exchange("1", request, HttpResponse(200, Headers((("content-type", AWS_TYPE),)), Body(body)))
    )
    assert decoded.response and decoded.response.error and decoded.response.error.message == "slow"
