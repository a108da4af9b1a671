"""Bytes of one protocol as bytes of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench import protocols
from workbench.convert.declared import NONE, Declared
from workbench.convert.fit import FittedRequest, fit_request, fit_response
from workbench.convert.losses import Loss
from workbench.convert.normal import normal_request, normal_response
from workbench.errors import LocalProtocolError
from workbench.ir import Message, ModelRequest, ModelResponse, Part, ToolCallIR, ToolResultIR
from workbench.protocols import Adapter, Capabilities
from workbench.protocols.decode import REQUEST, DecodedExchange
from workbench.wire.jsontext import dumps
from workbench.wire.stream import Framing, framing_of, read_stream

JSON = "application/json"
_TYPES = {
    Framing.SSE: "text/event-stream",
    Framing.NDJSON: "application/x-ndjson",
    Framing.JSON_ARRAY: JSON,
    Framing.AWS: "application/vnd.amazon.eventstream",
}


@dataclass(frozen=True, slots=True)
class Converted:
    """What a conversion gives.

    Attributes:
        protocol: the target.
        body: a new body; of the same protocol the original, byte for byte.
        content_type: of the body.
        path: of a request, below the base URL.
        ids: id in the new body → id in the old one (None where there was none), for those that differ.
        losses: by pointer into the old body.
        meant: the normal form that was written: decoding ``body`` gives it back.
    """

    protocol: str
    body: bytes
    content_type: str
    path: str
    ids: Mapping[str, str | None]
    losses: tuple[Loss, ...]
    meant: ModelRequest | ModelResponse | None = None


def convert(
    source: DecodedExchange | bytes,
    target: str,
    *,
    side: str = REQUEST,
    protocol: str | None = None,
    capabilities: Capabilities | None = None,
) -> Converted:
    """One side of an exchange as another protocol's.

    Args:
        source: an exchange, or a content-decoded body.
        target: name of a protocol.
        side: "request" or "response".
        protocol: of a body; an exchange knows its own.
        capabilities: what a request may hold, where whoever answers it takes less than the protocol has.

    Raises:
        UsageError: no such protocol.
        LocalProtocolError: there is nothing on that side that could be converted.
        WireError, ProtocolMismatch: the body cannot be read.
    """
    adapter = protocols.get(target)
    if isinstance(source, bytes):
        if protocol is None:
            raise LocalProtocolError("a body without the name of its protocol", hint="name it")
        decoded, body = read_body(protocols.get(protocol), source, side), source
    else:
        body = source.request_text if side == REQUEST else source.response_text
        found = source.request if side == REQUEST else source.response
        if found is None:
            why = "; ".join(problem.message for problem in source.problems) or source.protocol_from
            raise LocalProtocolError(f"no {side} that can be converted: {why}", where=f"exchange {source.index + 1}")
        decoded = found
    if decoded.protocol == target:
        return _unchanged(decoded, body, adapter)
    if isinstance(decoded, ModelRequest):
        return request_as(decoded, adapter, body, capabilities)
    return response_as(decoded, adapter, body)


def request_as(
    request: ModelRequest, adapter: Adapter, body: bytes = b"", capabilities: Capabilities | None = None
) -> Converted:
    """A request of any protocol as the adapter's. ``body`` is what it was read from."""
    normal = normal_request(request, protocols.get(request.protocol))
    fitted = fit_request(normal, capabilities or adapter.capabilities, body)
    meant = replace(fitted.meant, protocol=adapter.name)
    return _converted(adapter, dumps(adapter.write_request(meant)), JSON, adapter.path(meant), fitted, meant)


def response_as(response: ModelResponse, adapter: Adapter, body: bytes = b"", declared: Declared = NONE) -> Converted:
    """An answer of any protocol as the adapter's, for a client with these tools; a stream as its stream."""
    fitted = fit_response(normal_response(response), adapter.capabilities, body, declared=declared)
    meant = replace(fitted.meant, protocol=adapter.name)
    if response.is_stream:
        written = adapter.write_stream(meant)
        return _converted(adapter, written, _stream_type(written), "", fitted, meant)
    return _converted(adapter, dumps(adapter.write_response(meant)), JSON, "", fitted, meant)


def unmap(node: ModelRequest | ModelResponse, ids: Mapping[str, str | None]) -> ModelRequest | ModelResponse:
    """Put the ids back that a conversion replaced. ``ids`` as in ``Converted``."""
    messages = tuple(replace_parts(message, ids) for message in node.messages)
    return replace(node, messages=messages)


def replace_parts(message: Message, ids: Mapping[str, str | None]) -> Message:
    """A message with the ids it had before."""
    return replace(message, parts=tuple(_unmapped(part, ids) for part in message.parts))


def _unmapped(part: Part, ids: Mapping[str, str | None]) -> Part:
    if isinstance(part, ToolCallIR) and part.id is not None and part.id in ids:
        return replace(part, id=ids[part.id])
    if isinstance(part, ToolResultIR) and part.tool_call_id is not None and part.tool_call_id in ids:
        return replace(part, tool_call_id=ids[part.tool_call_id])
    return part


def read_body(adapter: Adapter, body: bytes, side: str) -> ModelRequest | ModelResponse:
    """A content-decoded body of the adapter's protocol, whole or a stream. Raises WireError, ProtocolMismatch."""
    if side == REQUEST:
        return adapter.decode_request(body)
    events = read_stream(body).events
    if not events:
        return adapter.decode_response(body, status=400)  # whatever is no answer is an error
    decoder = adapter.stream_decoder()
    for event in events:
        decoder.feed(event)
    return decoder.result()


def _stream_type(body: bytes) -> str:
    framing = framing_of(body)
    return _TYPES.get(framing, JSON) if framing else JSON


def _unchanged(decoded: ModelRequest | ModelResponse, body: bytes, adapter: Adapter) -> Converted:
    if isinstance(decoded, ModelRequest):
        return Converted(adapter.name, body, JSON, adapter.path(decoded), {}, ())
    return Converted(adapter.name, body, _stream_type(body) if decoded.is_stream else JSON, "", {}, ())


def _converted(
    adapter: Adapter,
    body: bytes,
    content_type: str,
    path: str,
    fitted: FittedRequest,
    meant: ModelRequest | ModelResponse,
) -> Converted:
    return Converted(adapter.name, body, content_type, path, fitted.ids, fitted.losses, meant)
