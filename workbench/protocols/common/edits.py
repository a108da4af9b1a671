"""Shared code of adapters: read a response that may be a stream, and write changed leaves back into a body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from workbench.ir import Message, ModelRequest, ModelResponse
from workbench.protocols import Adapter
from workbench.protocols.common import leaves
from workbench.wire import Framing, read_untyped

RequestNodes: TypeAlias = Callable[[ModelRequest], Sequence[Message]]
ResponseNodes: TypeAlias = Callable[[ModelResponse], Sequence[Message]]
"""A body's own keys and tools in the form of messages without parts, beside its messages: what can be compared."""

OF_REQUESTS = ("model", "stream", "parallel", "thinking", "previous_id")
OF_ANSWERS = ("id", "model", "finish_reason", "error")
"""Fields that are read from several keys, or from the URL: an edit of one has to come out again."""


def answer_in(adapter: Adapter, body: bytes, framing: Framing | None = None) -> ModelResponse:
    """The answer in a body: a stream, a whole answer, or whatever is none, which is an error."""
    events = read_untyped(body, framing=framing).events
    if not events:
        return adapter.decode_response(body, status=400)
    decoder = adapter.stream_decoder()
    for event in events:
        decoder.feed(event)
    return decoder.result()


def edit_request(
    adapter: Adapter,
    nodes: RequestNodes,
    request: ModelRequest,
    original: bytes,
    fields: Sequence[str] = OF_REQUESTS,
) -> bytes:
    """The body ``original`` with the values that differ replaced. Raises LocalProtocolError."""
    before = adapter.decode_request(original)
    encoded = leaves.encode(nodes(before), nodes(request), original)
    leaves.agree(before if encoded == original else adapter.decode_request(encoded), request, fields)
    return encoded


def edit_answer(
    read: Callable[[bytes], ModelResponse],
    nodes: ResponseNodes,
    response: ModelResponse,
    original: bytes,
    fields: Sequence[str] = OF_ANSWERS,
) -> bytes:
    """The same for an answer, whole or a stream. ``read`` reads it as ``answer_in`` does."""
    before = read(original)
    encode = leaves.encode_stream if before.is_stream else leaves.encode
    encoded = encode(nodes(before), nodes(response), original)
    leaves.agree(before if encoded == original else read(encoded), response, fields)
    return encoded
