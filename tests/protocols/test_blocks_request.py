"""Requests made of blocks: messages, system, tools and every other key."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocols import laws
from tests.protocols.said import request
from workbench.errors import ProtocolMismatch
from workbench.ir import (
    Message,
    Text,
    ToolChoice,
    ToolDef,
    ToolResultIR,
)
from workbench.protocols.anthropic_messages import adapter
from workbench.protocols.decode import REQUEST

NAME = adapter.name


def test_a_message_of_another_protocol_keeps_its_role_and_id() -> None:
    said = request({"role": "tool", "tool_call_id": "call_1", "content": "data"})
    assert said.messages == (Message("tool", (Text("data"),), {"tool_call_id": "call_1"}),)
    assert not said.anomalies


def test_system_messages_stand_where_they_stood() -> None:
    said = request(
        {"role": "user", "content": "a"},
        {"role": "system", "content": "be brief", "output_config": {"effort": "low"}},
        system=[{"type": "text", "text": "s"}],
    )
    assert [m.role for m in said.messages] == ["user", "system"]
    assert said.messages[1].extra == {"output_config": {"effort": "low"}}
    assert said.system == (Text("s"),)
    assert said.system[0].source.pointer == "/system/0"


def test_the_keys_of_a_request() -> None:
    said = request(
        {"role": "user", "content": "a"},
        system="s",
        stream=True,
        thinking={"type": "enabled", "budget_tokens": 1024},
        thread={"type": "continue", "previous_message_id": "msg_0"},
        tool_choice={"type": "tool", "name": "n", "disable_parallel_tool_use": True},
        max_tokens=5,
    )
    assert (said.protocol, said.model, said.stream, said.parallel) == ("anthropic-messages", "claude-x", True, False)
    assert said.tool_choice == ToolChoice("tool", "n")
    assert (said.thinking, said.previous_id) == ("on", "msg_0")
    assert set(said.params) == {"thinking", "thread", "max_tokens"}
    assert said.system == (Text("s"),)
    assert (said.messages[0].pointer, said.messages[0].parts[0].source.pointer) == ("/messages/0", "/content")


@pytest.mark.parametrize(
    ("thinking", "expected"),
    [
        (None, None),
        ({"type": "disabled"}, "off"),
        ({"type": "adaptive", "display": "omitted"}, "adaptive"),
        ({"type": "between_tools"}, "between_tools"),
        ("high", None),
    ],
)
def test_thinking(thinking: Any, expected: str | None) -> None:
    said = request(thinking=thinking)
    assert said.thinking == expected
    assert said.params["thinking"] == thinking


TOOLS: list[tuple[Any, ToolDef, bool]] = [
    ({"name": "a", "description": "d", "input_schema": {}, "strict": True}, ToolDef("a", "d", {}, strict=True), False),
    ({"type": "custom", "name": "a"}, ToolDef("a", None, None, extra={"type": "custom"}), False),
    ({"type": "bash_20250124", "name": "bash"}, ToolDef("bash", None, None, extra={"type": "bash_20250124"}), False),
    (
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 1},
        ToolDef("web_search", None, None, "server", extra={"type": "web_search_20250305", "max_uses": 1}),
        False,
    ),
    (
        {"type": "mcp_toolset", "mcp_server_name": "s"},
        ToolDef(None, None, None, "server", extra={"type": "mcp_toolset", "mcp_server_name": "s"}),
        False,
    ),
    (
        {"type": "function", "function": {"name": "a"}},
        ToolDef(None, None, None, extra={"type": "function", "function": {"name": "a"}}),
        True,
    ),
    ("a", ToolDef(None, None, None, extra={"value": "a"}), True),
]


@pytest.mark.parametrize(("tool", "expected", "is_wrong"), TOOLS)
def test_tools(tool: Any, expected: ToolDef, is_wrong: bool) -> None:
    said = request(tools=[tool])
    assert said.tools == (expected,)
    assert said.tools[0].pointer == "/tools/0"
    assert [(a.slug, a.pointer) for a in said.anomalies] == ([("schema.malformed", "/tools/0")] if is_wrong else [])


@pytest.mark.parametrize("choice", ["auto", {"type": ["auto"]}, {"type": "function"}])
def test_foreign_tool_choice(choice: Any) -> None:
    said = request(tool_choice=choice)
    assert said.tool_choice == ToolChoice("other")
    assert [a.slug for a in said.anomalies] == ["choice.unsupported"]


@pytest.mark.parametrize("body", [b"[]", b"3", b'"x"', b"{}", b'{"prompt": "x"}'])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolMismatch):
        adapter.decode_request(body)


def test_lone_surrogates_do_not_stop_anything() -> None:
    body = b'{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x \\ud83d"}]}]}'
    result = adapter.decode_request(body).messages[0].parts[0]
    assert result == ToolResultIR("a", (Text("x \ud83d"),))
    laws.check(body, REQUEST, NAME)
