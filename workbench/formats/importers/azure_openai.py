"""Importer for request logs of Azure OpenAI: events of a diagnostic setting, or rows of ``AzureDiagnostics``.

Facts: learn.microsoft.com/azure/ai-services/openai/how-to/monitor-openai (category ``RequestResponse``), and the events
in the tests of elastic/integrations (``azure_openai``). The service itself logs no bodies; where a gateway adds them,
they are in the properties, which may be JSON text.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from workbench.formats.importers import _log_stores
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._log_stores import StoredSides, StoreRow, object_or_empty, scalar_text
from workbench.formats.importers._values import fields, first, number_of
from workbench.ir import JsonValue
from workbench.wire import Exchange, Fidelity
from workbench.wire.session import MemorySession

NAME = "azure-openai"
TITLE = "Azure OpenAI log"
NO_BODY = "the store contains no bodies: Azure OpenAI logs only that a request was made"
_CATEGORY = "RequestResponse"
_PATHS = {"chatcompletions_create": "chat/completions", "completions_create": "completions"}
_SENT = ("backendrequestbody", "requestbody")
_RECEIVED = ("backendresponsebody", "responsebody")


def sniff(head: bytes) -> float:
    """Events of the category, or its rows."""
    return _log_stores.claims(head, "azure_openai") if b'"RequestResponse"' in head else 0.0


def read(data: bytes, name: str) -> MemorySession:
    """One exchange for each call of a model. Raises UnreadableInput if there is none."""
    return _log_stores.read_store(data, name, TITLE, exchanges)


def exchanges(rows: Iterable[StoreRow], damage: ImportDamage) -> list[Exchange]:
    """The exchanges of events that call a model."""
    calls = (row for row in rows if _operation(row.value) in _PATHS or _operation(row.value).startswith("responses"))
    return [exchange for row in calls for exchange in _log_stores.build(row, damage, _exchange)]


def _operation(row: dict[str, JsonValue]) -> str:
    found = fields(row)
    return scalar_text(found.get("operationname")).lower() if found.get("category") == _CATEGORY else ""


def _exchange(row: dict[str, JsonValue]) -> Exchange:
    found = fields(row)
    properties = fields(object_or_empty(first(found, ("properties", "propertiess"))))
    request, answer = first(properties, _SENT), first(properties, _RECEIVED)
    path = _PATHS.get(_operation(row), "responses")
    model = quote(scalar_text(properties.get("modeldeploymentname")), errors="surrogatepass")
    sides = StoredSides(
        request,
        answer,
        number_of(found.get("resultsignature")) or 0,
        f"/openai/deployments/{model}/{path}",
        missing=() if request or answer else (NO_BODY,),
    )
    return _log_stores.exchange_of(
        sides,
        Fidelity.EXACT if isinstance(request, str) else Fidelity.RESERIALISED,
        key=scalar_text(found.get("correlationid")),
        started=first(found, ("time", "timegenerated")),
    )
