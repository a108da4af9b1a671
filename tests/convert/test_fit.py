"""What a target cannot carry: what is said of it, and what is written instead."""

from __future__ import annotations

from typing import Any

import pytest

from workbench import protocols
from workbench.convert import convert
from workbench.convert.fit import fit_request, fit_response
from workbench.convert.normal import NormalRequest, NormalResponse
from workbench.ir import (
    ApiError,
    Carrier,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Reasoning,
    Source,
    Text,
    ToolCallIR,
    ToolResultIR,
    Usage,
)
from workbench.protocols import Capabilities, MediaCapabilities, RequestCapabilities, ToolCapabilities
from workbench.wire.jsontext import JsonIndex, dumps, loads

CHAT, BLOCKS = "openai-chat", "anthropic-messages"
ASK = {"role": "user", "content": "go"}
USE = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}
TOOL = {"name": "f", "input_schema": {"type": "object"}}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def called(**more: Any) -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return {"role": "assistant", "tool_calls": [call | more]}


def answered(content: Any = "1", call_id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def said(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [*blocks]}


def results(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": [*blocks]}


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}

REQUESTS: dict[str, tuple[str, dict[str, Any], list[tuple[str, str, str]], dict[str, Any]]] = {
    "redacted thinking": (
        BLOCKS,
        {"messages": [ASK, said({"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "a"})]},
        [("/messages/1/content/0", "redacted thinking", "left out")],
        {"/messages/1/content": "a"},
    ),
    "a signature, and the text it signs": (
        BLOCKS,
        {"messages": [ASK, said({"type": "thinking", "thinking": "hm", "signature": "s"}, USE)]},
        [("/messages/1/content/0/signature", "signature", "left out")],
        {"/messages/1/reasoning_content": "hm"},
    ),
    "unsigned reasoning for a signed carrier": (
        CHAT,
        {"messages": [ASK, {"role": "assistant", "reasoning_content": "hm", "content": "a"}]},
        [("/messages/1/reasoning_content", "reasoning that the target did not sign", "left out")],
        {"/messages/1/content": "a"},
    ),
    "the error flag": (
        BLOCKS,
        {
            "messages": [
                ASK,
                said(USE),
                results({"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}),
            ]
        },
        [("/messages/2/content/0/is_error", "error flag", "the text begins with '[tool error]'")],
        {"/messages/2/content": "[tool error] no"},
    ),
    "the error flag of an empty result": (
        BLOCKS,
        {"messages": [ASK, said(USE), results({"type": "tool_result", "tool_use_id": "t1", "is_error": True})]},
        [("/messages/2/content/0/is_error", "error flag", "begins with")],
        {"/messages/2/content": "[tool error]"},
    ),
    "an image in a result": (
        BLOCKS,
        {"messages": [ASK, said(USE), results({"type": "tool_result", "tool_use_id": "t1", "content": [IMAGE]})]},
        [
            (
                "/messages/2/content/0/content/0",
                "'image' in a tool result",
                "moved into a user message after the tool results",
            )
        ],
        {
            "/messages/2/content": "[image: in the user message after the results]",
            "/messages/3/role": "user",
            "/messages/3/content/0/text": "[image from the result of the call t1]",
            "/messages/3/content/1/image_url/url": "data:image/png;base64,AAAA",
        },
    ),
    "cache markers": (
        BLOCKS,
        {
            "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
            "tools": [TOOL | {"cache_control": {"type": "ephemeral"}}],
            "messages": [ASK],
        },
        [
            ("/system/0/cache_control", "cache breakpoint", "left out"),
            ("/tools/0/cache_control", "cache breakpoint", "left out"),
        ],
        {"/messages/0/content": "s"},
    ),
    "server tools, their calls and results": (
        BLOCKS,
        {
            "tools": [{"type": "web_search_20250305", "name": "web_search"}],
            "messages": [
                ASK,
                said(
                    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
                    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
                    {"type": "text", "text": "a"},
                ),
            ],
        },
        [
            ("/messages/1/content/0", "a call to the server tool 'web_search'", "left out"),
            ("/messages/1/content/1", "the result of a server tool", "left out"),
            ("/tools/0", "the server tool 'web_search'", "left out"),
        ],
        {"/messages/1/content": "a"},
    ),
    "a tool whose schema only its provider knows": (
        BLOCKS,
        {"tools": [{"type": "bash_20250124", "name": "bash"}], "messages": [ASK]},
        [("/tools/0", "only its provider knows the schema", "left out")],
        {},
    ),
    "a custom tool": (
        CHAT,
        {
            "tools": [{"type": "custom", "custom": {"name": "f"}}],
            "messages": [
                ASK,
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "f", "input": "x y"}}],
                },
            ],
        },
        [("/messages/1/tool_calls/0/custom/input", "free-text", "wrapped"), ("/tools/0", "free-text", "'input'")],
        {"/messages/1/content/0/input": {"input": "x y"}, "/tools/0/input_schema/required": ["input"]},
    ),
    "ids beyond the pattern": (
        CHAT,
        {"messages": [ASK, called(id="f:0"), answered(call_id="f:0")]},
        [
            ("/messages/1/tool_calls/0/id", "the id 'f:0'", "written as 'f_0'"),
            ("/messages/2/tool_call_id", "the id 'f:0'", "written as 'f_0'"),
        ],
        {"/messages/1/content/0/id": "f_0", "/messages/2/content/0/tool_use_id": "f_0"},
    ),
    "arguments that are not JSON": (
        CHAT,
        {"messages": [ASK, called(function={"name": "f", "arguments": '{"a": '})]},
        [("/messages/1/tool_calls/0/function/arguments", "not JSON", "wrapped: {'arguments': …}")],
        {"/messages/1/content/0/input": {"arguments": '{"a": '}},
    ),
    "arguments that are not an object": (
        CHAT,
        {"messages": [ASK, called(function={"name": "f", "arguments": "[1]"})]},
        [("/messages/1/tool_calls/0/function/arguments", "not an object", "wrapped")],
        {"/messages/1/content/0/input": {"arguments": [1]}},
    ),
    "empty arguments": (
        CHAT,
        {"messages": [ASK, called(function={"name": "f", "arguments": ""})]},
        [("/messages/1/tool_calls/0/function/arguments", "without arguments", "an empty object")],
        {"/messages/1/content/0/input": {}},
    ),
    "a text of blanks": (
        CHAT,
        {"messages": [ASK, {"role": "assistant", "content": "\n"}, ASK]},
        [("/messages/1/content", "without visible characters", "left out")],
        {"/messages/1/content": "go"},
    ),
    "unknown keys and parameters": (
        CHAT,
        {"messages": [{"role": "user", "content": "go", "name": "eve"}], "logit_bias": {"1": 2}, "seed": 3},
        [
            ("/logit_bias", "the parameter 'logit_bias'", "left out"),
            ("/messages/0/name", "the key 'name' ('eve')", "left out"),
            ("/seed", "the parameter 'seed'", "left out"),
        ],
        {},
    ),
    "the developer's role": (
        CHAT,
        {"messages": [{"role": "developer", "content": "be kind"}, ASK]},
        [("/messages/0/role", "'developer'", "'system'")],
        {"/system": "be kind"},
    ),
    "a role nobody knows": (
        CHAT,
        {"messages": [{"role": "narrator", "content": "go"}]},
        [("/messages/0/role", "'narrator'", "written as 'user'")],
        {"/messages/0/role": "user"},
    ),
    "an opaque part": (
        CHAT,
        {"messages": [{"role": "user", "content": [{"type": "hologram", "x": 1}, {"type": "text", "text": "go"}]}]},
        [("/messages/0/content/0", "a part of type 'hologram'", "left out")],
        {"/messages/0/content": "go"},
    ),
    "interleaved parts": (
        BLOCKS,
        {"messages": [ASK, said(USE, {"type": "text", "text": "and"})]},
        [("/messages/1/content/0", "the order", "reasoning first, then text, then tool calls")],
        {"/messages/1/content": "and", "/messages/1/tool_calls/0/id": "t1"},
    ),
    "thinking and its budget": (
        BLOCKS,
        {"messages": [ASK], "thinking": {"type": "enabled", "budget_tokens": 2000}},
        [
            ("/thinking/budget_tokens", "'thinking.budget_tokens'", "left out"),
            ("/thinking/type", "thinking switch ('on')", "left out"),
        ],
        {},
    ),
    "thinking without the budget that the target asks for": (
        CHAT,
        {"messages": [ASK], "reasoning_effort": "high"},
        [("/reasoning_effort", "without a budget", "thinking 'adaptive'")],
        {"/thinking/type": "adaptive", "/output_config/effort": "high"},
    ),
    "a choice in a form of its own": (
        CHAT,
        {"messages": [ASK], "tools": [FUNCTION], "tool_choice": {"type": "allowed_tools", "allowed_tools": {}}},
        [("/tool_choice", "mode 'allowed_tools'", "(auto)")],
        {},
    ),
    "the names of the answer's schema": (
        CHAT,
        {
            "messages": [ASK],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "n", "strict": True, "schema": {"type": "object"}},
            },
        },
        [
            ("/response_format/json_schema/name", "the name of the response schema", "left out"),
            ("/response_format/json_schema/strict", "the strict of the response schema", "left out"),
        ],
        {"/output_config/format/schema": {"type": "object"}},
    ),
    "history that only the server holds": (
        BLOCKS,
        {"messages": [ASK], "thread": {"previous_message_id": "msg_1"}},
        [("/thread", "the history that only the provider stores", "left out")],
        {},
    ),
    "text before the results": (
        BLOCKS,
        {
            "messages": [
                ASK,
                said(USE),
                results({"type": "text", "text": "b"}, {"type": "tool_result", "tool_use_id": "t1", "content": "r"}),
            ]
        },
        [("/messages/2/content/0", "before the tool results", "moved after them")],
        {"/messages/2/content": "r", "/messages/3/content": "b"},
    ),
}


@pytest.mark.parametrize("source, body, losses, there", REQUESTS.values(), ids=REQUESTS)
def test_what_is_lost_has_a_line_and_a_stand_in(
    source: str, body: dict[str, Any], losses: list[tuple[str, str, str]], there: dict[str, Any]
) -> None:
    target = CHAT if source == BLOCKS else BLOCKS
    text = dumps({"model": "m", "max_tokens": 9} | body)
    made = convert(text, target, protocol=source)
    assert [loss.pointer for loss in made.losses] == [pointer for pointer, _, _ in losses]
    for loss, (_, what, instead) in zip(made.losses, losses, strict=True):
        assert what in loss.what and instead in loss.instead, loss
        assert JsonIndex(text).span(loss.pointer), f"nothing is at {loss.pointer}"
    index = JsonIndex(made.body)
    for pointer, value in there.items():
        span = index.span(pointer)
        assert span and loads(made.body[slice(*span)]) == value, (pointer, made.body)


@pytest.mark.parametrize("source", [CHAT, BLOCKS])
def test_what_says_nothing_leaves_no_line(source: str) -> None:
    quiet = {"role": "assistant", "content": None, "refusal": None, "tool_calls": []} if source == CHAT else said()
    body = {"model": "m", "max_tokens": 9, "stream": False, "metadata": None, "messages": [ASK, quiet]}
    made = convert(dumps(body), BLOCKS if source == CHAT else CHAT, protocol=source)
    assert [loss.what for loss in made.losses] == ["a message without content"]


POOR = Capabilities(
    tools=ToolCapabilities(
        arguments="object",
        call_ids=False,
        choices=frozenset(),
    ),
    request=RequestCapabilities(
        one_text=frozenset(("user", "tool", "system")),
    ),
)
CALL = ToolCallIR("c1", "f", {"a": 1}, "function")


def poor(*messages: Message, **fields: Any) -> Any:
    return fit_request(NormalRequest(ModelRequest("", "m", messages, **fields)), POOR)


def test_a_target_without_ids_pairs_by_name() -> None:
    fitted = poor(Message("assistant", (CALL,)), Message("tool", (ToolResultIR("c1", (Text("r"),)),)))
    assert [part.name for message in fitted.normal.messages for part in message.parts] == ["f", "f"]
    assert [loss.what for loss in fitted.losses] == ["the id 'c1'"]
    assert fitted.ids == {}


def test_a_system_message_between_others_moves_to_the_system_text() -> None:
    messages = (Message("user", (Text("a"),)), Message("system", (Text("s"),)), Message("user", (Text("b"),)))
    fitted = poor(*messages, system=(Text("t"),))
    assert fitted.normal.system == (Text("t\n\ns"),)
    assert [message.role for message in fitted.normal.messages] == ["user", "user"]
    assert "moved to the end of the system text" in [loss.instead for loss in fitted.losses]


def test_parallel_off_and_strict_are_lost_where_there_is_no_switch() -> None:
    fitted = poor(Message("user", (Text("a"),)), parallel=False)
    assert fitted.normal.parallel is None
    assert [(loss.pointer, loss.what) for loss in fitted.losses] == [
        ("/parallel_tool_calls", "parallel tool calls switched off")
    ]


TWO = (Text("a"), Text("b"))


@pytest.mark.parametrize("holder", ["system", "user", "assistant", "answer", "tool"])
@pytest.mark.parametrize("one_text", ["system", "user", "assistant", "answer", "tool", ""])
def test_only_what_holds_a_single_string_has_its_texts_joined(holder: str, one_text: str) -> None:
    capabilities = Capabilities(
        request=RequestCapabilities(
            one_text=frozenset((one_text,)),
        ),
    )
    if holder == "answer":
        answer = ModelResponse("", messages=(Message("assistant", TWO),), stop="stop", finish_reason="stop")
        fitted = fit_response(NormalResponse(answer), capabilities)
    else:
        parts = (ToolResultIR("c1", TWO),) if holder == "tool" else TWO
        asked = Message("assistant", (CALL,)) if holder == "tool" else Message("user", (Text("q"),))
        messages = () if holder == "system" else (asked, Message(holder, parts))
        request = ModelRequest("", "m", messages, system=TWO if holder == "system" else ())
        fitted = fit_request(NormalRequest(request), capabilities)
    (held,) = [fitted.normal.system] if holder == "system" else [m.parts for m in fitted.normal.messages[-1:]]
    texts = [part.text for part in (held[0].content if holder == "tool" else held) if isinstance(part, Text)]
    whole = "ab" if holder in ("assistant", "answer") else "a\n\nb"
    assert texts == ([whole] if holder == one_text else ["a", "b"])
    how = "joined to the first " + ("directly" if whole == "ab" else "with an empty line")
    told = [("the boundary between two text parts", how)]
    assert [(loss.what, loss.instead) for loss in fitted.losses] == (told if holder == one_text else [])


def test_a_second_source_of_media_is_lost_by_its_own_place() -> None:
    fields = {"data": "/source/data", "url": "/source/url"}
    part = Media("image", "image/png", "AAAA", "https://a.example/b", source=Source("/content/0", fields))
    request = ModelRequest("", "m", (Message("user", (part,), pointer="/messages/0"),))
    fitted = fit_request(
        NormalRequest(request),
        Capabilities(
            media=MediaCapabilities(
                kinds=frozenset(("image",)),
                sources=frozenset(("data",)),
            ),
        ),
    )
    assert [loss[:2] for loss in fitted.losses] == [
        ("/messages/0/content/0/source/url", "the url of media that also has data")
    ]


def test_the_proof_of_reasoning_is_lost_by_its_own_place() -> None:
    source = Source("/content/0", {"data": "/sealed", "signature": "/proof"})
    part = Reasoning(Carrier.THINKING, "hm", "s", "d", source=source)
    request = ModelRequest("", "m", (Message("assistant", (part, Text("a")), pointer="/messages/0"),))
    fitted = fit_request(NormalRequest(request), protocols.get(CHAT).capabilities)
    assert [loss[:2] for loss in fitted.losses] == [
        ("/messages/0/content/0/proof", "the signature of reasoning, which is only valid in its own protocol"),
        ("/messages/0/content/0/sealed", "encrypted reasoning state"),
    ]


def test_media_without_a_place_are_lost() -> None:
    fitted = poor(Message("user", (Text("a"), Media("image", "image/png", "AAAA"))))
    assert fitted.normal.messages[0].parts == (Text("a"),)


def test_an_answer_of_several_choices_keeps_the_first() -> None:
    messages = (Message("assistant", (Text("a"),)), Message("assistant", (Text("b"),), pointer="/choices/1/message"))
    fitted = fit_response(NormalResponse(ModelResponse("", messages=messages)), protocols.get(BLOCKS).capabilities)
    assert [message.parts for message in fitted.normal.messages] == [(Text("a"),)]
    assert ("/choices/1", "a second choice; the target returns only one") in [loss[:2] for loss in fitted.losses]


def test_counts_that_a_target_must_have_are_written_and_said() -> None:
    answer = ModelResponse("", messages=(Message("assistant", (Text("a"),)),))
    fitted = fit_response(NormalResponse(answer), protocols.get(BLOCKS).capabilities)
    assert fitted.normal.usage == Usage(0, 0)
    assert fitted.losses[0].instead == "written as 0"


def test_an_error_keeps_its_words() -> None:
    error = ApiError("bad", "invalid_request_error", code="c", param="p")
    fitted = fit_response(NormalResponse(ModelResponse("", error=error)), protocols.get(BLOCKS).capabilities)
    assert (fitted.normal.error.message, fitted.normal.error.type, fitted.normal.error.code) == (
        "bad",
        "invalid_request_error",
        None,
    )
    assert len(fitted.losses) == 2


@pytest.mark.parametrize("carrier", list(Carrier))
@pytest.mark.parametrize("target", [CHAT, BLOCKS])
def test_no_proof_is_made_up(carrier: Carrier, target: str) -> None:
    parts = (Reasoning(carrier, "readable"), Text("a"))
    request = ModelRequest("", "m", (Message("user", (Text("q"),)), Message("assistant", parts)))
    fitted = fit_request(NormalRequest(request), protocols.get(target).capabilities)
    kept = [part for _, part in fitted.normal.messages[1].reasoning()]
    assert all(part.signature is None and part.data is None for part in kept)
    assert [part.text for part in kept] == (["readable"] if target == CHAT else [])
