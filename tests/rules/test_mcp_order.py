"""Recorders of one session write when they can: what a call and its result are is known by time, not by position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.tool_hops import WEATHER, HopSession, lost_structured, said
from workbench.contracts import Finding
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Exchange, ExchangeKind, State
from workbench.wire.session import MemorySession


def judged(exchanges: Sequence[Exchange]) -> tuple[set[tuple[str, str, str]], set[tuple[str, str]]]:
    """Findings as (rule, id of the exchange, pointer), and links as (call, id of the ``tools/call``)."""
    inspector = Inspector(MemorySession("s", tuple(exchanges)))
    found: Sequence[Finding] = inspector.run().findings
    ids = [each.id for each in exchanges]
    links = {(str(link.call_id), ids[link.exchange]) for row in inspector.rows for link in row.tool_links}
    return {(f.rule, ids[f.exchange], f.pointer) for f in found}, links


def without_ids() -> HopSession:
    """A client that states no ids: its calls are known by name and arguments."""
    made = HopSession("sky")
    made.ask("sky", "tools/list", {}, {"result": {"tools": [WEATHER]}})
    tools = [{"name": "sky_weather", "input_schema": WEATHER["inputSchema"]}]
    made.model(tools, ("t1", "sky_weather", {"city": "Oslo"}))
    made.call("sky", "weather", {"city": "Oslo"}, {"content": [said("mild")]})
    made.model(tools, told=[("t1", "mild")])
    return made


@pytest.mark.parametrize("made", [lost_structured, without_ids])
@pytest.mark.parametrize("is_model_late", [True, False])
def test_whoever_writes_late_the_same_is_found(made: object, is_model_late: bool) -> None:
    assert callable(made)
    in_time = made().exchanges()
    late = [e for e in in_time if (e.kind is ExchangeKind.MCP) != is_model_late]
    others = [e for e in in_time if (e.kind is ExchangeKind.MCP) == is_model_late]
    found, links = judged(in_time)
    assert links
    assert judged([*others, *late]) == (found, links)


def beside_local_tools() -> HopSession:
    """A client that asks a server by itself, wraps its instructions, and has a tool of its own with equal results."""
    made, nothing, hit = HopSession("sky"), "No results found.", "one report of mild weather"
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    server = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": client["clientInfo"]}
    made.ask("sky", "initialize", client, {"result": {**server, "instructions": "Ask for the  weather of a city."}})
    made.send("sky", "sent", {"method": "notifications/initialized"})
    made.ask("sky", "tools/list", {}, {"result": {"tools": [WEATHER]}})
    hint = "- Ask for the\n  weather of a city."
    tools = [
        {"name": name, "description": hint, "input_schema": {"type": "object"}} for name in ("sky_weather", "Grep")
    ]
    made.call("sky", "weather", {"city": "warm-up"}, {"content": [said(hit)]})
    made.model(tools, ("t1", "Grep", {"q": "x"}), ("t2", "Grep", {"q": "y"}))
    made.call("sky", "weather", {"city": "Oslo"}, {"content": [said(nothing)]})
    made.model(tools, told=[("t1", hit), ("t2", nothing)])
    return made


def test_a_local_tool_may_return_what_a_server_had_returned() -> None:
    assert judged(beside_local_tools().exchanges()) == (set(), set())


class Written(MemorySession):
    """A session of which more and more exchanges are written; the first stays open."""

    def write(self, exchanges: Sequence[Exchange]) -> None:
        self.exchanges = (replace(exchanges[0], state=State.OPEN), *exchanges[1:])
        self._summaries = ()


def test_while_it_is_followed_a_request_that_overtook_a_call_is_read_again() -> None:
    *in_time, called, told = without_ids().exchanges()
    session = Written("s", ())
    inspector = Inspector(session)
    for written in ([*in_time, told], [*in_time, told, called]):
        session.write(written)
        inspector.refresh()
        found = inspector.run().findings
    assert not [f.rule for f in found if f.rule == "mcp.not-called"]
    assert [link.exchange for row in inspector.rows for link in row.tool_links] == [4]
