from __future__ import annotations

from pathlib import Path

from workbench.formats.importers import vcr
from workbench.wire.exchange import ExchangeKind


def test_frames_become_one_connection(data: Path) -> None:
    session = vcr.read((data / "frames.yaml").read_bytes(), "x")
    exchange = session.exchange(0)
    assert (len(session), exchange.kind) == (1, ExchangeKind.WEBSOCKET)
    assert [(f.direction, f.opcode, f.data) for f in exchange.frames] == [
        ("sent", "text", '{"type":"session.update","session":{"voice":"é"}}'.encode()),
        ("received", "text", b'{"type": "session.updated"}'),
        ("received", "binary", b"\x00\x01\xff"),
    ]
    assert "only parsed JSON" in exchange.note


def test_grpc_calls_are_listed_with_their_bytes_and_trees(data: Path) -> None:
    exchange = vcr.read((data / "grpc.yaml").read_bytes(), "x").exchange(0)
    assert exchange.request and exchange.response
    assert exchange.request.body.raw == b"\x0a\x03\xff\x00"
    assert exchange.meta["grpc"]["response"] == {"id": "one"}
    assert "gRPC" in exchange.note


def test_frames_and_http_share_a_cassette() -> None:
    cassette = (
        b"interactions:\n- kind: message\n  direction: sent\n  data: a\n"
        b"- request: {method: GET, uri: 'http://x/'}\n  response: {status: 204}\n"
        b"- kind: message\n  direction: received\n  data: b\n"
    )
    session = vcr.read(cassette, "x")
    assert [(e.id, e.kind.value, len(e.frames)) for e in session.exchanges] == [("1", "websocket", 2), ("2", "http", 0)]
