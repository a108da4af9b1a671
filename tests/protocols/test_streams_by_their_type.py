"""Streams that only their content type calls so: what stands before the first event is kept, and edits come out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench import protocols
from workbench.ir import Message, ModelResponse, Text
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Body, Exchange, Headers, HttpResponse
from workbench.wire.stream import Framing, framing_of

WRITTEN = [
    (name, body)
    for name in protocols.protocols()
    for answer in [ModelResponse(name, id="a1", model="m", messages=(Message("assistant", (Text("Hello"),)),))]
    for body in [protocols.get(name).write_stream(replace(answer, finish_reason="stop"))]
    if framing_of(body) is Framing.SSE
]
BEFORE = [b" ", b"\n", b" \n", b"\r\n \r\n", b": ping\n\n", b"\xef\xbb\xbf \n", b"hello\n\n", b"\n\n\t\n"]


def test_most_protocols_stream_so() -> None:
    assert len(WRITTEN) >= 5


@pytest.mark.parametrize("before", BEFORE, ids=repr)
@pytest.mark.parametrize(("protocol", "stream"), WRITTEN, ids=[name for name, _ in WRITTEN])
def test_a_stream_known_by_its_type_is_written_as_it_was(protocol: str, stream: bytes, before: bytes) -> None:
    body = before + stream
    headers = Headers((("content-type", "text/event-stream; charset=utf-8"),))
    decoded = DecodedExchange(0, Exchange("1", None, HttpResponse(200, headers=headers, body=Body(body))), protocol)
    said, adapter = decoded.response, protocols.get(protocol)
    assert said is not None
    assert said.is_stream, decoded.problems
    assert adapter.encode_response(said, body) == body
    if before == b" " and protocol == "gemini":  # the only event is that first line, which is none with the blank
        return
    (message, part) = next((m, p) for m in said.messages for p in m.parts if isinstance(p, Text))
    assert part.text == "Hello"
    other = replace(message, parts=tuple(replace(p, text="Jello") if p is part else p for p in message.parts))
    edited = replace(said, messages=tuple(other if m is message else m for m in said.messages))
    assert adapter.encode_response(edited, body) == body.replace(b"Hello", b"Jello")
