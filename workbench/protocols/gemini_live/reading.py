"""Requests and whole responses of Live: a setup with contents, and one message that says it all."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.ir import JsonValue, Message, ModelRequest, ModelResponse
from workbench.lazy_dataclass import replace
from workbench.protocols._params import Param
from workbench.protocols.common.error_body import read_answer_body
from workbench.protocols.gemini_live.declaration import PROTOCOL
from workbench.protocols.gemini_live.stream import KEYS, LiveStreamDecoder
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.shapes.contents import request as contents
from workbench.protocols.shapes.contents.nodes import member
from workbench.wire import SseEvent, dumps

_STREAM = "stream"


def read_request(body: JsonValue, known: KnownMessages | None = None) -> ModelRequest:
    """The request that a parsed body is; with ``known``, it holds the texts of its contents.

    Raises:
        ProtocolMismatch: it has no ``contents``.
    """
    request = contents.read_request(body, known)
    own = {key: value for key, value in request.params.items() if key != _STREAM}
    return replace(request, protocol=PROTOCOL, stream=request.params.get(_STREAM) is True, params=own)


def params_of(request: ModelRequest) -> Iterable[Param]:
    """Every parameter that has no field of the IR."""
    return contents.params_of(request)


def read_response(body: bytes, status: int) -> ModelResponse:
    """The response in one message, or the error in its place. Raises WireError, ProtocolMismatch."""
    return read_answer_body(body, status, PROTOCOL, _read, "'serverContent'")


def _read(value: JsonValue) -> ModelResponse | None:
    if not isinstance(value, dict) or not any(member(value, key) is not None for key in KEYS):
        return None
    decoder = LiveStreamDecoder()
    text = dumps(value)
    decoder.feed(SseEvent(0, None, text, 0, len(text), ((0, len(text)),)))
    made = decoder.result()
    whole = tuple(replace(a, events=()) for a in made.anomalies if a.slug != "stream.no-terminator")
    messages = tuple(_whole(message) for message in made.messages)
    return replace(made, is_stream=False, messages=messages, anomalies=whole, finish_events=())


def _whole(message: Message) -> Message:
    """A message whose parts are at the places that they have in the one body."""
    parts = tuple(replace(p, source=replace(p.source, segments={}, events=())) for p in message.parts)
    return replace(message, parts=parts)
