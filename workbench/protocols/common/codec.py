"""Adapters from a table of functions: what nearly every protocol does alike is written here once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Protocol, TypeAlias, TypeVar

from workbench.ir import JsonValue, Message, ModelRequest, ModelResponse, Part, Reasoning, Text, ToolCallIR
from workbench.named_tuple import NamedTuple
from workbench.protocols import Adapter, AdapterDefaults, Param, StreamDecoder, StreamWriter, UrlFacts
from workbench.protocols.common import leaves
from workbench.protocols.common.changes import LeafChange, leaf_changes
from workbench.protocols.common.reading import decode_request, none
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.request_reading import ReadRequest
from workbench.wire import Framing, SseEvent, dumps, read_untyped

Cut = Callable[[str], Iterable[str]]
"""Cuts a string into the pieces in which it is written."""


def write_stream(writer: StreamWriter, response: ModelResponse, cut: Cut = lambda text: (text,)) -> bytes:
    """Stream of an answer in normal form: one delta per string, or several if the string is divided."""
    pieces = []
    if response.messages or not response.error:
        pieces.append(writer.start(response))
    for number, message in enumerate(response.messages):
        pieces.append(writer.choice(number))
        pieces += (write_part(writer, part, cut) for part in message.parts)
    return b"".join((*pieces, writer.end(response)))


def write_part(writer: StreamWriter, part: Part, cut: Cut = lambda text: (text,)) -> bytes:
    """A part at once."""
    pieces = (writer.grow(piece) for piece in cut(string_of(part)) if piece)
    return b"".join((writer.open(part), *pieces, writer.close(part)))


def string_of(part: Part) -> str:
    """The string of a part that grows in a stream: its text, or the arguments of a call."""
    if isinstance(part, Text | Reasoning):
        return part.text or ""
    if not isinstance(part, ToolCallIR):
        return ""
    if part.raw is not None:
        return part.raw
    if part.format.endswith("custom") or part.input is None:
        return "" if part.input is None else str(part.input)
    return dumps(part.input).decode("utf-8", "surrogatepass")


Decoder = TypeVar("Decoder", bound=StreamDecoder)
RequestNodes: TypeAlias = Callable[[ModelRequest], Sequence[Message]]
ResponseNodes: TypeAlias = Callable[[ModelResponse], Sequence[Message]]
"""A body's own keys and tools in the form of messages without parts, beside its messages: what can be compared."""

OF_REQUESTS = ("model", "stream", "parallel", "thinking", "previous_id")
OF_ANSWERS = ("id", "model", "finish_reason", "error")
"""Fields that are read from several keys, or from the URL: an edit of one has to come out again."""


def answer_in(adapter: Adapter, body: bytes, framing: Framing | None = None) -> ModelResponse:
    """The response in a body: a stream or a single body; anything else is read as an error."""
    events = read_untyped(body, framing=framing).events
    if not events:
        return adapter.decode_response(body, status=400)
    return fold(adapter.stream_decoder(), events).result()


def fold(decoder: Decoder, events: Iterable[SseEvent]) -> Decoder:
    """The decoder, with all the events in it."""
    for event in events:
        decoder.feed(event)
    return decoder


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


def edit_stream(
    decoder: Callable[[], Decoder],
    everywhere: Callable[[LeafChange, Decoder, Sequence[SseEvent]], Iterable[LeafChange]],
    nodes: ResponseNodes,
    response: ModelResponse,
    original: bytes,
    fields: Sequence[str],
) -> bytes:
    """The same for a stream that says a value several times. ``everywhere``: a change at each place of its value."""
    events = read_untyped(original).events
    ours = fold(decoder(), events)
    before = ours.result()
    found = [place for c in leaf_changes(nodes(before), nodes(response)) for place in everywhere(c, ours, events)]
    encoded = leaves.write_changes(found, original)
    after = fold(decoder(), read_untyped(encoded).events).result() if found else before
    leaves.agree(after, response, fields)
    return encoded


def messages_alone(body: ModelRequest | ModelResponse) -> Sequence[Message]:
    """The messages, where no value beside them can be edited."""
    return body.messages


class Codec(NamedTuple):
    """Functions between the bodies of a protocol and the IR.

    Attributes:
        url: found in the URLs of the protocol.
        read_request: a function of a module, from a parsed body.
        read_response: from the bytes of a body and its status.
        decoder: a fresh decoder for one stream.
        params: parameters that have no field of ``ModelRequest``.
        write_request: a new body for a request in normal form.
        write_response: the same for a response.
        writer: a fresh writer for one stream.
        path: path of each request; empty if the adapter has a method for it.
        request_nodes: a request as nodes that can be compared.
        response_nodes: the same for a response.
        key: of the list with the messages in a request.
        shapes: as in ``decode_request``.
        fields: fields of a request that are read from several keys; an edit of one has to come out again.
        answer_fields: the same for a response.
        encode_stream: edits a stream that says each value several times; None if no value is said twice.
    """

    url: re.Pattern[str]
    read_request: ReadRequest
    read_response: Callable[[bytes, int], ModelResponse]
    decoder: Callable[[], StreamDecoder]
    params: Callable[[ModelRequest], Iterable[Param]]
    write_request: Callable[[ModelRequest], JsonValue]
    write_response: Callable[[ModelResponse], JsonValue]
    writer: Callable[[], StreamWriter]
    path: str = ""
    request_nodes: RequestNodes = messages_alone
    response_nodes: ResponseNodes = messages_alone
    key: str = "messages"
    shapes: Callable[[Message], object] | None = none
    fields: Sequence[str] = OF_REQUESTS
    answer_fields: Sequence[str] = OF_ANSWERS
    encode_stream: Callable[[ModelResponse, bytes], bytes] | None = None


class _WithCodec(Adapter, Protocol):
    codec: Codec


class CodecAdapter(AdapterDefaults):
    """Methods of an adapter that only call the functions of its ``codec``; a protocol overrides what it does otherwise.

    What tells its bodies from those of other protocols, ``claims_request``, ``claims_response`` and ``claims_event``,
    each protocol writes itself.
    """

    codec: Codec

    def claims_url(self, url: str) -> bool:
        return bool(self.codec.url.search(url))

    def read_url(self, url: str) -> UrlFacts:
        """Nothing: the body says it all."""
        return UrlFacts()

    def decode_request(self, body: bytes, known: KnownMessages | None = None) -> ModelRequest:
        return decode_request(body, self.codec.read_request, known, self.codec.key, self.codec.shapes)

    def decode_response(self, body: bytes, *, status: int = 200) -> ModelResponse:
        return self.codec.read_response(body, status)

    def stream_decoder(self) -> StreamDecoder:
        return self.codec.decoder()

    def encode_request(self: _WithCodec, request: ModelRequest, original: bytes) -> bytes:
        return edit_request(self, self.codec.request_nodes, request, original, self.codec.fields)

    def encode_response(self: _WithCodec, response: ModelResponse, original: bytes) -> bytes:
        codec = self.codec
        if codec.encode_stream and read_untyped(original).events:
            return codec.encode_stream(response, original)
        return edit_answer(partial(answer_in, self), codec.response_nodes, response, original, codec.answer_fields)

    def params(self, request: ModelRequest) -> tuple[Param, ...]:
        return tuple(self.codec.params(request))

    def path(self, request: ModelRequest) -> str:
        return self.codec.path

    def write_request(self, request: ModelRequest) -> JsonValue:
        return self.codec.write_request(request)

    def write_response(self, response: ModelResponse) -> JsonValue:
        return self.codec.write_response(response)

    def write_stream(self, response: ModelResponse) -> bytes:
        return write_stream(self.stream_writer(), response)

    def stream_writer(self) -> StreamWriter:
        return self.codec.writer()
