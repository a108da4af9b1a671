from __future__ import annotations

from pathlib import Path

import pytest

from workbench.formats.importers import event_stream, open_input
from workbench.protocols.decode import DecodedExchange
from workbench.wire.stream import aws_message


@pytest.mark.parametrize(
    ("head", "is_stream"),
    [
        (b"data: {}\n\n", True),
        (b"event: x\r\ndata: {}\r\n\r\n", True),
        (b": keep-alive\n\ndata: x\n\n", True),
        (b"id: 5\ndata: x\n\n", True),
        (b"\n\ndata:x", True),
        (b": only a comment\n", False),
        (b"The data: x\n", False),
        (b"database: x\n", False),
        (b"{}", False),
    ],
)
def test_sniff(head: bytes, is_stream: bool) -> None:
    assert (event_stream.sniff(head) > 0) == is_stream


def test_the_stream_is_kept_byte_for_byte(data: Path) -> None:
    raw = (data / "messages.sse").read_bytes()
    exchange = event_stream.read(raw, "x").exchange(0)
    assert exchange.request is None
    assert exchange.response and exchange.response.body.raw == raw
    assert not exchange.meta


def test_messages_of_an_aws_event_stream_are_one_too(tmp_path: Path) -> None:
    raw = aws_message("messageStart", b'{"role":"assistant"}') + aws_message(
        "messageStop", b'{"stopReason":"end_turn"}'
    )
    path = tmp_path / "body.bin"
    path.write_bytes(raw)
    session = open_input(str(path))
    exchange = session.exchange(0)
    assert exchange.response and exchange.response.body.raw == raw
    assert DecodedExchange(0, exchange).protocol == "bedrock-converse"
