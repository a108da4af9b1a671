"""Marks for the cache: as keys, as blocks behind what they mark, and where there are none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.convert import Conversion, convert, roundtrip_differences

MARK = {"cache_control": {"type": "ephemeral"}}
POINT = {"cachePoint": {"type": "default"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
KEYED: dict[str, Any] = {
    "model": "m",
    "max_tokens": 9,
    "system": [{"type": "text", "text": "s", **HOUR}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "q", **MARK}, {"type": "text", "text": "r"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}, **MARK}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x", **MARK}]},
    ],
    "tools": [{"name": "f", "input_schema": {"type": "object"}, **MARK}],
}
BLOCKS: dict[str, Any] = {
    "system": [{"text": "s"}, {"cachePoint": {"ttl": "1h", "type": "default"}}],
    "messages": [
        {"role": "user", "content": [{"text": "q"}, POINT, {"text": "r"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}, POINT]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"text": "x"}]}}, POINT]},
    ],
    "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}, POINT]},
    "inferenceConfig": {"maxTokens": 9},
}


def request(body: dict[str, Any], source: str, target: str) -> Conversion:
    made = convert(json.dumps(body).encode(), target, protocol=source)
    assert roundtrip_differences(made) == ()
    return made


def test_keys_become_blocks() -> None:
    made = request(KEYED, "anthropic-messages", "bedrock-converse")
    assert json.loads(made.body) == BLOCKS
    assert made.losses == ()


@pytest.mark.parametrize("target", ["anthropic-messages", "bedrock-invoke"])
def test_blocks_become_keys(target: str) -> None:
    made = request(BLOCKS, "bedrock-converse", target)
    body = json.loads(made.body)
    for key in ("system", "messages", "tools"):
        assert json.dumps(body[key]).count("cache_control") == json.dumps(KEYED[key]).count("cache_control")
    assert body["system"] == KEYED["system"]
    assert body["messages"][:2] == KEYED["messages"][:2]
    assert body["messages"][2]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert made.losses == ()


def test_blocks_are_told_where_there_are_no_marks() -> None:
    made = request(BLOCKS, "bedrock-converse", "gemini")
    assert [(loss.pointer, loss.what) for loss in made.losses] == [
        ("/messages/0/content/1", "a cache breakpoint"),
        ("/messages/1/content/1", "a cache breakpoint"),
        ("/messages/2/content/1", "a cache breakpoint"),
        ("/system/1", "a cache breakpoint"),
        ("/toolConfig/tools/1", "a cache breakpoint"),
    ]


def test_a_block_that_marks_nothing_is_told() -> None:
    body = {"messages": [{"role": "user", "content": [POINT, {"text": "q"}]}]}
    made = request(body, "bedrock-converse", "bedrock-invoke")
    assert ("/messages/0/content/0", "a cache breakpoint") in [(loss.pointer, loss.what) for loss in made.losses]


def test_a_mark_inside_a_result_is_told() -> None:
    inner = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x", **MARK}]}
    messages = [*KEYED["messages"][:2], {"role": "user", "content": [inner]}]
    made = request(KEYED | {"messages": messages}, "anthropic-messages", "bedrock-converse")
    assert [loss.pointer for loss in made.losses] == ["/messages/2/content/0/content/0/cache_control"]


def test_what_a_block_cannot_say_of_a_mark_is_told() -> None:
    mark = {"cache_control": {"type": "ephemeral", "scope": "global"}}
    body = KEYED | {"system": [{"type": "text", "text": "s", **mark}]}
    made = request(body, "anthropic-messages", "bedrock-converse")
    assert json.loads(made.body)["system"][1] == POINT
    assert [loss.pointer for loss in made.losses] == ["/system/0/cache_control/scope"]
