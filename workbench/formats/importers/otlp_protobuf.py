"""Importer for OpenTelemetry spans and log records in OTLP protobuf: one message, or several with their lengths.

Facts: opentelemetry-proto (``trace/v1``, ``logs/v1``, ``common/v1``); the collector's S3 exporter (``otlp_proto``)
writes one message an object, its file exporter puts the length of each message before it (four bytes, big-endian).

The wire form of Protocol Buffers is read here, too: protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from workbench.errors import WireError
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._otlp import spans_of
from workbench.formats.importers._transcript import TranscriptSession
from workbench.formats.importers.otel import is_model, turn_of
from workbench.ir import JsonValue

NAME = "otlp-protobuf"
TITLE = "OpenTelemetry spans (protobuf)"

_ENTRY = b"\x0a"
_INNER = (b"\x0a", b"\x12")
_MARKS = (b"gen_ai.", b"llm.", b"service.name", b"telemetry.sdk", b"openinference.")
_DEEPEST = 60


def sniff(head: bytes) -> float:
    """A message of resource spans with the names of attributes in it."""
    if b"\0" not in head or not any(mark in head for mark in _MARKS):
        return 0.0
    return 0.9 if _begins(head) or _begins(head[4:]) else 0.0


def _begins(head: bytes) -> bool:
    if head[:1] != _ENTRY:
        return False
    try:
        size, at = varint(head, 1)
        inner, behind = varint(head, at + 1) if head[at : at + 1] in _INNER else (size + 1, at)
    except WireError:
        return False
    return 0 < inner <= size - (behind - at)


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange for each span of a model call. Raises UnreadableInput, WireError."""
    damage = ImportDamage()
    documents = [_document(message) for message in _messages(data)]
    turns = [turn_of(span) for span in spans_of(documents, damage) if is_model(span.attributes)]
    if not turns:
        raise damage.refuse("no model call spans")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def _messages(data: bytes) -> Iterator[bytes]:
    if data[:1] == _ENTRY and _begins(data):
        yield data
        return
    at = 0
    while at < len(data):
        if at + 4 > len(data):
            raise WireError(f"the data ends inside a length prefix at byte {at}")
        (size,) = struct.unpack_from(">I", data, at)
        if at + 4 + size > len(data):
            raise WireError(f"the data ends inside a message at byte {at}")
        yield data[at + 4 : at + 4 + size]
        at += 4 + size


def _document(message: bytes) -> dict[str, JsonValue]:
    """A message in the form that OTLP has in JSON."""
    spans: list[JsonValue] = []
    logs: list[JsonValue] = []
    for entry in _inside(message, 1):
        resource = {"attributes": [_pair(pair) for attributes in _inside(entry, 1) for pair in _inside(attributes, 1)]}
        scopes = [list(_inside(scope, 2)) for scope in _inside(entry, 2)]
        if any(_is_span(record) for records in scopes for record in records):
            found = [{"spans": [_span(record) for record in records]} for records in scopes]
            spans.append({"resource": resource, "scopeSpans": found})
        else:
            records_of = [{"logRecords": [_log(record) for record in records]} for records in scopes]
            logs.append({"resource": resource, "scopeLogs": records_of})
    return {"resourceSpans": spans, "resourceLogs": logs}


def _inside(message: bytes, number: int) -> Iterator[bytes]:
    """The messages in the fields of a number."""
    for field in fields_of(message):
        if field.number == number and isinstance(field.value, bytes):
            yield field.value


def _is_span(record: bytes) -> bool:
    """A span begins with its trace id, a log record with a time."""
    first = next(iter(fields_of(record)), None)
    return first is not None and first.number == 1 and first.kind == BYTES


def _span(record: bytes) -> dict[str, JsonValue]:
    span: dict[str, JsonValue] = {"attributes": [], "events": []}
    names = {1: "traceId", 2: "spanId", 4: "parentSpanId"}
    for field in fields_of(record):
        if field.number in names and isinstance(field.value, bytes):
            span[names[field.number]] = field.value.hex()
        elif field.number == 5:
            span["name"] = _text(field)
        elif field.kind == FIXED64 and field.number in (7, 8):
            span["startTimeUnixNano" if field.number == 7 else "endTimeUnixNano"] = str(field.value)
        elif field.number == 9 and isinstance(field.value, bytes):
            span["attributes"].append(_pair(field.value))
        elif field.number == 11 and isinstance(field.value, bytes):
            span["events"].append(_event(field.value))
        elif field.number == 15 and isinstance(field.value, bytes):
            span["status"] = _status(field.value)
    return span


def _event(record: bytes) -> dict[str, JsonValue]:
    event: dict[str, JsonValue] = {"attributes": [_pair(pair) for pair in _inside(record, 3)]}
    for field in fields_of(record):
        if field.number == 2:
            event["name"] = _text(field)
        elif field.number == 1:
            event["timeUnixNano"] = str(field.value)
    return event


def _status(record: bytes) -> dict[str, JsonValue]:
    fields = {field.number: field for field in fields_of(record)}
    return {
        **({"message": _text(fields[2])} if 2 in fields else {}),
        **({"code": fields[3].value} if 3 in fields and isinstance(fields[3].value, int) else {}),
    }


def _log(record: bytes) -> dict[str, JsonValue]:
    log: dict[str, JsonValue] = {"attributes": [_pair(pair) for pair in _inside(record, 6)]}
    for field in fields_of(record):
        if field.number == 1:
            log["timeUnixNano"] = str(field.value)
        elif field.number == 5 and isinstance(field.value, bytes):
            log["body"] = _any(field.value)
        elif field.number in (9, 10) and isinstance(field.value, bytes):
            log["traceId" if field.number == 9 else "spanId"] = field.value.hex()
        elif field.number == 12:
            log["eventName"] = _text(field)
    return log


def _pair(record: bytes, depth: int = 0) -> dict[str, JsonValue]:
    key, value = "", dict[str, JsonValue]()
    for field in fields_of(record):
        if field.number == 1:
            key = _text(field)
        elif field.number == 2 and isinstance(field.value, bytes):
            value = _any(field.value, depth + 1)
    return {"key": key, "value": value}


def _any(record: bytes, depth: int = 0) -> dict[str, JsonValue]:
    """An ``AnyValue`` in the form that it has in JSON."""
    field = next(iter(fields_of(record)), None)
    if field is None or depth > _DEEPEST:
        return {}
    data, number = field.value, field.number
    if isinstance(data, bytes):
        if number == 5:
            return {"arrayValue": {"values": [_any(value, depth + 1) for value in _inside(data, 1)]}}
        if number == 6:
            return {"kvlistValue": {"values": [_pair(value, depth + 1) for value in _inside(data, 1)]}}
        return {"stringValue": data.decode("utf-8", "replace")} if number == 1 else {"bytesValue": data.hex()}
    if number == 4:
        return {"doubleValue": struct.unpack("<d", data.to_bytes(8, "little"))[0]}
    if number == 2:
        return {"boolValue": bool(data)}
    return {"intValue": str(data - 2**64 if data >= 2**63 else data)}


def _text(field: WireField) -> str:
    return field.value.decode("utf-8", "replace") if isinstance(field.value, bytes) else ""


VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_LONGEST = 10


class WireField(NamedTuple):
    """One field: its number, its wire type, and a number or the bytes of a text or message."""

    number: int
    kind: int
    value: int | bytes


def fields_of(data: bytes) -> Iterator[WireField]:
    """The fields of a message, in order. Raises WireError for bytes that are not a message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if not number:
            raise WireError(f"a field without a number at byte {at}")
        if kind == VARINT:
            value, at = varint(data, at)
            yield WireField(number, kind, value)
            continue
        size = {FIXED64: 8, FIXED32: 4}.get(kind)
        if kind == BYTES:
            size, at = varint(data, at)
        if size is None or at + size > len(data):
            raise WireError(f"a field extends beyond its message at byte {at}")
        content = data[at : at + size]
        yield WireField(number, kind, content if kind == BYTES else int.from_bytes(content, "little"))
        at += size


def varint(data: bytes, at: int) -> tuple[int, int]:
    """(number, offset after it). Raises WireError."""
    value = 0
    for count in range(_LONGEST):
        if at >= len(data):
            raise WireError("the message is truncated")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, at
    raise WireError(f"a varint that is too long at byte {at}")
