from __future__ import annotations

import pytest

from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse, Origin
from workbench.wire.jsontext import dumps
from workbench.wire.session import MemorySession

TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("read", "write")]
GO = [{"role": "user", "content": "go"}]
NAME = "/choices/0/message/tool_calls/0/function/name"


def answer(name):
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


CASES = [
    ("declared", "read", {"tools": TOOLS}, []),
    ("glued", "readread", {"tools": TOOLS}, [("error", NAME)]),
    ("no name", None, {"tools": TOOLS}, [("error", NAME)]),
    ("nothing declared", "read", {}, [("warning", NAME)]),
    ("a transcript without declarations", "read", {"origin": Origin.RECONSTRUCTED}, []),
]


@pytest.mark.parametrize(("name", "more", "expected"), [r[1:] for r in CASES], ids=[r[0] for r in CASES])
def test_names(chat, name, more, expected):
    found = [f for f in chat(GO, answer(name), **more) if f.rule == "call.unknown-tool"]
    assert [(f.severity, f.pointer) for f in found] == expected


def test_an_answer_by_itself_declares_nothing(chat):
    assert "call.unknown-tool" not in {f.rule for f in chat(None, answer("other"))}


def test_the_nearest_tool_is_named(chat):
    found = chat(GO, answer("reads"), tools=TOOLS)
    assert "nearest: 'read'" in next(f.evidence for f in found if f.rule == "call.unknown-tool")


def test_tools_may_arrive_in_the_middle(anthropic):
    added = {"role": "system", "content": [{"type": "tool_addition", "tool": {"name": "late", "input_schema": {}}}]}
    block = {"type": "tool_use", "id": "a", "name": "late", "input": {}}
    body = {"type": "message", "role": "assistant", "model": "m", "content": [block], "stop_reason": "tool_use"}
    tools = [{"name": "read", "input_schema": {"type": "object"}}]
    found = anthropic([*GO, added], body, tools=tools, model="claude-of-tomorrow")
    assert [f.rule for f in found] == ["closure.pending"]


@pytest.mark.parametrize(("tool", "rules"), [("computerUse", []), ("urlContext", ["call.unknown-tool"])])
def test_a_tool_may_bring_functions_of_its_own(inspect, tool, rules):
    part = {"functionCall": {"name": "click_at", "args": {"x": 1, "y": 2}}}
    answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
    request = {"contents": [{"role": "user", "parts": [{"text": "go"}]}], "tools": [{tool: {}}]}
    found = inspect(request, answer, protocol="gemini")
    assert [f.rule for f in found if f.rule == "call.unknown-tool"] == rules


@pytest.mark.parametrize(
    ("servers", "called", "rules"),
    [
        ([{"name": "weather"}], "weather_get_forecast", []),
        ([{"name": "weather"}], "weathering", ["call.unknown-tool"]),
        ([{"url": "https://host"}, 5], "weather_get_forecast", ["call.unknown-tool"]),
    ],
)
def test_tools_of_a_named_server_have_its_name_before_theirs(servers, called, rules):
    part = {"functionCall": {"name": called, "args": {}}}
    answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
    request = {"contents": [{"role": "user", "parts": [{"text": "go"}]}], "tools": [{"mcpServers": servers}]}
    made = Exchange(
        "1",
        HttpRequest("POST", "https://host/v1beta/models/m:generateContent", body=Body(dumps(request))),
        HttpResponse(200, body=Body(dumps(answer))),
    )
    found = Inspector(MemorySession("a", (made,))).run().findings
    assert [f.rule for f in found if f.rule == "call.unknown-tool"] == rules
