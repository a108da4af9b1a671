"""Requests whose parts, choice or parameters another protocol says differently, or cannot say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.convert import Conversion, convert, roundtrip_differences

CHAT, BLOCKS, CONVERSE, ITEMS = "openai-chat", "anthropic-messages", "bedrock-converse", "openai-responses"
ASK = {"role": "user", "content": "q"}


def request(body: dict[str, Any], source: str, target: str) -> Conversion:
    made = convert(json.dumps(body).encode(), target, protocol=source)
    assert roundtrip_differences(made) == ()
    return made


def told(made: Conversion) -> list[tuple[str, str, str]]:
    return [(loss.pointer, loss.what, loss.instead) for loss in made.losses]


def at(made: Conversion, *steps: str | int) -> Any:
    node = json.loads(made.body)
    for step in steps:
        node = node[step]
    return node


def turns(*content: dict[str, Any]) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[n % 2], "content": [block]} for n, block in enumerate(content)]}


def test_a_type_that_the_target_needs_of_a_reference_is_told() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://a.example/b"}}
    made = request({"model": "m", "messages": [{"role": "user", "content": [picture]}]}, CHAT, "gemini")
    assert at(made, "contents", 0, "parts", 0, "fileData", "mimeType") == "image/*"
    why = "media of kind 'image' without a media type, which the target requires"
    assert told(made) == [("/messages/0/content/0", why, "written as 'image/*'")]


def test_the_type_of_a_reference_is_kept_where_it_can_be_said() -> None:
    film = {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://a/b"}}}}
    made = request(turns(film), CONVERSE, "gemini")
    assert at(made, "contents", 0, "parts", 0, "fileData", "mimeType") == "video/mp4"
    assert told(made) == []


@pytest.mark.parametrize("target", [BLOCKS, CHAT, "gemini"])
def test_a_refusal_in_the_content_is_written_as_text(target: str) -> None:
    answer = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "never"}]}
    made = request({"model": "m", "max_output_tokens": 9, "input": [ASK, answer]}, ITEMS, target)
    assert b"never" in made.body
    assert told(made) == [("/input/1/content/0", "a refusal as a separate part", "written as text")]


def test_the_result_of_a_server_tool_goes_with_its_call() -> None:
    call = {"toolUse": {"toolUseId": "a", "name": "nova_grounding", "type": "server_tool_use", "input": {}}}
    result = {"toolResult": {"toolUseId": "a", "content": [{"text": "r"}]}}
    made = request(turns({"text": "q"}, call, result), CONVERSE, "gemini")
    assert [at(made, "contents", n)["parts"] for n in range(len(at(made, "contents")))] == [[{"text": "q"}]]
    assert [pointer for pointer, _, _ in told(made)] == ["/messages/1/content/0", "/messages/2/content/0"]


def test_an_item_that_nobody_knows_is_told_once() -> None:
    items = [ASK, {"type": "mystery", "x": 1}, {"type": "message", "role": "assistant", "content": "a"}]
    made = request({"model": "m", "input": items}, ITEMS, CHAT)
    assert told(made) == [("/input/1", "a part of type 'mystery'", "left out")]


def test_keys_and_values_that_the_types_of_the_target_do_not_have_are_named() -> None:
    asked = {"model": "m", "messages": [ASK], "logit_bias": {"1": 2}, "temperature": 1.7, "service_tier": "flex"}
    made = request(asked, CHAT, BLOCKS)
    assert told(made)[1:] == [
        ("/logit_bias", "the parameter 'logit_bias'", "left out: the target has no such field"),
        (
            "/service_tier",
            "the value 'flex' of 'service_tier'",
            "written unchanged, but the target's API defines only: one of auto, standard_only",
        ),
        (
            "/temperature",
            "the value 1.7 of 'temperature'",
            "written unchanged, but the target's API defines only: at most 1",
        ),
    ]


def test_an_empty_result_keeps_its_key() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = [ASK, {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": ""}]
    assert at(request({"model": "m", "messages": said}, CHAT, "ollama"), "messages", 2, "content") == ""


@pytest.mark.parametrize(
    ("config", "budget", "most", "instead"),
    [
        ({"maxOutputTokens": 5000, "thinkingConfig": {"thinkingBudget": 100}}, 1024, 5000, ["written as 1024"]),
        ({"maxOutputTokens": 2000, "thinkingConfig": {"thinkingBudget": 4000}}, 1999, 2000, ["written as 1999"]),
        ({"maxOutputTokens": 90, "thinkingConfig": {"thinkingBudget": 1024}}, None, 90, ["left out"]),
        ({"thinkingConfig": {"thinkingBudget": 8000}}, 8000, 12096, ["max_tokens raised to 12096"]),
    ],
    ids=["too-small", "not-below-the-answer", "no-room", "beside-a-supplied-limit"],
)
def test_a_budget_of_thinking_that_the_target_refuses(
    config: dict[str, Any], budget: int | None, most: int, instead: list[str]
) -> None:
    config["thinkingConfig"]["includeThoughts"] = True
    body = {"contents": [{"role": "user", "parts": [{"text": "q"}]}], "generationConfig": config}
    made = request(body, "gemini", BLOCKS)
    assert at(made, "thinking").get("budget_tokens") == budget
    assert at(made, "max_tokens") == most
    place = "/generationConfig/thinkingConfig/thinkingBudget"
    assert [said for pointer, _, said in told(made) if pointer == place] == instead


@pytest.mark.parametrize("target", [CONVERSE, "bedrock-invoke"])
def test_a_tool_name_that_the_service_refuses_is_rewritten(target: str) -> None:
    tool = {"functionDeclarations": [{"name": "a.b"}]}
    made = request({"contents": [{"role": "user", "parts": [{"text": "q"}]}], "tools": [tool]}, "gemini", target)
    assert b'"a_b"' in made.body
    assert "written as 'a_b'" in [instead for _, _, instead in told(made)]


def test_a_parameter_is_told_by_its_keys() -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [ASK], "metadata": {"user_id": "u"}}
    assert [what for _, what, _ in told(request(body, BLOCKS, "gemini"))] == ["the parameter 'metadata.user_id'"]


@pytest.mark.parametrize(
    ("mode", "names", "choice", "instead"),
    [
        ("required", ["f"], {"type": "tool", "name": "f"}, "'f', the only available tool, must be called"),
        ("required", ["f", "g"], {"type": "any"}, "a call to any tool is required"),
        ("auto", ["f"], None, "left out: the model decides (auto)"),
    ],
)
def test_allowed_tools(mode: str, names: list[str], choice: Any, instead: str) -> None:
    tools: list[Any] = [{"type": "function", "name": name, "parameters": {}} for name in ("f", "g", "h")]
    allowed = [{"type": "function", "name": name} for name in names]
    chosen = {"type": "allowed_tools", "mode": mode, "tools": allowed}
    body = {"model": "m", "max_output_tokens": 9, "input": "q", "tools": tools, "tool_choice": chosen}
    made = request(body, ITEMS, BLOCKS)
    assert json.loads(made.body).get("tool_choice") == choice
    assert told(made) == [("/tool_choice", "a tool choice of mode 'allowed_tools'", instead)]


def test_thinking_that_has_no_measure_leaves_no_empty_object() -> None:
    config = {"thinkingConfig": {"includeThoughts": True}}
    body = {"contents": [{"role": "user", "parts": [{"text": "q"}]}], "generationConfig": config}
    made = request(body, "gemini", ITEMS)
    assert "reasoning" not in json.loads(made.body)
    assert [what for _, what, _ in told(made)] == ["the thinking switch ('on')"]


PDF = "JVBERi0="
NAMED: dict[str, dict[str, Any]] = {
    BLOCKS: {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
        "title": "My report",
    },
    CONVERSE: {"document": {"format": "pdf", "name": "My report", "source": {"bytes": PDF}}},
    CHAT: {"type": "file", "file": {"filename": "My report", "file_data": f"data:application/pdf;base64,{PDF}"}},
    ITEMS: {"type": "input_file", "filename": "My report", "file_data": f"data:application/pdf;base64,{PDF}"},
}


def with_document(protocol: str, document: dict[str, Any]) -> dict[str, Any]:
    key = "input" if protocol == ITEMS else "messages"
    return {"model": "m", "max_tokens": 9, key: [{"role": "user", "content": [document]}]}


@pytest.mark.parametrize("target", NAMED)
@pytest.mark.parametrize("source", NAMED)
def test_the_name_of_a_document_is_kept(source: str, target: str) -> None:
    if source == target:
        return
    made = request(with_document(source, NAMED[source]), source, target)
    assert at(made, "input" if target == ITEMS else "messages", 0, "content") == [NAMED[target]]
    assert not any("document" in what or "name" in what for _, what, _ in told(made))


def test_a_name_in_characters_that_are_refused_is_rewritten() -> None:
    document = NAMED[CHAT] | {"file": NAMED[CHAT]["file"] | {"filename": "a_b  c.pdf"}}
    made = request(with_document(CHAT, document), CHAT, CONVERSE)
    assert at(made, "messages", 0, "content", 0, "document", "name") == "a-b-c-pdf"
    assert ("/messages/0/content/0", "the document name 'a_b  c.pdf'", "written as 'a-b-c-pdf'") in told(made)


def test_a_document_without_a_name_is_called_one() -> None:
    document = {key: value for key, value in NAMED[BLOCKS].items() if key != "title"}
    made = request(with_document(BLOCKS, document), BLOCKS, CONVERSE)
    assert [instead for _, _, instead in told(made)] == ["named 'document'"]


@pytest.mark.parametrize(
    ("arguments", "written", "what"),
    [
        ('{"x":1.10,"y":"2.50e400"}', {"x": 1.1, "y": "2.50e400"}, []),
        (
            '{"x":0.12345678901234567890}',
            {"x": 0.12345678901234568},
            ["the number 0.12345678901234567890 in the arguments"],
        ),
        (
            '{"x":1e400}',
            {"arguments": '{"x":1e400}'},
            ["arguments with a number that does not fit into a 64-bit float (double)"],
        ),
    ],
    ids=["same-number", "nearest", "beyond"],
)
def test_numbers_in_arguments(arguments: str, written: Any, what: list[str]) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    body = {"model": "m", "max_tokens": 9, "messages": [ASK, {"role": "assistant", "tool_calls": [call]}]}
    made = request(body, CHAT, BLOCKS)
    assert at(made, "messages", 1, "content", 0, "input") == written
    assert [told_of for _, told_of, _ in told(made)] == what


def test_a_choice_among_some_of_the_tools_is_one_of_any() -> None:
    config = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f", "g"]}}
    tools = [{"functionDeclarations": [{"name": name} for name in "fgh"]}]
    body = {"contents": [{"role": "user", "parts": [{"text": "q"}]}], "tools": tools, "toolConfig": config}
    made = request(body, "gemini", CHAT)
    assert at(made, "tool_choice") == "required"
    place = "/toolConfig/functionCallingConfig"
    assert told(made) == [(place, "a tool choice limited to some of the tools", "a call to any tool is required")]


@pytest.mark.parametrize(
    ("choice", "parallel", "written", "losses"),
    [
        ("required", False, {"type": "any", "disable_parallel_tool_use": True}, []),
        ("auto", True, {"type": "auto", "disable_parallel_tool_use": False}, []),
        (None, False, {"type": "auto", "disable_parallel_tool_use": True}, []),
        (None, True, None, []),
        ("none", False, {"type": "none"}, ["/parallel_tool_calls"]),
    ],
    ids=["some call, one at a time", "many calls", "one at a time, unasked", "many calls, unasked", "no call"],
)
def test_the_switch_of_parallel_calls_goes_into_the_choice(
    choice: str | None, parallel: bool, written: dict[str, Any] | None, losses: list[str]
) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    body = {"model": "m", "max_tokens": 9, "messages": [ASK], "tools": [tool], "parallel_tool_calls": parallel}
    made = request(body | ({"tool_choice": choice} if choice else {}), CHAT, BLOCKS)
    assert json.loads(made.body).get("tool_choice") == written
    assert [loss.pointer for loss in made.losses] == losses


def test_a_text_with_tags_of_reasoning_is_told_where_readers_take_it_for_reasoning() -> None:
    said = turns({"type": "text", "text": "q"}, {"type": "text", "text": "a <think>b</think>"})
    made = request({"model": "m", "max_tokens": 9} | said, BLOCKS, CHAT)
    assert at(made, "messages", 1, "content") == "a <think>b</think>"
    what = "text with think tags, which clients interpret as reasoning"
    assert told(made) == [("/messages/1/content/0", what, "written unchanged")]
