from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui import samples
from workbench.filters import text
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Body, Headers, HttpResponse


@pytest.mark.parametrize(
    ("wanted", "body", "found"),
    [
        ("é", b'{"a": "\\u00e9"}', b"\\u00e9"),
        ("é", '{"a": "é"}'.encode(), "é".encode()),
        ("É", '{"a": "é"}'.encode(), "é".encode()),
        ('a "b"', b'{"a": "a \\"b\\""}', b'a \\"b\\"'),
        ('a "b"', b'{"a": "{\\"x\\": \\"a \\\\\\"b\\\\\\"\\"}"}', b'a \\\\\\"b\\\\\\"'),
        ("a\nb", b'"a\\nb"', b"a\\nb"),
        ("/etc", b'"\\/etc"', b"\\/etc"),
        ("😀", b'"\\ud83d\\uDE00"', b"\\ud83d\\uDE00"),
        ("C:\\new", b'"C:\\\\new"', b"C:\\\\new"),
        ("<b>", b'"\\u003cb\\u003e"', b"\\u003cb\\u003e"),
        ("HeLLo", b"hello", b"hello"),
        ("a.c", b"abc", None),
    ],
)
def test_it_is_found_as_json_writes_it(wanted: str, body: bytes, found: bytes | None) -> None:
    match = text.byte_pattern(wanted).search(body)
    assert (match and match[0]) == found


def test_smart_case() -> None:
    assert text.is_exact("Hello")
    assert not text.is_exact("hello é")
    assert text.byte_pattern("Hello", exact=True).search(b"hello") is None


@given(st.text(min_size=1, max_size=8), st.booleans(), st.integers(0, 2))
def test_whatever_json_wrote_is_found(wanted: str, ascii_only: bool, nested: int) -> None:
    written = wanted
    for _ in range(nested + 1):
        written = json.dumps({"a": f"x{written}y"}, ensure_ascii=ascii_only)
    body = written.encode("utf-8", "surrogatepass")
    match = text.byte_pattern(wanted, exact=True).search(body)
    assert match
    assert len(match[0]) <= text.longest_match(wanted)


@given(st.text(alphabet='\\"ué ', min_size=1, max_size=6))
def test_a_run_of_backslashes_is_no_trap(wanted: str) -> None:
    text.byte_pattern(wanted).search(b"\\" * 200_000)


def test_matches_over_the_edge_of_a_window_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "WINDOW", 10)
    body = b"12345678needle 8needleneedle" + b"." * 30 + b"needle"
    spans = [s for s in text.spans_in(body, text.byte_pattern("needle"), text.longest_match("needle")) if s]
    assert spans == [(8, 14), (16, 22), (22, 28), (58, 64)]


def streamed(*pieces: str) -> HttpResponse:
    blocks = [
        b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": p}}]}).encode() + b"\n\n" for p in pieces
    ]
    return HttpResponse(200, Headers((("content-type", "text/event-stream"),)), Body(b"".join(blocks)))


def test_what_a_stream_brought_in_pieces_is_found() -> None:
    exchange = replace(samples.exchange({"model": "m"}, b""), response=streamed("no su", "ch f", "ile"))
    assert text.holds(exchange, "openai-chat", "No such file")
    assert not text.holds(exchange, "openai-chat", "no such dir")
    decoded = DecodedExchange(0, exchange)
    spans = list(text.streamed_spans(decoded, text.str_pattern("such file")))
    assert [decoded.response_text[a:b] for a, b in spans] == [b"su"]
    assert list(text.streamed_spans(decoded, text.str_pattern("ch f"))) == []  # in one piece: the bytes have it
