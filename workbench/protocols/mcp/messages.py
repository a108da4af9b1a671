"""The JSON-RPC messages of an exchange with a tool server as IR: parts with their places, and nothing left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from workbench.errors import WireError
from workbench.ir import JsonValue, Media, Opaque, Part, Source, Text, ToolCallIR
from workbench.lazy_dataclass import dataclass
from workbench.protocols.mcp.channel import CALL_TOOL
from workbench.protocols.mcp.http import response_message
from workbench.provenance import escape
from workbench.wire import JsonIndex, loads

if TYPE_CHECKING:
    from workbench.protocols.decode import DecodedExchange

_HEAD = ("jsonrpc", "id", "method")
"""Members that a ``ToolMessage`` has as attributes."""


_MEMBERS = """
error result params _meta resultType task tasks
protocolVersion capabilities clientInfo serverInfo instructions supportedVersions ttlMs cacheScope
cursor nextCursor tools resources resourceTemplates prompts
isError structuredContent resource resource_link inputRequests inputResponses requestState
uri contents description messages ref argument context completion level
progressToken requestId reason progress total message roots role content model stopReason
modelPreferences systemPrompt includeContext temperature maxTokens stopSequences metadata toolChoice
mode requestedSchema elicitationId url action name arguments
"""
_KNOWN = frozenset(_MEMBERS.split())
"""Members of requests and responses, and types of content, that some revision of the specification has."""


def is_known_part(part: Part) -> bool:
    """The specification has a part of this name, in some revision."""
    return not isinstance(part, Opaque) or part.type in _KNOWN


class MessageLeaf(NamedTuple):
    """A single value of a message: its pointer, and first and last byte in ``ToolMessage.text``."""

    pointer: str
    value: JsonValue
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """One message.

    Attributes:
        side: ``"request"`` or ``"response"``.
        method: of the request that it is, or that it answers.
        id: None if it has none.
        parts: arguments, content, structured content, entries of lists, errors and every other member, in wire order;
            the pointer of each part's source is absolute.
        text: its bytes.
    """

    side: str
    method: str
    id: JsonValue
    parts: tuple[Part, ...]
    text: bytes

    def leaves(self) -> Iterator[MessageLeaf]:
        """Every single value of the message with its place."""
        index = JsonIndex(self.text)
        for pointer, value in _leaves(loads(self.text), ""):
            if span := index.span(pointer):
                yield MessageLeaf(pointer, value, span)


def read_messages(decoded: DecodedExchange) -> tuple[ToolMessage, ...]:
    """The request of an exchange and its response, as far as they are messages."""
    http = decoded.exchange.request
    method = http.method if http else ""
    texts = (("request", decoded.request_text), ("response", response_message(decoded)))
    return tuple(message for side, text in texts if (message := _read(side, method, text)))


def _read(side: str, method: str, text: bytes) -> ToolMessage | None:
    try:
        message = loads(text) if text.strip() else None
    except WireError:
        return None
    if not isinstance(message, dict):
        return None
    return ToolMessage(side, method, message.get("id"), tuple(_parts(message, method)), text)


def _parts(message: Mapping[str, JsonValue], method: str) -> Iterator[Part]:
    for name, value in message.items():
        if name in _HEAD:
            continue
        at = f"/{escape(name)}"
        if name == "params" and method == CALL_TOOL and isinstance(value, dict):
            yield from _call(value, at, message.get("id"))
        elif name == "result" and isinstance(value, dict):
            for key, inner in value.items():
                yield from _result(key, inner, f"{at}/{escape(key)}")
        elif name == "params" and isinstance(value, dict):
            yield from (Opaque(key, inner, Source(f"{at}/{escape(key)}")) for key, inner in value.items())
        else:
            yield Opaque(name, value, Source(at))


def _call(params: Mapping[str, JsonValue], at: str, id_: JsonValue) -> Iterator[Part]:
    name = params.get("name")
    fields = {field: f"/{key}" for field, key in (("name", "name"), ("input", "arguments")) if key in params}
    yield ToolCallIR(
        None if id_ is None else str(id_),
        name if isinstance(name, str) else None,
        params.get("arguments"),
        "mcp",
        source=Source(at, fields),
    )
    for key, value in params.items():
        if key not in ("name", "arguments"):
            yield Opaque(key, value, Source(f"{at}/{escape(key)}"))


def _result(key: str, value: JsonValue, at: str) -> Iterator[Part]:
    if not isinstance(value, list) or not value:
        yield Opaque(key, value, Source(at))
        return
    for number, inner in enumerate(value):
        yield _content(inner, f"{at}/{number}") if key == "content" else Opaque(key, inner, Source(f"{at}/{number}"))


def _content(part: JsonValue, at: str) -> Part:
    if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
        return Text(part["text"], _others(part, "text"), Source(at, {"text": "/text"}))
    if isinstance(part, dict) and part.get("type") in ("image", "audio") and isinstance(part.get("data"), str):
        rest = _others(part, "data", "mimeType")
        fields = {"data": "/data", "media_type": "/mimeType"}
        return Media(part["type"], part.get("mimeType"), part["data"], extra=rest, source=Source(at, fields))
    return Opaque(str(part.get("type")) if isinstance(part, dict) else "part", part, Source(at))


def _others(part: Mapping[str, JsonValue], *known: str) -> dict[str, JsonValue]:
    return {name: value for name, value in part.items() if name not in ("type", *known)}


def _leaves(value: JsonValue, at: str) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict | list) and value:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(inner, f"{at}/{escape(str(key))}")
    else:
        yield at, value
