"""Converse: what a body says, what a stream adds up to, and that botocore takes what is written."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocols.laws import check, check_places
from workbench import protocols
from workbench.errors import LocalProtocolError, ProtocolMismatch, WireError
from workbench.ir import (
    ApiError,
    Carrier,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Opaque,
    Reasoning,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols import UrlFacts
from workbench.provenance import leaves
from workbench.wire.jsontext import dumps
from workbench.wire.stream import aws_message, read_stream

adapter = protocols.get("bedrock-converse")
URL = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-x-v1%3A0/converse"
BLOCK = Carrier.REASONING_BLOCK


def body(value: object) -> bytes:
    return json.dumps(value).encode()


def request(*content: object, **more: object) -> ModelRequest:
    return adapter.decode_request(body({"messages": [{"role": "user", "content": list(content)}], **more}))


def stream(*events: tuple[str, object]) -> bytes:
    return b"".join(aws_message(name, dumps(value)) for name, value in events)


def play(data: bytes) -> ModelResponse:
    decoder = adapter.stream_decoder()
    for event in read_stream(data).events:
        decoder.feed(event)
    return decoder.result()


# -- requests

CONTENT = [
    ("text", {"text": "hi"}, Text("hi")),
    ("text with more", {"text": "hi", "x": 1}, Text("hi", extra={"x": 1})),
    (
        "call",
        {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}},
        ToolCallIR("t1", "f", {"a": 1}, "bedrock"),
    ),
    (
        "call of a server",
        {"toolUse": {"toolUseId": "t1", "name": "f", "input": {}, "type": "server_tool_use"}},
        ToolCallIR("t1", "f", {}, "bedrock", is_server=True, extra={"toolUse": {"type": "server_tool_use"}}),
    ),
    (
        "result",
        {"toolResult": {"toolUseId": "t1", "content": [{"text": "x"}, {"json": {"a": 1}}], "status": "error"}},
        ToolResultIR("t1", (Text("x"), Opaque("json", {"a": 1})), is_error=True),
    ),
    (
        "result that succeeded",
        {"toolResult": {"toolUseId": "t1", "content": [], "status": "success"}},
        ToolResultIR("t1", (), is_error=False),
    ),
    (
        "result of unknown status",
        {"toolResult": {"toolUseId": "t1", "content": [], "status": "odd"}},
        ToolResultIR("t1", (), extra={"toolResult": {"status": "odd"}}),
    ),
    (
        "result of a server",
        {"toolResult": {"toolUseId": "t1", "content": [], "type": "nova_code_interpreter_result"}},
        ToolResultIR("t1", (), is_server=True, extra={"toolResult": {"type": "nova_code_interpreter_result"}}),
    ),
    (
        "image",
        {"image": {"format": "png", "source": {"bytes": "aGk="}}},
        Media("image", "image/png", "aGk="),
    ),
    (
        "document elsewhere",
        {"document": {"format": "pdf", "name": "d", "source": {"s3Location": {"uri": "s3://b/k", "bucketOwner": "1"}}}},
        Media(
            "document",
            "application/pdf",
            url="s3://b/k",
            extra={"document": {"name": "d", "source": {"s3Location": {"bucketOwner": "1"}}}},
        ),
    ),
    (
        "image of unknown format",
        {"image": {"format": "x", "source": {}}},
        Media("image", extra={"image": {"format": "x", "source": {}}}),
    ),
    (
        "reasoning",
        {"reasoningContent": {"reasoningText": {"text": "r", "signature": "s"}}},
        Reasoning(BLOCK, "r", "s"),
    ),
    ("redacted reasoning", {"reasoningContent": {"redactedContent": "e30="}}, Reasoning(BLOCK, None, None, "e30=")),
    ("cache mark", {"cachePoint": {"type": "default"}}, Opaque("cachePoint", {"cachePoint": {"type": "default"}})),
    ("nothing", {}, Opaque("", {})),
]  # fmt: skip


@pytest.mark.parametrize(("block", "part"), [c[1:] for c in CONTENT], ids=[c[0] for c in CONTENT])
def test_content(block, part):
    result = request(block)
    assert result.messages == (Message("user", (part,)),)
    assert result.anomalies == ()


@pytest.mark.parametrize("block", [c[1] for c in CONTENT], ids=[c[0] for c in CONTENT])
def test_the_place_of_every_field(block):
    data = body({"messages": [{"role": "user", "content": [block]}]})
    from workbench.wire.jsontext import JsonIndex, loads

    index, message = JsonIndex(data), adapter.decode_request(data).messages[0]
    (part,) = message.parts
    for name in part.source.fields:
        if name in ("extra", "content"):
            continue
        span = index.span(message.absolute(part, name))
        assert span
        assert loads(data[slice(*span)]) == getattr(part, name)


ODD = [
    ("text of a number", {"text": 1}, "content.shape"),
    ("call without input", {"toolUse": {"toolUseId": "t", "name": "f"}}, "args.not-object"),
    ("call with text as input", {"toolUse": {"toolUseId": "t", "name": "f", "input": "{}"}}, "args.not-object"),
    ("call that is a list", {"toolUse": []}, "content.shape"),
    ("id that is a number", {"toolUse": {"toolUseId": 1, "name": "f", "input": {}}}, "content.shape"),
    ("result whose content is text", {"toolResult": {"toolUseId": "t", "content": "x"}}, "content.shape"),
    ("block that is text", "hi", "content.shape"),
    ("image without source", {"image": {}}, "content.shape"),
    ("reasoning that is text", {"reasoningContent": "x"}, "content.shape"),
]


@pytest.mark.parametrize(("block", "slug"), [o[1:] for o in ODD], ids=[o[0] for o in ODD])
def test_what_is_odd_is_kept_and_noted(block, slug):
    result = request(block)
    assert [a.slug for a in result.anomalies] == [slug]
    data = body({"messages": [{"role": "user", "content": [block]}]})
    assert adapter.encode_request(adapter.decode_request(data), data) == data


def test_tools_choice_system_and_params():
    tool = {"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": {"type": "object"}}, "strict": True}}
    result = request(
        {"text": "hi"},
        system=[{"text": "be"}, {"cachePoint": {"type": "default"}}],
        toolConfig={
            "tools": [{"cachePoint": {"type": "default"}}, tool, {"systemTool": {"name": "nova"}}],
            "toolChoice": {"tool": {"name": "f"}},
            "other": 1,
        },
        inferenceConfig={"maxTokens": 5, "stopSequences": ["x"], "odd": 1},
        additionalModelRequestFields={"thinking": {"type": "enabled", "budget_tokens": 1024}, "top_k": 3},
    )
    assert result.system == (Text("be"), Opaque("cachePoint", {"cachePoint": {"type": "default"}}))
    assert result.tools == (
        ToolDef("f", "d", {"type": "object"}, strict=True),
        ToolDef("nova", None, None, kind="server"),
    )
    assert [tool.pointer for tool in result.tools] == ["/toolConfig/tools/1", "/toolConfig/tools/2"]
    assert (result.tool_choice, result.thinking) == (ToolChoice("tool", "f"), "on")
    assert {(p.name or p.pointer, str(p.value)) for p in adapter.params(result)} == {
        ("max_tokens", "5"),
        ("stop", "['x']"),
        ("/inferenceConfig/odd", "1"),
        ("thinking_budget", "1024"),
        ("top_k", "3"),
        ("/toolConfig/other", "1"),
        ("/toolConfig/tools/0", "{'cachePoint': {'type': 'default'}}"),
    }


@pytest.mark.parametrize("value", [{"none": {}}, "auto", {"auto": None}, []], ids=repr)
def test_choices_that_are_none(value):
    result = request({"text": "x"}, toolConfig={"toolChoice": value})
    assert (result.tool_choice and result.tool_choice.mode, [a.slug for a in result.anomalies]) == (
        "other",
        ["choice.unsupported"],
    )


@pytest.mark.parametrize(
    ("url", "facts"),
    [
        (URL, UrlFacts("us.anthropic.claude-x-v1:0", False)),
        (URL + "-stream?x=1", UrlFacts("us.anthropic.claude-x-v1:0", True)),
        ("/model/arn%3Aaws%3Abedrock%2Fx/converse", UrlFacts("arn:aws:bedrock/x", False)),
        ("/v1/converse", UrlFacts()),
    ],
)
def test_urls(url, facts):
    assert adapter.read_url(url) == facts
    assert adapter.claims_url(url) is (facts != UrlFacts())


def test_invoke_s_url_names_the_model_for_bodies_of_converse_and_claims_nothing():
    assert (adapter.read_url("/model/a/invoke"), adapter.claims_url("/model/a/invoke")) == (UrlFacts("a", False), False)


@pytest.mark.parametrize("value", [[], {}, "x", None], ids=repr)
def test_what_is_no_request(value):
    with pytest.raises(ProtocolMismatch):
        adapter.decode_request(body(value))


# -- answers

ANSWER: dict[str, Any] = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "sig"}}},
                {"text": "ok"},
                {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": "ä"}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {
        "inputTokens": 1,
        "outputTokens": 2,
        "totalTokens": 10,
        "cacheReadInputTokens": 3,
        "cacheWriteInputTokens": 4,
    },
    "metrics": {"latencyMs": 5},
}  # fmt: skip
PARTS = (Reasoning(BLOCK, "hm", "sig"), Text("ok"), ToolCallIR("t1", "f", {"a": "ä"}, "bedrock"))


def test_an_answer():
    result = adapter.decode_response(body(ANSWER))
    assert result.messages == (Message("assistant", PARTS),)
    assert (result.finish_reason, result.stop) == ("tool_use", "tool_calls")
    assert result.usage == Usage(1, 2, 3, 4, raw=ANSWER["usage"])
    assert result.params == {"metrics": {"latencyMs": 5}}
    assert result.anomalies == ()
    assert result.messages[0].absolute(result.messages[0].parts[1], "text") == "/output/message/content/1/text"


@pytest.mark.parametrize(("reason", "contents"), [("end_turn", PARTS[2:]), ("tool_use", PARTS[:2])])
def test_stop_reasons_that_contradict(reason, contents):
    said = ANSWER["output"]["message"]["content"]
    content = said[2:] if contents == PARTS[2:] else said[:2]
    result = adapter.decode_response(
        body({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": reason})
    )
    assert [(a.slug, a.pointer) for a in result.anomalies] == [("stream.finish-reason", "/stopReason")]


@pytest.mark.parametrize(
    ("data", "status", "message"),
    [
        (b'{"message":"no model"}', 400, "no model"),
        (b'{"Message":"denied"}', 403, "denied"),
        (b"<html><title>Bad Gateway</title>", 502, "Bad Gateway"),
        (b"{}", 500, "{}"),
    ],
)
def test_errors(data, status, message):
    result = adapter.decode_response(data, status=status)
    assert result.error
    assert result.error.message == message
    assert result.messages == ()


@pytest.mark.parametrize(("data", "error"), [(b"{", WireError), (b"{}", ProtocolMismatch), (b"[]", ProtocolMismatch)])
def test_what_is_no_answer(data, error):
    with pytest.raises(error):
        adapter.decode_response(data)


# -- streams

EVENTS: list[tuple[str, Any]] = [
    ("messageStart", {"role": "assistant", "p": "abc"}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "h"}}}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "m"}}}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"signature": "sig"}}}),
    ("contentBlockStop", {"contentBlockIndex": 0}),
    ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"text": "o"}}),
    ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"text": "k"}}),
    ("contentBlockStop", {"contentBlockIndex": 1}),
    ("contentBlockStart", {"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "t1", "name": "f"}}}),
    ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"toolUse": {"input": '{"a": '}}}),
    ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"toolUse": {"input": '"ä"}'}}}),
    ("contentBlockStop", {"contentBlockIndex": 2}),
    ("messageStop", {"stopReason": "tool_use"}),
    ("metadata", {"usage": ANSWER["usage"], "metrics": {"latencyMs": 5}, "p": "x"}),
]
RAW = '{"a": "ä"}'
UNFRAMED = b"".join(b"data: %s\n\n" % dumps({name: value}) for name, value in EVENTS)


@pytest.mark.parametrize("data", [stream(*EVENTS), UNFRAMED], ids=["frames", "without frames"])
def test_a_stream_says_what_the_answer_says(data):
    result = play(data)
    assert result.messages == (Message("assistant", (*PARTS[:2], replace(PARTS[2], raw=RAW))),)
    whole = adapter.decode_response(body(ANSWER))
    same = ("finish_reason", "stop", "usage", "params", "anomalies", "error", "is_complete")
    assert [getattr(result, name) for name in same] == [getattr(whole, name) for name in same]
    assert result.is_stream
    assert result.finish_events == (12,)
    call = result.messages[0].parts[2]
    assert [s.event for s in call.source.segments["raw"]] == [9, 10]
    assert call.source.segments["id"][0].event == 8


@pytest.mark.parametrize("data", [stream(*EVENTS), UNFRAMED], ids=["frames", "without frames"])
def test_segments_lead_to_the_bytes(data):
    events, result = read_stream(data).events, play(data)
    for part in result.messages[0].parts:
        for name, segments in part.source.segments.items():
            spans = [events[s.event].span(s.pointer) for s in segments]
            assert all(spans)
            value = "".join(json.loads(data[slice(*span)]) for span in spans if span)
            assert value == (part.raw if name == "input" else getattr(part, name))


def test_every_prefix_is_decoded_and_grows():
    decoder, lengths = adapter.stream_decoder(), []
    for event in read_stream(stream(*EVENTS)).events:
        decoder.feed(event)
        branch = copy.deepcopy(decoder)
        assert branch.result() == decoder.result()
        lengths.append(len(str(decoder.result().messages)))
    assert lengths[0] < lengths[-1]
    data = stream(*EVENTS)
    for cut in range(0, len(data), 97):
        result = play(data[:cut]) if read_stream(data[:cut]).events else None
        assert result is None or not result.is_complete or cut > len(stream(*EVENTS[:12]))


FAULTY = [
    ("no messageStop", EVENTS[:5], ["stream.no-terminator"]),
    ("inside a block", EVENTS[:3], ["stream.truncated"]),
    ("no stop of a block", [*EVENTS[:4], *EVENTS[12:13]], ["stream.block-order", "stream.finish-reason"]),
    ("two beginnings", [*EVENTS[:1], *EVENTS], ["stream.block-order"]),
    ("a delta of another type", [*EVENTS[:2], ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "x"}})],
     ["stream.truncated", "stream.block-order"]),
    ("no index", [*EVENTS[:1], ("contentBlockDelta", {"delta": {"text": "x"}})], ["stream.index", "stream.truncated"]),
    ("no delta", [*EVENTS[:1], ("contentBlockDelta", {"contentBlockIndex": 0})],
     ["stream.no-terminator", "content.shape"]),
    ("an exception", [*EVENTS[:3], ("throttlingException", {"message": "slow"})], ["stream.error-event"]),
    ("a wrapped exception", [("", {"throttlingException": {"message": "slow"}})], ["stream.error-event"]),
]  # fmt: skip


@pytest.mark.parametrize(("events", "slugs"), [f[1:] for f in FAULTY], ids=[f[0] for f in FAULTY])
def test_faulty_streams(events, slugs):
    result = play(stream(*events))
    assert sorted(a.slug for a in result.anomalies) == sorted(slugs)
    if slugs == ["stream.error-event"]:
        assert result.error
        assert (result.error.message, result.error.type) == ("slow", "throttlingException")


def test_hostile_events():
    values = [None, 1, "x", [], [1], {"delta": 1}, {"delta": {"toolUse": []}}, {"start": {"toolUse": 1}}, {"role": 1}]
    for name in ("messageStart", "contentBlockStart", "contentBlockDelta", "messageStop", "metadata", "odd", ""):
        result = play(stream(*((name, value) for value in values)) + aws_message(name, b"{"))
        assert result.protocol == "bedrock-converse"


# -- edits

EDITS = [
    ("text", 1, {"text": "okay"}),
    ("reasoning", 0, {"text": "hmm", "signature": "other"}),
    ("input", 2, {"input": {"a": "b"}}),
    ("name", 2, {"name": "g"}),
]


@pytest.mark.parametrize(("number", "change"), [e[1:] for e in EDITS], ids=[e[0] for e in EDITS])
@pytest.mark.parametrize("data", [body(ANSWER), stream(*EVENTS)], ids=["whole", "stream"])
def test_edits_of_answers(data, number, change):
    before = adapter.decode_response(data) if data.startswith(b"{") else play(data)
    (message,) = before.messages
    parts = list(message.parts)
    parts[number] = replace(parts[number], **change)
    edited = replace(before, messages=(replace(message, parts=tuple(parts)),))
    written = adapter.encode_response(edited, data)
    after = adapter.decode_response(written) if data.startswith(b"{") else play(written)
    got = after.messages[0].parts
    assert [p for n, p in enumerate(got) if n != number] == [p for n, p in enumerate(message.parts) if n != number]
    assert all(getattr(got[number], name) == value for name, value in change.items())
    assert read_stream(written).faults == ()
    assert adapter.encode_response(before, data) == data


def test_edits_of_requests():
    data = body(
        {
            "messages": [
                {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [], "status": "success"}}]}
            ],
            "toolConfig": {"tools": [{"cachePoint": {"type": "default"}}, {"toolSpec": {"name": "f"}}]},
        }
    )
    before = replace(adapter.decode_request(data), model="m", stream=True)  # of the URL
    (message,) = before.messages
    failed = replace(message.parts[0], is_error=True)
    tool = replace(before.tools[0], name="g")
    edited = replace(before, messages=(replace(message, parts=(failed,)),), tools=(tool,))
    assert adapter.encode_request(edited, data) == data.replace(b'"success"', b'"error"').replace(b'"f"', b'"g"')
    with pytest.raises(LocalProtocolError):
        adapter.encode_request(replace(before, tool_choice=ToolChoice("auto")), data)


# -- written anew

NORMAL = ModelRequest(
    "bedrock-converse",
    "m:0",
    (
        Message(
            "user", (Text("look"), Media("image", "image/png", "aGk="), Media("document", "application/pdf", "aGk="))
        ),
        Message("assistant", (Reasoning(BLOCK, "r", "s"), Text("x"), ToolCallIR("t1", "f", {"a": 1}, "function"))),
        Message("tool", (ToolResultIR("t1", (Text("no"),), is_error=True),)),
        Message("user", (Text("again"),)),
        Message("assistant", (Reasoning(BLOCK, None, None, "e30="),)),
    ),
    system=(Text("be"),),
    tools=(ToolDef("f", "d", {"type": "object"}, strict=True),),
    tool_choice=ToolChoice("tool", "f"),
    thinking="on",
    params={
        "max_tokens": 9,
        "stop": ["x"],
        "top_k": 3,
        "thinking_budget": 1024,
        "service_tier": "flex",
        "response_schema": {"schema": {"type": "object"}, "name": "n"},
    },
)  # fmt: skip


def test_a_request_written_anew_says_the_same():
    result = adapter.decode_request(dumps(adapter.write_request(NORMAL)))
    assert result.anomalies == ()
    assert (result.system, result.tools, result.tool_choice, result.thinking) == (
        NORMAL.system,
        NORMAL.tools,
        NORMAL.tool_choice,
        NORMAL.thinking,
    )
    assert {p.name: p.value for p in adapter.params(result)} == dict(NORMAL.params)
    assert [m.role for m in result.messages] == ["user", "assistant", "user", "assistant"]
    assert result.messages[2].parts == (NORMAL.messages[2].parts[0], Text("again"))
    assert result.messages[1].parts[:2] == NORMAL.messages[1].parts[:2]
    assert adapter.path(NORMAL) == "/model/m%3A0/converse"
    assert adapter.read_url(adapter.path(replace(NORMAL, stream=True))) == UrlFacts("m:0", True)


def test_botocore_takes_what_is_written():
    validate, model = pytest.importorskip("botocore.validate"), _service_model()
    written: dict[str, Any] = dict(adapter.write_request(NORMAL))
    shape = model.operation_model("Converse").input_shape
    report = validate.ParamValidator().validate({"modelId": "m", **written}, shape)
    assert not report.has_errors(), report.generate_report()


NEW = ModelResponse(
    "bedrock-converse",
    messages=(Message("assistant", PARTS),),
    stop="tool_calls",
    usage=Usage(1, 2, 3, 4),
)


def test_answers_written_anew_say_the_same():
    whole = adapter.decode_response(dumps(adapter.write_response(NEW)))
    streamed = play(adapter.write_stream(NEW))
    for result in (whole, streamed):
        assert [replace(p, raw=None) if isinstance(p, ToolCallIR) else p for p in result.messages[0].parts] == list(
            PARTS
        )
        assert (result.stop, result.is_complete, result.anomalies) == ("tool_calls", True, ())
        assert result.usage == Usage(1, 2, 3, 4, raw=result.usage.raw if result.usage else {})
    assert read_stream(adapter.write_stream(NEW)).faults == ()


@pytest.mark.parametrize(("kind", "written"), [("throttlingException",) * 2, ("odd", "internalServerException")])
def test_errors_written_anew(kind, written):
    failed = ModelResponse("bedrock-converse", error=ApiError("slow", type=kind))
    assert adapter.write_response(failed) == {"message": "slow"}
    error = play(adapter.write_stream(failed)).error
    assert error
    assert (error.message, error.type) == ("slow", written)


def test_botocore_reads_the_same_stream():
    eventstream = pytest.importorskip("botocore.eventstream")
    parsers = pytest.importorskip("botocore.parsers")
    shape = _service_model().operation_model("ConverseStream").output_shape.members["stream"]
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(adapter.write_stream(NEW))
    parser = parsers.EventStreamJSONParser()
    texts, names = "", []
    for message in buffer:
        parsed = parser.parse(message.to_response_dict(), shape)
        names.append(next(iter(parsed)))
        texts += parsed.get("contentBlockDelta", {}).get("delta", {}).get("text", "")
    assert texts == "ok"
    assert (names[0], names[-2:]) == ("messageStart", ["messageStop", "metadata"])


def _service_model() -> Any:
    loaders, models = pytest.importorskip("botocore.loaders"), pytest.importorskip("botocore.model")
    description = loaders.Loader().load_service_model("bedrock-runtime", "service-2")
    return models.ServiceModel(description)


NAMES = st.sampled_from(
    [
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
        "xException",
    ]
)
CITATION = {"title": "T", "location": {"web": {"url": "https://a.example", "domain": "a.example"}}}


def cited(*citations: object, text: str = "") -> bytes:
    """A stream whose first block holds these citations, and its text if it has one."""
    deltas = [{"text": text}] if text else []
    return stream(
        ("messageStart", {"role": "assistant"}),
        *(
            ("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta})
            for delta in (*deltas, *({"citation": citation} for citation in citations))
        ),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": "end_turn"}),
    )


@pytest.mark.parametrize("text", ["", "See there."])
def test_citations_of_a_stream_have_a_place(text):
    data = cited(CITATION, CITATION | {"title": "U"}, text=text)
    found = check_places(data, "response", adapter.name)
    (message,) = found.said.messages
    assert [type(part) for part in message.parts] == [*([Text] if text else []), Opaque, Opaque]
    for n, title in enumerate("TU"):
        place = found.decoded.place("response", f"/content/0/deltas/{n}/citation/location/web/url")
        assert place.events == (n + 1 + bool(text),)
        (span,) = place.spans
        value = json.loads(data[slice(*span)])
        assert value == {"citation": CITATION | {"title": title}}
    unframed = b"".join(
        b"data: %s\n\n" % dumps({event.name: json.loads(event.data)}) for event in read_stream(data).events
    )
    check(unframed, "response", adapter.name)


def test_a_delta_of_several_keys_is_one():
    (message,) = play(cited(CITATION)).messages
    assert [part.value for part in message.parts] == [{"citation": CITATION}]


KEYS = st.sampled_from(
    [
        *("role", "contentBlockIndex", "start", "delta", "stopReason", "usage", "p", "text", "toolUse", "toolResult"),
        *("reasoningContent", "input", "toolUseId", "name", "content", "json", "status", "type", "signature", "error"),
        *("reasoningText", "redactedContent", "image", "source", "bytes", "format", "messages", "system", "toolConfig"),
        *(
            "tools",
            "toolSpec",
            "toolChoice",
            "auto",
            "cachePoint",
            "inferenceConfig",
            "output",
            "message",
            "s3Location",
        ),
    ]
)
ODD_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(["", "x", "{", '{"a":1}', "user", "success"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=14,
)


@given(st.lists(st.tuples(NAMES, ODD_VALUES), max_size=6))
def test_no_stream_crashes(events):
    data = stream(*events)
    result = play(data)
    assert adapter.encode_response(result, data) == data if data else True
    for message in result.messages:
        assert list(leaves(message)) is not None


@given(st.dictionaries(KEYS, ODD_VALUES, max_size=5), ODD_VALUES)
def test_no_body_crashes(value, content):
    for given_body in (value | {"messages": [{"role": "user", "content": content}]}, value):
        data = body(given_body)
        try:
            result = adapter.decode_request(data)
            assert adapter.encode_request(result, data) == data
            assert adapter.params(result) is not None
        except ProtocolMismatch:
            pass
    for given_body in (value, {"output": {"message": {"content": content}}, **value}):
        data = body(given_body)
        try:
            answer = adapter.decode_response(data, status=400)
            assert adapter.encode_response(answer, data) == data
        except ProtocolMismatch:
            pass
