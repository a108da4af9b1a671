"""The Chat Completions adapter against fixtures, recordings of others, the laws of leaves and hostile input."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests.protocols import chat_bodies as bodies
from tests.protocols import laws
from tests.thinning import Thin
from workbench import protocols
from workbench.errors import LocalProtocolError, ProtocolMismatch, WireError
from workbench.formats.importers import open_input
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
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols.decode import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.openai_chat import adapter
from workbench.wire.session import exchanges_of
from workbench.wire.sse import read_events

FIXTURES = Path(__file__).resolve().parent.parent / "data" / "openai_chat"
NAME = adapter.name
Json = dict[str, Any]


def request(*messages: Any, **more: Any) -> ModelRequest:
    return adapter.decode_request(bodies.dump({"model": "m", "messages": list(messages), **more}))


def read(message: Any) -> Message:
    return request(message).messages[0]


def said(**message: Any) -> Message:
    """A message of the assistant."""
    return read({"role": "assistant", **message})


def answer(*choices: Any, status: int = 200, **more: Any) -> ModelResponse:
    return adapter.decode_response(
        bodies.dump({"id": "c1", "model": "m", "choices": list(choices), **more}), status=status
    )


def function(arguments: Any, **more: Any) -> Json:
    return {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}, **more}


# -- messages


def carried(carrier: Carrier, text: str | None, *rest: Any, **more: Any) -> Reasoning:
    return Reasoning(carrier, text, *rest, **more)


TEXT_EXTRA = {"cache_control": {"type": "ephemeral"}}
MESSAGES: list[tuple[str, Json, tuple[Part, ...], Json]] = [
    ("text", {"role": "user", "content": "a"}, (Text("a"),), {}),
    ("empty text", {"role": "assistant", "content": ""}, (Text(""),), {}),
    ("null is told from absent", {"role": "assistant", "content": None}, (), {"content": None}),
    ("absent content", {"role": "assistant"}, (), {}),
    ("name", {"role": "user", "content": "a", "name": "ada"}, (Text("a"),), {"name": "ada"}),
    (
        "parts",
        {"role": "user", "content": [{"type": "text", "text": "a", **TEXT_EXTRA}, {"type": "new", "x": 1}]},
        (Text("a", TEXT_EXTRA), Opaque("new", {"type": "new", "x": 1})),
        {},
    ),
    (
        "image",
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA", "detail": "low"}}],
        },
        (Media("image", "image/png", url="data:image/png;base64,AA", extra={"image_url": {"detail": "low"}}),),
        {},
    ),
    (
        "image by bare URL",
        {"role": "user", "content": [{"type": "image_url", "image_url": "https://a.example"}]},
        (Media("image", url="https://a.example"),),
        {},
    ),
    (
        "sound",
        {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}]},
        (Media("audio", "audio/wav", "AA", extra={"input_audio": {"format": "wav"}}),),
        {},
    ),
    (
        "sound as Mistral takes it",
        {"role": "user", "content": [{"type": "input_audio", "input_audio": "AA"}]},
        (Media("audio", None, "AA"),),
        {},
    ),
    (
        "sound by its URL",
        {"role": "user", "content": [{"type": "input_audio", "input_audio": "https://a.example/s.mp3"}]},
        (Media("audio", None, url="https://a.example/s.mp3"),),
        {},
    ),
    (
        "files",
        {
            "role": "user",
            "content": [
                {"type": "file", "file": {"file_id": "f"}},
                {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA", "filename": "a.pdf"}},
            ],
        },
        (
            Media("file", file_id="f"),
            Media(
                "file", "application/pdf", url="data:application/pdf;base64,AA", extra={"file": {"filename": "a.pdf"}}
            ),
        ),
        {},
    ),
    ("refusal", {"role": "assistant", "content": None, "refusal": "no"}, (Opaque("refusal", "no"),), {"content": None}),
    (
        "sound of the model",
        {"role": "assistant", "audio": {"id": "a", "data": "AA", "transcript": "hi"}},
        (Media("audio", None, "AA", file_id="a", extra={"transcript": "hi"}),),
        {},
    ),
    (
        "a call",
        {"role": "assistant", "tool_calls": [function('{"a": 1}')]},
        (ToolCallIR("c", "f", {"a": 1}, "openai", '{"a": 1}'),),
        {},
    ),
    (
        "a call without id and type, with more",
        {"role": "assistant", "tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}", "x": 1}}]},
        (ToolCallIR(None, "f", {}, "openai", "{}", extra={"index": 0, "function": {"x": 1}}),),
        {},
    ),
    (
        "an empty id",
        {"role": "assistant", "tool_calls": [function("{}", id="")]},
        (ToolCallIR("", "f", {}, "openai", "{}"),),
        {},
    ),
    (
        "a custom call",
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}],
        },
        (ToolCallIR("c", "sql", "select 1", "openai-custom"),),
        {},
    ),
    (
        "a call of the future",
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "new"}]},
        (Opaque("new", {"id": "c", "type": "new"}),),
        {},
    ),
    (
        "the deprecated call",
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "[1]"}},
        (ToolCallIR(None, "f", [1], "openai-function-call", "[1]"),),
        {"content": None},
    ),
    ("a result", {"role": "tool", "tool_call_id": "c", "content": "r"}, (ToolResultIR("c", (Text("r"),)),), {}),
    (
        "a result of parts, with more",
        {"role": "tool", "tool_call_id": "c", "name": "f", "content": [{"type": "text", "text": "r"}], "x": 1},
        (ToolResultIR("c", (Text("r"),), name="f"),),
        {"x": 1},
    ),
    ("a result without id", {"role": "tool", "content": ""}, (ToolResultIR(None, (Text(""),)),), {}),
    (
        "a deprecated result",
        {"role": "function", "name": "f", "content": "r"},
        (ToolResultIR(None, (Text("r"),), name="f"),),
        {},
    ),
    (
        "a result in a message of the user",
        {"role": "user", "tool_call_id": "c", "content": "r"},
        (ToolResultIR("c", (Text("r"),)),),
        {},
    ),
    (
        "reasoning, text and call in this order",
        {"tool_calls": [function("{}")], "content": "a", "reasoning_content": "r", "role": "assistant"},
        (carried(Carrier.REASONING_CONTENT, "r"), Text("a"), ToolCallIR("c", "f", {}, "openai", "{}")),
        {},
    ),
    (
        "empty reasoning is there",
        {"role": "assistant", "content": "a", "reasoning_content": ""},
        (carried(Carrier.REASONING_CONTENT, ""), Text("a")),
        {},
    ),
    (
        "null reasoning is not",
        {"role": "assistant", "content": "a", "reasoning_content": None, "reasoning": None, "reasoning_details": []},
        (Text("a"),),
        {"reasoning_content": None, "reasoning": None, "reasoning_details": []},
    ),
    (
        "two carriers",
        {
            "role": "assistant",
            "reasoning": "r",
            "reasoning_details": [
                {"type": "reasoning.text", "text": "r", "signature": "s", "index": 0},
                {"type": "reasoning.summary", "summary": "short"},
                {"type": "reasoning.encrypted", "data": "x", "id": "rs_1"},
            ],
        },
        (
            carried(Carrier.REASONING, "r"),
            carried(Carrier.REASONING_DETAILS, "r", "s", extra={"type": "reasoning.text", "index": 0}),
            carried(Carrier.REASONING_DETAILS, "short", extra={"type": "reasoning.summary"}),
            carried(Carrier.REASONING_DETAILS, None, None, "x", extra={"type": "reasoning.encrypted", "id": "rs_1"}),
        ),
        {},
    ),
    (
        "reasoning in the text",
        {"role": "assistant", "content": "<think>\nr</think>\n\na"},
        (carried(Carrier.THINK_TEXT, "\nr"), Text("\n\na")),
        {},
    ),
    ("tags of the user are text", {"role": "user", "content": "<think>r</think>a"}, (Text("<think>r</think>a"),), {}),
    (
        "reasoning as content part",
        {
            "role": "assistant",
            "content": [
                {
                    "type": "thinking",
                    "thinking": [{"type": "text", "text": "r"}, {"type": "text", "text": "s"}],
                    "closed": True,
                },
                {"type": "text", "text": "<think>t</think>a"},
            ],
        },
        (
            carried(Carrier.THINKING_CHUNK, "r", extra={"closed": True}),
            carried(Carrier.THINKING_CHUNK, "s"),
            carried(Carrier.THINK_TEXT, "t"),
            Text("a"),
        ),
        {},
    ),
]


@pytest.mark.parametrize(("message", "parts", "extra"), [m[1:] for m in MESSAGES], ids=[m[0] for m in MESSAGES])
def test_messages(message: Json, parts: tuple[Part, ...], extra: Json) -> None:
    result = request(message)
    assert result.messages == (Message(message["role"], parts, extra),)
    assert not result.anomalies
    laws.check(bodies.dump({"messages": [message]}), REQUEST, NAME)


WRONG: list[tuple[str, Any, str, str]] = [
    ("no object", "hello", "content.shape", ""),
    ("no role", {"content": "a"}, "content.shape", ""),
    ("role is a number", {"role": 3, "content": "a"}, "content.shape", "/role"),
    ("content is a number", {"role": "user", "content": 3}, "content.shape", "/content"),
    ("content is an object", {"role": "user", "content": {"type": "text", "text": "a"}}, "content.shape", "/content"),
    ("no content", {"role": "user"}, "content.shape", ""),
    ("null content of a result", {"role": "tool", "tool_call_id": "c", "content": None}, "content.empty", "/content"),
    ("part is a string", {"role": "user", "content": ["a"]}, "content.shape", "/content/0"),
    ("part without type", {"role": "user", "content": [{"text": "a"}]}, "content.shape", "/content/0"),
    ("text part without text", {"role": "user", "content": [{"type": "text"}]}, "content.shape", "/content/0"),
    ("image without URL", {"role": "user", "content": [{"type": "image_url"}]}, "content.shape", "/content/0"),
    ("reasoning is a list", {"role": "assistant", "reasoning_content": ["a"]}, "content.shape", "/reasoning_content"),
    ("details are text", {"role": "assistant", "reasoning_details": "a"}, "content.shape", "/reasoning_details"),
    ("a detail is text", {"role": "assistant", "reasoning_details": ["a"]}, "content.shape", "/reasoning_details/0"),
    ("calls are an object", {"role": "assistant", "tool_calls": {"id": "c"}}, "content.shape", "/tool_calls"),
    ("a call is text", {"role": "assistant", "tool_calls": ["f()"]}, "content.shape", "/tool_calls/0"),
    ("a flat call", {"role": "assistant", "tool_calls": [{"id": "c", "name": "f"}]}, "content.shape", "/tool_calls/0"),
    (
        "id is a number",
        {"role": "assistant", "tool_calls": [function("{}", id=7)]},
        "content.shape",
        "/tool_calls/0/id",
    ),
    ("deprecated call is text", {"role": "assistant", "function_call": "f"}, "content.shape", "/function_call"),
    (
        "arguments are an object",
        {"role": "assistant", "tool_calls": [function({"a": 1})]},
        "args.not-object",
        "/tool_calls/0/function/arguments",
    ),
    (
        "arguments are null",
        {"role": "assistant", "tool_calls": [function(None)]},
        "args.empty",
        "/tool_calls/0/function/arguments",
    ),
]


@pytest.mark.parametrize(("message", "slug", "pointer"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_wrong_messages_are_kept_and_noted(message: Any, slug: str, pointer: str) -> None:
    result = request({"role": "user", "content": "x"}, message)
    assert [(a.slug, a.pointer) for a in result.anomalies] == [(slug, f"/messages/1{pointer}")]
    assert not result.anomalies[0].message.endswith(".")
    laws.check(bodies.dump({"messages": [message]}), REQUEST, NAME)


@pytest.mark.parametrize(
    ("raw", "value", "error"),
    [
        ('{"a": [1.0, null]}', {"a": [1.0, None]}, None),
        ("", None, "the argument text is empty"),
        ("  ", None, "the argument text is empty"),
        ('{"a": 1}{"a": 1}', None, "not JSON"),
        ('{"a": ', None, "not JSON"),
        ('"{}"', "{}", None),
        ("null", None, None),
        ("[" * 100_000, None, "nested deeper"),
    ],
)
def test_arguments(raw: str, value: Any, error: str | None) -> None:
    (call,) = said(tool_calls=[function(raw)]).parts
    assert isinstance(call, ToolCallIR)
    assert (call.raw, call.input) == (raw, value)
    assert (call.error is None) if error is None else (error in (call.error or ""))


def test_argument_objects_are_exact() -> None:
    (call,) = said(tool_calls=[function({"a": 1})]).parts
    assert call == ToolCallIR("c", "f", {"a": 1}, "openai", None)


def test_sources() -> None:
    message = said(content="<think>r</think>a", tool_calls=[function('{"p": {"q": 1}}')])
    thought, text, call = message.parts
    assert (thought.source.pointer, thought.source.slices) == ("/content", {"text": (7, 8)})
    assert (text.source.pointer, text.source.slices) == ("/content", {"text": (16, 17)})
    assert call.source.fields == {
        "id": "/id",
        "name": "/function/name",
        "raw": "/function/arguments",
        "input": "/function/arguments",
    }
    assert message.absolute(call, "input") == "/messages/0/tool_calls/0/function/arguments"


# -- requests


TOOLS: list[tuple[Any, ToolDef, bool]] = [
    (
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}, "strict": True}},
        ToolDef("f", "d", {}, strict=True),
        False,
    ),
    (
        {"type": "function", "function": {"name": "f", "x": 1}},
        ToolDef("f", None, None, extra={"function": {"x": 1}}),
        False,
    ),
    (
        {"type": "custom", "custom": {"name": "sql", "format": {"type": "text"}}},
        ToolDef("sql", None, None, "custom", extra={"custom": {"format": {"type": "text"}}}),
        False,
    ),
    (
        {"type": "web_search", "name": "w"},
        ToolDef("w", None, None, "server", extra={"type": "web_search", "name": "w"}),
        False,
    ),
    (
        {"type": "function", "name": "f", "parameters": {}},
        ToolDef("f", None, None, extra={"type": "function", "name": "f", "parameters": {}}),
        True,
    ),
    ({"name": "f", "input_schema": {}}, ToolDef("f", None, None, extra={"name": "f", "input_schema": {}}), True),
    (["f"], ToolDef(None, None, None, extra={"value": ["f"]}), True),
]


@pytest.mark.parametrize(("tool", "expected", "is_wrong"), TOOLS)
def test_tools(tool: Any, expected: ToolDef, is_wrong: bool) -> None:
    result = request(tools=[tool])
    assert result.tools == (expected,)
    assert result.tools[0].pointer == "/tools/0"
    assert [(a.slug, a.pointer) for a in result.anomalies] == ([("schema.malformed", "/tools/0")] if is_wrong else [])


def test_deprecated_functions() -> None:
    result = request(functions=[{"name": "f", "parameters": {"type": "object"}}], function_call={"name": "f"})
    assert result.tools == (ToolDef("f", None, {"type": "object"}),)
    assert result.tools[0].pointer == "/functions/0"
    assert result.tool_choice == ToolChoice("tool", "f")
    assert not result.params.keys() & {"functions", "function_call"}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("any")),
        ("any", ToolChoice("any")),
        ({"type": "function", "function": {"name": "f"}}, ToolChoice("tool", "f")),
        ({"type": "custom", "custom": {"name": "f"}}, ToolChoice("tool", "f")),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, ToolChoice("other")),
    ],
)
def test_tool_choice(choice: Any, expected: ToolChoice) -> None:
    result = request(tool_choice=choice)
    assert result.tool_choice == expected
    assert result.tool_choice and result.tool_choice.value == choice
    assert not result.anomalies


@pytest.mark.parametrize("choice", ["maybe", 7, {"type": "function"}, {"type": ["x"]}, {"type": "tool", "function": 3}])
def test_foreign_tool_choice(choice: Any) -> None:
    result = request(tool_choice=choice)
    assert result.tool_choice == ToolChoice("other")
    assert [a.slug for a in result.anomalies] == ["choice.unsupported"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, None),
        ({"thinking": {"type": "enabled"}}, "on"),
        ({"thinking": {"type": "disabled"}, "reasoning_effort": "high"}, "off"),
        ({"thinking": {"type": "adaptive"}}, "adaptive"),
        ({"thinking": "on"}, None),
        ({"enable_thinking": True}, "on"),
        ({"chat_template_kwargs": {"enable_thinking": False}}, "off"),
        ({"chat_template_kwargs": {"thinking": True}}, "on"),
        ({"reasoning": {"enabled": False}}, "off"),
        ({"reasoning": {"max_tokens": 100}}, "on"),
        ({"reasoning": {"effort": "none"}}, "off"),
        ({"reasoning_effort": "none"}, "off"),
        ({"reasoning_effort": "minimal"}, "on"),
        ({"reasoning_effort": None}, None),
    ],
)
def test_thinking(body: Json, expected: str | None) -> None:
    result = request(**body)
    assert result.thinking == expected
    assert result.params == body


def test_the_keys_of_a_request() -> None:
    result = request({"role": "user", "content": "a"}, stream=True, parallel_tool_calls=False, stop=["x"], tools=None)
    assert (result.protocol, result.model, result.stream, result.parallel) == ("openai-chat", "m", True, False)
    assert result.params == {"stop": ["x"], "tools": None}
    assert (result.system, result.previous_id) == ((), None)


@pytest.mark.parametrize("body", [b"[]", b"3", b'"x"', b"{}", b'{"prompt": "x"}'])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolMismatch):
        adapter.decode_request(body)


def test_edits_beside_the_messages() -> None:
    body = (
        b'{"model": "m", "temperature": 0.50, "messages": [{"role": "user", "content": "a"}], "stream": false,'
        b' "tools": [{"type": "function", "function": {"name": "f", "parameters": {"x": 1}}}, {"type": "new"}],'
        b' "tool_choice": {"type": "function", "function": {"name": "f"}}, "parallel_tool_calls": true}'
    )
    before = adapter.decode_request(body)
    assert before.tool_choice
    after = replace(
        before,
        model="n",
        params={"temperature": 1},
        messages=(replace(before.messages[0], role="system"),),
        tools=(replace(before.tools[0], schema={"x": 2}), before.tools[1]),
        tool_choice=replace(before.tool_choice, name="g"),
        parallel=False,
    )
    expected = (
        body.replace(b'"m"', b'"n"')
        .replace(b"0.50", b"1")
        .replace(b'"user"', b'"system"')
        .replace(b'"x": 1', b'"x": 2')
    )
    expected = expected.replace(b'"name": "f"}}, "p', b'"name": "g"}}, "p').replace(b"true", b"false")
    assert adapter.encode_request(after, body) == expected


@pytest.mark.parametrize(
    ("choice", "edited", "expected"),
    [
        (b'"auto"', ToolChoice("any"), b'"required"'),
        (b'"any"', ToolChoice("any", value="any"), b'"any"'),
        (b'"none"', ToolChoice("tool", "f"), b'{"type":"function","function":{"name":"f"}}'),
        (b'{"name": "f"}', ToolChoice("tool", "g", {"name": "f"}), b'{"name": "g"}'),
        (b'"new"', ToolChoice("other", value="newer"), b'"newer"'),
    ],
)
def test_edits_of_the_tool_choice(choice: bytes, edited: ToolChoice, expected: bytes) -> None:
    body = b'{"messages": [], "tool_choice": %s}' % choice
    before = adapter.decode_request(body)
    assert adapter.encode_request(replace(before, tool_choice=edited), body) == body.replace(choice, expected)


@pytest.mark.parametrize("change", [{"stream": True}, {"thinking": "on"}, {"tools": (ToolDef("f", None, None),)}])
def test_edits_that_have_no_place_are_refused(change: Json) -> None:
    body = b'{"messages": [], "functions": [{"name": "f"}, {"name": "g"}]}'
    before = adapter.decode_request(body)
    with pytest.raises(LocalProtocolError):
        adapter.encode_request(replace(before, **change), body)


def test_edits_of_an_answer() -> None:
    body = bodies.dump(
        {"id": "c", "choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": {"n": 1}}
    )
    before = adapter.decode_response(body)
    after = replace(before, id="d", finish_reason="length", stop="length")
    assert adapter.encode_response(after, body) == body.replace(b'"c"', b'"d"').replace(b'"stop"', b'"length"')
    with pytest.raises(LocalProtocolError):
        adapter.encode_response(replace(before, model="m"), body)


# -- answers


def test_an_answer() -> None:
    body = {
        "id": "chatcmpl-1",
        "model": "m-2",
        "created": 5,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "length", "logprobs": None}
        ],
        "usage": {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6},
    }
    result = adapter.decode_response(bodies.dump(body))
    assert result.messages == (Message("assistant", (Text("a"),)),)
    assert result.messages[0].pointer == "/choices/0/message"
    assert (result.id, result.model, result.finish_reason, result.stop) == ("chatcmpl-1", "m-2", "length", "length")
    assert result.usage == Usage(4, 2, raw=body["usage"])  # type: ignore[arg-type]
    assert result.params == {"created": 5, "choices": [{"logprobs": None}]}
    assert result.is_complete and not result.is_stream and not result.anomalies


def test_several_choices_are_several_messages() -> None:
    result = answer(*({"index": n, "message": {"content": str(n)}, "finish_reason": "stop"} for n in range(2)))
    assert [(m.role, m.pointer, m.parts) for m in result.messages] == [
        ("assistant", f"/choices/{n}/message", (Text(str(n)),)) for n in range(2)
    ]


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", "stop"),
        ("eos", "stop"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("max_tokens", "length"),
        ("model_length", "length"),
        ("content_filter", "filter"),
        ("insufficient_system_resource", "other"),
        (None, None),
        (7, None),
    ],
)
def test_finish_reasons(reason: Any, stop: str | None) -> None:
    assert answer({"message": {"content": "a"}, "finish_reason": reason}).stop == stop


@pytest.mark.parametrize(
    ("reason", "message", "slugs"),
    [
        ("stop", {"tool_calls": [function("{}")]}, ["stream.finish-reason"]),
        ("tool_calls", {"content": "a"}, ["stream.finish-reason"]),
        ("tool_calls", {"tool_calls": [function("{}")]}, []),
        ("length", {"tool_calls": [function("{}")]}, []),
        (None, {"content": "a"}, []),
    ],
)
def test_contradicting_finish_reasons(reason: Any, message: Json, slugs: list[str]) -> None:
    result = answer({"message": message, "finish_reason": reason})
    assert [a.slug for a in result.anomalies] == slugs
    assert all(a.pointer == "/choices/0/finish_reason" for a in result.anomalies)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
            },
            (3, 5, 4, 2, None),
        ),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4, "completion_tokens": 5}, (5, 5, 4, None, None)),
        ({"prompt_tokens": 9, "cached_tokens": 4}, (5, None, 4, None, None)),
        ({"prompt_tokens": 9, "num_cached_tokens": 12}, (0, None, 12, None, None)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "total_tokens": 14,
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            (9, 5, None, None, 3),
        ),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "total_tokens": 17,
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            (9, 8, None, None, 3),
        ),
        (
            {"prompt_tokens": "9", "completion_tokens": True, "prompt_tokens_details": []},
            (None, None, None, None, None),
        ),
    ],
)
def test_usage(usage: Json, expected: tuple[int | None, ...]) -> None:
    result = answer({"message": {"content": "a"}}, usage=usage)
    assert result.usage == Usage(*expected, raw=usage)


def test_usage_inside_a_choice() -> None:
    result = answer({"message": {"content": "a"}, "usage": {"prompt_tokens": 3}})
    assert result.usage and result.usage.input == 3


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b'{"error": {"message": "no", "type": "t", "param": null, "code": "c"}}', 400, "no"),
        (b'{"object": "error", "message": "no", "type": "t", "code": "c"}', 400, "no"),
        (b'{"error": {"message": "no", "type": "t", "code": "c"}, "choices": []}', 200, "no"),
        (b'{"error": "no"}', 200, "no"),
        (b'{"detail": "no"}', 401, "no"),
        (b'{"error": {"message": "Provider returned error", "code": 429, "metadata": {"raw": "no"}}}', 429, "no"),
        (b'{"error parsing tool call": "no"}', 500, '{"error parsing tool call":"no"}'),
        (b"Internal Server Error", 500, "Internal Server Error"),
        (b"<html><title>502 Bad Gateway</title></html>", 502, "502 Bad Gateway"),
    ],
)
def test_errors(body: bytes, status: int, message: str) -> None:
    result = adapter.decode_response(body, status=status)
    assert result.error and result.error.message == message
    assert not result.messages
    assert adapter.encode_response(result, body) == body


def test_an_error_beside_choices_hides_nothing() -> None:
    result = answer({"message": {"content": "a"}}, error={"message": "no", "code": 502})
    assert result.error and (result.error.message, result.error.code) == ("no", "502")
    assert result.messages[0].parts == (Text("a"),)


@pytest.mark.parametrize("body", [b"[]", b"7", b"{}", b'{"choices": 3}', b'{"type": "message", "content": []}'])
def test_what_is_no_answer_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolMismatch):
        adapter.decode_response(body)


def test_text_with_status_200_is_no_answer() -> None:
    with pytest.raises(WireError):
        adapter.decode_response(b"hello")


# -- whose bodies are these


@pytest.mark.parametrize(
    ("url", "claimed"),
    [
        ("https://api.openai.com/v1/chat/completions", True),
        ("https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2025-01-01", True),
        ("http://localhost:8080/chat/completions/", True),
        ("/v1/chat/completions", True),
        ("https://api.openai.com/v1/completions", False),
        ("https://api.openai.com/v1/chat/completions/abc/messages", False),
        ("https://x.example/?next=/chat/completions", False),
        ("https://api.anthropic.com/v1/messages", False),
    ],
)
def test_urls(url: str, claimed: bool) -> None:
    assert adapter.claims_url(url) is claimed


PLAIN: Json = {"messages": [{"role": "user", "content": "a"}]}
CLAIMS: list[tuple[Json, float, float]] = [
    ({**PLAIN, "model": "m", "tools": [{"type": "function", "function": {"name": "f"}}]}, 0.9, 1),
    ({"messages": [*PLAIN["messages"], {"role": "tool", "tool_call_id": "c", "content": "r"}]}, 0.9, 1),
    ({"messages": [{"role": "assistant", "content": None, "tool_calls": []}]}, 0.9, 1),
    ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}, 0.9, 1),
    ({**PLAIN, "max_completion_tokens": 5}, 0.7, 0.9),
    ({"messages": [{"role": "system", "content": "s"}]}, 0.5, 0.9),
    ({**PLAIN, "model": "deepseek-v4-pro"}, 0.4, 0.9),
    ({**PLAIN, "model": "m"}, 0.01, 0.3),
    ({**PLAIN, "tools": [{"name": "f", "input_schema": {}}]}, 0, 0.1),
    ({**PLAIN, "system": "s"}, 0, 0.1),
    ({"messages": [{"role": "assistant", "content": [{"type": "tool_use"}]}]}, 0, 0.1),
    ({"messages": "a"}, 0, 0),
    ({"input": []}, 0, 0),
]


@pytest.mark.parametrize(("body", "low", "high"), CLAIMS)
def test_claims_on_requests(body: Json, low: float, high: float) -> None:
    assert low <= adapter.claims_request(body) <= high


@pytest.mark.parametrize(
    "value", [None, 3, [], "x", {"messages": [1, None]}, {"messages": [{"content": [3]}], "tools": 4}]
)
def test_claims_never_raise(value: Any) -> None:
    assert 0 <= adapter.claims_request(value) < 0.5
    assert adapter.claims_response(value) == adapter.claims_event(None, value) == 0


def test_claims_on_answers() -> None:
    message, delta = {"choices": [{"message": {}}]}, {"choices": [{"delta": {}}]}
    assert adapter.claims_response({"object": "chat.completion", **message}) > adapter.claims_response(message) > 0.8
    assert (
        adapter.claims_event(None, {"object": "chat.completion.chunk", **delta})
        > adapter.claims_event(None, delta)
        > 0.8
    )
    assert adapter.claims_response({"type": "message", "content": []}) == 0


# -- fixtures of our own, recordings of others


def fixture_files() -> list[Path]:
    return sorted(FIXTURES.iterdir())


@pytest.mark.parametrize("path", fixture_files(), ids=lambda p: p.name)
def test_fixtures_obey_the_laws(path: Path) -> None:
    side = REQUEST if ".request." in path.name else RESPONSE
    laws.check(path.read_bytes(), side, NAME)


def decoded(path: Path) -> ModelResponse:
    found = laws.decode(path.read_bytes(), RESPONSE, NAME).response
    assert found
    return found


HEALTHY = {"stream.empty-choices"}


@pytest.mark.parametrize("name", ["loop", "deepseek", "openrouter", "think"])
def test_what_the_sdk_replays_is_what_came(name: str) -> None:
    """The second request of a fixture holds the first answer, as the real client understood it."""
    for kind in ("stream", "whole"):
        first = next(FIXTURES.glob(f"{name}-{kind}-1.response.*"), None)
        if first is None:
            continue
        came, second = decoded(first), adapter.decode_request((FIXTURES / f"{name}-{kind}-2.request.json").read_bytes())
        replayed = next(m for m in second.messages if m.role.startswith("assistant"))
        assert {a.slug for a in came.anomalies} <= HEALTHY
        assert not second.anomalies
        assert [kept(p) for p in replayed.parts if p != Text("")] == [
            kept(p) for p in came.messages[0].parts if p != Text("")
        ]


def kept(part: Part) -> Part:
    """A part without what the SDK glues together or adds."""
    return part if isinstance(part, Opaque) else replace(part, extra={})


def test_the_refused_fixture() -> None:
    result = adapter.decode_response((FIXTURES / "refused-whole-1.response.json").read_bytes(), status=400)
    assert result.error and result.error.param == "messages.[2].role"
    broken = decoded(FIXTURES / "refused-stream-1.response.sse")
    assert broken.error and broken.error.type == "server_error"
    assert [a.slug for a in broken.anomalies] == ["stream.error-event"]
    assert not broken.is_complete and broken.is_stream


def recorded(recordings: Path) -> Iterator[tuple[str, DecodedExchange]]:
    with (recordings / "index.tsv").open() as index:
        names = [row["file"] for row in csv.DictReader(index, delimiter="\t") if row["protocol"] == NAME]
    for name in names:
        session = open_input(str(recordings / name))
        yield from ((name, DecodedExchange(n, exchange)) for n, exchange in enumerate(exchanges_of(session)))
        session.close()


def test_recordings(recordings: Path, thin: Thin) -> None:
    """Every body decodes, comes out as it was, and some leaves of each obey the laws."""
    seen = 0
    for name, found in thin(recorded(recordings), 3):
        if found.protocol != NAME:
            continue
        assert not found.problems, (name, found.problems)
        for side, body in ((REQUEST, found.request_text), (RESPONSE, found.response_text)):
            value = found.request if side == REQUEST else found.response
            if value is not None and value.messages:
                chance = random.Random(seen)
                laws.check(body, side, NAME, lambda leaves, c=chance: c.sample(leaves, min(4, len(leaves))))
                seen += 1
        if found.request:
            assert not found.request.anomalies, (name, found.request.anomalies)
    assert seen > 30


# -- generated conversations, hostile input


@given(bodies.REQUEST.map(bodies.dump))
@settings(max_examples=40)
def test_generated_requests_obey_the_laws(body: bytes) -> None:
    laws.check(body, REQUEST, NAME)


@given(bodies.RESPONSE.map(bodies.dump))
@settings(max_examples=40)
def test_generated_answers_obey_the_laws(body: bytes) -> None:
    laws.check(body, RESPONSE, NAME)


def test_the_events_of_a_fixture_are_claimed() -> None:
    events = read_events((FIXTURES / "loop-stream-1.response.sse").read_bytes())
    assert min(adapter.claims_event(e.name, laws.loads(e.data)) for e in events if e.data and e.data != b"[DONE]") > 0.9


@pytest.mark.parametrize("tools", [[], [{"type": "web_search"}], [{"type": "web_search"}, {"type": "file_search"}]])
def test_a_tool_of_the_provider_is_no_sign_of_another_protocol(tools: list[Any]) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}], "tools": tools}
    claims = {one.name: one.claims_request(body) for one in protocols.every()}
    assert max(claims, key=claims.__getitem__) == adapter.name


def test_structs_without_a_value_are_absent() -> None:
    """Servers that write whole structs have them beside what they mean."""
    zero = {"function_call": {"name": "", "arguments": ""}, "audio": {"data": ""}, "refusal": ""}
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}, "custom": {}}
    message = {"role": "assistant", "content": None, **zero, "tool_calls": [call]}
    body = bodies.dump({"choices": [{"index": 0, "message": message, "finish_reason": ""}]})
    told = adapter.decode_response(body)
    (part,) = told.messages[0].parts
    assert isinstance(part, ToolCallIR) and (part.name, told.finish_reason, told.anomalies) == ("f", None, ())
    assert adapter.encode_response(told, body) == body
