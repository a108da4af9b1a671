"""Bodies that are not responses of their protocol: what they are instead, and where a wrapped response is.

Gateways put answers into envelopes (``{"code": 0, "data": {…}}``), proxies answer with their own pages, and a route
can lead to a server of another protocol. The client reads none of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workbench import regex
from workbench.errors import ProtocolMismatch, WireError
from workbench.ir import Anomaly, ApiError, JsonValue, ModelResponse
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import Adapter, every, refusals
from workbench.protocols.common.error_body import read_error, read_error_text, verbatim
from workbench.wire import JsonIndex, SseEvent, dumps, loads, type_name

UNREAD, FOREIGN, RESHAPED = "answer.unread", "answer.foreign", "answer.reshaped"

PEEKED = 8
"""Events of a stream that tell whose it is."""

_SURE = 0.5
"""Claim on a value one level down that makes it the answer."""

_OTHER = 0.85
"""Claim of another protocol that makes it that protocol's answer."""

_NAME = regex.compile(r"[A-Za-z][\w.-]{0,39}", re.ASCII)
"""Name of a field."""

_FIELDS = 3
"""Different fields of their own that are named."""

_MOST_ERROR_KEYS = 8
"""Members of a body that is an error and nothing else."""

_PRINTED = 200
"""Characters of a text instead of a response that are looked at."""


class EnvelopedAnswer(NamedTuple):
    """An answer one level down: where it is in the body, and its own JSON text."""

    pointer: str
    text: bytes


def find_in_envelope(adapter: Adapter, body: bytes) -> EnvelopedAnswer | None:
    """The answer that is the value of one key of a body, or the only element of a list; None where there is none."""
    value = _parse(body)
    found = max(_inner(adapter, value), default=None)
    if found is None:
        return None
    pointer = f"/{found[1]}"
    text = found[2] or _slice(body, pointer)
    return EnvelopedAnswer(pointer, text) if text else None


def move_below(response: ModelResponse, pointer: str) -> ModelResponse:
    """A response that was decoded alone, with its pointers changed to those of the body around it."""
    message = f"the response is nested at {pointer}: clients expect it at the top level"
    return replace(
        response,
        messages=tuple(replace(m, pointer=pointer + m.pointer) for m in response.messages),
        anomalies=(
            Anomaly(RESHAPED, message, pointer),
            *(replace(a, pointer=pointer + a.pointer) for a in response.anomalies),
        ),
    )


class UnwrappedStream(NamedTuple):
    """A stream whose events hold the protocol's events one level down, at ``pointer``."""

    pointer: str
    events: tuple[SseEvent, ...]


def unwrap_stream(adapter: Adapter, events: Sequence[SseEvent]) -> UnwrappedStream | None:
    """The events without the envelope that is around each of them; None where there is none."""
    key = next(filter(None, (_event_key(adapter, event) for event in events[:PEEKED])), None)
    if key is None:
        return None
    return UnwrappedStream(f"/{key}", tuple(_strip_envelope(event, f"/{key}") for event in events))


def note_envelope(response: ModelResponse, pointer: str) -> ModelResponse:
    """An answer of ``unwrapped`` events, which says so."""
    message = f"every event wraps its chunk in {pointer}: clients expect it at the top level"
    return replace(response, anomalies=(Anomaly(RESHAPED, message), *response.anomalies))


def with_own_fields(response: ModelResponse, events: Sequence[SseEvent]) -> ModelResponse:
    """The answer plus errors from fields that event streams do not have; clients never read these."""
    found: dict[tuple[str, str], list[int]] = {}
    failure: ApiError | None = None
    for event in events:
        for name, value in event.others:
            if not _NAME.fullmatch(name):
                continue  # the beginning of a truncated line
            error = _error_of(name, value)
            failure = failure or error
            text = f"the error is in field {name!r}, which clients do not read"
            key = (
                ("stream.error-event", text)
                if error
                else ("stream.unknown-field", f"event streams have no field {name!r}, so clients ignore it")
            )
            found.setdefault(key, []).append(event.number)
    if not found:
        return response
    noted = [Anomaly(slug, text, "", tuple(numbers)) for (slug, text), numbers in list(found.items())[:_FIELDS]]
    return replace(response, error=response.error or failure, anomalies=(*response.anomalies, *noted))


def _error_of(name: str, value: bytes) -> ApiError | None:
    """The error that a field holds: JSON of a known shape, or any value of a field with that name."""
    parsed = _parse(value)
    error = read_error(parsed)
    if error or name.strip().lower() != "error":
        return error
    return verbatim(parsed if parsed is not None else value.decode("utf-8", "replace").strip())


def claims(adapter: Adapter, events: Sequence[SseEvent]) -> bool:
    """One of the first events is of this protocol, or none of them holds JSON."""
    values = _values(events)
    first = next(values, None)
    if first is None or adapter.claims_event(first[0].name, first[1]):
        return True
    return any(adapter.claims_event(event.name, value) for event, value in values)


def foreign_stream(adapter: Adapter, events: Sequence[SseEvent]) -> str | None:
    """The protocol whose stream it is instead."""
    for event, value in _values(events):
        for other in every():
            if other.name != adapter.name and other.claims_event(event.name, value) >= _OTHER:
                return other.name
    return None


def strange_stream(events: Sequence[SseEvent]) -> str:
    """Describe a stream of which no event is known; empty if it holds no JSON objects, or an error."""
    values = [value for _, value in _values(events)]
    if not values or any(read_error(value) for value in values):
        return ""
    return f"a stream of an unknown protocol (its first event has the keys {_keys(values[0])}): not decoded"


def stream_of(name: str) -> Anomaly:
    """Describe the fault of a stream of another protocol."""
    return Anomaly(FOREIGN, f"a stream of protocol {name} instead of the response")


def instead(adapter: Adapter, body: bytes, error: Exception) -> Anomaly:
    """Describe a whole body that could not be read as a response."""
    try:
        value = loads(body)
    except WireError as fault:
        return _no_json(body, fault)
    for other in every():
        if other.name != adapter.name and other.claims_response(value) >= _OTHER:
            return Anomaly(FOREIGN, f"a response of protocol {other.name} instead of {adapter.name}")
    if value == {} and adapter.traits.empty_is_message:
        return Anomaly(UNREAD, "the body is an empty object: a message without content")
    if isinstance(value, dict):
        what = "an empty object" if not value else f"an object with the keys {_keys(value)}"
        return Anomaly(FOREIGN, f"{what} instead of a response: {error}")
    return Anomaly(FOREIGN, f"JSON {type_name(value)} instead of a response")


def _no_json(body: bytes, fault: WireError) -> Anomaly:
    text = body.lstrip()
    if text[:1] == b"<":
        message = read_error_text(body).message
        title = f" ({message[:80]!r})" if message and not message.startswith("<") else ""
        return Anomaly(FOREIGN, f"a page{title} instead of a response")
    if text[:1] in (b"{", b"["):
        return Anomaly(UNREAD, str(fault))
    try:
        message = body[: _PRINTED * 4].decode("utf-8", "strict" if len(body) <= _PRINTED * 4 else "ignore")
    except UnicodeDecodeError:
        return Anomaly(UNREAD, str(fault))
    if any(not c.isprintable() and not c.isspace() for c in message):
        return Anomaly(UNREAD, str(fault))
    return Anomaly(FOREIGN, f"plain text ({message.strip()[:80]!r}) instead of a response")


def _inner(adapter: Adapter, value: JsonValue) -> Iterator[tuple[float, str, bytes]]:
    """(claim, key, text of a JSON string or b"") of what could be the answer."""
    if isinstance(value, dict):
        members = [(_escape(key), member) for key, member in value.items()]
    else:
        members = [("0", value[0])] if isinstance(value, list) and len(value) == 1 else []
    for key, member in members:
        text = member.encode("utf-8", "replace") if isinstance(member, str) and member[:1] in "{[" else b""
        if not text and not isinstance(member, dict):
            continue
        claim = adapter.claims_response(_parse(text) if text else member)
        if claim >= _SURE or _is_read(adapter, text or dumps(member)):
            yield max(claim, _SURE), key, text


def _is_read(adapter: Adapter, text: bytes) -> bool:
    """True if a text decodes as a response with parts; for adapters that claim little, as others share their shape."""
    try:
        return any(message.parts for message in adapter.decode_response(text).messages)
    except (WireError, ProtocolMismatch):
        return False


def _event_key(adapter: Adapter, event: SseEvent) -> str | None:
    value = _parse(event.data)
    if not isinstance(value, dict):
        return None
    return next((_escape(k) for k, v in value.items() if adapter.claims_event(event.name, v) >= _SURE), None)


def _strip_envelope(event: SseEvent, pointer: str) -> SseEvent:
    """The event with what is at ``pointer`` as its data; as it is where its place on the wire is not plain."""
    if event.data is None or len(event.data_spans) != 1:
        return event
    span = JsonIndex(event.data).span(pointer)
    if span is None:
        return event
    start = event.data_spans[0][0]
    return event._replace(data=event.data[slice(*span)], data_spans=((start + span[0], start + span[1]),))


def _slice(body: bytes, pointer: str) -> bytes:
    span = JsonIndex(body).span(pointer)
    return body[slice(*span)] if span else b""


def _values(events: Sequence[SseEvent]) -> Iterator[tuple[SseEvent, dict[str, JsonValue]]]:
    for event in events[:PEEKED]:
        value = _parse(event.data)
        if isinstance(value, dict):
            yield event, value


def _parse(text: bytes | None) -> JsonValue:
    try:
        return loads(text) if text else None
    except WireError:
        return None


def _keys(value: dict[str, JsonValue]) -> str:
    names = [f"{key:.40}" for key in list(value)[:4]]
    return ", ".join(map(repr, names)) + (" …" if len(value) > 4 else "")


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def is_error_alone(response: JsonValue) -> bool:
    """A body that is an error, whoever says it: by its key, or by a message of a kind that is known."""
    if isinstance(response, list) and len(response) == 1:
        response = response[0]
    if not isinstance(response, dict) or len(response) > _MOST_ERROR_KEYS:
        return isinstance(response, dict) and bool(response.get("error"))
    error = read_error(response)
    if error is None:
        return False
    refusal = refusals.of_error(error)
    return "error" in response or (refusal is not None and refusal.by in ("code", "text"))
