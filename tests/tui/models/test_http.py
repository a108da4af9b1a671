from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.tui import samples
from workbench.rules.inspection import Inspector
from workbench.tui.exchange_view import ExchangeView
from workbench.tui.models.http import HttpContent, HttpRow, limit_words
from workbench.views.lines import plain
from workbench.wire.digests import BodyDigest, to_meta
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
    Redaction,
    State,
)
from workbench.wire.headers import Limit

REQUEST_HEADERS = Headers(
    (
        ("User-Agent", "pi/1.0"), ("anthropic-version", "2023-06-01"), ("anthropic-beta", "a-1, b-2"),
        ("X-Custom", "1"), ("x-custom", "2"), ("X-Stainless-Retry-Count", "2"), ("x-api-key", "stand-in"),
    )
)  # fmt: skip
RESPONSE_HEADERS = Headers(
    (
        ("Date", "Thu, 21 Aug 2025 11:42:00 GMT"), ("request-id", "req_1"), ("retry-after", "31"),
        ("anthropic-ratelimit-requests-limit", "4000"), ("anthropic-ratelimit-requests-remaining", "40"),
        ("anthropic-ratelimit-requests-reset", "2025-08-21T11:42:05Z"), ("x-ratelimit-odd", "?"),
        ("anthropic-organization-id", "org"), ("set-cookie", "a=b"), ("set-cookie", "c=d"), ("x-empty", ""),
    )
)  # fmt: skip


def whole() -> Exchange:
    made = samples.exchange(
        {"model": "claude-x", "messages": [], "betas": ["c-3", 4]},
        {"id": "msg_1", "type": "message", "role": "assistant", "content": []},
        url=samples.MESSAGES,
    )
    assert made.request and made.response
    redactions = (Redaction("header:x-api-key", 0, 8, "api-key"), Redaction("body", 1, 5, "bearer"))
    chunks = (Chunk(4, 0.2), Chunk(9, 0.3), Chunk(30, 0.9))
    return replace(
        made,
        request=replace(made.request, headers=REQUEST_HEADERS, redactions=redactions),
        response=replace(
            made.response, status=200, headers=RESPONSE_HEADERS, body=replace(made.response.body, chunks=chunks)
        ),
        started_at=1755776500.0,
        duration=1.0,
    )


def view(exchange: Exchange) -> HttpContent:
    return HttpContent(ExchangeView(Inspector(samples.session(exchange)).detail(0)))


def group(of: HttpContent, title: str) -> list[HttpRow]:
    start = next(n for n, row in enumerate(of.rows) if not row.label and row.value.startswith(title))
    rest = of.rows[start + 1 :]
    end = next((n for n, row in enumerate(rest) if not row.label), len(rest))
    return list(rest[:end])


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("exchange", [("POST", samples.MESSAGES), ("status", "200")]),
        ("rate limits", [
            ("requests", "40 of 4,000 left · [==========] 99 % used · resets in 5.0 s"), ("x-ratelimit-odd", "?"),
        ]),
        ("retries", [("X-Stainless-Retry-Count", "2"), ("retry-after", "31")]),
        ("ids", [("request-id", "req_1"), ("response id", "msg_1")]),
        ("version and betas", [
            ("anthropic-version", "2023-06-01"), ("anthropic-beta", "a-1"), ("anthropic-beta", "b-2"),
            ("betas", "c-3"), ("betas", "4"),
        ]),
        ("client", [("User-Agent", "pi/1.0")]),
        ("account", [("anthropic-organization-id", "org")]),
        ("time", [
            ("started", "2025-08-21 11:41:40.000 UTC"), ("first byte", "after 0.2 s"), ("last byte", "after 1.0 s"),
            ("arrived in", "3 chunks, longest gap 0.6 s after byte 9"), ("Date", "Thu, 21 Aug 2025 11:42:00 GMT"),
        ]),
        ("other headers of the request", [("X-Custom", "1"), ("x-custom", "2"), ("x-api-key", "stand-in")]),
        ("other headers of the response", [("set-cookie", "a=b"), ("set-cookie", "c=d"), ("x-empty", '""')]),
        ("redacted", [("header:x-api-key", "api-key, characters 0–8"), ("body", "bearer, bytes 1–5")]),
    ],
)  # fmt: skip
def test_rows_in_groups(title: str, expected: list[tuple[str, str]]) -> None:
    assert [(row.label, row.value) for row in group(view(whole()), title)] == expected


def test_every_header_has_its_row() -> None:
    made = view(whole())
    told = [row for row in made.rows if row.label]
    for name, _ in (*REQUEST_HEADERS, *RESPONSE_HEADERS):
        assert any(row.label == name or name in row.about for row in told), name


def test_bodies_are_measured() -> None:
    raw = b"\x1f\x8bnot really"
    request = HttpRequest("POST", "/x", Headers(), Body(b"ab", is_raw=False, original_length=9, original_digest="d1"))
    made = view(Exchange("1", request, HttpResponse(200, Headers(), Body(raw, "gzip", note="why"))))
    rows = [(row.side, row.label, row.value) for row in group(made, "bodies")]
    assert rows[0] == ("request", "length", "9 bytes, 2 decoded, the original form was not recorded")
    assert rows[2] == ("request", "sha256 as sent", "d1")
    assert rows[3][:2] == ("response", "length") and rows[3][2].startswith("12 bytes of gzip, ")
    assert rows[4] == ("response", "kept", "why")
    assert len(rows[5][2]) == 64


def test_bytes_that_left_as_they_came_are_said_to_be_equal_and_others_are_not() -> None:
    same, other = BodyDigest("a" * 64, "a" * 64, 2, 2), BodyDigest("a" * 64, "b" * 64, 9, 7)
    exchange = Exchange("1", HttpRequest(body=Body(b"{}")), HttpResponse(200), origin=Origin.RECORDED)
    made = view(replace(exchange, meta=to_meta({"request": same, "response": other})))
    said = {row.side: (row.value, row.style) for row in group(made, "bodies") if row.label == "through the recorder"}
    assert said["request"] == ("✓ received and sent bytes are equal", "ok")
    assert said["response"] == ("✗ received and sent bytes differ (9 bytes in, 7 bytes out)", "error")


def test_what_an_adapter_changed_stands_in_rows_of_its_own() -> None:
    note = "not recorded completely; handle: workbench:1 in place of a signature; loss: /a: x; y; correction: serial"
    made = view(Exchange("1", HttpRequest(), HttpResponse(200), note=note, branch="a to b"))
    assert [(row.label, row.value) for row in group(made, "changed by a translation or a correction")] == [
        ("handle", "workbench:1 in place of a signature"),
        ("loss", "/a: x; y"),
        ("correction", "serial"),
    ]
    told = {row.label: row.value for row in group(made, "exchange")}
    assert told["note"] == "not recorded completely" and told["branch"] == "a to b"


def test_what_stands_in_a_body_can_be_selected() -> None:
    made = view(whole())
    (item,) = (n for n, row in enumerate(made.rows) if row.value == "c-3")
    selection = made.selection(item)
    assert selection and selection.pointer == "/betas/0"
    body = whole().request
    assert body and body.body.raw[slice(*selection.spans[0])] == b'"c-3"'
    assert made.selection(0) is None


def test_a_row_says_what_it_is_and_who_says_so() -> None:
    made = view(whole())
    item = next(n for n, row in enumerate(made.rows) if row.label == "retry-after")
    assert "RFC 9110" in "".join(plain(x) for x in made.body(item, 80))
    assert plain(made.head(item)).split() == ["<", "retry-after", "31"]


def test_a_value_that_does_not_fit_stands_below_in_full() -> None:
    made = view(Exchange("1", HttpRequest("GET", "/x", Headers((("x-" + "n" * 40, "v" * 200),)))))
    item = next(n for n, row in enumerate(made.rows) if row.label.startswith("x-n"))
    text = "".join(plain(x).strip() for x in made.body(item, 40))
    assert "n" * 40 in text and "v" * 200 in text


@pytest.mark.parametrize(
    ("exchange", "words"),
    [
        (Exchange("1", state=State.INCOMPLETE), "nothing recorded"),
        (Exchange("1", None, HttpResponse(0)), "no status"),
        (Exchange("1", kind=ExchangeKind.WEBSOCKET, frames=(Frame("sent", "text", b"x"),)), "1 frame"),
        (Exchange("1", HttpRequest("GET", "/health"), HttpResponse(204)), "/health"),
        (Exchange("1", HttpRequest("GET", "/x"), state=State.ABORTED), "aborted"),
    ],
)
def test_any_exchange(exchange: Exchange, words: str) -> None:
    made = view(exchange)
    shown = [made.head(n) for n in range(made.count())] or made.nothing(60)
    assert words in "\n".join(plain(x) for x in shown)


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (Limit("x", "10", "10", "2ms"), "10 of 10 left · [          ] 0 % used · resets in 2 ms"),
        (Limit("x", status="rejected", utilization="1.4"), "[==========] 100 % used · rejected"),
        (Limit("x", limit="10"), "? of 10 left"),
        (Limit("x", reset="soon"), "resets soon"),
        (Limit("x"), ""),
    ],
)
def test_limits_in_words(limit: Limit, words: str) -> None:
    assert limit_words(limit, None) == words


def test_hostile_values_are_rows_too() -> None:
    evil = "\x1b]52;c;aGk=\x07\u202e[/b]"
    headers = Headers(((evil, evil), ("x-ratelimit-limit-" + evil, evil), ("date", evil), ("anthropic-beta", evil)))
    body = json.dumps({"betas": [evil, {"a": evil}], "anthropic_beta": evil}).encode()
    request = HttpRequest(evil, evil, headers, Body(body), evil, (Redaction(evil, -5, 10**30, evil),))
    made = view(Exchange(evil, request, HttpResponse(10**9, headers, Body(b"x"), evil, evil), started_at=1e300))
    for n in range(made.count()):
        assert made.head(n)
        made.body(n, 20)
