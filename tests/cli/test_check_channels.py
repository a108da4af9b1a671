"""Connections that carry several exchanges are listed beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.cli.conftest import Run
from tests.protocols.test_socket_turns import LOOP, connection
from workbench.protocols import with_turns
from workbench.protocols.mcp import McpChannel
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse
from workbench.wire.session import store

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ls", "arguments": {}}}
RESULT = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "a b"}]}}
CHAT = b'{"model": "gpt-5.2", "messages": [{"role": "user", "content": "hi"}]}'


def tool_server(name: str, identifier: str) -> list[Exchange]:
    channel = McpChannel(Exchange(identifier), name)
    for at, (direction, value) in enumerate((("sent", CALL), ("received", RESULT))):
        channel.feed(direction, "text", json.dumps(value).encode() + b"\n", float(at))
    channel.end(2.0)
    return [channel.connection(), *(exchange for _, exchange in channel.exchanges(1))]


def plain(identifier: str) -> Exchange:
    return Exchange(
        identifier, HttpRequest(url="https://api.openai.com/v1/chat/completions", body=Body(CHAT)), HttpResponse(500)
    )


def checked(run: Run, path: Path, *exchanges: Exchange) -> dict[str, Any]:
    store.save(exchanges, path, form="text")
    found: dict[str, Any] = json.loads(run("check", str(path), "--format", "json").out)["files"][0]
    return found


def test_a_socket_and_two_tool_servers(run: Run, tmp_path: Path) -> None:
    socket = [replace(e, id=e.id.replace("7", "ws", 1)) for e in with_turns([connection(*LOOP)])]
    files, git = tool_server("files", "a"), tool_server("my git", "b")
    mixed = [socket[0], files[0], socket[1], git[0], files[1], plain("c.1"), socket[2], git[1]]
    found = checked(run, tmp_path / "s.jsonl", *mixed)
    assert [(c["index"], c["kind"], c["server"], c["protocol"], c["exchanges"]) for c in found["channels"]] == [
        (0, "websocket", "api.openai.com", "openai-responses", [2, 6]),
        (1, "mcp", "files", "mcp", [4]),
        (3, "mcp", "my git", "mcp", [7]),
    ]
    assert [e.get("channel") for e in found["exchanges"]] == [None, None, 0, None, 1, None, 0, 3]
    assert [c["frames"] for c in found["channels"]] == [len(LOOP), 2, 2]
    turns = [found["exchanges"][index]["frames"] for index in (2, 6)]
    assert turns[0] == {"request": [0], "response": [[1, turns[1]["request"][0] - 1]]}
    assert found["exchanges"][4]["frames"] == [0, 1]


def test_without_a_connection_there_is_no_list(run: Run, tmp_path: Path) -> None:
    found = checked(run, tmp_path / "s.jsonl", plain("1"), plain("1.1"))
    assert "channels" not in found and not any("channel" in e for e in found["exchanges"])
