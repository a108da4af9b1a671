"""Importer for spans as other tools write them: Jaeger, Zipkin, an SDK's console; and GenAI events of Cloud Logging.

Facts: jaegertracing.io (JSON of ``GET /api/traces``), zipkin.io/zipkin-api v2, ``ConsoleSpanExporter`` of
opentelemetry-sdk, cloud.google.com/logging (``LogEntry``). Attributes are those of OTLP, in a list or an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench import regex
from workbench.formats.importers import _log_stores
from workbench.formats.importers._files import ImportDamage, is_json
from workbench.formats.importers._http import epoch
from workbench.formats.importers._log_stores import StoreRow, scalar_text
from workbench.formats.importers._otlp import Attributes, LogRecord, OtelSpan, SpanEvent, with_logs
from workbench.formats.importers._otlp import attributes_of as typed_attributes
from workbench.formats.importers._transcript import TranscriptSession
from workbench.formats.importers._values import as_list, fields, first, mapping, mappings, measure, parse_text
from workbench.formats.importers.otel import is_model, turn_of
from workbench.formats.importers.phoenix import flat, time_of
from workbench.ir import JsonValue
from workbench.limits import MAX_RECORD_NODES

NAME = "span-records"
TITLE = "OpenTelemetry spans (records)"
_IDS = ("spanid", "tracespanid", "id")
_TRACES = ("traceid", "tracetraceid", "trace")
_ATTRIBUTES = ("attributes", "tags", "spanattributes", "data")
_STARTS = ("starttimeunixnano", "starttime", "starttimestamp", "timestamp")
_ENDS = ("endtimeunixnano", "endtime")
_LASTED = {"duration": 1e6, "durationms": 1e3}
"""Names of a duration → how many of it are a second."""

_KEY = regex.compile(rb'"(?:gen_ai|llm)\.[a-z_.0-9]{3,60}"\s*:|"key"\s*:\s*"(?:gen_ai|llm)\.|\\"(?:llm|gen_ai)\\"')
_PREFIXES = ("gen_ai.", "llm.")
_MARKS = (b"gen_ai.", b"llm.", b'\\"llm\\"')


def sniff(head: bytes) -> float:
    """Spans, or log entries with GenAI events. Attributes anywhere in JSON: less than bodies that have such names."""
    if not any(mark in head for mark in _MARKS):
        return 0.0
    if claimed := _log_stores.claims(head, "span_records"):
        return claimed
    return 0.52 if is_json(head) and _KEY.search(head) else 0.0


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange for each span of a model call. Raises UnreadableInput if there is none."""
    damage = ImportDamage()
    return session(_log_stores.rows_in(data, damage), name, damage)


def session(rows: Iterable[StoreRow], name: str, damage: ImportDamage) -> TranscriptSession:
    """The session of spans. Raises UnreadableInput if there is no model call among them."""
    spans: list[OtelSpan] = []
    logs: list[LogRecord] = []
    for value in _spans_in([row.value for row in rows], damage):
        if "jsonPayload" in value:
            logs.append(_log(value))
        else:
            spans.append(_span(value))
    turns = [turn_of(span) for span in with_logs(spans, logs) if is_model(span.attributes)]
    if not turns:
        raise damage.refuse("no model call spans")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def is_span(value: dict[str, JsonValue]) -> bool:
    """True for an object with attributes of a model call, or with such names itself."""
    return any(name.startswith(_PREFIXES) for name in _attributes(fields(value), value))


def _spans_in(values: list[JsonValue], damage: ImportDamage) -> Iterator[dict[str, JsonValue]]:
    """Spans and log entries anywhere in values, in their order."""
    waiting: list[JsonValue] = [values]
    budget = MAX_RECORD_NODES
    while waiting:
        if not budget:
            damage.add(f"only the first {MAX_RECORD_NODES:,} values are searched for spans")
            return
        budget -= 1
        value = waiting.pop()
        if isinstance(value, dict) and ("jsonPayload" in value or is_span(value)):
            yield value
            continue
        inner = [_with_processes(part, value) for part in value.values()] if isinstance(value, dict) else as_list(value)
        waiting += [part for part in reversed(inner) if isinstance(part, dict | list)]


def _with_processes(part: JsonValue, around: dict[str, JsonValue]) -> JsonValue:
    """A list of spans, each with its process: Jaeger keeps these beside them."""
    processes = mapping(around.get("processes"))
    if not processes or not isinstance(part, list):
        return part
    return [{**span, "process": processes.get(scalar_text(span.get("processID")))} for span in mappings(part)]


def _span(value: dict[str, JsonValue]) -> OtelSpan:
    found = fields(value)
    context = fields(mapping(found.get("context")))
    about: dict[str, JsonValue] = {
        "spanId": scalar_text(first(context, _IDS) or first(found, _IDS)),
        "traceId": scalar_text(first(context, _TRACES) or first(found, _TRACES)),
        "name": scalar_text(first(found, ("name", "operationname", "description"))),
    }
    start, end = _times(found)
    service = scalar_text(fields(mapping(first(found, ("process", "localendpoint")))).get("servicename"))
    resource = {"service.name": service} if service else attributes_of(mapping(found.get("resource")).get("attributes"))
    events = [_event(event) for event in mappings(first(found, ("events", "logs", "annotations")))]
    attributes = _attributes(found, value)
    return OtelSpan(attributes, about, resource, start, end, events, _error(found, attributes))


def _attributes(found: dict[str, JsonValue], value: dict[str, JsonValue]) -> Attributes:
    """Attributes in a member (a list, an object, a tree, or one of these as JSON text), or in the object itself."""
    own = parse_text(first(found, _ATTRIBUTES))
    named = attributes_of(own)
    if any(isinstance(named.get(name), dict) for name in ("gen_ai", "llm")):
        named = dict(flat("", own))
    return named or {name: part for name, part in value.items() if "." in name}


def _times(found: dict[str, JsonValue]) -> tuple[float | None, float | None]:
    """(start, end), in seconds since the epoch, however they are counted; some write a duration."""
    start, end = time_of(first(found, _STARTS)), time_of(first(found, _ENDS))
    for name, unit in _LASTED.items():
        lasted = measure(found.get(name))
        if end is None and start is not None and lasted is not None:
            return start, start + lasted / unit
    return start, end


def _error(found: dict[str, JsonValue], attributes: Attributes) -> str:
    status = fields(mapping(found.get("status")))
    if scalar_text(status.get("statuscode")).upper() == "ERROR":
        return scalar_text(status.get("description")) or "the span ended with an error"
    failed = attributes.get("error")
    said = scalar_text(attributes.get("otel.status_description"))
    return said or (failed if isinstance(failed, str) else "the span ended with an error") if failed else ""


def _event(value: dict[str, JsonValue]) -> SpanEvent:
    members = attributes_of(first(value, ("attributes", "fields")))
    return SpanEvent(scalar_text(value.get("name") or members.get("event")), members, epoch(value.get("timestamp")))


def attributes_of(value: JsonValue) -> Attributes:
    """Attributes of an object, or of a list of keys and values, which OTLP types."""
    named = list(mappings(value))
    if any(isinstance(tag.get("value"), dict) for tag in named):
        return typed_attributes(value)
    return {scalar_text(tag.get("key")): tag.get("value") for tag in named} or dict(mapping(value))


def _log(entry: dict[str, JsonValue]) -> LogRecord:
    """A log entry: its name and more of its attributes are labels."""
    labels = mapping(entry.get("labels"))
    name = scalar_text(labels.get("event.name")) or scalar_text(mapping(entry.get("jsonPayload")).get("event.name"))
    event = SpanEvent(name, {**labels, **mapping(entry.get("jsonPayload"))}, epoch(entry.get("timestamp")))
    return LogRecord(scalar_text(entry.get("spanId")), scalar_text(entry.get("trace")), event)
