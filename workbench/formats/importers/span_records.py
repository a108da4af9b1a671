"""Importer for spans as other tools write them: Jaeger, Zipkin, an SDK's console; and GenAI events of Cloud Logging.

Facts: jaegertracing.io (JSON of ``GET /api/traces``), zipkin.io/zipkin-api v2, ``ConsoleSpanExporter`` of
opentelemetry-sdk, cloud.google.com/logging (``LogEntry``). Attributes are those of OTLP, in a list or an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.formats.importers import _log_stores
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._http import epoch
from workbench.formats.importers._log_stores import StoreRow, text
from workbench.formats.importers._otlp import Attributes, LogRecord, OtelSpan, SpanEvent, with_logs
from workbench.formats.importers._transcript import TranscriptSession
from workbench.formats.importers._values import fields, first, mapping, mappings
from workbench.formats.importers.otel import is_model, turn_of
from workbench.ir import JsonValue

NAME = "span-records"
TITLE = "OpenTelemetry spans (records)"
_IDS = ("spanid", "id")


def sniff(head: bytes) -> float:
    """Spans, or log entries with GenAI events."""
    return _log_stores.claims(head, "span_records") if b"gen_ai." in head or b"llm." in head else 0.0


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange for each span of a model call. Raises UnreadableInput if there is none."""
    damage = ImportDamage()
    return session(_log_stores.rows_in(data, damage), name, damage)


def session(rows: Iterable[StoreRow], name: str, damage: ImportDamage) -> TranscriptSession:
    """The session of spans. Raises UnreadableInput if there is no model call among them."""
    spans: list[OtelSpan] = []
    logs: list[LogRecord] = []
    for value in _records(rows):
        if "jsonPayload" in value:
            logs.append(_log(value))
        else:
            spans.append(_span(value))
    turns = [turn_of(span) for span in with_logs(spans, logs) if is_model(span.attributes)]
    if not turns:
        raise damage.refuse("no model call spans")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def _records(rows: Iterable[StoreRow]) -> Iterator[dict[str, JsonValue]]:
    """Spans and log entries: Jaeger keeps spans in their trace, and what they share beside them."""
    for row in rows:
        processes = mapping(row.value.get("processes"))
        if not isinstance(row.value.get("spans"), list):
            yield row.value
        for span in mappings(row.value.get("spans")):
            yield {**span, "process": span.get("process") or processes.get(text(span.get("processID")))}


def _span(value: dict[str, JsonValue]) -> OtelSpan:
    found = fields(value)
    context = fields(mapping(found.get("context")))
    about: dict[str, JsonValue] = {
        "spanId": text(first(context, _IDS) or first(found, _IDS)),
        "traceId": text(context.get("traceid") or found.get("traceid")),
        "name": text(first(found, ("name", "operationname"))),
    }
    start, end = _times(found)
    service = text(fields(mapping(first(found, ("process", "localendpoint")))).get("servicename"))
    resource = {"service.name": service} if service else attributes_of(mapping(found.get("resource")).get("attributes"))
    events = [_event(event) for event in mappings(first(found, ("events", "logs", "annotations")))]
    attributes = attributes_of(first(found, ("attributes", "tags")))
    return OtelSpan(attributes, about, resource, start, end, events, _error(found, attributes))


def _times(found: dict[str, JsonValue]) -> tuple[float | None, float | None]:
    """(start, end), in seconds since the epoch; Jaeger and Zipkin count microseconds, and write a duration."""
    start = first(found, ("starttime", "timestamp"))
    lasted = found.get("duration")
    if isinstance(start, int | float) and isinstance(lasted, int | float):
        return start / 1e6, (start + lasted) / 1e6
    return epoch(start), epoch(found.get("endtime"))


def _error(found: dict[str, JsonValue], attributes: Attributes) -> str:
    status = fields(mapping(found.get("status")))
    if text(status.get("statuscode")).upper() == "ERROR":
        return text(status.get("description")) or "the span ended with an error"
    failed = attributes.get("error")
    said = text(attributes.get("otel.status_description"))
    return said or (failed if isinstance(failed, str) else "the span ended with an error") if failed else ""


def _event(value: dict[str, JsonValue]) -> SpanEvent:
    members = attributes_of(first(value, ("attributes", "fields")))
    return SpanEvent(text(value.get("name") or members.get("event")), members, epoch(value.get("timestamp")))


def attributes_of(value: JsonValue) -> Attributes:
    """Attributes of an object, or of a list of keys and values."""
    return {text(tag.get("key")): tag.get("value") for tag in mappings(value)} or dict(mapping(value))


def _log(entry: dict[str, JsonValue]) -> LogRecord:
    """A log entry: its name and more of its attributes are labels."""
    labels = mapping(entry.get("labels"))
    name = text(labels.get("event.name")) or text(mapping(entry.get("jsonPayload")).get("event.name"))
    event = SpanEvent(name, {**labels, **mapping(entry.get("jsonPayload"))}, epoch(entry.get("timestamp")))
    return LogRecord(text(entry.get("spanId")), text(entry.get("trace")), event)
