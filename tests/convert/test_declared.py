"""Calls as the client knows them that declared their tools."""

from __future__ import annotations

import pytest

from workbench.convert.convert import convert_response
from workbench.convert.declared_tools import read_declared_tools
from workbench.ir import Message, ModelResponse, ToolCallIR
from workbench.protocols import get

TOOLS = b"""{"model": "m", "input": "hi", "tools": [
 {"type": "namespace", "name": "clock", "tools": [{"type": "function", "name": "sleep", "parameters": {}}]},
 {"type": "custom", "name": "exec"}, {"type": "function", "name": "read", "parameters": {}}]}"""
KNOWN = read_declared_tools(get("openai-responses").decode_request(TOOLS).tools)


@pytest.mark.parametrize(
    ("name", "raw", "value", "expected"),
    [
        ("exec", '{"input": "a\\nb"}', {"input": "a\nb"}, "a\nb"),
        ("exec", '{"code": "a"}', {"code": "a"}, '{"code": "a"}'),
        ("exec", "print(1)", None, "print(1)"),
        ("exec", None, {"code": 1}, '{"code":1}'),
        ("read", '{"input": "a"}', {"input": "a"}, {"input": "a"}),
    ],
)
def test_free_text_is_taken_out_of_its_object(name, raw, value, expected):
    call = ToolCallIR("c1", name, value, "function", raw, error=None if value else "no JSON")
    given = KNOWN.restore_free_text(call)
    assert given.input == expected and (given is call) == (name == "read")
    assert KNOWN.restore_free_text(given) == given, "twice is once"


def test_a_tool_of_a_namespace_is_called_there():
    names = {
        name: KNOWN.restore_namespace(ToolCallIR("c1", name, {}, "function")).extra
        for name in ("sleep", "exec", "read")
    }
    assert names == {"sleep": {"namespace": "clock"}, "exec": {}, "read": {}}


def test_an_answer_is_written_for_the_client_that_declared_the_tools():
    call = ToolCallIR("c1", "exec", {"input": "a\nb"}, "function", '{"input": "a\\nb"}')
    answer = ModelResponse("openai-chat", messages=(Message("assistant", (call,)),), stop="tool_calls")
    items = get("openai-responses")
    assert b'"type":"custom_tool_call"' in convert_response(answer, items, declared=KNOWN).body
    assert b'"type":"function_call"' in convert_response(answer, items).body
