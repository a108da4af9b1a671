from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import body
from workbench.formats.importers._side_of_value import stream_of
from workbench.wire.session import store


def test_a_request_is_kept_byte_for_byte_and_has_no_answer(data: Path) -> None:
    raw = (data / "request.json").read_bytes()
    exchange = body.read(raw, "x").exchange(0)
    assert exchange.request and exchange.request.body.raw == raw
    assert exchange.request.body.raw.endswith(b"\n")
    assert exchange.response is None
    assert exchange.note == "only a request body"


def test_an_answer_is_kept_byte_for_byte_and_has_no_request(data: Path) -> None:
    raw = (data / "response.json").read_bytes()
    exchange = body.read(raw, "x").exchange(0)
    assert exchange.request is None
    assert exchange.response and exchange.response.body.raw == raw
    assert (exchange.response.status, len(exchange.response.headers)) == (200, 0)


@pytest.mark.parametrize(
    ("raw", "status"),
    [(b'{"error": {"code": 429, "message": "x"}}', 429), (b'{"error": {"message": "x"}}', 0)],
)
def test_the_status_of_an_error_is_what_it_says_or_unknown(raw: bytes, status: int) -> None:
    response = body.read(raw, "x").exchange(0).response
    assert response and response.status == status


def test_a_byte_order_mark_does_not_matter() -> None:
    assert len(body.read(b'\xef\xbb\xbf{"model": "m", "messages": []}', "x")) == 1


@pytest.mark.parametrize("raw", [b'{"type": "ping"}', b"[]", b"{}"])
def test_what_is_no_body_is_refused(raw: bytes) -> None:
    with pytest.raises(UnreadableInput):
        body.read(raw, "x")


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (b'{"model"', 0.6),
        (b'  [ {"candidates"', 0.6),
        (b'{"name": "f", "arguments": {}}', 0.4),
        (b'[{"function": {"name": "f", "parameters": {}}}]', 0.4),
        (b'{"name": "f", "version": "1"}', 0.6),
        (b'[TOOL_CALLS][{"name"', 0.0),
        (b"{% raw %}", 0.0),
        (b"text", 0.0),
    ],
)
def test_sniff(head: bytes, score: float) -> None:
    assert body.sniff(head) == score


@pytest.mark.parametrize("form", ["a.sqlite", "a.jsonl"])
def test_a_status_that_nobody_recorded_is_listed_as_unknown(tmp_path: Path, form: str) -> None:
    session = body.read(b'{"error": {"message": "x"}}', "x")
    store.save(session.exchanges, tmp_path / form)
    written = store.open_session(tmp_path / form)
    for held in (session, written):
        response = held.exchange(0).response
        assert response and response.status == 0
        assert held.summaries()[0].status is None
    written.close()


@pytest.mark.parametrize("texts", [["\n\n"], [" ", ""]])
def test_a_list_of_blank_texts_is_no_stream(texts) -> None:
    assert stream_of(texts) is None  # stop sequences of a request
