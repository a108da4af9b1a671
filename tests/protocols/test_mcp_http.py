"""Messages to tool servers over HTTP: streamable HTTP in both answers, and the older transport with its own stream."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from workbench.protocols.decode import DecodedExchange
from workbench.protocols.detection import TOOL_SIDE
from workbench.protocols.mcp import BATCH, OVER_HTTP, ToolStreams, as_tool_request, response_message, tool_outcome
from workbench.rules.inspection import Inspector
from workbench.wire import CONNECTION
from workbench.wire.exchange import Body, Exchange, ExchangeKind, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

URL = "https://tools.example.com/mcp"
CALL = {"method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}, "jsonrpc": "2.0", "id": 3}
RESULT = {"result": {"content": [{"type": "text", "text": "1"}]}, "jsonrpc": "2.0", "id": 3}
PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 3, "progress": 1}}


def exchange(
    message: Any, answer: bytes, kind: str = "application/json", status: int = 200, url: str = URL, **headers: str
) -> Exchange:
    sent = Headers((("content-type", "application/json"), *((k.replace("_", "-"), v) for k, v in headers.items())))
    request = HttpRequest("POST", url, sent, Body(json.dumps(message).encode()))
    return Exchange("e", request, HttpResponse(status, Headers((("content-type", kind),)), Body(answer)))


def sse(*messages: Any) -> bytes:
    events = [b"id: 0\ndata: \n\n", *(b"event: message\ndata: " + json.dumps(m).encode() + b"\n\n" for m in messages)]
    return b"".join(events)


def test_the_bytes_stay_and_the_names_are_those_of_the_message() -> None:
    raw = exchange(CALL, json.dumps(RESULT).encode(), mcp_session_id="s1")
    found = as_tool_request(raw)
    assert found.request and raw.request
    assert (found.kind, found.request.method) == (ExchangeKind.MCP, "tools/call")
    assert found.request.url == "mcp://tools.example.com%2Fmcp/add"
    assert found.request.body == raw.request.body and found.response == raw.response
    assert found.meta[OVER_HTTP] == ["POST", URL] and found.meta[CONNECTION] == "tools.example.com/mcp s1"
    assert DecodedExchange(0, raw).protocol_from == TOOL_SIDE


def test_a_batch_is_one_request_under_the_name_that_its_calls_share() -> None:
    found = as_tool_request(exchange([CALL, {**CALL, "id": 4}], json.dumps([RESULT]).encode()))
    assert found.request and (found.kind, found.request.method) == (ExchangeKind.MCP, BATCH)
    assert found.request.url.endswith("/add")
    assert not Inspector(MemorySession("s", (found,))).run().findings
    assert as_tool_request(exchange([CALL, {"id": 4}], b"")).kind is ExchangeKind.HTTP


def test_a_response_among_other_messages_of_a_stream() -> None:
    decoded = DecodedExchange(0, exchange(CALL, sse(PROGRESS, RESULT), "text/event-stream"))
    assert json.loads(response_message(decoded)) == RESULT
    outcome = tool_outcome(decoded)
    assert outcome and (outcome.tool, outcome.state, outcome.result) == ("add", "answered", RESULT["result"])


def test_a_response_on_a_stream_of_its_own() -> None:
    opened = Exchange("g", HttpRequest("GET", "https://tools.example.com/sse"), HttpResponse(200, Headers(()), Body(
        b"event: endpoint\ndata: /messages?sessionId=1\n\n" + sse(RESULT))))  # fmt: skip
    streams = ToolStreams()
    stream = as_tool_request(opened)
    assert stream.request and stream.request.method == "stream"
    streams.take(stream)
    posted = exchange(CALL, b"Accepted", status=202, url="https://tools.example.com/messages?sessionId=1")
    found = streams.complete(as_tool_request(posted))
    assert found.response and json.loads(found.response.body.raw) == RESULT and not found.response.body.is_raw
    other = exchange({**CALL, "id": "3"}, b"", status=202, url="https://tools.example.com/messages?sessionId=1")
    assert streams.complete(as_tool_request(other)).response == other.response


def test_what_carries_no_message_is_left_alone() -> None:
    chat = exchange({"model": "m", "messages": [{"role": "user", "content": '"jsonrpc"'}]}, b"{}")
    get = Exchange("g", HttpRequest("GET", URL), HttpResponse(405))
    broken = exchange(CALL, b"")
    broken = Exchange("b", HttpRequest("POST", URL, body=Body(b'{"jsonrpc": "2.0", ')))
    for each in (chat, get, broken):
        assert as_tool_request(each) is each


def test_messages_of_other_protocols_that_are_json_rpc_too_are_no_tool_requests() -> None:
    between_agents = (
        ("message/stream", {"message": {"kind": "message", "messageId": "m", "parts": [], "role": "user"}}),
        ("tasks/get", {"id": "t", "historyLength": 100}),
        ("eth_call", []),
    )
    for method, params in between_agents:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        assert as_tool_request(exchange(message, b"{}", url="http://127.0.0.1:9999/")).kind is ExchangeKind.HTTP
        assert as_tool_request(exchange(message, b"{}", mcp_session_id="s1")).kind is ExchangeKind.MCP
    of_tools = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": "t"}}
    assert as_tool_request(exchange(of_tools, b"{}")).kind is ExchangeKind.MCP


def test_a_result_over_http_is_compared_with_what_the_model_was_told() -> None:
    lossy = {**RESULT, "result": {"content": [{"type": "text", "text": "1"}], "structuredContent": {"sum": 4711}}}
    used = {"type": "tool_use", "id": "t1", "name": "mcp__calc__add", "input": {"a": 1}}
    told = {"type": "tool_result", "tool_use_id": "t1", "content": "1"}
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [used]}]
    model = {"model": "claude-x", "max_tokens": 9, "messages": [*messages, {"role": "user", "content": [told]}]}
    asked = exchange(model, b"", url="https://api.anthropic.com/v1/messages")
    session = MemorySession("s", (exchange(CALL, sse(lossy), "text/event-stream"), asked))
    (lost,) = [f for f in Inspector(session).run().findings if f.rule == "mcp.structured-dropped"]
    assert (lost.exchange, lost.pointer) == (1, "/messages/2/content/0")
    row = Inspector(session).run().rows[1]
    assert [(link.server, link.tool, link.exchange) for link in row.tool_links] == [("tools.example.com/mcp", "add", 0)]


def test_a_page_and_a_change_that_the_client_never_read_over_http() -> None:
    """As over stdio, at the first request that uses the list; a client that reads on is without a finding."""
    tool = {"name": "add", "inputSchema": {"type": "object"}}

    def listed(id_: int, **members: Any) -> tuple[Any, Any]:
        params = {"cursor": members.pop("at")} if "at" in members else {}
        return ({"jsonrpc": "2.0", "id": id_, "method": "tools/list", "params": params},
                {"jsonrpc": "2.0", "id": id_, "result": {"tools": [tool], **members}})  # fmt: skip

    changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    plain, call = listed(1), (CALL, RESULT)
    for messages, rules in (
        ([listed(1, nextCursor="p2"), call, call], ["mcp.pagination"]),
        ([listed(1, nextCursor="p2"), listed(2, at="p2"), call], []),
        ([plain, (CALL, changed, RESULT), call, call], ["mcp.list-changed"]),
        ([plain, (CALL, changed, RESULT), listed(2), call], []),
        ([(*plain[:1], changed, plain[1]), call], []),
    ):
        made = [
            replace(exchange(sent, sse(*answers), "text/event-stream"), started_at=10.0 * n, duration=1.0)
            for n, (sent, *answers) in enumerate(messages)
        ]
        rows = Inspector(MemorySession("lists", tuple(made))).run().rows
        found = [f.rule for row in rows for f in row.findings if f.rule in ("mcp.pagination", "mcp.list-changed")]
        assert found == rules, messages
