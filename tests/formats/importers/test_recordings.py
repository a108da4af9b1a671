"""Every recording opens; counts and protocols are those of the index."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.formats.importers import open_input
from workbench.protocols.decode import DecodedExchange
from workbench.protocols.known_messages import KnownMessages
from workbench.wire.exchange import ExchangeKind, Origin
from workbench.wire.session import exchanges_of

OTHER_TRAFFIC = {
    # file: requests in it that are no model calls, which the index leaves out
    "chatlas/openai/test_mcp_client__test_call_http_mcp_tool.yaml": 6,
}

LATER_STREAMS = {
    # file: whole streams behind the first one, which the index counts as one with it
    "vercel-ai/azure/azure-reasoning-encrypted-content.1.chunks.txt": 3,
}

NO_PROTOCOL = {
    # file: why nothing in it tells the protocol
    "vercel-ai/google/google-429-retry-info.json": "the body contains only an error: its shape is everybody's",
}


@pytest.fixture(scope="module")
def index(recordings: Path) -> list[dict[str, str]]:
    with (recordings / "index.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def traffic(index: list[dict[str, str]]) -> Iterator[dict[str, str]]:
    return (row for row in index if not row["protocol"].startswith("transcript-"))


def test_transcripts_hold_the_calls_and_results_of_the_index(recordings: Path, index: list[dict[str, str]]) -> None:
    wrong = {}
    for row in (row for row in index if row["protocol"].startswith("transcript-")):
        calls, results, known = set(), set(), KnownMessages()
        for number, exchange in enumerate(exchanges_of(open_input(str(recordings / row["file"])))):
            assert exchange.origin is Origin.RECONSTRUCTED
            decoded = DecodedExchange(number, exchange, known=known)
            assert not decoded.problems
            calls |= {(c.id or number, c.name) for m in decoded.messages("response") for _, c in m.tool_calls()}
            results |= {r.tool_call_id for m in decoded.messages("request") for _, r in m.tool_results()}
        found = (len(calls), len(results))
        if found != (int(row["tool_calls"]), int(row["tool_results"])):
            wrong[row["file"]] = (found, row["tool_calls"], row["tool_results"])
    assert not wrong


def test_every_recording_opens_whole(recordings: Path, index: list[dict[str, str]]) -> None:
    wrong = {}
    for row in index:
        session = open_input(str(recordings / row["file"]))
        frames = sum(len(e.frames) for e in exchanges_of(session))
        others = OTHER_TRAFFIC.get(row["file"], 0) + LATER_STREAMS.get(row["file"], 0)
        count = frames or len(session) - others
        if session.damage or count != int(row["exchanges"]):
            wrong[row["file"]] = (count, row["exchanges"], session.damage)
    assert not wrong


def test_protocols_are_those_of_the_index(recordings: Path, index: list[dict[str, str]]) -> None:
    wrong = {}
    for row in traffic(index):
        session = open_input(str(recordings / row["file"]))
        expected = set(row["protocol"].split("+"))
        found = {protocol(n, e) for n, e in enumerate(exchanges_of(session))} - TURNS
        if row["file"] in OTHER_TRAFFIC:
            found.discard(None)
        if row["file"] in NO_PROTOCOL:
            expected = {None}
        if found != expected:
            wrong[row["file"]] = (found, expected)
    assert not wrong


TURNS = {"openai-realtime", "gemini-live"}
"""Protocols of the turns of a WebSocket, which the index names as the connection."""


def protocol(number: int, exchange) -> str | None:
    if exchange.kind is ExchangeKind.WEBSOCKET:
        return "realtime-websocket"
    if "grpc" in exchange.meta:
        return "xai-grpc-sdk"
    return DecodedExchange(number, exchange).protocol


def test_bodies_that_were_kept_raw_are_in_the_file_as_they_are(recordings: Path, index: list[dict[str, str]]) -> None:
    """A bare body and an event stream are the file, byte for byte."""
    bare = [r["file"] for r in traffic(index) if r["file"].endswith((".json", ".sse", ".txt"))]
    checked = 0
    for file in bare:
        raw = (recordings / file).read_bytes()
        exchange = open_input(str(recordings / file)).exchange(0)
        if "framing" not in exchange.meta:
            checked += 1
            assert exchange.response and exchange.response.body.raw == raw
    assert checked == 8
