"""Importer for LLM logs of Azure API Management: ``ApiManagementGatewayLlmLog`` rows, or events of a storage account.

Facts: learn.microsoft.com/azure/azure-monitor/reference/tables/apimanagementgatewayllmlog and /azure/api-management/
api-management-howto-llm-logs. The messages of a call are cut in pieces of 32 kB: rows with the same correlation id, in
the order of their sequence number. Tools and parameters are not logged.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.formats.importers import _log_stores
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._log_stores import StoredSides, StoreRow, object_or_empty, scalar_text
from workbench.formats.importers._logged_messages import logged_response, request_in
from workbench.formats.importers._values import parse_text
from workbench.ir import JsonValue
from workbench.wire import Exchange, Fidelity, dumps
from workbench.wire.session import MemorySession

NAME = "azure-apim"
TITLE = "Azure API Management log"
NO_MESSAGES = "messages are not stored: message logging was disabled"


def sniff(head: bytes) -> float:
    """Objects with the columns of the table, or events of the gateway."""
    if b"GatewayLlmLog" not in head and b"RequestMessages" not in head and b"requestMessages" not in head:
        return 0.0
    return _log_stores.claims(head, "azure_apim")


def read(data: bytes, name: str) -> MemorySession:
    """One exchange for each correlation id. Raises UnreadableInput if there is none."""
    return _log_stores.read_store(data, name, TITLE, exchanges)


def exchanges(rows: Iterable[StoreRow], damage: ImportDamage) -> list[Exchange]:
    """The exchanges of rows, in the order of their first rows."""
    calls: dict[str, list[dict[str, JsonValue]]] = {}
    for row in rows:
        columns = _columns(row.value)
        calls.setdefault(scalar_text(columns.get("CorrelationId")) or row.where, []).append(columns)
    return [_exchange(call) for call in calls.values()]


def _columns(row: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The columns of a row; those of an event have other first letters, and are below ``properties``."""
    inner = object_or_empty(row.get("properties"))
    if not inner:
        return row
    merged = {**inner, "correlationId": row.get("correlationId") or inner.get("correlationId")}
    named = {name[:1].upper() + name[1:]: value for name, value in merged.items()}
    return {**named, "TimeGenerated": row.get("time") or named.get("TimeGenerated")}


def _exchange(rows: list[dict[str, JsonValue]]) -> Exchange:
    ordered = sorted(rows, key=_number)
    known: dict[str, JsonValue] = {"model": _first(ordered, "ModelName") or _first(ordered, "DeploymentName")}
    request_text, answer_text = _join(ordered, "RequestMessages"), _join(ordered, "ResponseMessages")
    request, answer = request_in(parse_text(request_text), known), logged_response(parse_text(answer_text), known)
    numbers = {_number(row) for row in ordered}
    gaps = [number for number in range(max(numbers) + 1) if number not in numbers]
    missing = [f"rows with SequenceNumber {', '.join(map(str, gaps[:5]))} are not in this file"] if gaps else []
    if not request_text and not answer_text:
        missing.append(NO_MESSAGES)
    elif request_text and request is None:
        missing.append("the logged request messages are truncated: not valid JSON")
    is_cut = bool(gaps) or (bool(request_text) and request is None)
    sides = StoredSides(request, answer, 200, "/openai/v1/chat/completions", missing=tuple(missing))
    return _log_stores.exchange_of(
        sides,
        Fidelity.CUT if is_cut and (request_text or answer_text) else Fidelity.REBUILT,
        key=scalar_text(ordered[0].get("CorrelationId")),
        started=_first(ordered, "TimeGenerated"),
        note="from the log of a gateway, which has no tools and no parameters",
    )


def _number(row: dict[str, JsonValue]) -> int:
    number = scalar_text(row.get("SequenceNumber"))
    return int(number) if number.isascii() and number.isdigit() and len(number) < 7 else 0


def _first(rows: list[dict[str, JsonValue]], column: str) -> JsonValue:
    return next((row[column] for row in rows if row.get(column) not in (None, "")), None)


def _join(rows: list[dict[str, JsonValue]], column: str) -> str:
    """The text of a column, from all rows."""
    values = [row.get(column) for row in rows if row.get(column) not in (None, "", [])]
    return "".join(one if isinstance(one, str) else dumps(one).decode() for one in values)
