"""Converts bytes of one protocol to bytes of another, and reports what the types of the target do not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TypeAlias

from workbench import protocols
from workbench.convert.declared_tools import NO_TOOLS, DeclaredTools
from workbench.convert.fit import Fit, fit_request, fit_response
from workbench.convert.losses import Loss, LossReport, UnknownKeyLoss
from workbench.convert.normal import normal_request, normal_response
from workbench.errors import LocalProtocolError, WireError
from workbench.ir import JsonValue, Message, ModelRequest, ModelResponse, Part, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import REQUEST, Adapter, Capabilities, DecodedExchange, grammars
from workbench.provenance import escape
from workbench.wire import Framing, dumps_parsed, framing_of, jsontext, loads, read_stream

SPELLINGS: Mapping[str, str] = {"max_completion_tokens": "max_tokens"}
"""Field name we write → older name of the same field (Chat Completions before OpenAI's reasoning models)."""


KnowsField: TypeAlias = Callable[[str], bool | None]
"""``knows(name)``: a server knows a top-level field of a request; None if that is unknown."""


def old_names(knows: KnowsField) -> dict[str, str]:
    """Name that we write → older name, of the fields that a server knows by the older name alone."""
    return {new: old for new, old in SPELLINGS.items() if knows(new) is False and knows(old) is not False}


def rename_fields(body: bytes, knows: KnowsField) -> bytes:
    """Rename fields of a body we wrote, a JSON object, to the names that a server knows."""
    names = old_names(knows)
    value = loads(body) if names else None
    if not isinstance(value, dict) or not names.keys() & value.keys():
        return body
    return dumps_parsed({names.get(key, key): inner for key, inner in value.items()})


JSON = "application/json"
_TYPES = {
    Framing.SSE: "text/event-stream",
    Framing.NDJSON: "application/x-ndjson",
    Framing.JSON_ARRAY: JSON,
    Framing.AWS: "application/vnd.amazon.eventstream",
}


@dataclass(frozen=True, slots=True)
class Conversion:
    """Result of a conversion.

    Attributes:
        protocol: the target.
        body: the new body; the original bytes if the protocol is the same.
        content_type: of the body.
        path: of a request, below the base URL.
        ids: id in the new body → id in the old one, for changed ids only; None if there was no id before.
        losses: in order of their pointers into the old body.
        normal: the normal form that was written; decoding ``body`` gives it back.
    """

    protocol: str
    body: bytes
    content_type: str
    path: str
    ids: Mapping[str, str | None]
    losses: tuple[Loss, ...]
    normal: ModelRequest | ModelResponse | None = None


def convert(
    source: DecodedExchange | bytes,
    target: str,
    *,
    side: str = REQUEST,
    protocol: str | None = None,
    capabilities: Capabilities | None = None,
    is_typed: bool = True,
) -> Conversion:
    """Convert one side of an exchange to another protocol.

    Args:
        source: an exchange, or a content-decoded body.
        target: name of a protocol.
        side: "request" or "response".
        protocol: of a body; an exchange knows its own.
        capabilities: of the server that answers the request, if it supports less than the protocol.
        is_typed: the losses of a request also say what the types of the target do not have.

    Raises:
        UsageError: no such protocol.
        LocalProtocolError: that side holds nothing that can be converted.
        WireError, ProtocolMismatch: the body cannot be read.
    """
    adapter = protocols.get(target)
    if isinstance(source, bytes):
        if protocol is None:
            raise LocalProtocolError("the protocol of the body is unknown", hint="set the protocol")
        decoded, body = read_body(protocols.get(protocol), source, side), source
    else:
        body = source.request_text if side == REQUEST else source.response_text
        found = source.request if side == REQUEST else source.response
        if found is None:
            why = "; ".join(problem.message for problem in source.problems) or source.protocol_from
            raise LocalProtocolError(f"the {side} cannot be converted: {why}", where=f"exchange {source.index + 1}")
        decoded = found
    if decoded.protocol == target:
        return _same_protocol(decoded, body, adapter)
    if isinstance(decoded, ModelRequest):
        result = convert_request(decoded, adapter, body, capabilities)
        return replace(result, losses=by_types(result.losses, target, body, result.body)) if is_typed else result
    return convert_response(decoded, adapter, body)


def convert_request(
    request: ModelRequest, adapter: Adapter, body: bytes = b"", capabilities: Capabilities | None = None
) -> Conversion:
    """Convert a request of any protocol. ``body`` is the bytes it was read from."""
    normal = normal_request(request, protocols.get(request.protocol))
    fitted = fit_request(normal, capabilities or adapter.capabilities, body)
    result = replace(fitted.normal, protocol=adapter.name)
    return _conversion(adapter, dumps_parsed(adapter.write_request(result)), JSON, adapter.path(result), fitted, result)


def convert_response(
    response: ModelResponse, adapter: Adapter, body: bytes = b"", declared: DeclaredTools = NO_TOOLS
) -> Conversion:
    """Convert a response of any protocol for a client with these tools; a stream becomes a stream."""
    fitted = fit_response(normal_response(response), adapter.capabilities, body, declared=declared)
    result = replace(fitted.normal, protocol=adapter.name)
    if response.is_stream:
        stream = adapter.write_stream(result)
        return _conversion(adapter, stream, _stream_type(stream), "", fitted, result)
    return _conversion(adapter, dumps_parsed(adapter.write_response(result)), JSON, "", fitted, result)


def restore_ids(node: ModelRequest | ModelResponse, ids: Mapping[str, str | None]) -> ModelRequest | ModelResponse:
    """Restore the ids that a conversion replaced. ``ids`` as in ``Conversion``."""
    messages = tuple(restore_message_ids(message, ids) for message in node.messages)
    return replace(node, messages=messages)


def restore_message_ids(message: Message, ids: Mapping[str, str | None]) -> Message:
    """A message with its original ids."""
    return replace(message, parts=tuple(_restore_part_id(part, ids) for part in message.parts))


def _restore_part_id(part: Part, ids: Mapping[str, str | None]) -> Part:
    if isinstance(part, ToolCallIR) and part.id is not None and part.id in ids:
        return replace(part, id=ids[part.id])
    if isinstance(part, ToolResultIR) and part.tool_call_id is not None and part.tool_call_id in ids:
        return replace(part, tool_call_id=ids[part.tool_call_id])
    return part


def read_body(adapter: Adapter, body: bytes, side: str) -> ModelRequest | ModelResponse:
    """Decode a content-decoded body of the adapter's protocol, streaming or not.

    Raises:
        WireError, ProtocolMismatch: the body cannot be read.
    """
    if side == REQUEST:
        return adapter.decode_request(body)
    events = read_stream(body).events
    if not events:
        return adapter.decode_response(body, status=400)  # a body that is not a response is read as an error
    decoder = adapter.stream_decoder()
    for event in events:
        decoder.feed(event)
    return decoder.result()


def _stream_type(body: bytes) -> str:
    framing = framing_of(body)
    return _TYPES.get(framing, JSON) if framing else JSON


def _same_protocol(decoded: ModelRequest | ModelResponse, body: bytes, adapter: Adapter) -> Conversion:
    if isinstance(decoded, ModelRequest):
        return Conversion(adapter.name, body, JSON, adapter.path(decoded), {}, ())
    return Conversion(adapter.name, body, _stream_type(body) if decoded.is_stream else JSON, "", {}, ())


def _conversion(
    adapter: Adapter,
    body: bytes,
    content_type: str,
    path: str,
    fit: Fit,
    normal: ModelRequest | ModelResponse,
) -> Conversion:
    return Conversion(adapter.name, body, content_type, path, fit.ids, fit.losses, normal)


NO_SUCH_KEY = "left out: the target has no such field"
LARGEST = 1_000_000
"""Bytes of a new body that is held to its grammar."""

_VALUES = (grammars.WRONG_VALUE, grammars.BEYOND_LIMIT)


def by_types(losses: Iterable[Loss], target: str, before: bytes, after: bytes) -> tuple[Loss, ...]:
    """The losses of a request, those named whose key the target does not know, and the values that it does not accept.

    Args:
        target: name of a protocol; without a grammar nothing changes.
        before, after: the body that was read, and the one that was written.
    """
    grammar = grammars.grammar_of(target)
    if grammar is None:
        return tuple(losses)
    report, known = LossReport(), _names(target)
    for loss in losses:
        is_known = not isinstance(loss, UnknownKeyLoss) or _plain(loss.pointer.rpartition("/")[2]) in known
        report.add(loss if is_known else Loss(loss.pointer, loss.what, NO_SUCH_KEY))
    for loss in _values(grammar, before, after) if len(after) <= LARGEST else ():
        report.add(loss)
    return report.losses()


def _values(grammar: grammars.BodyGrammar, before: bytes, after: bytes) -> Iterator[Loss]:
    """Parameters that were written as they are, though the types of the target do not accept their value."""
    old, new = _parameters(before), _parameters(after)
    names = {_plain(key): key for key in old}
    for fault in grammar.faults(f"#{grammar.request}", new) if old and new else ():
        key = names.get(_plain(fault.name))
        if fault.code in _VALUES and key is not None and isinstance(old[key], str | int | float):
            what = f"the value {old[key]!r:.60} of {key!r:.80}"
            instead = f"written unchanged, but the target's API defines only: {fault.expected}"
            yield Loss(f"/{escape(key)}", what, instead)


def _parameters(body: bytes) -> dict[str, JsonValue]:
    """Members of a body, without its conversation and its tools: they are written again. Empty if it is no object."""
    texts = jsontext.raw_members(body)
    if texts is not None:
        values = {key: bytes(text) for key, text in texts.items()}
        return {key: loads(value) for key, value in values.items() if not value.startswith(b"[")}
    try:
        value = loads(body)
    except WireError:
        return {}
    return {key: inner for key, inner in value.items() if type(inner) is not list} if type(value) is dict else {}


@cache
def _names(target: str) -> frozenset[str]:
    """Keys of all types of the target."""
    grammar = grammars.grammar_of(target)
    return frozenset(_plain(key) for each in grammar.types.values() for key in each["keys"]) if grammar else frozenset()


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
