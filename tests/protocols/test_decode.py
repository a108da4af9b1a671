"""Decoding one exchange: its protocol is found with and without URL, streams of every framing, faults are told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import breakages
from tests.protocols import block_bodies
from workbench import protocols
from workbench.ir import Text
from workbench.protocols.decode import RESPONSE, DecodedExchange
from workbench.wire.exchange import Body, Exchange, ExchangeKind, Frame, Headers, HttpRequest, HttpResponse, State
from workbench.wire.jsontext import dumps
from workbench.wire.stream import Framing, aws_message, sealed_payload

URLS = {
    "anthropic-messages": "https://x.example/v1/messages",
    "gemini": "https://x.example/v1beta/models/gemini-x:streamGenerateContent",
    "gemini-interactions": "https://x.example/v1beta/interactions",
    "ollama": "http://localhost:11434/api/chat",
    "openai-chat": "https://x.example/v1/chat/completions",
    "openai-responses": "https://x.example/v1/responses",
}


def exchange(
    request: bytes = b"", response: bytes = b"", url: str = "", content_type: str = "", state: State = State.COMPLETE
) -> Exchange:
    headers = Headers((("content-type", content_type),)) if content_type else Headers()
    return Exchange(
        "1",
        HttpRequest(url=url, body=Body(request)) if request or url else None,
        HttpResponse(headers=headers, body=Body(response)) if response else None,
        state=state,
    )


# -- which protocol it is


def bodies(evidence: dict[str, Any]) -> list[tuple[str, Exchange]]:
    """The bodies of a published breakage, each alone."""
    found = []
    for key, value in evidence.items():
        if key in ("request", "request_raw"):
            found.append((key, exchange(request=value.encode() if isinstance(value, str) else dumps(value))))
        elif key == "response":
            found.append((key, exchange(response=dumps(value))))
        elif key in ("sse", "upstream_sse"):
            found.append((key, exchange(response=value.encode())))
    return found


def test_the_protocol_of_every_published_breakage(record_property):
    wrong, count = [], 0
    for entry in breakages.entries():
        for key, bare in bodies(entry["evidence"]):
            with_url = Exchange(
                "1",
                HttpRequest(url=URLS[entry["protocol"]], body=bare.request.body if bare.request else Body()),
                bare.response,
            )
            for name, given in (("alone", bare), ("with URL", with_url)):
                found = DecodedExchange(0, given).protocol
                count += 1
                if found != entry["protocol"]:
                    wrong.append((entry["id"], key, name, found))
    record_property("score", f"protocols of published breakages: {count - len(wrong)} of {count} found")
    assert wrong == []


@pytest.mark.parametrize("protocol", URLS)
def test_an_adapter_claims_its_url_alone(protocol):
    assert [a.name for a in protocols.every() if a.claims_url(URLS[protocol])] == [protocol]


@pytest.mark.parametrize(
    ("given", "protocol", "how"),
    [
        (exchange(b'{"model":"m","input":"embed me"}', url="https://x/v1/embeddings"), None, "not a model exchange"),
        (exchange(b"{}", url="https://x/v1/completions"), "openai-completions", "from the URL"),
        (exchange(response=b'data: {"object":"text_completion"}\n\n'), "openai-completions", "from the body"),
        (exchange(response=b'{"error":{"message":"no"}}'), None, "the body contains only an error"),
        (exchange(response=b'[{"error":{"message":"no"}}]'), None, ""),
        (Exchange("1", kind=ExchangeKind.WEBSOCKET), None, "a WebSocket connection"),
        (
            Exchange("1", kind=ExchangeKind.WEBSOCKET, frames=(Frame("sent", "text", b'{"setup":{}}'),)),
            "gemini-live",
            "a WebSocket connection",
        ),
        (Exchange("1", meta={"grpc": {"request": {}}}), None, "a gRPC call"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_no_adapter_decodes(given, protocol, how):
    decoded = DecodedExchange(0, given)
    assert decoded.protocol == protocol
    assert decoded.protocol_from.startswith(how)
    assert (decoded.request, decoded.response) == (None, None)
    is_split = given.kind is ExchangeKind.WEBSOCKET  # its turns are exchanges of their own
    assert bool(decoded.problems) is (protocol is not None and not is_split)


# -- streams

EVENTS = [dumps(event) for event in block_bodies.OK]
CHUNKS = b"".join(aws_message("chunk", sealed_payload(event)) for event in EVENTS)


@pytest.mark.parametrize(
    ("body", "content_type", "framing"),
    [
        (b"".join(block_bodies.frame(event) for event in block_bodies.OK), "text/event-stream", Framing.SSE),
        (b"\n".join(EVENTS), "application/x-ndjson", Framing.NDJSON),
        (b"[" + b",\n".join(EVENTS) + b"]", "application/json", Framing.JSON_ARRAY),
        (CHUNKS, "application/vnd.amazon.eventstream", Framing.AWS),
    ],
    ids=["SSE", "NDJSON", "array", "AWS"],
)
def test_the_framing_does_not_change_what_is_said(body, content_type, framing):
    protocol = "bedrock-invoke" if framing is Framing.AWS else "anthropic-messages"
    decoded = DecodedExchange(0, exchange(response=body, content_type=content_type))
    assert (decoded.protocol, decoded.framing, decoded.problems) == (protocol, framing, [])
    assert decoded.response
    assert decoded.response.messages[0].parts == (Text("a"),)
    place = decoded.place(RESPONSE, "/content/0/text")
    assert place.events == (2,)
    assert place.spans


@pytest.mark.parametrize("cut", [5, len(CHUNKS) // 2, len(CHUNKS) - 3])
def test_what_still_arrives_has_no_faults(cut):
    kind = "application/vnd.amazon.eventstream"
    torn = CHUNKS[:cut]
    whole = DecodedExchange(0, exchange(response=torn, content_type=kind), "bedrock-invoke")
    arriving = DecodedExchange(0, exchange(response=torn, content_type=kind, state=State.OPEN), "bedrock-invoke")
    assert [p.message for p in whole.problems] == ["response: the stream ends inside a message"]
    assert arriving.problems == []
    assert not arriving.events[-1].terminated


def test_many_faults_are_counted():
    broken = b"".join(
        message[:-1] + bytes([message[-1] ^ 1])
        for message in (aws_message("chunk", sealed_payload(event)) for event in EVENTS)
    )
    decoded = DecodedExchange(0, exchange(response=broken), "bedrock-invoke")
    assert decoded.problems == []  # all of it was read
    assert decoded.response
    *first, more = decoded.response.anomalies
    assert [(a.slug, a.events, a.message) for a in first] == [
        ("stream.framing", (n,), f"the checksum of message {n} is wrong") for n in range(3)
    ]
    assert (more.message, more.events) == (
        f"{len(EVENTS) - 3} more events with faults",
        tuple(range(3, len(EVENTS))),
    )
    assert decoded.response.messages[0].parts == (Text("a"),)


# -- what only the URL says


@pytest.mark.parametrize(
    ("url", "body", "model", "stream"),
    [
        ("/model/a%3A0/converse-stream", {"messages": []}, "a:0", True),
        ("/v1beta/models/gemini-x:streamGenerateContent?alt=sse", {"contents": []}, "gemini-x", True),
        ("/v1beta/models/gemini-x:generateContent", {"contents": []}, "gemini-x", False),
        ("/v1/messages", {"model": "m", "messages": [], "stream": True}, "m", True),
    ],
)
def test_model_and_stream(url, body, model, stream):
    data = json.dumps(body).encode()
    decoded = DecodedExchange(0, exchange(data, url="https://x.example" + url))
    assert decoded.request
    assert (decoded.request.model, decoded.request.stream) == (model, stream)
    again = DecodedExchange(1, exchange(data, url="https://x.example" + url), before=decoded)
    assert again.request == decoded.request
    adapter = protocols.get(decoded.protocol or "")
    assert adapter.encode_request(decoded.request, data) == data


OBJECT = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}
BLOCKS = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}


@pytest.mark.parametrize(
    ("messages", "among", "protocol"),
    [
        ([OBJECT], (), "ollama"),
        ([OBJECT], ("openai-chat", "openai-responses"), "openai-chat"),
        ([OBJECT], ("gemini",), "ollama"),
        ([BLOCKS], ("openai-chat",), "anthropic-messages"),
    ],
    ids=["by its body", "one of those asked for", "none of them is likely", "plainly another"],
)
def test_the_protocols_asked_for_come_first(messages, among, protocol):
    body = Body(dumps({"model": "m", "messages": messages}))
    assert DecodedExchange(0, Exchange("1", HttpRequest(body=body)), among=among).protocol == protocol


@pytest.mark.parametrize(("model", "protocol"), [("gpt-x", "openai-chat"), ("claude-x", "anthropic-messages")])
def test_messages_that_are_no_list_are_a_broken_request(model, protocol):
    decoded = DecodedExchange(0, Exchange("1", HttpRequest(body=Body(dumps({"model": model, "messages": "go"})))))
    assert decoded.protocol == protocol and decoded.request and not decoded.problems


@pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD"])
def test_a_list_of_stored_answers_is_no_answer(method: str) -> None:
    request = HttpRequest(method, "https://api.openai.com/v1/chat/completions?limit=2")
    body = Body(b'{"object":"list","data":[{"object":"chat.completion","choices":[]}],"has_more":false}')
    decoded = DecodedExchange(0, Exchange("1", request=request, response=HttpResponse(body=body)))
    assert (decoded.protocol, decoded.problems) == (None, [])
