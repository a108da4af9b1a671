from __future__ import annotations

import copy
import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.importers.test_hostile import STRANGE, consume
from tests.formats.importers.test_tnetstring import written
from workbench.errors import UnreadableInput
from workbench.formats.importers import mitmproxy, open_input
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import ExchangeKind, Origin, State
from workbench.wire.session import exchanges_of

ASKED = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'
ANSWERED = b'{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"yo"}}]}'


def flow(**changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "version": 21,
        "type": "http",
        "id": "f1",
        "request": {
            "host": "api.example.com",
            "port": 443,
            "method": b"POST",
            "scheme": b"https",
            "authority": b"",
            "path": b"/v1/chat/completions",
            "http_version": b"HTTP/2.0",
            "headers": [[b"content-type", b"application/json"], [b"X-A", b"1"], [b"X-A", b"2"]],
            "content": ASKED,
            "trailers": None,
            "timestamp_start": 1772359200.5,
            "timestamp_end": 1772359200.6,
        },
        "response": {
            "http_version": b"HTTP/2.0",
            "status_code": 200,
            "reason": b"",
            "headers": [[b"content-encoding", b"gzip"]],
            "content": gzip.compress(ANSWERED, mtime=0),
            "trailers": [[b"x-t", b"1"]],
            "timestamp_start": 1772359201.0,
            "timestamp_end": 1772359202.0,
        },
        "error": None,
        "client_conn": {"id": "c1", "peername": ["127.0.0.1", 5], "certificate_list": [b"..."]},
        "metadata": {"x": b"y"},
        "comment": "hello",
    }
    return made | changes


def test_a_flow_is_an_exchange(tmp_path: Path) -> None:
    path = tmp_path / "flows"
    path.write_bytes(written(flow()))
    exchange = open_input(str(path)).exchange(0)
    assert exchange.request and exchange.response
    assert (exchange.id, exchange.origin, exchange.request.method) == ("f1", Origin.IMPORTED, "POST")
    assert exchange.request.url == "https://api.example.com/v1/chat/completions"
    assert (exchange.request.body.raw, exchange.request.headers.all("x-a")) == (ASKED, ("1", "2"))
    assert (exchange.response.status, exchange.response.body.encoding) == (200, "gzip")
    assert (exchange.started_at, exchange.duration) == (1772359200.5, 1.5)
    assert DecodedExchange(0, exchange).protocol == "openai-chat"


def test_what_has_no_place_is_kept() -> None:
    held = mitmproxy.read(written(flow()), "x").exchange(0).meta["flow"]
    assert (held["version"], held["comment"], held["metadata"]) == (21, "hello", {"x": "y"})
    assert held["client_conn"] == {"id": "c1", "peername": ["127.0.0.1", 5]}
    assert held["trailers"]["response"] == [["x-t", "1"]]


@pytest.mark.parametrize(
    ("scheme", "host", "port", "url"),
    [
        (b"http", "127.0.0.1", 8080, "http://127.0.0.1:8080/"),
        (b"http", "h", 80, "http://h/"),
        (b"https", "::1", 443, "https://[::1]/"),
        (b"", "", 0, "/"),
    ],
)
def test_urls(scheme: bytes, host: str, port: int, url: str) -> None:
    request = flow()["request"] | {"scheme": scheme, "host": host, "port": port, "path": b"/"}
    made = mitmproxy.read(written(flow(request=request)), "x").exchange(0)
    assert made.request and made.request.url == url


def test_a_body_that_was_not_kept_is_told() -> None:
    response = flow()["response"] | {"content": None}
    body = mitmproxy.read(written(flow(response=response)), "x").exchange(0).response
    assert body and (body.body.raw, body.body.is_raw) == (b"", False)
    assert "did not keep" in body.body.note


def test_a_flow_that_failed_or_waits() -> None:
    failed = flow(response=None, error={"msg": "connection closed", "timestamp": 1.0})
    waiting = flow(response=None, id="f2")
    first, second = exchanges_of(mitmproxy.read(written(failed) + written(waiting), "x"))
    assert (first.state, first.note) == (State.ABORTED, "mitmproxy: connection closed")
    assert (second.state, second.response) == (State.INCOMPLETE, None)


def test_messages_of_a_websocket_are_frames() -> None:
    messages = [[1, True, b'{"type":"x"}', 1772359201.5, False], [2, False, b"\x00", 1772359202.5, False]]
    made = mitmproxy.read(written(flow(websocket={"messages": messages, "close_code": 1000})), "x").exchange(0)
    assert made.kind is ExchangeKind.WEBSOCKET
    assert [(f.direction, f.opcode, f.at) for f in made.frames] == [("sent", "text", 1.0), ("received", "binary", 2.0)]
    older = {"version": 7, "type": "websocket", "id": "w", "messages": messages}
    assert len(mitmproxy.read(written(older), "x").exchange(0).frames) == 2


def test_a_torn_file_keeps_what_is_whole() -> None:
    text = written(flow()) + written(flow(id="f2"))
    session = mitmproxy.read(text[:-10], "x")
    assert (len(session), session.damage[0][:7]) == (1, "flow 2:")


def test_other_flows_are_named_and_ids_are_made_to_differ() -> None:
    session = mitmproxy.read(written({"type": "dns", "id": "d"}) + written(flow()) + written(flow()), "x")
    assert session.damage == ("flow 1: flow type 'dns' is not supported",)
    assert [e.id for e in exchanges_of(session)] == ["f1", "f1 (3)"]


def test_a_file_without_http_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="no HTTP flow"):
        mitmproxy.read(written({"version": 21, "type": "tcp"}), "x")


@given(data=st.data())
def test_a_value_of_another_type_costs_no_more_than_its_flow(data: st.DataObject) -> None:
    changed: Any = [copy.deepcopy(flow(websocket={"messages": [[1, True, b"x", 1.5, False]]}))]
    holder, key = changed, 0
    while isinstance(holder[key], dict | list) and holder[key] and data.draw(st.integers(0, 4)):
        holder = holder[key]
        key = data.draw(st.sampled_from(list(holder) if isinstance(holder, dict) else list(range(len(holder)))))
    holder[key] = data.draw(STRANGE.filter(lambda v: v != "\ud83d") | st.binary(max_size=5))
    consume(written(changed[0]) + written(flow(id="other")))


def test_sniff_asks_for_a_key_of_flows() -> None:
    assert mitmproxy.sniff(b"852:7:version;2:21#4:type;4:http;") > 0.9
    assert mitmproxy.sniff(b"852:7:veraion;2:21#") == 0
