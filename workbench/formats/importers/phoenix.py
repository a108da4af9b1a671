"""Importer for spans of Phoenix: its API, its dataframe as JSON Lines or Parquet; attributes of OpenInference.

Facts: arize.com/docs/phoenix/how-to/extract-data-from-spans, and the spans of ``GET /v1/projects/{id}/spans``.
Attributes are flat names, or a tree, or columns that begin with ``attributes.``. ``…/spans/otlpv1`` has spans of OTLP.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.formats.importers import _log_stores
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._http import epoch
from workbench.formats.importers._log_stores import StoreRow, object_or_empty, scalar_text
from workbench.formats.importers._otlp import OtelSpan, otlp_span
from workbench.formats.importers._transcript import TranscriptSession
from workbench.formats.importers._values import parse_text
from workbench.formats.importers.otel import is_model, turn_of
from workbench.ir import JsonValue

NAME = "phoenix"
TITLE = "Phoenix spans"
_DEEPEST = 12


def sniff(head: bytes) -> float:
    """Objects with the fields of a span."""
    return _log_stores.claims(head, "phoenix")


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange for each span of a model call. Raises UnreadableInput if there is none."""
    damage = ImportDamage()
    return session(_log_stores.rows_in(data, damage), name, damage)


def session(rows: Iterable[StoreRow], name: str, damage: ImportDamage) -> TranscriptSession:
    """The session of spans. Raises UnreadableInput if there is no model call among them."""
    spans = sorted(map(_span, rows), key=lambda span: span.start or 0.0)
    turns = [turn_of(span) for span in spans if is_model(span.attributes)]
    if not turns:
        raise damage.refuse("no model call spans")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def _span(row: StoreRow) -> OtelSpan:
    span = row.value
    if "start_time_unix_nano" in span:
        return otlp_span(span)
    attributes = dict(flat("", span.get("attributes")))
    for name, value in span.items():
        if name.startswith("attributes."):
            attributes |= dict(flat(name.removeprefix("attributes."), value))
    kind = scalar_text(span.get("span_kind"))
    if kind:
        attributes.setdefault("openinference.span.kind", kind)
    context = object_or_empty(span.get("context"))
    trace = scalar_text(context.get("trace_id")) or scalar_text(span.get("context.trace_id"))
    about: dict[str, JsonValue] = {
        "spanId": scalar_text(context.get("span_id")) or scalar_text(span.get("context.span_id")),
        "traceId": trace,
        "name": scalar_text(span.get("name")),
    }
    failed = scalar_text(span.get("status_code")).upper() == "ERROR"
    error = (scalar_text(span.get("status_message")) or "the span ended with an error") if failed else ""
    return OtelSpan(attributes, about, {}, time_of(span.get("start_time")), time_of(span.get("end_time")), [], error)


def time_of(value: JsonValue) -> float | None:
    """Seconds since the epoch; numbers of a dataframe count milliseconds, microseconds or nanoseconds."""
    if isinstance(value, int | float) and value is not True:
        return next((value / unit for unit in (1, 1e3, 1e6, 1e9) if 0 <= value < unit * 1e11), None)
    return epoch(value)


def flat(name: str, value: JsonValue, depth: int = 0) -> Iterator[tuple[str, JsonValue]]:
    """Attributes by their flat names."""
    value = parse_text(value) if name in ("", "llm.input_messages", "llm.output_messages", "llm.tools") else value
    if depth < _DEEPEST and isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flat(f"{name}.{key}" if name else key, inner, depth + 1)
    elif depth < _DEEPEST and isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
        for number, inner in enumerate(value):
            yield from flat(f"{name}.{number}", inner, depth + 1)
    elif name and value is not None:
        yield name, value
