from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import UnreadableInput, WireError
from workbench.formats.importers import har
from workbench.wire.exchange import ExchangeKind, State
from workbench.wire.jsontext import dumps
from workbench.wire.session import MemorySession, store


@pytest.fixture
def browser(data: Path) -> MemorySession:
    return har.read((data / "browser.har").read_bytes(), "browser.har")


def test_an_entry_has_both_sides_times_and_headers_in_order(browser: MemorySession) -> None:
    exchange = browser.exchange(0)
    assert exchange.request and exchange.response
    assert exchange.request.body.raw == '{"model":"m","messages":[{"role":"user","content":"café"}]}'.encode()
    assert exchange.request.headers.all("x-twice") == ("one", "two")
    assert (exchange.started_at, exchange.duration) == (1772359200.5, 1.5)
    assert (exchange.response.status, exchange.response.http_version) == (200, "http/2.0")
    assert exchange.response.body.raw == b'{"choices":[]}'
    assert not exchange.response.body.is_raw  # it was br on the wire


def test_base64_content_is_bytes(browser: MemorySession) -> None:
    response = browser.exchange(1).response
    assert response and response.body.raw == b"\x00\xff\x01"


def test_content_that_the_export_left_out_is_incomplete_and_says_so(browser: MemorySession) -> None:
    exchange = browser.exchange(2)
    assert (exchange.state, exchange.note) == (
        State.INCOMPLETE,
        "the export omits the response body (5,120 bytes)",
    )


def test_a_request_without_answer_is_aborted(browser: MemorySession) -> None:
    exchange = browser.exchange(3)
    assert (exchange.response, exchange.state) == (None, State.ABORTED)
    assert "ERR_ABORTED" in exchange.note
    assert browser.exchange(5).response is None


def test_websocket_messages_are_frames(browser: MemorySession) -> None:
    exchange = browser.exchange(4)
    assert exchange.kind is ExchangeKind.WEBSOCKET
    assert [(f.direction, f.opcode, f.data, f.at) for f in exchange.frames] == [
        ("sent", "text", b'{"type":"hello"}', 0.5),
        ("received", "binary", b"\x00\xff", 1.0),
    ]


def test_a_form_says_that_its_bytes_are_gone(browser: MemorySession) -> None:
    request = browser.exchange(5).request
    assert request and "form" in request.body.note and not request.body.is_raw


def test_an_entry_without_request_is_damage(browser: MemorySession) -> None:
    assert browser.damage == ("/log/entries/6: no request",)
    assert len(browser) == 6


@pytest.mark.parametrize("value", [[], {"log": []}, {"log": {"entries": {}}}, {"log": {"entries": []}}])
def test_what_is_no_archive_is_refused(value: object) -> None:
    with pytest.raises(UnreadableInput):
        har.read(dumps(value), "x")


def test_a_torn_archive_names_the_line() -> None:
    with pytest.raises(WireError, match="line 2"):
        har.read(b'{"log": {"entries": [\n{"request": {', "x")


def test_half_a_character_keeps_no_entry_from_being_written(tmp_path: Path) -> None:
    half = "\ud800"
    entry = {"request": {"method": half, "url": f"https://x/v1/{half}", "postData": {"text": half}}, "response": {}}
    session = har.read(dumps({"log": {"entries": [entry]}}), "x")
    store.save(session.exchanges, tmp_path / "x.wb")
    request = session.exchange(0).request
    assert request and request.url == "https://x/v1/?"


def test_sniff() -> None:
    assert har.sniff(b'{\n  "log": {"version": "1.2"') > 0.9
    assert har.sniff(b'{"model": "m", "log": {}}') == 0.0


def test_a_large_archive_opens(tmp_path: Path) -> None:
    """Megabytes of entries: one parse, no second copy of the text."""
    entry = {
        "startedDateTime": "2026-03-01T10:00:00Z",
        "time": 1,
        "request": {"method": "POST", "url": "https://x/v1/messages", "postData": {"text": "a" * 10_000}},
        "response": {"status": 200, "content": {"size": 10_000, "text": "b" * 10_000}},
    }
    session = har.read(dumps({"log": {"entries": [entry] * 1_000}}), "x")
    assert sum(s.request_bytes + s.response_bytes for s in session.summaries()) == 20_000_000
