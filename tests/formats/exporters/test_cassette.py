"""Cassettes, read back by our importer and by plain YAML."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.exporters.selecting import bodies, every, findings, of
from workbench.config.resources import folder
from workbench.errors import LocalProtocolError
from workbench.formats.exporters import cassette
from workbench.formats.importers import open_input, vcr
from workbench.wire.exchange import Body, Exchange, ExchangeKind, Frame, Headers, HttpRequest, HttpResponse, State
from workbench.wire.session import exchanges_of

EXAMPLES = [path for path in sorted(folder("sessions").glob("*.jsonl")) if not path.stem.startswith("gateway")][::3]


def exchange(
    sent: Body, answered: Body, *headers: tuple[str, str], hop: str = "", state: State = State.COMPLETE
) -> Exchange:
    http = Headers((("content-type", "application/json"), *headers))
    request, response = HttpRequest("POST", "https://h/x", http, sent), HttpResponse(200, http, answered, "OK")
    return Exchange("1", request, response, hop=hop, state=state)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_cassette_holds_the_same_bodies_and_findings(path: Path) -> None:
    session = open_input(str(path))
    read = vcr.read(cassette.write(every(session)).data, "it")
    assert list(map(bodies, read.exchanges)) == list(map(bodies, exchanges_of(session)))
    assert findings(read) == findings(session)


@given(st.binary(max_size=60) | st.text(max_size=40).map(lambda t: t.encode("utf-8", "surrogatepass")), st.binary())
def test_any_bodies_come_back(sent: bytes, answered: bytes) -> None:
    data = cassette.write(of(exchange(Body(sent), Body(answered)))).data
    assert bodies(vcr.read(data, "it").exchanges[0]) == [sent, answered]
    kept = yaml.safe_load(data)["interactions"][0]["response"]["body"]["string"]
    assert (kept if isinstance(kept, bytes) else kept.encode()) == answered


def test_half_a_character_stands_as_its_escape() -> None:
    odd = Exchange(
        "1", HttpRequest("P\udfff", "https://h/\ud800"), HttpResponse(200, Headers((("x", "\ud800"),)), Body())
    )
    read = yaml.safe_load(cassette.write(of(odd)).data)["interactions"][0]
    assert (read["request"]["method"], read["request"]["uri"]) == ("P\\udfff", "https://h/\\ud800")
    assert read["response"]["headers"] == {"x": ["\\ud800"]}


def test_it_is_laid_out_as_vcrpy_reads_it() -> None:
    held = yaml.safe_load(cassette.write(of(exchange(Body(b"{}"), Body(b"\xff"), ("X-A", "1"), ("X-A", "2")))).data)
    assert held == {
        "version": 1,
        "interactions": [{
            "request": {"method": "POST", "uri": "https://h/x", "body": "{}",
                        "headers": {"content-type": ["application/json"], "X-A": ["1", "2"]}},
            "response": {"status": {"code": 200, "message": "OK"}, "body": {"string": b"\xff"},
                         "headers": {"content-type": ["application/json"], "X-A": ["1", "2"]}},
        }],
    }  # fmt: skip


def test_a_coding_goes_with_its_header() -> None:
    packed = gzip.compress(b'{"a": 1}')
    kept = yaml.safe_load(cassette.write(of(exchange(Body(), Body(packed, "gzip"), ("content-encoding", "gzip")))).data)
    assert kept["interactions"][0]["response"]["body"]["string"] == packed
    assert kept["interactions"][0]["response"]["headers"]["content-encoding"] == ["gzip"]
    secret = gzip.compress(b'{"a": "sk-0123456789abcdefghijkl"}')
    made = cassette.write(of(exchange(Body(), Body(secret, "gzip"), ("Content-Encoding", "gzip"))))
    plain = yaml.safe_load(made.data)["interactions"][0]["response"]
    assert plain["body"]["string"].startswith('{"a": "sk-') and "Content-Encoding" not in plain["headers"]
    assert "without its Content-Encoding header" in made.notes[0]


def test_what_no_cassette_holds_is_said() -> None:
    socket = Exchange("1", kind=ExchangeKind.WEBSOCKET, frames=(Frame("sent", "text", b"hi"),))
    torn = exchange(Body(), Body(b"da"), hop="client", state=State.ABORTED)
    made = cassette.write(of(socket, Exchange("2", torn.request), Exchange("3", None, torn.response), torn))
    assert len(made.left_out) == 3 and [line[:10] for line in made.left_out] == [
        "exchange 1",
        "exchange 2",
        "exchange 3",
    ]
    assert [note.startswith("exchange 4: ") for note in made.notes] == [True, True]
    tools = Exchange("5", HttpRequest("tools/call"), HttpResponse(0, body=Body(b"{}")), kind=ExchangeKind.MCP)
    assert cassette.write(of(tools, exchange(Body(), Body()))).left_out == (
        "exchange 1: traffic with a tool server; cassettes are HTTP only",
    )
    with pytest.raises(LocalProtocolError, match="a cassette needs exchanges that have a request and a response"):
        cassette.write(of(socket))
