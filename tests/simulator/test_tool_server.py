"""A recorded tool server, served again: strict, from the recording alone, with faults on demand."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.tool_hops import STRUCTURED, HopSession, lost_structured
from workbench.errors import UsageError
from workbench.simulator import TOOL_FAULTS, ToolServer, choose_server, decoded_of, recorded_servers, serve_tools

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
OSLO = {"name": "weather", "arguments": {"city": "Oslo"}}


def servers() -> Any:
    return recorded_servers(decoded_of(lost_structured().exchanges()))


def connection(fault: str = "") -> ToolServer:
    return ToolServer(choose_server(servers(), "sky"), fault)


def say(server: ToolServer, method: str, params: Any = None, id_: Any = 1) -> list[Any]:
    message = {"jsonrpc": "2.0", "id": id_, "method": method, **({} if params is None else {"params": params})}
    lines = server.answer(json.dumps(message).encode())
    return [json.loads(line) if line.startswith(b"{") else line for line in lines]


def opened(fault: str = "") -> ToolServer:
    server = connection(fault)
    assert say(server, "initialize", HELLO)[0]["result"]["protocolVersion"] in ("2025-06-18", "1999-01-01")
    return server


def test_it_lists_and_returns_what_was_recorded() -> None:
    server = opened()
    assert [tool["name"] for tool in say(server, "tools/list")[0]["result"]["tools"]] == ["weather"]
    (answer,) = say(server, "tools/call", OSLO, "a")
    assert answer["id"] == "a" and answer["result"]["structuredContent"] == STRUCTURED
    (unknown,) = say(server, "tools/call", {"name": "weather", "arguments": {"city": "Rome"}})
    assert unknown["result"]["isError"] and "nothing was recorded" in unknown["result"]["content"][0]["text"]


def test_the_same_call_again_returns_the_next_result_and_then_the_last() -> None:
    made = HopSession("s")
    for n in range(2):
        made.call("s", "count", {}, {"content": [{"type": "text", "text": str(n)}]})
    server = ToolServer(choose_server(recorded_servers(decoded_of(made.exchanges())), None))
    say(server, "initialize", HELLO)
    texts = [say(server, "tools/call", {"name": "count"})[0]["result"]["content"][0]["text"] for _ in range(3)]
    assert texts == ["0", "1", "1"]


REFUSED = {
    "no JSON": (b"x", -32700),
    "no object": (b"[]", -32600),
    "another version": (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
    "an id of null": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
    "too early": (b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', -32600),
    "an unknown method": (b'{"jsonrpc":"2.0","id":1,"method":"tools/run"}', -32601),
    "the newer handshake": (b'{"jsonrpc":"2.0","id":1,"method":"server/discover"}', -32601),
    "no version": (b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}', -32602),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_breaks_the_protocol_is_refused(name: str) -> None:
    line, code = REFUSED[name]
    (answer,) = connection().answer(line)
    assert json.loads(answer)["error"]["code"] == code


def test_notifications_and_responses_are_not_answered() -> None:
    for line in (
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b"",
    ):
        assert connection().answer(line) == []


def test_an_unknown_tool_is_a_protocol_error() -> None:
    assert say(opened(), "tools/call", {"name": "nope"})[0]["error"]["code"] == -32602


FAULTY = {
    "no-answer": [],
    "twice": ["structuredContent", "structuredContent"],
    "error": ["error"],
    "failure": ["isError"],
    "structured-only": ["no content"],
    "text-only": ["no structuredContent"],
    "cut": ["mi"],
    "wrong-version": ["structuredContent"],
    "list-changed": ["structuredContent", "notifications/tools/list_changed"],
    "noise": ["noise", "structuredContent"],
    "session-lost": ["structuredContent"],
}


def kind_of(message: Any) -> str:
    if isinstance(message, bytes):
        return "noise"
    result = message.get("result", {})
    if "error" in message or "method" in message:
        return "error" if "error" in message else str(message["method"])
    if result.get("isError"):
        return "isError"
    if not result["content"]:
        return "no content"
    text = result["content"][0]["text"]
    return "mi" if text == "mi" else "structuredContent" if "structuredContent" in result else "no structuredContent"


@pytest.mark.parametrize("fault", TOOL_FAULTS)
def test_each_fault_is_in_the_result_of_a_call(fault: str) -> None:
    assert [kind_of(message) for message in say(opened(fault), "tools/call", OSLO)] == FAULTY[fault]


def test_one_of_several_servers_is_chosen() -> None:
    assert list(servers()) == ["sky", "maps"]
    with pytest.raises(UsageError, match="several servers: sky, maps"):
        choose_server(servers(), None)
    with pytest.raises(UsageError, match="no server 'x'"):
        choose_server(servers(), "x")
    with pytest.raises(UsageError, match="no tool server traffic"):
        choose_server({}, None)


def post(url: str, message: Any, session: str = "") -> tuple[int, str, Any]:
    headers = {"content-type": "application/json", **({"mcp-session-id": session} if session else {})}
    request = urllib.request.Request(url, json.dumps({"jsonrpc": "2.0", **message}).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            body = reply.read()
            return reply.status, reply.headers.get("mcp-session-id", ""), json.loads(body) if body else None
    except urllib.error.HTTPError as error:
        with error:
            return error.code, "", None


def test_over_http_it_has_sessions() -> None:
    call = {"id": 2, "method": "tools/call", "params": OSLO}
    with serve_tools(choose_server(servers(), "sky"), "session-lost") as url:
        assert post(url, call)[0] == 400 and post(url, call, "unknown")[0] == 404
        status, session, answer = post(url, {"id": 1, "method": "initialize", "params": HELLO})
        assert status == 200 and answer["result"]["serverInfo"]["name"] == "sky"
        assert post(url, {"method": "notifications/initialized"}, session) == (202, session, None)
        assert post(url, call, session)[2]["result"]["structuredContent"] == STRUCTURED
        assert post(url, call, session)[0] == 404
