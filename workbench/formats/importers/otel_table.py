"""Importer for spans as rows of a table, in the schema of the collector's ClickHouse exporter (``otel_traces``).

Facts: opentelemetry-collector-contrib ``clickhouseexporter``; the same columns are what people export to Parquet.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.formats.importers import _log_stores
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._http import epoch
from workbench.formats.importers._log_stores import StoreRow, object_or_empty, scalar_text
from workbench.formats.importers._otlp import OtelSpan, SpanEvent
from workbench.formats.importers._transcript import TranscriptSession
from workbench.formats.importers._values import as_list, measure, parse_text
from workbench.formats.importers.otel import is_model, turn_of
from workbench.ir import JsonValue

NAME = "otel-table"
TITLE = "OpenTelemetry spans (table)"


def sniff(head: bytes) -> float:
    """Rows with the columns of the table."""
    return _log_stores.claims(head, "otel_table")


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange for each span of a model call. Raises UnreadableInput if there is none."""
    damage = ImportDamage()
    return session(_log_stores.rows_in(data, damage), name, damage)


def session(rows: Iterable[StoreRow], name: str, damage: ImportDamage) -> TranscriptSession:
    """The session of spans. Raises UnreadableInput if there is no model call among them."""
    spans = sorted((_span(row.value) for row in rows), key=lambda span: span.start or 0.0)
    turns = [turn_of(span) for span in spans if is_model(span.attributes)]
    if not turns:
        raise damage.refuse("no model call spans")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def _span(row: dict[str, JsonValue]) -> OtelSpan:
    start = epoch(row.get("Timestamp"))
    lasted = measure(row.get("Duration"))
    end = start + lasted / 1e9 if start is not None and lasted is not None else None
    about: dict[str, JsonValue] = {
        "spanId": scalar_text(row.get("SpanId")),
        "traceId": scalar_text(row.get("TraceId")),
        "name": scalar_text(row.get("SpanName")),
    }
    failed = scalar_text(row.get("StatusCode")) in ("Error", "STATUS_CODE_ERROR")
    error = (scalar_text(row.get("StatusMessage")) or "the span ended with an error") if failed else ""
    resource = {**object_or_empty(row.get("ResourceAttributes")), "service.name": scalar_text(row.get("ServiceName"))}
    return OtelSpan(object_or_empty(row.get("SpanAttributes")), about, resource, start, end, _events(row), error)


def _events(row: dict[str, JsonValue]) -> list[SpanEvent]:
    """Events, which the table keeps as one list of names and one of attributes."""
    names, attributes = as_list(parse_text(row.get("Events.Name"))), as_list(parse_text(row.get("Events.Attributes")))
    return [
        SpanEvent(scalar_text(name), object_or_empty(members)) for name, members in zip(names, attributes, strict=False)
    ]
