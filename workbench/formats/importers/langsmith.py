"""Importer for runs of LangSmith: bulk exports (Parquet, or as JSON Lines), and answers of its API.

Facts: docs.langchain.com/langsmith/run-data-format and /data-export. Inputs and outputs are LangChain messages, or the
request and the response of a wrapped SDK. Runs of other types than ``llm`` call no model and are left out.
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

NAME = "langsmith"
TITLE = "LangSmith export"
NO_IO = "inputs and outputs of this run are not stored"


def sniff(head: bytes) -> float:
    """Objects with the fields of a run."""
    return _log_stores.claims(head, "langsmith")


def read(data: bytes, name: str) -> MemorySession:
    """One exchange for each run of a model. Raises UnreadableInput if there is none."""
    return _log_stores.read_store(data, name, TITLE, exchanges)


def exchanges(rows: Iterable[StoreRow], damage: ImportDamage) -> list[Exchange]:
    """The exchanges of runs, and of the runs below them."""
    return [exchange for row in _runs(rows) for exchange in _log_stores.build(row, damage, _exchange)]


def _runs(rows: Iterable[StoreRow], depth: int = 0) -> Iterable[StoreRow]:
    for row in rows:
        if scalar_text(row.value.get("run_type")) == "llm":
            yield row
        below = _log_stores.objects_of(row.value.get("child_runs")) if depth < _DEEPEST else []
        yield from _runs((StoreRow(f"{row.where}/child_runs/{n}", run) for n, run in enumerate(below)), depth + 1)


_DEEPEST = 50


def _exchange(row: dict[str, JsonValue]) -> Exchange:
    return _log_stores.exchange_of(
        _sides(row),
        Fidelity.REBUILT,
        key=scalar_text(row.get("id")),
        conversation=scalar_text(object_or_empty(object_or_empty(row.get("extra")).get("metadata")).get("session_id"))
        or scalar_text(row.get("thread_id"))
        or scalar_text(row.get("trace_id")),
        started=row.get("start_time"),
        ended=row.get("end_time"),
        note="from a run of LangSmith",
    )


def _sides(row: dict[str, JsonValue]) -> StoredSides:
    inputs, outputs = parse_text(row.get("inputs")), parse_text(row.get("outputs"))
    extra = object_or_empty(row.get("extra"))
    parameters = {k: v for k, v in object_or_empty(extra.get("invocation_params")).items() if not k.startswith("_")}
    metadata = object_or_empty(extra.get("metadata"))
    known: dict[str, JsonValue] = {
        "model": parameters.get("model") or parameters.get("model_name") or metadata.get("ls_model_name"),
        "invocationparams": parameters,
    }
    request = request_in(inputs, known)
    error = scalar_text(row.get("error"))
    failure: JsonValue = {"message": error} if error else None
    answer = None if failure or not outputs else logged_response(outputs, known)
    missing = () if request or answer else (NO_IO,)
    if request is None and inputs:
        missing = ("the inputs of this run are not a list of messages",)
    return StoredSides(request, answer, 0 if failure else 200, "", failure, missing)
