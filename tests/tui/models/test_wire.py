from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from tests.tui import samples
from workbench.protocols.decode import DecodedExchange
from workbench.tui.models import wire
from workbench.tui.models.rows import LaidOut
from workbench.tui.models.rowtable import StyledSpans, is_json
from workbench.views.lines import plain
from workbench.wire.exchange import (
    Body,
    Chunk,
    Exchange,
    ExchangeKind,
    Frame,
    Headers,
    HttpRequest,
    HttpResponse,
    State,
)


def rows_of(body: bytes, width: int = 60) -> LaidOut:
    rows = LaidOut(body, width, is_json=is_json(body))
    while not rows.extend(100):
        pass
    return rows


def styles(body: bytes, *marks: StyledSpans, row: int = 0) -> dict[str, str]:
    made = rows_of(body).line(row, marks)
    return {span.text: span.style for span in made if span.text.strip()}


def test_json_is_coloured_by_what_it_is() -> None:
    assert styles(b'{"a": "b", "c": -1.5, "d": null}') == {
        "{": "", '"a"': "key", ": ": "", '"b"': "string", ", ": "", '"c"': "key", "-1.5": "number",
        '"d"': "key", "null": "word", "}": "",
    }  # fmt: skip


def test_event_fields_are_coloured_and_their_json_too() -> None:
    assert styles(b'data: {"a": 1}\n') == {"data:": "role", " {": "", '"a"': "key", ": ": "", "1": "number", "}": ""}


def test_marks_cut_what_they_cover() -> None:
    made = styles(b'{"a": "b"}', StyledSpans("lit", ((7, 9),)))
    assert (made['"'], made['b"'], made["}"]) == ("string", "string lit", "")


def test_a_row_that_begins_in_a_string_is_a_string() -> None:
    body = json.dumps(["word " * 30]).encode()
    assert set(styles(body, row=1).values()) == {"string"}


def test_no_byte_of_a_row_is_lost_in_painting() -> None:
    body = '{"a": "日本\\u00e9", "b": [1, 2]}'.encode() + b"\xff\xfe"
    rows = rows_of(body, 24)
    marks = (StyledSpans("lit", ((7, 9), (11, 12))),)
    text = "".join(plain(rows.line(n, marks)) for n in range(len(rows)))
    assert text.encode("utf-8", "surrogateescape").replace(b" ", b"") == body.replace(b" ", b"")


def test_headers_are_counted_or_shown() -> None:
    decoded = DecodedExchange(0, samples.exchange({"a": 1}, {"b": 2}, status=429))
    request = [plain(x) for x in wire.head_lines(decoded, "request", with_headers=False)]
    assert request == [f"POST {samples.CHAT}", "1 header (H: show)"]
    response = [plain(x) for x in wire.head_lines(decoded, "response", with_headers=True)]
    assert response == ["HTTP 429", "content-type: application/json"]


def test_what_was_done_to_a_body_is_said() -> None:
    body = Body(b"\x1f\x8b", "gzip", is_raw=False, note="it held a secret")
    decoded = DecodedExchange(0, Exchange("1", HttpRequest("POST", "/x", Headers(), body)))
    text = " ".join(plain(x) for x in wire.head_lines(decoded, "request", with_headers=False))
    assert "gzip, shown decoded" in text
    assert "not the original bytes: it held a secret" in text


@pytest.mark.parametrize(
    ("exchange", "words"),
    [
        (Exchange("1", None, None, State.ABORTED), "no response recorded: the exchange is aborted"),
        (Exchange("1", None, HttpResponse(204)), "the response has no body"),
    ],
)
def test_why_there_are_no_bytes(exchange: Exchange, words: str) -> None:
    assert wire.nothing(DecodedExchange(0, exchange), "response") == words


def test_bytes_that_do_not_decode_are_shown_as_they_came() -> None:
    raw = b"\x1f\x8b not gzip"
    decoded = DecodedExchange(0, Exchange("1", HttpRequest("POST", "/x", Headers(), Body(raw, "gzip"))))
    assert wire.shown_body(decoded, "request") == raw or decoded.request_text


def test_websocket_frames_stand_one_to_a_line() -> None:
    frames = (Frame("sent", "text", b'{"a": 1}'), Frame("received", "text", b"x"), Frame("sent", "text", b"b"))
    decoded = DecodedExchange(0, Exchange("1", kind=ExchangeKind.WEBSOCKET, frames=frames))
    assert wire.shown_body(decoded, "request") == b'{"a": 1}\nb'
    assert plain(wire.head_lines(decoded, "response", with_headers=True)[0]) == (
        "1 WebSocket frame received, one per line"
    )


@pytest.mark.parametrize(("column", "byte"), [(-3, 0), (0, 0), (2, 2), (3, 3), (4, 3), (5, 6), (6, 7), (60, 8)])
def test_a_column_leads_to_its_byte(column: int, byte: int) -> None:
    assert rows_of('["a日b"'.encode()[:8] + b"]").byte_at(0, column) == byte


def test_the_ways_to_look_at_a_body() -> None:
    raw = gzip.compress(b'{"a": 1}')
    plainly = DecodedExchange(0, samples.exchange({"a": 1}, {"b": 2}))
    assert [way.name for way in wire.ways(plainly, "request")] == ["laid out", "escaped", "hex"]
    packed = DecodedExchange(0, Exchange("1", HttpRequest("POST", "/x", Headers(), Body(raw, "gzip"))))
    last = wire.ways(packed, "request")[-1]
    assert (last.name, last.received) == ("hex as received, gzip", raw)


def test_when_a_byte_arrived() -> None:
    body = Body(b"abcdef", chunks=(Chunk(2, 0.5), Chunk(5, 1.5)))
    decoded = DecodedExchange(0, Exchange("1", None, HttpResponse(200, Headers(), body)))
    assert wire.arrival(decoded, "response", 1, is_decoded=True) == "chunk 1 of 2, 0.5 s"
    assert wire.arrival(decoded, "response", 2, is_decoded=True) == "chunk 2 of 2, 1.5 s"
    assert wire.arrival(decoded, "response", 5, is_decoded=True) == ""
    assert wire.arrival(decoded, "request", 1, is_decoded=True) == ""
    packed = replace(body, encoding="gzip")
    decoded = DecodedExchange(0, Exchange("1", None, HttpResponse(200, Headers(), packed)))
    assert wire.arrival(decoded, "response", 1, is_decoded=True) == ""
    assert wire.arrival(decoded, "response", 1, is_decoded=False) == "chunk 1 of 2, 0.5 s"
