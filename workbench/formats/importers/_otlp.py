"""Reads OTLP JSON: spans and log records with their attributes as plain values.

Facts: ``opentelemetry-proto`` (``trace/v1``, ``logs/v1``, ``common/v1``) and its mapping to JSON: ids in hexadecimal,
64-bit integers as strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from workbench import regex
from workbench.errors import WireError
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._values import as_list, mapping, mappings, rest, text
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.wire import loads

Attributes = dict[str, JsonValue]
DETAILS = "gen_ai.client.inference.operation.details"
MESSAGE_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
"""Event with a message of a request → role."""

CHOICE = "gen_ai.choice"
_INTEGER = regex.compile(r"-?[0-9]{1,24}")
_DEEPEST = 100
_MOST_STEPS = 12


@dataclass(slots=True)
class SpanEvent:
    """An event of a span, or a log record that belongs to it."""

    name: str
    attributes: Attributes
    time: float | None = None


class LogRecord(NamedTuple):
    """A log record: ids of its span and its trace, which may be empty, and what it says."""

    span: str
    trace: str
    event: SpanEvent


@dataclass(slots=True)
class OtelSpan:
    """One span. ``about``: its ids, name and status; ``resource``: attributes of its source."""

    attributes: Attributes
    about: dict[str, JsonValue]
    resource: Attributes
    start: float | None = None
    end: float | None = None
    events: list[SpanEvent] = field(default_factory=list)
    error: str = ""

    @property
    def id(self) -> str:
        return text(self.about.get("spanId"))


def spans_of(documents: Iterable[dict[str, JsonValue]], damage: ImportDamage) -> list[OtelSpan]:
    """All spans by start time, with the log records that name them.

    Log records of a model call whose span is not there, as in a store of logs alone, are a span of their own.
    """
    spans: list[OtelSpan] = []
    logs: list[LogRecord] = []
    for document in map(_camel, documents):
        if "batches" in document:  # Tempo's answer (grafana.com/docs/tempo, api_docs)
            document["resourceSpans"] = document["batches"]
        if not {"resourceSpans", "resourceLogs", "resourceMetrics"} & document.keys():
            damage.leave_out("a document without spans or logs")
        for entry in damage.objects(document.get("resourceSpans"), "a resourceSpans entry"):
            resource = attributes_of(mapping(entry.get("resource")).get("attributes"))
            for scope in _scopes(entry, damage, "scopeSpans", "instrumentationLibrarySpans"):
                spans += (_span(s, resource) for s in damage.objects(scope.get("spans"), "a span"))
        for entry in damage.objects(document.get("resourceLogs"), "a resourceLogs entry"):
            for scope in _scopes(entry, damage, "scopeLogs", "instrumentationLibraryLogs"):
                logs += (_log(r) for r in damage.objects(scope.get("logRecords"), "a log record"))
    return with_logs(spans, logs)


def with_logs(spans: list[OtelSpan], logs: Iterable[LogRecord]) -> list[OtelSpan]:
    """Spans by start time, with the log records that name them; other records of model calls are spans of their own."""
    by_id = {span.id: span for span in spans if span.id}
    others: list[LogRecord] = []
    for record in logs:
        if record.span in by_id:
            by_id[record.span].events.append(record.event)
        else:
            others.append(record)
    return sorted([*spans, *_spans_of_logs(others)], key=lambda span: span.start or 0.0)


def _spans_of_logs(logs: Iterable[LogRecord]) -> Iterable[OtelSpan]:
    """A span for the events of each model call; an event that names no span is a call of its own."""
    spans: dict[tuple[str, str], OtelSpan] = {}
    for number, (id, trace, event) in enumerate(logs):
        if event.name not in _OF_A_CALL:
            continue
        about: dict[str, JsonValue] = {"spanId": id, "traceId": trace, "name": event.name}
        key = (trace, id or str(number))
        span = spans.setdefault(key, OtelSpan({"gen_ai.operation.name": "chat"}, about, {}, event.time))
        span.events.append(event)
        span.attributes |= {name: value for name, value in event.attributes.items() if name.startswith("gen_ai.")}
    return spans.values()


_OF_A_CALL = frozenset({DETAILS, CHOICE, *MESSAGE_EVENTS})


def otlp_span(value: dict[str, JsonValue]) -> OtelSpan:
    """A span that is there without its resource."""
    return _span(_camel(value), {})


_PROTO_NAMES = (
    "resource_spans resource_logs scope_spans scope_logs log_records trace_id span_id parent_span_id event_name "
    "start_time_unix_nano end_time_unix_nano time_unix_nano string_value int_value double_value bool_value bytes_value "
    "array_value kvlist_value"
)
_CAMEL = {n: n.split("_")[0] + "".join(w.title() for w in n.split("_")[1:]) for n in _PROTO_NAMES.split()}
"""Names of the protocol buffers → those of their JSON form; readers accept both (protobuf.dev, ProtoJSON)."""


def _camel(document: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """A document with the names of the JSON form."""
    return {**document} if not _has_proto_names(document) else mapping(_rename(document))


def _has_proto_names(document: dict[str, JsonValue]) -> bool:
    return not _CAMEL.keys().isdisjoint(document)


def _rename(value: JsonValue, depth: int = 0) -> JsonValue:
    if depth > _DEEPEST:
        return value
    if isinstance(value, list):
        return [_rename(inner, depth + 1) for inner in value]
    if isinstance(value, dict):
        return {_CAMEL.get(name, name): _rename(inner, depth + 1) for name, inner in value.items()}
    return value


def _scopes(entry: dict[str, JsonValue], damage: ImportDamage, *names: str) -> Iterator[dict[str, JsonValue]]:
    if not any(name in entry for name in names):
        damage.leave_out(f"an entry without {names[0]}")
    for name in names:
        for scope in damage.objects(entry.get(name), "a scope"):
            if not {"spans", "logRecords"} & scope.keys():
                damage.leave_out("a scope without spans or logs")
            yield scope


def _span(value: dict[str, JsonValue], resource: Attributes) -> OtelSpan:
    status = mapping(value.get("status"))
    failed = status.get("code") in (2, "STATUS_CODE_ERROR")
    return OtelSpan(
        attributes_of(value.get("attributes")),
        rest(value, "attributes", "events", "startTimeUnixNano", "endTimeUnixNano"),
        resource,
        _seconds(value.get("startTimeUnixNano")),
        _seconds(value.get("endTimeUnixNano")),
        [
            SpanEvent(text(e.get("name")), attributes_of(e.get("attributes")), _seconds(e.get("timeUnixNano")))
            for e in mappings(value.get("events"))
        ],
        (text(status.get("message")) or "the span ended with an error") if failed else "",
    )


def _log(record: dict[str, JsonValue]) -> LogRecord:
    attributes = attributes_of(record.get("attributes"))
    body = plain_value(mapping(record.get("body")))
    attributes |= body if isinstance(body, dict) else {"body": body}
    name = text(record.get("eventName")) or text(attributes.get("event.name"))
    event = SpanEvent(name, attributes, _seconds(record.get("timeUnixNano")))
    return LogRecord(text(record.get("spanId")), text(record.get("traceId")), event)


def _seconds(value: JsonValue) -> float | None:
    """Seconds of nanoseconds since the epoch, given as a number or digits."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 25:
        value = int(value)
    return value / 1e9 if type(value) in (int, float) and 0 < value < 1e20 else None


def attributes_of(value: JsonValue) -> Attributes:
    """Attributes as a dictionary, from OTLP's list of keys and values or a plain object."""
    if isinstance(value, dict):
        return dict(value)
    return {text(a.get("key")): plain_value(mapping(a.get("value"))) for a in mappings(value)}


def plain_value(value: dict[str, JsonValue], depth: int = 0) -> JsonValue:
    """The plain value of an ``AnyValue``."""
    if depth > _DEEPEST or not value:
        return None
    kind, content = next(iter(value.items()))
    if kind == "intValue" and isinstance(content, str) and _INTEGER.fullmatch(content):
        return int(content)
    if kind == "arrayValue":
        values: list[JsonValue] = []
        for inner in mappings(mapping(content).get("values")):
            values.append(plain_value(inner, depth + 1))
        return values
    if kind == "kvlistValue":
        members: dict[str, JsonValue] = {}
        for pair in mappings(mapping(content).get("values")):
            members[text(pair.get("key"))] = plain_value(mapping(pair.get("value")), depth + 1)
        return members
    return content


def parse_structured(value: JsonValue) -> JsonValue:
    """A value that may be stored as JSON text."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return loads(value)
        except WireError:
            return value
    return value


def below(attributes: Mapping[str, JsonValue], prefix: str) -> JsonValue:
    """The tree of attributes with a common name prefix: ``a.0.b`` is "b" of the first item of list "a"."""
    root: dict[str, JsonValue] = {}
    for name, value in attributes.items():
        if not name.startswith(prefix):
            continue
        steps = name[len(prefix) :].split(".", _MOST_STEPS)
        node = root
        for step in steps[:-1]:
            inner = node.setdefault(step, {})
            if not isinstance(inner, dict):
                inner = node[step] = {"": inner}
            node = inner
        node[steps[-1]] = value
    return _lists(root)


def _lists(node: JsonValue, depth: int = 0) -> JsonValue:
    """Turn objects with only numeric keys into lists, in numeric order."""
    if not isinstance(node, dict) or depth > _MOST_STEPS:
        return node
    members = {key: _lists(inner, depth + 1) for key, inner in node.items()}
    if members and all(key.isascii() and key.isdigit() and len(key) < 9 for key in members):
        return [members[key] for key in sorted(members, key=int)]
    return members


def first(attributes: Mapping[str, JsonValue], *names: str) -> JsonValue:
    """The first of these attributes that is present."""
    return next((attributes[n] for n in names if attributes.get(n) is not None), None)


def objects_in(value: JsonValue) -> list[dict[str, JsonValue]]:
    """Objects of a list; the list and each item may be stored as JSON text."""
    return [
        mapping(parse_structured(v)) for v in as_list(parse_structured(value)) if isinstance(parse_structured(v), dict)
    ]
