"""Requests and whole answers of the Responses protocol, in tables."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.protocols import laws
from tests.record_responses import CALL_A, SEARCH, call, message, reasoning, whole
from workbench import protocols
from workbench.errors import LocalProtocolError, ProtocolMismatch
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
)
from workbench.protocols import Param
from workbench.protocols.decode import REQUEST
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.openai_responses import adapter

NAME = adapter.name
Json = dict[str, Any]


def dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def request(*items: Any, **more: Any) -> ModelRequest:
    return adapter.decode_request(dump({"model": "gpt-x", "input": list(items), **more}))


def answer(value: Any, status: int = 200) -> ModelResponse:
    return adapter.decode_response(dump(value), status=status)


def server(name: str, item_id: str, value: Any, extra: Json) -> ToolCallIR:
    return ToolCallIR(item_id, name, value, "openai-item", is_server=True, extra=extra)


def client(name: str, value: Any, extra: Json) -> ToolCallIR:
    return ToolCallIR("c", name, value, "openai-item", extra=extra)


ITEM = Carrier.ENCRYPTED_ITEM
SKELETON = [{"type": "summary_text"}]
ITEMS: list[tuple[str, Json, str, tuple[Part, ...]]] = [
    ("text", {"role": "user", "content": "hi"}, "user", (Text("hi"),)),
    ("texts", {"role": "user", "content": [{"type": "input_text", "text": "a"}]}, "user", (Text("a"),)),
    ("said", message("a"), "assistant", (Text("a", {"annotations": [], "logprobs": []}),)),
    (
        "of another type",
        {"role": "assistant", "content": [{"type": "input_text", "text": "a"}]},
        "assistant",
        (Text("a", {"type": "input_text"}),),
    ),
    (
        "refusal",
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
        "assistant",
        (Opaque("refusal", {"type": "refusal", "refusal": "no"}),),
    ),
    (
        "image",
        {
            "role": "user",
            "content": [{"type": "input_image", "image_url": "data:image/png;base64,AA", "detail": "low"}],
        },
        "user",
        (Media("image", "image/png", url="data:image/png;base64,AA", extra={"detail": "low"}),),
    ),
    (
        "image by id",
        {"role": "user", "content": [{"type": "input_image", "file_id": "f"}]},
        "user",
        (Media("image", file_id="f"),),
    ),
    (
        "file",
        {"role": "user", "content": [{"type": "input_file", "file_data": "QQ==", "filename": "a.pdf"}]},
        "user",
        (Media("file", data="QQ==", extra={"filename": "a.pdf"}),),
    ),
    (
        "file by URL",
        {"role": "user", "content": [{"type": "input_file", "file_url": "https://x"}]},
        "user",
        (Media("file", url="https://x"),),
    ),
    (
        "call",
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}', "id": "fc_1"},
        "assistant",
        (ToolCallIR("c", "f", {"a": 1}, "openai", '{"a":1}', extra={"id": "fc_1"}),),
    ),
    (
        "custom call",
        {"type": "custom_tool_call", "call_id": "c", "name": "f", "input": "x"},
        "assistant",
        (ToolCallIR("c", "f", "x", "openai-custom"),),
    ),
    (
        "result",
        {"type": "function_call_output", "call_id": "c", "output": "r", "id": "o"},
        "tool",
        (ToolResultIR("c", (Text("r"),), extra={"id": "o"}),),
    ),
    (
        "result of parts",
        {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_image", "image_url": "https://x"}]},
        "tool",
        (ToolResultIR("c", (Media("image", url="https://x"),)),),
    ),
    (
        "custom result",
        {"type": "custom_tool_call_output", "call_id": "c", "output": "r"},
        "tool",
        (ToolResultIR("c", (Text("r"),), extra={"type": "custom_tool_call_output"}),),
    ),
    (
        "reasoning",
        reasoning("a", encrypted_content="g"),
        "assistant",
        (Reasoning(ITEM, "a", None, "g", {"id": "rs_1", "summary": SKELETON, "content": []}),),
    ),
    (
        "reasoning in parts",
        reasoning("a", "b", content=["c"]),
        "assistant",
        (
            Reasoning(
                ITEM, "a", extra={"id": "rs_1", "summary": SKELETON * 2, "content": [{"type": "reasoning_text"}]}
            ),
            Reasoning(ITEM, "b"),
            Reasoning(ITEM, "c"),
        ),
    ),
    (
        "reasoning without text",
        {"type": "reasoning", "id": "rs_1", "summary": []},
        "assistant",
        (Reasoning(ITEM, None, extra={"id": "rs_1", "summary": []}),),
    ),
    (
        "search",
        SEARCH,
        "assistant",
        (server("web_search", "ws_1", SEARCH["action"], {"type": "web_search_call", "status": "completed"}),),
    ),
    (
        "search of a dialect",
        {"type": "web_search_call", "id": "x", "call_id": "", "name": "w", "arguments": "{}"},
        "assistant",
        (
            ToolCallIR(
                "x", "w", {}, "openai-item", "{}", is_server=True, extra={"type": "web_search_call", "call_id": ""}
            ),
        ),
    ),
    (
        "MCP",
        {
            "type": "mcp_call",
            "id": "m",
            "name": "f",
            "server_label": "s",
            "arguments": "{}",
            "output": "o",
            "error": None,
        },
        "assistant",
        (
            ToolCallIR(
                "m", "f", {}, "openai-item", "{}", True, extra={"type": "mcp_call", "server_label": "s", "error": None}
            ),
            ToolResultIR("m", (Text("o"),), is_server=True),
        ),
    ),
    (
        "code",
        {"type": "code_interpreter_call", "id": "m", "code": "1", "outputs": [{"type": "logs", "logs": "l"}]},
        "assistant",
        (
            server("code_interpreter", "m", "1", {"type": "code_interpreter_call"}),
            ToolResultIR("m", (Text("l"),), is_server=True),
        ),
    ),
    (
        "picture",
        {"type": "image_generation_call", "id": "m", "result": "AA"},
        "assistant",
        (
            server("image_generation", "m", None, {"type": "image_generation_call"}),
            ToolResultIR("m", (Media("image", data="AA"),), is_server=True),
        ),
    ),
    (
        "computer",
        {"type": "computer_call", "call_id": "c", "action": {"type": "wait"}},
        "assistant",
        (client("computer", {"type": "wait"}, {"type": "computer_call"}),),
    ),
    (
        "screen",
        {
            "type": "computer_call_output",
            "call_id": "c",
            "output": {"type": "computer_screenshot", "image_url": "https://x"},
        },
        "tool",
        (
            ToolResultIR(
                "c",
                (Media("image", url="https://x", extra={"type": "computer_screenshot"}),),
                extra={"type": "computer_call_output"},
            ),
        ),
    ),
    (
        "shell",
        {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}},
        "assistant",
        (client("shell", {"commands": ["ls"]}, {"type": "shell_call"}),),
    ),
    (
        "hosted shell",
        {"type": "shell_call", "call_id": "c", "action": {}, "environment": {"type": "container_reference"}},
        "assistant",
        (server("shell", "c", {}, {"type": "shell_call", "environment": {"type": "container_reference"}}),),
    ),
    (
        "shell output",
        {
            "type": "shell_call_output",
            "call_id": "c",
            "output": [{"stdout": "a", "stderr": "b", "outcome": {"type": "timeout"}}],
        },
        "tool",
        (
            ToolResultIR(
                "c", (Text("a", {"outcome": {"type": "timeout"}}), Text("b")), extra={"type": "shell_call_output"}
            ),
        ),
    ),
    (
        "local shell output",
        {"type": "local_shell_call_output", "id": "c", "output": "{}"},
        "tool",
        (ToolResultIR("c", (Text("{}"),), extra={"type": "local_shell_call_output"}),),
    ),
    (
        "patch",
        {"type": "apply_patch_call", "call_id": "c", "operation": {"type": "delete_file"}},
        "assistant",
        (client("apply_patch", {"type": "delete_file"}, {"type": "apply_patch_call"}),),
    ),
    (
        "failed patch",
        {"type": "apply_patch_call_output", "call_id": "c", "status": "failed"},
        "tool",
        (ToolResultIR("c", (), True, extra={"type": "apply_patch_call_output", "status": "failed"}),),
    ),
    (
        "search for tools",
        {"type": "tool_search_call", "call_id": "c", "execution": "client", "arguments": {"q": 1}},
        "assistant",
        (client("tool_search", {"q": 1}, {"type": "tool_search_call", "execution": "client"}),),
    ),
    (
        "reference",
        {"type": "item_reference", "id": "msg_1"},
        "assistant",
        (Opaque("item_reference", {"type": "item_reference", "id": "msg_1"}),),
    ),
    ("bare reference", {"id": "msg_1"}, "assistant", (Opaque("item_reference", {"id": "msg_1"}),)),
    (
        "approval",
        {"type": "mcp_approval_response", "approve": True},
        "user",
        (Opaque("mcp_approval_response", {"type": "mcp_approval_response", "approve": True}),),
    ),
    ("of the future", {"type": "new", "x": 1}, "", (Opaque("new", {"type": "new", "x": 1}),)),
]


@pytest.mark.parametrize(("item", "role", "parts"), [i[1:] for i in ITEMS], ids=[i[0] for i in ITEMS])
def test_items(item: Json, role: str, parts: tuple[Part, ...]) -> None:
    said = request(item)
    assert (said.messages[0].role, said.messages[0].parts) == (role, parts)
    assert said.messages[0].pointer == "/input/0" and said.itemized and not said.anomalies
    body = dump({"model": "gpt-x", "input": [item]})
    laws.check_places(body, REQUEST, NAME)
    known = KnownMessages()
    assert [adapter.decode_request(body, known) for _ in range(3)] == [said] * 3


WRONG: list[tuple[Any, list[tuple[str, str]]]] = [
    (3, [("content.shape", "/input/0")]),
    ({"x": 1}, [("content.shape", "/input/0")]),
    ({"role": "user"}, [("content.shape", "/input/0")]),
    ({"role": "user", "content": 3}, [("content.shape", "/input/0/content")]),
    ({"role": "user", "content": [{"type": "input_text"}]}, [("content.shape", "/input/0/content/0")]),
    ({"role": "user", "content": [3]}, [("content.shape", "/input/0/content/0")]),
    ({"type": "function_call", "call_id": "c", "name": "f"}, [("args.empty", "/input/0/arguments")]),
    ({"type": "function_call", "call_id": "c", "arguments": {}}, [("args.not-object", "/input/0/arguments")]),
    ({"type": "function_call", "call_id": 3, "arguments": "{}"}, [("content.shape", "/input/0/call_id")]),
    ({"type": "function_call_output", "call_id": "c"}, [("content.empty", "/input/0")]),
    ({"type": "reasoning", "summary": "a"}, [("content.shape", "/input/0/summary")]),
]


@pytest.mark.parametrize(("item", "expected"), WRONG, ids=range(len(WRONG)))
def test_items_of_the_wrong_shape(item: Any, expected: list[tuple[str, str]]) -> None:
    assert [(a.slug, a.pointer) for a in request(item).anomalies] == expected


def test_what_a_request_says() -> None:
    said = request(
        "x",
        instructions="Be brief.",
        parallel_tool_calls=False,
        stream=True,
        previous_response_id="resp_0",
        reasoning={"effort": "high"},
        store=False,
    )
    assert said.system == (Text("Be brief."),)
    assert (said.parallel, said.stream, said.previous_id, said.thinking) == (False, True, "resp_0", "on")
    assert said.params == {"reasoning": {"effort": "high"}, "store": False}
    text = adapter.decode_request(b'{"model":"m","input":"hi"}')
    assert text.messages == (Message("user", (Text("hi"),)),) and text.messages[0].pointer == "/input"
    laws.check(b'{"model":"m","input":"hi","instructions":"be"}', REQUEST, NAME)


@pytest.mark.parametrize(
    ("keys", "thinking", "previous"),
    [
        ({"reasoning": {"effort": "none"}}, "off", None),
        ({"reasoning": {"summary": "auto"}}, "on", None),
        ({"reasoning": None}, None, None),
        ({"conversation": "conv_1"}, None, "conv_1"),
        ({"conversation": {"id": "conv_2"}}, None, "conv_2"),
    ],
)
def test_switches(keys: Json, thinking: str | None, previous: str | None) -> None:
    said = request(**keys)
    assert (said.thinking, said.previous_id, said.params) == (thinking, previous, keys)


SCHEMA = {"type": "object"}
TOOLS: list[tuple[Any, list[ToolDef], bool]] = [
    (
        {"type": "function", "name": "f", "parameters": SCHEMA, "strict": True},
        [ToolDef("f", None, SCHEMA, strict=True)],
        False,
    ),
    (
        {"type": "custom", "name": "f", "format": {"type": "text"}},
        [ToolDef("f", None, None, kind="custom", extra={"format": {"type": "text"}})],
        False,
    ),
    ({"type": "web_search"}, [ToolDef(None, None, None, kind="server", extra={"type": "web_search"})], False),
    ({"type": "local_shell"}, [ToolDef("local_shell", None, None, extra={"type": "local_shell"})], False),
    (
        {"type": "namespace", "name": "n", "description": "d", "tools": [{"type": "function", "name": "f"}]},
        [
            ToolDef("n", "d", None, kind="server", extra={"type": "namespace", "name": "n", "description": "d"}),
            ToolDef("f", None, None),
        ],
        False,
    ),
    (
        {"type": "function", "function": {"name": "f"}},
        [ToolDef(None, None, None, extra={"function": {"name": "f"}})],
        True,
    ),
    ({"name": "f"}, [ToolDef("f", None, None)], True),
    (3, [ToolDef(None, None, None, extra={"value": 3})], True),
]


@pytest.mark.parametrize(("tool", "expected", "is_wrong"), TOOLS, ids=range(len(TOOLS)))
def test_tools(tool: Any, expected: list[ToolDef], is_wrong: bool) -> None:
    said = request("x", tools=[tool])
    assert [*said.tools] == expected
    assert [a.slug for a in said.anomalies if "input" not in a.pointer] == (["schema.malformed"] if is_wrong else [])


def test_tools_that_items_bring() -> None:
    item = {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "f"}]}
    found = {
        "type": "tool_search_output",
        "call_id": "c",
        "execution": "client",
        "tools": [{"type": "custom", "name": "g"}],
    }
    body = dump({"model": "m", "input": [item, found]})
    said = adapter.decode_request(body)
    assert [(t.name, t.pointer) for t in said.tools] == [("f", "/input/0/tools/0"), ("g", "/input/1/tools/0")]
    edited = replace(said, messages=(replace(said.messages[0], parts=(_renamed(item),)), said.messages[1]))
    assert adapter.encode_request(edited, body) == body.replace(b'"f"', b'"h"')
    with pytest.raises(LocalProtocolError):  # what stands in an item is edited there
        adapter.encode_request(replace(said, tools=(replace(said.tools[0], name="h"), said.tools[1])), body)


def _renamed(item: Json) -> Opaque:
    return Opaque("additional_tools", item | {"tools": [{"type": "function", "name": "h"}]})


CHOICES: list[tuple[Any, ToolChoice, int]] = [
    ("auto", ToolChoice("auto"), 0),
    ("required", ToolChoice("any"), 0),
    ({"type": "function", "name": "f"}, ToolChoice("tool", "f"), 0),
    ({"type": "custom", "name": "f"}, ToolChoice("tool", "f"), 0),
    ({"type": "web_search"}, ToolChoice("other"), 0),
    ({"type": "allowed_tools", "mode": "auto", "tools": []}, ToolChoice("other"), 0),
    ({"type": "function", "function": {"name": "f"}}, ToolChoice("other"), 1),
    ("any", ToolChoice("other"), 1),
]


@pytest.mark.parametrize(("sent", "expected", "wrong"), CHOICES, ids=range(len(CHOICES)))
def test_tool_choice(sent: Any, expected: ToolChoice, wrong: int) -> None:
    said = request(tool_choice=sent)
    assert said.tool_choice == expected
    assert [a.slug for a in said.anomalies] == ["choice.unsupported"] * wrong


def test_keys_are_edited_in_place() -> None:
    body = dump({"model": "m", "input": "x", "tool_choice": "auto", "parallel_tool_calls": True, "temperature": 1})
    said = adapter.decode_request(body)
    edited = replace(said, model="n", parallel=False, tool_choice=ToolChoice("any"), params={"temperature": 0.5})
    expected = {"model": "n", "input": "x", "tool_choice": "required", "parallel_tool_calls": False, "temperature": 0.5}
    assert adapter.encode_request(edited, body) == dump(expected)
    for wrong in (replace(said, stream=True), replace(said, thinking="on"), replace(said, previous_id="r")):
        with pytest.raises(LocalProtocolError):
            adapter.encode_request(wrong, body)


def test_params() -> None:
    schema = {"type": "json_schema", "name": "n", "schema": SCHEMA, "strict": True}
    said = request(
        max_output_tokens=5, reasoning={"effort": "low", "summary": "auto"}, text={"format": schema}, store=True
    )
    assert adapter.params(said) == (
        Param("/max_output_tokens", 5, "max_tokens"),
        Param("/reasoning/effort", "low", "effort"),
        Param("/reasoning/summary", "auto"),
        Param("/text/format", {"schema": SCHEMA, "name": "n", "strict": True}, "response_schema"),
        Param("/store", True),
    )
    assert adapter.params(request(text={"format": {"type": "json_object"}})) == (
        Param("/text/format", True, "response_json"),
    )
    assert adapter.params(request(text={"format": {"type": "text"}})) == ()
    assert {p.name for p in adapter.params(said)} - {""} <= adapter.capabilities.request.params


ENDINGS: list[tuple[Json, str | None, str | None, bool]] = [
    ({"output": [CALL_A]}, "completed", "tool_calls", True),
    ({"output": [message("a")]}, "completed", "stop", True),
    ({"output": [SEARCH]}, "completed", "stop", True),
    (
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        "max_output_tokens",
        "length",
        True,
    ),
    ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "content_filter", "filter", True),
    ({"status": "incomplete", "incomplete_details": {"reason": "steered"}}, "steered", "other", True),
    ({"status": "failed", "error": {"code": "x", "message": "no"}}, "failed", "other", True),
    ({"status": "cancelled"}, "cancelled", "other", True),
    ({"status": "queued"}, "queued", None, False),
    ({"status": "in_progress"}, "in_progress", None, False),
]


@pytest.mark.parametrize(("keys", "reason", "stop", "is_complete"), ENDINGS, ids=range(len(ENDINGS)))
def test_endings(keys: Json, reason: str | None, stop: str | None, is_complete: bool) -> None:
    said = answer(whole() | keys)
    assert (said.finish_reason, said.stop, said.is_complete) == (reason, stop, is_complete)
    assert bool(said.error) is ("error" in keys)
    body = dump(whole() | keys)
    edited = adapter.decode_response(adapter.encode_response(replace(said, finish_reason="zz"), body))
    assert edited.finish_reason == "zz"


def test_what_an_answer_says() -> None:
    said = answer(whole(message("a"), call(2, "f", "{}")))
    assert (said.id, said.model, said.protocol) == ("resp_fixture", "gpt-5-mini-2026-08-01", NAME)
    assert said.choices == (said.messages,) and [m.pointer for m in said.messages] == ["/output/0", "/output/1"]
    assert said.params["instructions"] == "Be brief." and "output" not in said.params


USAGES: list[tuple[Any, tuple[int | None, ...] | None]] = [
    ({"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}, (10, 5, None, None, None)),
    (
        {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 2},
            "total_tokens": 15,
        },
        (3, 5, 4, 3, 2),
    ),
    (
        {"input_tokens": 10, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 17},
        (10, 7, None, None, 2),
    ),
    (None, None),
    ({}, (None,) * 5),
]


@pytest.mark.parametrize(("usage", "expected"), USAGES, ids=range(len(USAGES)))
def test_usage(usage: Any, expected: tuple[int | None, ...] | None) -> None:
    said = answer(whole(usage=usage)).usage
    names = ("input", "output", "cache_read", "cache_write", "reasoning")
    assert (None if said is None else tuple(getattr(said, name) for name in names)) == expected
    assert said is None or said.raw == usage


def test_errors() -> None:
    body = {"error": {"message": "no", "type": "invalid_request_error", "param": "input", "code": None}}
    error = answer(body, 400).error
    assert error and (error.message, error.type, error.param, error.code) == (
        "no",
        "invalid_request_error",
        "input",
        None,
    )
    with pytest.raises(ProtocolMismatch):
        answer({"object": "list", "data": []})
    for wrong in (b"[]", b"3", b"{}", b'{"messages": []}'):
        with pytest.raises(ProtocolMismatch):
            adapter.decode_request(wrong)


URLS = [
    ("https://api.openai.com/v1/responses", True),
    ("https://x.openai.azure.com/openai/responses?api-version=1", True),
    ("https://chatgpt.com/backend-api/codex/responses", True),
    ("https://api.openai.com/v1/responses/resp_1?stream=false", True),
    ("https://api.openai.com/v1/responses/resp_1/cancel", True),
    ("https://api.openai.com/v1/responses/compact", True),
    ("https://api.openai.com/v1/responses/input_tokens", False),
    ("https://api.openai.com/v1/responses/resp_1/input_items", False),
    ("https://api.openai.com/v1/chat/completions", False),
    ("https://x.example/v1/models?q=/responses", False),
]


@pytest.mark.parametrize(("url", "expected"), URLS)
def test_urls(url: str, expected: bool) -> None:
    assert adapter.claims_url(url) is expected
    assert adapter.read_url(url) == protocols.UrlFacts()


FOREIGN: list[Json] = [
    {"model": "e", "input": "text"},
    {"model": "e", "input": ["a", "b"]},
    {"model": "e", "input": [1, 2], "encoding_format": "float"},
    {"model": "tts", "input": "text", "voice": "x", "instructions": "calm"},
    {"model": "moderation", "input": [{"type": "text", "text": "a"}]},
    {"model": "m", "messages": [], "input": "x", "tools": []},
]


@pytest.mark.parametrize("body", FOREIGN, ids=range(len(FOREIGN)))
def test_requests_of_others_are_not_claimed(body: Json) -> None:
    assert adapter.claims_request(body) == 0


def test_own_bodies_are_claimed() -> None:
    assert adapter.claims_request({"model": "m", "input": "hi", "instructions": "x", "stream": True}) > 0.8
    assert adapter.claims_request({"input": [{"role": "user", "content": "x"}]}) > 0.9
    assert adapter.claims_response(whole()) > 0.9
    assert adapter.claims_event("response.created", {"type": "response.created"}) > 0.9
    assert adapter.claims_event(None, {"type": "response.created", "event_id": "e"}) < 0.2
    assert adapter.claims_event("x", {"type": "content_block_start"}) == 0
