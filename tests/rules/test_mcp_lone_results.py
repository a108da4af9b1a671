"""What the connection to a tool server shows by itself: each fault that the simulated server can have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tool_hops import HopSession, said
from workbench.contracts import Finding
from workbench.rules.inspection import Inspector
from workbench.simulator import TOOL_FAULTS, ToolServer, choose_server, decoded_of, recorded_servers

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "degrees": {"type": "number"}}}
OSLO = {"city": "Oslo", "degrees": 21}
TOOL = {"name": "weather", "inputSchema": {"type": "object"}}
TYPED = {**TOOL, "outputSchema": {**SCHEMA, "required": ["city"]}}
WHOLE = {"content": [said(json.dumps(OSLO))], "structuredContent": OSLO}
PLAIN = {"content": [said("It is mild in Oslo.")]}


def found(tool: Any, result: Any, agent: str = "") -> list[Finding]:
    """Findings on a connection with one call, and no model."""
    made = HopSession("s")
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": agent or "c", "version": "1"}}
    server = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s"}}
    made.ask("s", "initialize", client, {"result": {**server, "serverInfo": {"name": "s", "version": "1"}}})
    made.send("s", "sent", {"method": "notifications/initialized"})
    made.ask("s", "tools/list", {}, {"result": {"tools": [tool]}})
    made.call("s", "weather", {}, result)
    return list(Inspector(made.session()).run().findings)


def faulty(fault: str, tool: Any, result: Any) -> Any:
    """The result that a simulated server returns with a fault."""
    made = HopSession("s")
    made.ask("s", "tools/list", {}, {"result": {"tools": [tool]}})
    made.call("s", "weather", {}, result)
    server = ToolServer(choose_server(recorded_servers(decoded_of(made.exchanges())), None), fault)
    for line in (
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                     "clientInfo": {"name": "c", "version": "1"}}},
        {"id": 2, "method": "tools/call", "params": {"name": "weather"}},
    ):  # fmt: skip
        (answer,) = server.answer(json.dumps({"jsonrpc": "2.0", **line}).encode())
    return json.loads(answer)["result"]


SHOWN = {
    "cut beside structured content": ("cut", TYPED, WHOLE, "mcp.result-truncated", "warning"),
    "cut in JSON": ("cut", TOOL, {"content": WHOLE["content"]}, "mcp.result-truncated", "info"),
    "structured content alone": ("structured-only", TYPED, WHOLE, "mcp.structured-dropped", "info"),
    "no structured content": ("text-only", TYPED, WHOLE, "mcp.output-schema", "error"),
    "a success that is called a failure": ("failure", TYPED, WHOLE, "mcp.error-flag", "info"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_result_shows_its_fault(name: str) -> None:
    fault, tool, result, rule, severity = SHOWN[name]
    assert found(tool, result) == []
    assert [(f.rule, str(f.severity)) for f in found(tool, faulty(fault, tool, result))] == [(rule, severity)]


HIDDEN = {
    "cut": "a shorter text is a text",
    "failure": "tools fail with any text",
    "text-only": "no schema promises structured content",
}
"""Fault → why a plain text with it looks like one without."""


@pytest.mark.parametrize("fault", HIDDEN)
def test_a_plain_text_does_not_show_it(fault: str) -> None:
    assert fault in TOOL_FAULTS
    assert found(TOOL, faulty(fault, TOOL, PLAIN)) == []


def test_a_client_that_reads_no_structured_content_is_named() -> None:
    (one,) = found(TYPED, {"content": [], "structuredContent": OSLO}, "qwen-cli-mcp-client")
    assert one.rule == "mcp.structured-dropped" and one.pointer == "/result/content"
    (known,) = found(TYPED, {"content": [], "structuredContent": OSLO}, "Gemini CLI")
    assert str(known.severity) == "warning" and "Gemini CLI forwards nothing to the model" in known.message


def test_texts_that_only_look_like_the_beginning_of_json_are_healthy() -> None:
    for text in (
        "[1] a footnote",
        "{name} is a placeholder",
        "[INFO] started",
        '{"a": 1}',
        "[link](https://a.example)",
    ):
        assert found(TOOL, {"content": [said(text)]}) == [], text


STORY = "Found 3 files.\nThe first is the largest of them. It has 40 lines"

BEGINNINGS = {
    "Found 3 files.": "info",
    "Found 3 files.\n": "info",
    "Found 3 files.\nThe first is the largest of them.": "info",
    "Found 3 files.\nThe first is the lar": "warning",
    "Found 3 files.\nThe first is": "warning",
}
"""Beginning of a text → severity of what is said of it: one that ends with a sentence or a line may be a summary."""


@pytest.mark.parametrize("text", BEGINNINGS)
def test_a_text_that_ends_with_a_sentence_of_structured_content_may_be_a_summary(text: str) -> None:
    (one,) = found(TOOL, {"content": [said(text)], "structuredContent": {"result": STORY}})
    assert (one.rule, str(one.severity)) == ("mcp.result-truncated", BEGINNINGS[text])
