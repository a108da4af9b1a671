from __future__ import annotations

import gzip

import pytest

from workbench.formats.importers._http import (
    base64_body,
    epoch,
    header_text,
    headers_of,
    parsed_body,
    seconds,
    stored_body,
    whole,
)
from workbench.formats.importers.phoenix import time_of
from workbench.wire.encoding import decode_body
from workbench.wire.exchange import Headers
from workbench.wire.jsontext import loads


@pytest.mark.parametrize(
    "value",
    [
        {"A": ["1", "2"], "b": "3"},
        [["A", "1"], ["A", "2"], ["b", "3"]],
        [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}, {"name": "b", "value": "3"}],
        [{"name": "A", "values": ["1", "2"]}, {"key": "b", "value": "3"}],
        {"A": ["1", "2"], "b": {"equalTo": "3"}},
        ["A", "1", "A", "2", "b", "3"],
        "A: 1\r\nA: 2\r\nb: 3\r\n",
    ],
)
def test_headers_keep_order_and_duplicates(value: object) -> None:
    assert headers_of(value).items == (("A", "1"), ("A", "2"), ("b", "3"))


@pytest.mark.parametrize("value", [None, "text", 5, [1, [2], {"x": 1}, {"name": 1}]])
def test_what_holds_no_headers_is_empty(value: object) -> None:
    assert headers_of(value) == Headers()


@pytest.mark.parametrize(
    ("value", "text"), [("a", "a"), (b"\xff", "\xff"), ("é", "Ã©"), (5, "5"), (None, ""), ("\ud83d", "\xed\xa0\xbd")]
)
def test_a_header_is_bytes_read_as_latin1(value: object, text: str) -> None:
    assert header_text(value) == text


def test_a_body_that_is_still_compressed_says_so_and_can_be_decoded() -> None:
    body = stored_body(gzip.compress(b'{"a":1}'), Headers((("Content-Encoding", "gzip"),)))
    assert (body.encoding, body.is_raw) == ("gzip", True)
    assert decode_body(body) == b'{"a":1}'


def test_a_body_that_the_recorder_decoded_is_marked() -> None:
    body = stored_body(b'{"a":1}', Headers((("Content-Encoding", "gzip"),)))
    assert (body.encoding, body.is_raw) == ("", False)
    assert "gzip" in body.note
    assert decode_body(body) == b'{"a":1}'


def test_a_plain_or_empty_body_is_raw() -> None:
    assert stored_body(b"{}", Headers()).is_raw
    assert stored_body(b"", Headers((("content-encoding", "br"),))).is_raw
    assert stored_body(b"{}", Headers((("content-encoding", "identity"),))).is_raw


def test_a_parsed_body_is_compact_utf8_and_marked() -> None:
    body = parsed_body({"b": "é", "a": [1, 1e-05, None]})
    assert body.raw == '{"b":"é","a":[1,1e-05,null]}'.encode()
    assert not body.is_raw
    assert "key order and whitespace are lost" in body.note
    assert loads(parsed_body("\ud83d").raw) == "\ud83d"


def test_base64_that_is_none_is_kept_as_it_is() -> None:
    assert base64_body(" aGVs\nbG8= ", Headers()).raw == b"hello"
    body = base64_body("not base64!", Headers())
    assert (body.raw, body.is_raw) == (b"not base64!", False)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-03-01T10:00:00.500Z", 1772359200.5),
        ("2026-03-01T12:00:00+02:00", 1772359200.0),
        ("2026-03-01 10:00:00", 1772359200.0),
        ("2026-03-01 10:00:00 GMT", 1772359200.0),
        ("Sun, 01 Mar 2026 10:00:00 GMT", 1772359200.0),
        (1772359200.25, 1772359200.25),
        ("yesterday", None),
        ("", None),
        (None, None),
        (-5, None),
        (1e300, None),
        (10**400, None),
        (True, None),
        ("0001-01-01T00:00:00+23:59", None),
        ("Mon, 01 Jan 99999999999999 00:00:00 GMT", None),
    ],
)
def test_times_are_utc_seconds(value: object, moment: float | None) -> None:
    assert epoch(value) == moment
    assert time_of(value) == moment


def test_numbers() -> None:
    assert (seconds(1500), seconds(-1), seconds("x"), seconds(float("nan"))) == (1.5, None, None, None)
    assert (whole(5), whole("200"), whole("²"), whole(None), whole(True), whole("9" * 5_000, 7)) == (5, 200, 0, 0, 0, 7)
