"""The hop between agent and tool server: what is a fault, and what only looks like one."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.tool_hops import HopSession, said
from workbench.chain import tool_links
from workbench.contracts.pages import Example
from workbench.rules.inspection import Inspection, Inspector
from workbench.wire import CONNECTION
from workbench.wire.session import MemorySession

TOOL = {"name": "add", "inputSchema": {"type": "object"}}
OUTPUT = {**TOOL, "outputSchema": {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}}
TEXT = {"type": "text", "text": "no such file"}
PAGE = {"mode": "url", "elicitationId": "e", "url": "https://a.example/b", "message": "sign in"}
NEEDED = {"code": -32042, "message": "no", "data": {"elicitations": [PAGE]}}
PAGE_NEEDED = {"received": {"jsonrpc": "2.0", "id": 1, "error": NEEDED}}
CHANGED = {"received": {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}}


def ask(id_: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"sent": {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}}


def answer(id_: Any, **result: Any) -> dict[str, Any]:
    return {"received": {"jsonrpc": "2.0", "id": id_, "result": result}}


def refuse(id_: Any, code: int) -> dict[str, Any]:
    return {"received": {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": "no"}}}


def call(id_: Any, name: str = "add", **more: Any) -> dict[str, Any]:
    return ask(id_, "tools/call", name=name, arguments={}, **more)


def session(*lines: dict[str, Any]) -> MemorySession:
    return Example("generic", "mcp", ({"mcp": list(lines)},)).session()


def inspect(*lines: dict[str, Any]) -> Inspection:
    return Inspector(session(*lines)).run()


def found(*lines: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(f.rule, f.exchange, f.pointer) for f in inspect(*lines).findings]


SHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
SHAKEN = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
READY = {"sent": {"jsonrpc": "2.0", "method": "notifications/initialized"}}
LISTED = (ask(1, "tools/list"), answer(1, tools=[OUTPUT]))
PAGED = (ask(1, "tools/list"), answer(1, tools=[OUTPUT], nextCursor="n"))

HEALTHY = {
    "a probe of the new era that falls back": (
        *(ask(0, "server/discover"), refuse(0, -32601)),
        *(ask(1, "initialize", **SHAKE), answer(1, **SHAKEN)),
    ),
    "a list that changes before it has arrived": (
        *(ask(1, "tools/list"), CHANGED, answer(1, tools=[TOOL])),
        *(call(2), answer(2, content=[])),
    ),
    "a change that nobody needs": (*LISTED, CHANGED),
    "a call that the client cancelled": (
        call(1),
        {"sent": {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}},
    ),
    "a result that asks for input": (*LISTED, call(2), answer(2, resultType="input_required", inputRequests={})),
    "an error of a tool with an output schema": (*LISTED, call(2), answer(2, isError=True, content=[TEXT])),
    "a server that needs a page opened": (call(1), PAGE_NEEDED),
    "a resource that is not there": (ask(1, "resources/read", uri="a:b"), refuse(1, -32002)),
    "blank lines": ({"printed": ""}, {"printed": "\r"}),
    "a subscription until the end": (ask(1, "subscriptions/listen"),),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_what_is_healthy(name: str) -> None:
    assert found(*HEALTHY[name]) == []


SAID = {"type": "text", "text": "3"}


def test_each_finding_has_its_exchange_its_place_and_its_bytes() -> None:
    lines = (*LISTED, call(2), answer(2, content=[SAID], structuredContent={"sum": "3"}), call(3))
    lines = (*lines, refuse(3, -32000), call(4))
    result = inspect(*lines)
    assert [(f.rule, f.exchange, f.side, f.pointer) for f in result.findings] == [
        ("mcp.output-schema", 2, "response", "/result/structuredContent/sum"),
        ("mcp.protocol-error", 3, "response", "/error"),
        ("mcp.no-answer", 4, "response", ""),
    ]
    body = json.dumps(lines[3]["received"], separators=(",", ":")).encode()
    first, last = result.findings[0].span or (0, 0)
    assert body[first:last] == b'"3"'


def test_a_list_in_pages_and_a_list_that_replaces_it() -> None:
    more = (ask(2, "tools/list", cursor="n"), answer(2, tools=[{**OUTPUT, "name": "sub"}]))
    both = (*PAGED, *more, call(3), answer(3, content=[]), call(4, "sub"), answer(4, content=[]))
    assert [exchange for _, exchange, _ in found(*both)] == [3, 4]
    anew = (*LISTED, ask(2, "tools/list"), answer(2, tools=[TOOL]), call(3), answer(3, content=[]))
    assert found(*anew) == []


def test_capabilities_are_those_of_the_side_that_answers() -> None:
    shaken = (ask(0, "initialize", **{**SHAKE, "capabilities": {"roots": {}}}), answer(0, **SHAKEN), READY)
    asked = (
        {"received": {"jsonrpc": "2.0", "id": id_, "method": f"{what}"}}
        for id_, what in enumerate(("roots/list", "ping", "sampling/x"))
    )
    results: tuple[dict[str, Any], ...] = ({"roots": []}, {}, {})
    told = ({"sent": {"jsonrpc": "2.0", "id": id_, "result": each}} for id_, each in enumerate(results))
    lines = (*shaken, *LISTED, *asked, *told, ask(5, "prompts/list"), answer(5, prompts=[]))
    assert [rule for rule, *_ in found(*lines)] == ["mcp.capability"] * 2
    assert found(*lines[3:]) == []  # without a handshake nothing is known


def test_two_servers_keep_apart() -> None:
    one, other = session(*LISTED), session(call(2), answer(2, content=[]))
    moved = (replace(e, meta={**e.meta, CONNECTION: "other"}) for e in other.exchanges)
    both = (*one.exchanges, *moved)
    assert Inspector(MemorySession("both", both)).run().findings == ()


def test_noise_is_found_once_for_each_side() -> None:
    noise = ({"printed": "starting"}, {"printed": "Content-Length: 5\r"}, {"sent": [1]}, {"printed": '{"a":1}'})
    result = inspect(*noise)
    assert [(f.rule, f.side) for f in result.findings] == [("mcp.framing", "request"), ("mcp.framing", "response")]
    assert "(3 such lines)" in result.findings[1].message


def test_rows_are_judged_without_being_model_exchanges() -> None:
    rows = inspect(call(1), answer(1, content=[])).rows
    assert [(row.protocol, row.is_judged, row.is_undecided) for row in rows] == [(None, True, False)] * 2


def test_a_lost_session_is_a_note_where_the_client_can_know_it() -> None:
    def answered(status: int) -> list[tuple[str, str]]:
        asked = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "add", "arguments": {}}}
        exchange = {"request": asked, "request_headers": {"Mcp-Session-Id": "s"}, "status": status}
        told = {"response": {"jsonrpc": "2.0", "error": {"code": -32001, "message": "Session not found"}, "id": None}}
        findings = Inspector(Example("generic", "mcp", ({**exchange, **told},)).session()).run().findings
        return [(f.rule, str(f.severity)) for f in findings if f.rule == "mcp.session-lost"]

    assert answered(404) == [("mcp.session-lost", "info")]
    assert answered(400) == [("mcp.session-lost", "warning")]


def test_pages_that_were_read_are_no_finding_and_one_that_leads_to_itself_is() -> None:
    assert found(*PAGED, ask(2, "tools/list", cursor="n"), answer(2, tools=[])) == []
    again = (*PAGED, ask(2, "tools/list", cursor="n"), answer(2, tools=[], nextCursor="n"))
    assert found(*again) == [("mcp.pagination", 2, "/result/nextCursor")]


def test_hidden_characters_are_named_and_what_tags_spell() -> None:
    entry = {**TOOL, "description": "adds\U000e0068\U000e0069\u200b", "title": "👩\u200d🚀"}
    (finding,) = inspect(ask(1, "tools/list"), answer(1, tools=[entry])).findings
    assert (finding.rule, finding.pointer) == ("mcp.hidden-text", "/result/tools/0/description")
    assert "U+E0068, U+E0069, U+200B" in finding.message and "'hi'" in finding.evidence


@pytest.mark.parametrize(("version", "rules"), [("1999-01-01", ["mcp.version"]), ("2024-11-05", [])])
def test_a_version_before_every_revision(version: str, rules: list[str]) -> None:
    lines = (ask(0, "initialize", **SHAKE), answer(0, **{**SHAKEN, "protocolVersion": version}), READY, *LISTED)
    assert [rule for rule, *_ in found(*lines)] == rules


@pytest.mark.parametrize(
    ("by_id", "most", "bytes_", "joined"),
    [(False, 1 << 15, 1 << 27, 260), (True, 3, 1 << 27, 3), (False, 3, 1 << 27, 3), (True, 1 << 15, 90, 1)],
)
def test_every_call_of_an_answer_is_joined_within_limits_of_memory(
    monkeypatch: pytest.MonkeyPatch, by_id: bool, most: int, bytes_: int, joined: int
) -> None:
    monkeypatch.setattr(tool_links, "MOST_WAITING", most)
    monkeypatch.setattr(tool_links, "MOST_BYTES", bytes_)
    calls = [(f"t{n}", "mcp__sky__weather", {"city": n}) for n in range(max(joined, 5))]
    made = HopSession("sky")
    made.model([], *calls)
    for id_, _, arguments in calls:
        made.call("sky", "weather", arguments, {"content": [said(id_)]}, **({"use": id_} if by_id else {}))
    made.model([], told=[(id_, id_) for id_, *_ in calls])
    rows = Inspector(made.session()).run().rows
    assert len({link.exchange for row in rows for link in row.tool_links}) == joined
