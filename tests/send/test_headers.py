"""Which headers of a recording go on, and what a protocol needs."""

from __future__ import annotations

from tests.send.test_outgoing import decoded, endpoint
from tests.simulator.conftest import block
from workbench import protocols
from workbench.send.headers import with_headers
from workbench.send.outgoing import prepare
from workbench.wire.exchange import Headers, Redaction


def test_headers_that_go_on_and_those_that_stay():
    headers = (
        ("User-Agent", "claude-cli"),
        ("anthropic-version", "2024-01-01"),
        ("anthropic-beta", "x"),
        ("x-api-key", "sk-ant-0123456789abcdef"),
        ("X-Marked", "stand-in"),
        ("x-bad", "a\r\nb"),
        (":authority", "x"),
        ("x-note", "Bearer 0123456789abcdef0123"),
    )
    marks = (Redaction("header:X-Marked", 0, 8, "api-key"),)
    made = prepare(
        decoded(block(), "anthropic-messages", headers=headers, redactions=marks), endpoint("anthropic-messages")
    )
    assert made.request.headers.items == (
        ("User-Agent", "claude-cli"),
        ("anthropic-version", "2024-01-01"),
        ("anthropic-beta", "x"),
        ("content-type", "application/json"),
        ("accept", "*/*"),
        ("accept-encoding", "identity"),
    )
    assert "headers removed (secret or account-specific): x-api-key, x-marked, x-note" in made.notes
    assert "invalid HTTP header removed: 'x-bad'" in made.notes


def test_every_protocol_says_how_a_key_travels():
    headers = {a.name: a.capabilities.request.key_header for a in protocols.every()}
    assert headers["anthropic-messages"] == "x-api-key" and headers["gemini"] == "x-goog-api-key"
    assert headers["gemini-interactions"] == headers["gemini"]
    own = ("anthropic-messages", "gemini", "gemini-interactions", "gemini-live")
    assert {v for k, v in headers.items() if k not in own} == {"authorization"}


def test_a_header_takes_the_place_of_one_of_its_name():
    headers = Headers((("A", "1"), ("b", "2"), ("a", "3")))
    assert with_headers(headers, (("a", "x"),)).items == (("a", "x"), ("b", "2"))
    assert with_headers(headers, (("c", "x"),)).items == (*headers.items, ("c", "x"))
