"""Importer for observations of Langfuse: blob storage exports (legacy and enriched), and answers of its API.

Facts: langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields. Input and output are whatever the
tracing SDK has logged, often as JSON text. Rows of other kinds than generations call no model and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.formats.importers import _log_stores
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._log_stores import StoredSides, StoreRow, object_or_empty, scalar_text
from workbench.formats.importers._logged_messages import logged_response, request_in
from workbench.formats.importers._values import parse_text
from workbench.ir import JsonValue
from workbench.wire import Exchange, Fidelity
from workbench.wire.session import MemorySession

NAME = "langfuse"
TITLE = "Langfuse export"
NO_IO = "input and output of this generation are not stored"


def sniff(head: bytes) -> float:
    """Objects with the fields of an observation."""
    return _log_stores.claims(head, "langfuse")


def read(data: bytes, name: str) -> MemorySession:
    """One exchange for each generation. Raises UnreadableInput if there is none."""
    return _log_stores.read_store(data, name, TITLE, exchanges)


def exchanges(rows: Iterable[StoreRow], damage: ImportDamage) -> list[Exchange]:
    """The exchanges of observations."""
    generations = (row for row in rows if scalar_text(row.value.get("type")).upper() == "GENERATION")
    return [exchange for row in generations for exchange in _log_stores.build(row, damage, _exchange)]


def _exchange(row: dict[str, JsonValue]) -> Exchange:
    return _log_stores.exchange_of(
        _sides(row),
        Fidelity.REBUILT,
        key=scalar_text(row.get("id")),
        conversation=scalar_text(row.get("session_id") or row.get("sessionId"))
        or scalar_text(row.get("trace_id") or row.get("traceId")),
        started=row.get("start_time") or row.get("startTime"),
        ended=row.get("end_time") or row.get("endTime"),
        note="from an observation of Langfuse",
    )


def _sides(row: dict[str, JsonValue]) -> StoredSides:
    input_value, output_value = parse_text(row.get("input")), parse_text(row.get("output"))
    tools = parse_text(row.get("tool_definitions"))
    known: dict[str, JsonValue] = {
        "model": row.get("provided_model_name") or row.get("providedModelName") or row.get("model"),
        "modelparameters": object_or_empty(row.get("model_parameters") or row.get("modelParameters")),
        **({"tools": tools} if isinstance(tools, list) and tools else {}),
    }
    if isinstance(input_value, str) and input_value:
        input_value = [{"role": "user", "content": input_value}]
    request = request_in(input_value, known)
    if request is None and isinstance(input_value, dict) and "role" in input_value:
        request = request_in([input_value], known)
    failed = scalar_text(row.get("level")).upper() == "ERROR"
    message = scalar_text(row.get("status_message") or row.get("statusMessage"))
    failure: JsonValue = {"message": message or "the generation failed"} if failed else None
    answer = None if failed or output_value in (None, "", {}) else logged_response(output_value, known)
    missing = () if request or answer else (NO_IO,)
    if request is None and input_value:
        missing = ("the input of this generation is not a list of messages",)
    return StoredSides(request, answer, 0 if failed else 200, "", failure, missing)
