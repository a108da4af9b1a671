"""Side of an exchange that a JSON value without its HTTP is: a request, a response, or one event of a stream.

Shapes first, because a value of a protocol that has no adapter yet has a side too; what no shape knows is shown to the
adapters.

Builds exchanges from a single body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from workbench import protocols, regex
from workbench.errors import WireError
from workbench.ir import HISTORIES, JsonValue
from workbench.named_tuple import NamedTuple
from workbench.wire import Body, Exchange, Headers, HttpRequest, HttpResponse, dumps, loads

REQUEST, RESPONSE, EVENT = "request", "response", "event"

_EVENT_OBJECTS = ("chat.completion.chunk", "text_completion.chunk")
_EVENT_TYPES = frozenset(
    {
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),  # Messages
        *("message_delta", "message_stop", "ping"),
        *("message-start", "content-start", "content-delta", "content-end", "tool-plan-delta"),  # Cohere v2
        *("tool-call-start", "tool-call-delta", "tool-call-end", "message-end"),
        *("citation-start", "citation-end"),
    }
)
_BEDROCK_EVENTS = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}
)
_ANSWER_OBJECTS = ("response", "interaction")
_RESPONSE_LISTS = ("choices", "candidates", "output")
_REQUEST_MARKS = frozenset({"model", "max_tokens", "max_tokens_to_sample", "temperature", "stream", "tools", "agent"})
_ERROR_KEYS = frozenset({"message", "code", "type", "status", "param", "request_id", "__type"})
_CERTAIN = 0.5


def side_of(value: JsonValue) -> str | None:
    """Kind of a JSON value: ``"request"``, ``"response"``, ``"event"``, or None for anything else."""
    if isinstance(value, list):
        whole = value and all(isinstance(v, dict) and isinstance(v.get("candidates"), list) for v in value)
        return RESPONSE if whole else None  # Gemini without alt=sse answers with an array of chunks
    if not isinstance(value, dict):
        return None
    return shape_of(value) or _side_by_adapters(value)


def shape_of(value: dict[str, JsonValue]) -> str | None:
    """The same as ``side_of`` without the adapters: its cost does not depend on the content."""
    if is_event(value):
        return EVENT
    if _has_both_sides(value):
        return None
    if _is_response(value):
        return RESPONSE
    return REQUEST if _is_request(value) else None


def is_unframed_stream(value: dict[str, JsonValue]) -> bool:
    """A line of a stream that travels as JSON Lines itself (Ollama: ``{"model", "message", "done"}``)."""
    return isinstance(value.get("done"), bool) and ("message" in value or "response" in value)


def error_status(value: JsonValue) -> int | None:
    """The HTTP status that an error body names itself (Google's ``error.code``), else None."""
    error = value.get("error") if isinstance(value, dict) else None
    codes = (error.get("code"), error.get("status_code")) if isinstance(error, dict) else ()
    return next((c for c in codes if type(c) is int and 400 <= c <= 599), None)


def is_error(value: JsonValue) -> bool:
    """An error body of any provider: ``{"error": …}``, ``{"detail": …}``, or a message and little else."""
    if not isinstance(value, dict):
        return False
    if "error" in (value.get("type"), value.get("object")) or isinstance(value.get("detail"), list):
        return True
    named = any(isinstance(value.get(k), dict | str) and value[k] for k in ("error", "errors", "detail"))
    return named or (isinstance(value.get("message"), str) and _ERROR_KEYS.issuperset(value))


def is_event(value: dict[str, JsonValue]) -> bool:
    """One event of a stream, by its shape."""
    kind = value.get("type")
    if isinstance(kind, str) and (kind in _EVENT_TYPES or kind.startswith("response.")):
        return True
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, dict) and ("delta" in first or "message" in first):
        return "delta" in first  # tracers put the chunks together and keep their name
    if value.get("object") in _EVENT_OBJECTS or isinstance(value.get("event_type"), str):
        return True
    return len(value) == 1 and not _BEDROCK_EVENTS.isdisjoint(value)


def _has_both_sides(value: dict[str, JsonValue]) -> bool:
    """True for what a logger keeps of a call: no body of a protocol has both lists."""
    return isinstance(value.get("input"), list) and isinstance(value.get("output"), list) and "object" not in value


def _is_response(value: dict[str, JsonValue]) -> bool:
    if any(isinstance(value.get(k), list) for k in _RESPONSE_LISTS) or value.get("object") in _ANSWER_OBJECTS:
        return True
    if value.get("type") == "message" and isinstance(value.get("content"), list) and "usage" in value:
        return True
    if isinstance(value.get("output"), dict) and "message" in value["output"]:  # Bedrock Converse
        return True
    if isinstance(value.get("message"), dict) and ("finish_reason" in value or is_unframed_stream(value)):
        return True
    return "messages" not in value and is_error(value)


def _is_request(value: dict[str, JsonValue]) -> bool:
    if any(isinstance(value.get(k), list) for k in HISTORIES):
        return True
    if isinstance(value.get("messages"), str | dict) and isinstance(value.get("model"), str):  # refused, and a request
        return True
    has_prompt = isinstance(value.get("prompt"), str) or isinstance(value.get("input"), str)
    return has_prompt and not _REQUEST_MARKS.isdisjoint(value)


def _side_by_adapters(value: dict[str, JsonValue]) -> str | None:
    kind = value.get("type")
    name = kind if isinstance(kind, str) else None
    best, found = 0.0, None
    for adapter in protocols.every():
        for side, score in (
            (REQUEST, adapter.claims_request(value)),
            (RESPONSE, adapter.claims_response(value)),
            (EVENT, adapter.claims_event(name, value)),
        ):
            if score > best:
                best, found = score, side
    return found if best >= _CERTAIN else None


UNKNOWN_STATUS = 0
SYNTHESISED = {"framing": "synthesised"}
"""``Exchange.meta`` of a stream with framing added by the importer: gaps in it are no fault of the provider."""


def request_only(number: int, body: bytes, note: str = "only a request body") -> Exchange:
    """An exchange with a request only."""
    return Exchange(str(number), request=HttpRequest(body=Body(raw=body)), note=note)


def response_only(
    number: int,
    body: bytes,
    note: str,
    *,
    status: int = 200,
    content_type: str = "",
    meta: dict[str, Any] | None = None,
) -> Exchange:
    """An exchange with a response only. ``status`` is 0 if unknown."""
    headers = Headers((("content-type", content_type),)) if content_type else Headers()
    return Exchange(
        str(number),
        response=HttpResponse(status=status, headers=headers, body=Body(raw=body)),
        note=note,
        meta=meta or {},
    )


def body_only(number: int, side: str, body: bytes, value: JsonValue) -> Exchange:
    """An exchange with one JSON body. A response gets status 200, an error the status in its body."""
    if side == REQUEST:
        return request_only(number, body)
    if is_error(value):
        return response_only(
            number, body, "the body contains only an error", status=error_status(value) or UNKNOWN_STATUS
        )
    return response_only(number, body, "only a response body")


SYNTHESISED_NOTE = "only stream payloads: the file has no framing and no terminator; the importer added the framing"
NDJSON = "application/x-ndjson"
EVENTS = "text/event-stream"

_EVENT_NAME = regex.compile(r"[\w.-]{1,64}", re.ASCII)
_FIELDS = ("data:", "event:")
_LOOK = 4


class PayloadStream(NamedTuple):
    """Bytes of a stream and their content type."""

    raw: bytes
    content_type: str


def stream_of(chunks: Sequence[JsonValue]) -> PayloadStream | None:
    """The stream of a list of chunks, each an event or an object with one event; None if they are not chunks.

    Raises:
        LocalProtocolError: a chunk that JSON cannot express.
    """
    if not chunks:
        return None
    if all(isinstance(chunk, str) for chunk in chunks) and any(str(chunk).strip() for chunk in chunks):
        raw = _events(chunks)
        if raw is not None:
            return PayloadStream(raw.encode("utf-8", "surrogatepass"), EVENTS)
    found = [payload_of(chunk) for chunk in chunks]
    payloads = [payload for payload in found if payload is not None]
    if len(payloads) < len(found) or not payloads:
        return None
    if any(is_unframed_stream(payload) for payload in payloads):
        return PayloadStream(b"".join(dumps(payload) + b"\n" for payload in payloads), NDJSON)
    if all(isinstance(payload.get("candidates"), list) for payload in payloads):
        if len({str(payload.get("responseId", payload.get("response_id"))) for payload in payloads}) > 1:
            return None  # a chunk has the shape of a whole response: these are several
        return PayloadStream(dumps(payloads), "application/json")  # as Gemini answers without alt=sse
    if any(is_event(payload) for payload in payloads[:_LOOK]):
        return PayloadStream(b"".join(frame_events((payload, dumps(payload)) for payload in payloads)), EVENTS)
    return None


def payload_of(chunk: JsonValue) -> dict[str, JsonValue] | None:
    """The payload of a chunk: the chunk, its parsed text, or its only member that is a payload; None if none."""
    value = _parse(chunk) if isinstance(chunk, str) else chunk
    if not isinstance(value, dict):
        return None
    if _is_payload(value):
        return value
    inner = [_parse(item) if isinstance(item, str) and item[:1] == "{" else item for item in value.values()]
    payloads = [one for one in inner if isinstance(one, dict) and _is_payload(one)]
    if "key" in value or "response" in value:  # a line of a batch, or of a client's own: a whole answer
        return None
    return payloads[0] if len(payloads) == 1 else None


def frame_events(payloads: Iterable[tuple[dict[str, JsonValue], bytes]]) -> Iterator[bytes]:
    """Frame payloads as events; named if the payload has a type."""
    for value, raw in payloads:
        kind = value.get("type") or value.get("event_type")
        if isinstance(kind, str) and _EVENT_NAME.fullmatch(kind):
            yield b"event: " + kind.encode() + b"\n"
        yield b"data: " + raw.replace(b"\r", b" ") + b"\n\n"


def _is_payload(value: dict[str, JsonValue]) -> bool:
    return is_event(value) or is_unframed_stream(value) or isinstance(value.get("candidates"), list) or _is_usage(value)


def _is_usage(value: dict[str, JsonValue]) -> bool:
    """True for the final chunk of a Chat Completions stream: token counts and no choice."""
    return value.get("choices") == [] and "usage" in value


def _parse(text: str) -> JsonValue:
    try:
        return loads(text.encode("utf-8", "surrogatepass"))
    except WireError:
        return None


def _events(texts: Sequence[str]) -> str | None:
    """Text of events, given one per text or line by line; None for other texts."""
    if all(text.lstrip().startswith(_FIELDS) for text in texts):
        return "".join(_close_event(text) for text in texts)
    has_ends = any(not text.strip() for text in texts)
    if not any(text.strip() for text in texts) or not has_ends or any("\n" in text.rstrip("\r\n") for text in texts):
        return None
    if not all(text.startswith((*_FIELDS, "id:", ":")) for text in texts if text.strip()):
        return None
    return "".join(text.rstrip("\r\n") + "\n" for text in texts)


def _close_event(block: str) -> str:
    """An event with the blank line that ends it."""
    return block.rstrip("\r\n") + "\n\n" if block.strip() else ""
