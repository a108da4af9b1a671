from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.formats.importers import event_stream, open_input
from workbench.protocols.decode import DecodedExchange
from workbench.wire import dumps
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


def _messages(answer: str) -> bytes:
    start = {"type": "message_start", "message": {"id": answer, "role": "assistant", "content": []}}
    return b"".join(
        b"event: %b\ndata: %b\n\n" % (str(event["type"]).encode(), dumps(event))
        for event in (start, {"type": "message_stop"})
    )


def _chat(answer: str) -> bytes:
    chunk = {"id": answer, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "a"}}]}
    return b"data: %b\n\ndata: [DONE]\n\n" % dumps(chunk)


def _responses(answer: str) -> bytes:
    events = [{"type": f"response.{name}", "response": {"id": answer}} for name in ("created", "completed")]
    return b"".join(b"data: %b\n\n" % dumps(event) for event in events)


@pytest.mark.parametrize("stream", [_messages, _chat, _responses])
def test_whole_streams_one_after_the_other_are_exchanges_of_their_own(stream: Callable[[str], bytes]) -> None:
    session = event_stream.read(stream("a") + stream("b") + stream("c"), "x")
    bodies = [exchange.response and exchange.response.body.raw for exchange in session.exchanges]
    assert bodies == [stream("a"), stream("b"), stream("c")]


@pytest.mark.parametrize("stream", [_messages, _chat, _responses])
def test_an_answer_that_begins_again_is_one_stream(stream: Callable[[str], bytes]) -> None:
    whole, without_an_end = stream("a"), stream("a").split(b"\n\n")[0] + b"\n\n"
    for raw in (whole + whole, without_an_end + stream("b")):
        (exchange,) = event_stream.read(raw, "x").exchanges
        assert exchange.response and exchange.response.body.raw == raw
