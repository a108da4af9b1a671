"""What a tool returned, against what its client told the model of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.test_mcp import answer, ask
from workbench.chain import lost_parts
from workbench.contracts.pages import Example
from workbench.rules.inspection import Inspector

LONG = "the first project of the studio is alpha, and the second one is beta"
STRUCTURED = {"sum": 42, "who": 'the "first"', "ok": True}
IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def resource(**members: Any) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": "file:///a.pdf", **members}}


CASES = {
    "text as it was": ([said("42")], None, "42", []),
    "text in a frame of the client": ([said("42")], None, "Wall time: 1\nOutput:\n42", []),
    "text in JSON of the client": ([said('a\n"b"')], None, json.dumps({"output": 'a\n"b"'}), []),
    "JSON written another way": ([said('{"sum": 42}')], None, '{"sum":42}', []),
    "structured content for its text": (
        [said("42 it is")],
        STRUCTURED,
        json.dumps(STRUCTURED),
        ["shadowed /result/content/0/text"],
    ),
    "a value that its server has wrapped": ([said("3")], {"result": 3}, '{"result":3}', []),
    "a link by its address": ([{"type": "resource_link", "uri": "file:///a"}], None, "see file:///a", []),
    "a link that is gone": (
        [{"type": "resource_link", "uri": "file:///a"}],
        None,
        "ok",
        ["part /result/content/0/uri"],
    ),
    "text that says the same": ([said(json.dumps(STRUCTURED))], STRUCTURED, json.dumps(STRUCTURED, indent=1), []),
    "a summary instead of the data": ([said("1 sum")], STRUCTURED, "1 sum", ["structured /result/structuredContent"]),
    "nothing at all": (
        [said("a"), said("b")],
        None,
        "",
        ["part /result/content/0/text", "part /result/content/1/text"],
    ),
    "a cut text": ([said(LONG)], None, LONG[:30] + "…", ["cut /result/content/0/text"]),
    "a text in a resource": ([resource(text=LONG)], None, "[resource]", ["part /result/content/0/resource/text"]),
    "a file by its name": ([resource(blob="JVBERi0=")], None, "see file:///a.pdf", []),
    "a file that is gone": ([resource(blob="JVBERi0=")], None, "ok", ["part /result/content/0/resource/blob"]),
    "an image that is gone": ([said("ok"), IMAGE], None, "ok", ["part /result/content/1/data"]),
    "parts of unknown shapes": ([{"type": "new"}, 3, {"type": "text"}], None, "", []),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_lost(name: str) -> None:
    content, structured, told, lost = CASES[name]
    result = {"content": content, **({} if structured is None else {"structuredContent": structured})}
    assert [f"{part.kind} {part.pointer}" for part in lost_parts(result, told, has_media=False)] == lost


def test_bytes_that_are_missing_are_counted() -> None:
    (cut,) = lost_parts({"content": [said(LONG + "é")]}, LONG[:30] + "…", has_media=False)
    assert cut.size == len(LONG) - 30 + 2


def test_the_middle_of_a_text_may_be_missing() -> None:
    (cut,) = lost_parts({"content": [said(LONG)]}, f"{LONG[:20]}…7 tokens truncated…{LONG[-18:]}", has_media=False)
    assert (cut.kind, cut.piece, cut.size) == ("cut", (20, len(LONG) - 18), len(LONG) - 38)


def test_an_image_made_smaller_is_no_loss() -> None:
    assert list(lost_parts({"content": [IMAGE]}, "", has_media=True)) == []


def test_the_text_of_an_error_counts_beside_its_structured_content() -> None:
    result = {"content": [said("the disk is full")], "structuredContent": STRUCTURED, "isError": True}
    assert [part.kind for part in lost_parts(result, json.dumps(STRUCTURED), has_media=False)] == ["part"]


def call(id_: int, tool_use: str = "", **result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    stated = {"_meta": {"claudecode/toolUseId": tool_use}} if tool_use else {}
    return ask(id_, "tools/call", name="add.it", arguments={"n": 1}, **stated), answer(id_, **result)


def request(*results: tuple[str, str]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for id_, told in results:
        used = {"type": "tool_use", "id": id_, "name": "mcp__calc__add_it", "input": {"n": 1}}
        messages.append({"role": "assistant", "content": [used]})
        result = {"type": "tool_result", "tool_use_id": id_, "content": told}
        messages.append({"role": "user", "content": [result]})
    return {"request": {"model": "claude-x", "max_tokens": 9, "messages": messages}}


def found(*exchanges: dict[str, Any]) -> list[tuple[str, int, str, str]]:
    session = Example("generic", "anthropic-messages", exchanges).session()
    findings = Inspector(session, provider="generic").run().findings
    return [(f.rule, f.exchange, f.pointer, f.evidence) for f in findings if f.rule.startswith("mcp.")]


@pytest.mark.parametrize(
    ("stated", "how"), [("t1", "by the tool call id that the client sent"), ("", "by tool name and arguments")]
)
def test_a_loss_is_found_once_at_the_result_of_the_request(stated: str, how: str) -> None:
    hop = {"mcp": call(1, stated, content=[said("42 it is")])}
    ((rule, exchange, pointer, evidence),) = found(hop, request(("t1", "done")), request(("t1", "done"), ("t2", "x")))
    assert (rule, exchange, pointer) == ("mcp.result-dropped", 2, "/messages/2/content/0")
    assert evidence.startswith(f"matched {how}")


def test_equal_calls_find_their_own_results() -> None:
    hop = {"mcp": [*call(1, content=[said("first")]), *call(2, content=[said("second")])]}
    assert found(hop, request(("t1", "first"), ("t2", "second"))) == []
    swapped = {"mcp": [*call(1, "t2", content=[said("second")]), *call(2, "t1", content=[said("first")])]}
    assert found(swapped, request(("t1", "first"), ("t2", "second"))) == []


def test_a_call_of_another_model_call_or_one_that_was_cancelled_is_not_compared() -> None:
    hop = call(1, "other", content=[said("42")])
    assert found({"mcp": hop}, request(("t1", "done"))) == []
    cancel = {"sent": {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}}
    asked, late = call(1, "t1", content=[said("42")])
    assert found({"mcp": [asked, cancel, late]}, request(("t1", "timed out")))[1:] == []


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("claude-code", "no known behaviour of Claude Code explains this"),
        (
            "opencode",
            "known behaviour of OpenCode: structuredContent is used only without other content (measured with",
        ),
        ("somebody", "the client is unknown; most clients use structuredContent only without other content"),
    ],
)
def test_a_loss_is_held_against_the_rule_of_the_client(agent: str, words: str) -> None:
    info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": agent, "version": "1"}}
    shaken = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"},
    }
    ready = {"sent": {"jsonrpc": "2.0", "method": "notifications/initialized"}}
    opening = ask(9, "initialize", **info), answer(9, **shaken), ready
    called = call(1, "t1", content=[said("mild")], structuredContent=STRUCTURED)
    ((rule, _, _, evidence),) = found({"mcp": [*opening, *called]}, request(("t1", "mild")))
    assert rule == "mcp.structured-dropped" and words in evidence


@pytest.mark.parametrize(
    ("agent", "severity", "words"),
    [("claude-code", "info", "known behaviour of Claude Code"), ("somebody", "warning", "")],
)
def test_a_changed_schema_is_held_against_the_rule_of_the_client(agent: str, severity: str, words: str) -> None:
    shake = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": agent, "version": "1"}}
    shaken = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"},
    }
    ready = {"sent": {"jsonrpc": "2.0", "method": "notifications/initialized"}}
    tool = {"name": "add", "inputSchema": {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}}
    listed = (ask(9, "initialize", **shake), answer(9, **shaken), ready, ask(1, "tools/list"), answer(1, tools=[tool]))
    declared = {"name": "mcp__calc__add", "input_schema": {"type": "object"}}
    asked = {"model": "claude-x", "max_tokens": 9, "tools": [declared], "messages": [{"role": "user", "content": "go"}]}
    session = Example("generic", "anthropic-messages", ({"mcp": [*listed]}, {"request": asked})).session()
    findings = Inspector(session, provider="generic").run().findings
    ((severity_found, evidence),) = [(f.severity, f.evidence) for f in findings if f.rule == "mcp.schema-changed"]
    assert (str(severity_found), evidence[: len(words)]) == (severity, words)
