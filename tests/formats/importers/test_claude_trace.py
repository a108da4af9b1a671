from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import claude_trace
from workbench.wire.exchange import State


def test_a_stream_is_kept_as_text_and_a_json_body_is_marked(data: Path) -> None:
    session = claude_trace.read((data / "claude-trace.jsonl").read_bytes(), "x")
    exchange = session.exchange(0)
    assert exchange.request and exchange.response
    assert exchange.request.url == "https://api.anthropic.com/v1/messages?beta=true"
    assert exchange.request.body.raw.startswith(b'{"model":"claude-sonnet-4-6","stream":true')
    assert not exchange.request.body.is_raw
    assert exchange.response.body.raw.startswith(b"event: message_start\n")
    assert exchange.response.body.is_raw
    assert (exchange.started_at, exchange.duration) == (1772359200.25, 1.25)


def test_a_request_without_answer_is_aborted_and_a_torn_log_opens(data: Path) -> None:
    session = claude_trace.read((data / "claude-trace.jsonl").read_bytes(), "x")
    orphan = session.exchange(1)
    assert (orphan.response, orphan.state, orphan.note) == (None, State.ABORTED, "ORPHANED_REQUEST")
    assert [line.split(":")[0] for line in session.damage] == ["line 3", "line 4"]


def test_a_log_without_exchanges_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="line 1"):
        claude_trace.read(b'{"logged_at": 1}\n', "x")


def test_sniff(data: Path) -> None:
    assert claude_trace.sniff((data / "claude-trace.jsonl").read_bytes()) > 0.9
    assert claude_trace.sniff(b'{"request": {"method": "POST"}}') == 0.0
