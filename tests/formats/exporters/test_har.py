"""HAR archives, read back by our importer."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.exporters.selecting import bodies, every, findings, of
from workbench.config.resources import folder
from workbench.errors import LocalProtocolError
from workbench.formats.exporters import har
from workbench.formats.importers import har as importer
from workbench.formats.importers import open_input
from workbench.wire.exchange import (
    Body,
    Chunk,
    Exchange,
    ExchangeKind,
    Frame,
    Headers,
    HttpRequest,
    HttpResponse,
    Origin,
    State,
)  # fmt: skip
from workbench.wire.session import MemorySession, exchanges_of

EXAMPLES = sorted(folder("sessions").glob("*.jsonl"))[::3]


def back(*exchanges: Exchange) -> tuple[Exchange, ...]:
    return importer.read(har.write(of(*exchanges)).data, "it").exchanges


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_archive_holds_the_same_bodies_and_findings(path: Path) -> None:
    session = open_input(str(path))
    read = importer.read(har.write(every(session)).data, "it")
    assert list(map(bodies, read.exchanges)) == list(map(bodies, exchanges_of(session)))
    assert findings(read) == findings(session)


@given(st.binary(max_size=60) | st.text(max_size=40).map(lambda t: t.encode("utf-8", "surrogatepass")), st.binary())
def test_any_bodies_come_back(sent: bytes, answered: bytes) -> None:
    exchange = Exchange(
        "1", HttpRequest("POST", "https://h/x", body=Body(sent)), HttpResponse(200, body=Body(answered))
    )
    assert bodies(back(exchange)[0]) == [sent, answered]


def test_what_har_cannot_hold_comes_back() -> None:
    whole = Exchange(
        "1",
        HttpRequest("POST", "https://h/x?a=1&a=", Headers((("X", "caf\xc3\xa9"), ("x", "2"))), Body(b"{}")),
        HttpResponse(200, Headers(), Body(b"abcdef", chunks=(Chunk(3, 0.25), Chunk(6, 1.5)))),
        state=State.ABORTED, origin=Origin.RESENT, started_at=1790000000.25, duration=2.0, hop="client", parent="0",
        branch="b", client="it", note="the peer hung up",
    )  # fmt: skip
    assert back(whole) == (whole,)
    lost = Exchange("1", whole.request, None, state=State.INCOMPLETE)
    assert back(lost)[0].response is None and back(lost)[0].state is State.INCOMPLETE
    alone = Exchange("1", None, HttpResponse(0, body=Body(b"data: x\n\n")))
    assert back(alone)[0].request is None and bodies(back(alone)[0]) == [b"", b"data: x\n\n"]


def test_a_web_socket_is_written_as_chrome_does() -> None:
    frames = (Frame("sent", "text", b"hi", 0.5), Frame("received", "binary", b"\xff\0", 1.0))
    socket = Exchange("1", HttpRequest("GET", "wss://h/x"), kind=ExchangeKind.WEBSOCKET, frames=frames, started_at=1.0)
    assert back(socket)[0].frames == frames


def test_traffic_with_tool_servers_is_left_out_and_said() -> None:
    model = Exchange("1", HttpRequest("POST", "https://h/x", body=Body(b"{}")), HttpResponse(200, body=Body(b"{}")))
    call = Exchange("2", HttpRequest("tools/call", "mcp://s/add"), HttpResponse(0), kind=ExchangeKind.MCP)
    made = har.write(of(call, model))
    assert [entry["request"]["url"] for entry in json.loads(made.data)["log"]["entries"]] == ["https://h/x"]
    assert [line.partition(":")[0] for line in made.left_out] == ["exchange 1"]
    with pytest.raises(LocalProtocolError, match="tool servers"):
        har.write(of(call))


def test_the_archive_is_har() -> None:
    packed = Body(gzip.compress(b'{"a": 1}'), "gzip")
    exchange = Exchange("1", HttpRequest("POST", "https://h/x?q=1", body=packed), HttpResponse(200), duration=1.0)
    made = har.write(of(exchange))
    log = json.loads(made.data)["log"]
    entry = log["entries"][0]
    assert log["version"] == "1.2" and set(log["creator"]) == {"name", "version"}
    assert {"startedDateTime", "time", "request", "response", "cache", "timings"} <= set(entry)
    assert entry["request"]["postData"]["text"] == '{"a": 1}' and entry["request"]["queryString"] == [
        {"name": "q", "value": "1"}
    ]
    assert entry["time"] == sum(entry["timings"].values()) == 1000
    assert made.notes == ("exchange 1: the body is stored decoded, as HAR requires",)
    assert har.write(every(MemorySession("none", (Exchange("1"),)))).data


@pytest.mark.parametrize(("first_byte", "whole"), [(5.0, 2.0), (-1.0, 2.0), (0.5, 2.0), (0.5, 0.0)])
def test_the_wait_is_never_longer_than_the_whole(first_byte: float, whole: float) -> None:
    answer = HttpResponse(200, body=Body(b"{}", chunks=(Chunk(first_byte, 2),)))
    exchange = Exchange("1", HttpRequest("POST", "https://h/x"), answer, duration=whole)
    (entry,) = json.loads(har.write(of(exchange)).data)["log"]["entries"]
    timings = entry["timings"]
    assert min(timings.values()) >= 0 and entry["time"] == sum(timings.values()) == pytest.approx(whole * 1000)


@pytest.mark.parametrize(
    ("note", "said"), [("the client hung up", "the client hung up"), ("", "no response was recorded")]
)
def test_a_missing_answer_says_why(note: str, said: str) -> None:
    exchange = Exchange("1", HttpRequest("POST", "https://h/x"), None, note=note, state=State.ABORTED)
    (entry,) = json.loads(har.write(of(exchange)).data)["log"]["entries"]
    assert (entry["response"]["status"], entry["response"]["_error"]) == (0, said)
