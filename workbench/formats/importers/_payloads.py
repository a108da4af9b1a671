"""Rebuilds streams of which only the payloads were kept: JSON lines or lists of chunk objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from workbench import regex
from workbench.errors import WireError
from workbench.formats.importers._sides import is_event, is_unframed_stream
from workbench.ir import JsonValue
from workbench.wire import dumps, loads

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
    if all(isinstance(chunk, str) for chunk in chunks):
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
    inner = [_parse(held) if isinstance(held, str) and held[:1] == "{" else held for held in value.values()]
    held = [one for one in inner if isinstance(one, dict) and _is_payload(one)]
    if "key" in value or "response" in value:  # a line of a batch, or of a client's own: a whole answer
        return None
    return held[0] if len(held) == 1 else None


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
    if not has_ends or any("\n" in text.rstrip("\r\n") for text in texts):
        return None
    if not all(text.startswith((*_FIELDS, "id:", ":")) for text in texts if text.strip()):
        return None
    return "".join(text.rstrip("\r\n") + "\n" for text in texts)


def _close_event(block: str) -> str:
    """An event with the blank line that ends it."""
    return block.rstrip("\r\n") + "\n\n" if block.strip() else ""
