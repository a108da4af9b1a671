"""Sessions of an agent with its tool servers, in the order in which they would be recorded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.protocols.mcp import McpChannel
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

BEGAN = 1_764_000_000.0
JSON = Headers((("content-type", "application/json"),))
URL = "https://api.anthropic.com/v1/messages"

Call = tuple[str, str, Mapping[str, Any]]
"""Id, name and arguments of a model's call."""


class HopSession:
    """Collects what model and tool servers are asked, in order; each step is a second.

    Args:
        servers: their names.
    """

    def __init__(self, *servers: str) -> None:
        self._now = 0.0
        self._channels = {name: McpChannel(Exchange(f"c{n}", started_at=BEGAN), name) for n, name in enumerate(servers)}
        self._made: list[tuple[str, int] | Exchange] = []
        self._ids = dict.fromkeys(servers, 0)
        self._messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]

    def send(self, server: str, direction: str, message: Mapping[str, Any]) -> None:
        """One message of a server's connection."""
        channel, before = self._channels[server], len(self._channels[server])
        channel.feed(direction, "text", json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n", self._now)
        self._made += [(server, number) for number in range(before + 1, len(channel) + 1)]
        self._now += 1

    def ask(self, server: str, method: str, params: Mapping[str, Any], answer: Mapping[str, Any] | None) -> None:
        """A request of the client with the members of its response; None for no response."""
        self._ids[server] += 1
        self.send(server, "sent", {"id": self._ids[server], "method": method, "params": params})
        if answer is not None:
            self.send(server, "received", {"id": self._ids[server], **answer})

    def call(
        self, server: str, tool: str, arguments: Mapping[str, Any], result: Mapping[str, Any], **meta: str
    ) -> None:
        """A ``tools/call`` with its result; ``use`` is the id of the model's call, as Claude Code states it."""
        stated = {"_meta": {"claudecode/toolUseId": meta["use"]}} if meta else {}
        self.ask(server, "tools/call", {"name": tool, "arguments": arguments, **stated}, {"result": result})

    def model(
        self, tools: Iterable[Mapping[str, Any]] = (), *calls: Call, told: Sequence[tuple[str, Any]] = ()
    ) -> None:
        """A request to the model with the results since the last one, and an answer with calls."""
        if told:
            results = [{"type": "tool_result", "tool_use_id": id_, "content": text} for id_, text in told]
            self._messages.append({"role": "user", "content": results})
        request = {"model": "claude-sonnet-4-5", "max_tokens": 9, "tools": list(tools), "messages": self._messages[:]}
        used = [{"type": "tool_use", "id": id_, "name": name, "input": given} for id_, name, given in calls]
        content = used or [{"type": "text", "text": "done"}]
        answer = {
            "id": f"msg_{len(self._made)}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": content,
            "stop_reason": "tool_use" if used else "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        self._messages.append({"role": "assistant", "content": content})
        self._made.append(
            Exchange(
                f"m{len(self._made)}",
                HttpRequest("POST", URL, JSON, Body(json.dumps(request).encode())),
                HttpResponse(200, JSON, Body(json.dumps(answer).encode())),
                started_at=BEGAN + self._now,
                duration=1.0,
            )
        )
        self._now += 1

    def exchanges(self) -> list[Exchange]:
        """Everything, the connections first."""
        for channel in self._channels.values():
            channel.end(self._now)
        made = (one if isinstance(one, Exchange) else self._channels[one[0]].exchange(one[1]) for one in self._made)
        return [*(replace(channel.connection()) for channel in self._channels.values()), *made]

    def session(self) -> MemorySession:
        """The session."""
        return MemorySession("hops", tuple(self.exchanges()))


WEATHER = {"name": "weather", "inputSchema": {"type": "object"}}
MAP = {"name": "map", "inputSchema": {"type": "object"}}
STRUCTURED = {"temperature": 21, "wind": {"from": "north-west", "speed": 7}}


def lost_structured() -> HopSession:
    """Two servers; what one of them returned as structured content never reached the model."""
    made = HopSession("sky", "maps")
    for server, tool in (("sky", WEATHER), ("maps", MAP)):
        made.ask(server, "tools/list", {}, {"result": {"tools": [tool]}})
    declared = [{"name": f"mcp__{s}__{t['name']}", "input_schema": t["inputSchema"]} for s, t in
                (("sky", WEATHER), ("maps", MAP))]  # fmt: skip
    made.model(declared, ("t1", "mcp__sky__weather", {"city": "Oslo"}), ("t2", "mcp__maps__map", {"city": "Oslo"}))
    made.call(
        "sky", "weather", {"city": "Oslo"}, {"content": [said("mild")], "structuredContent": STRUCTURED}, use="t1"
    )
    made.call("maps", "map", {"city": "Oslo"}, {"content": [said("59.9 north, 10.7 east")]}, use="t2")
    made.model(declared, told=(("t1", "mild"), ("t2", "59.9 north, 10.7 east")))
    return made


def said(text: str) -> dict[str, Any]:
    """A text part of a result."""
    return {"type": "text", "text": text}
