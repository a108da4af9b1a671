"""Importer for requests of Helicone: files of its export tool, and answers of its API.

Facts: docs.helicone.ai (ETL, ``POST /v1/request/query-clickhouse``) and the export tool of Helicone/helicone. Bodies
are there if they were asked for; else only a link to them, which is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.formats.importers import _log_stores
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._log_stores import StoredSides, StoreRow, object_or_empty, scalar_text
from workbench.formats.importers._values import number_of, parse_text
from workbench.ir import JsonValue
from workbench.wire import Exchange, Fidelity
from workbench.wire.session import MemorySession

NAME = "helicone"
TITLE = "Helicone export"
NO_BODY = "the store contains no body: export with bodies, or fetch the signed URL of the row"


def sniff(head: bytes) -> float:
    """Objects with the fields of a request."""
    return _log_stores.claims(head, "helicone")


def read(data: bytes, name: str) -> MemorySession:
    """One exchange for each request. Raises UnreadableInput if there is none."""
    return _log_stores.read_store(data, name, TITLE, exchanges)


def exchanges(rows: Iterable[StoreRow], damage: ImportDamage) -> list[Exchange]:
    """The exchanges of rows."""
    return [exchange for row in rows for exchange in _log_stores.build(row, damage, _exchange)]


def _exchange(row: dict[str, JsonValue]) -> Exchange:
    signed = object_or_empty(row.get("signed_body_content"))
    request = parse_text(row.get("request_body") or signed.get("request")) or None
    answer = parse_text(row.get("response_body") or signed.get("response")) or None
    properties = object_or_empty(row.get("request_properties") or row.get("properties"))
    sides = StoredSides(
        request,
        answer,
        number_of(row.get("response_status")) or number_of(row.get("status")) or 0,
        scalar_text(row.get("request_path") or row.get("target_url")),
        missing=() if request or answer else (NO_BODY,),
    )
    return _log_stores.exchange_of(
        sides,
        Fidelity.RESERIALISED,
        key=scalar_text(row.get("request_id")),
        conversation=scalar_text(properties.get("Helicone-Session-Id")),
        started=row.get("request_created_at"),
        ended=row.get("response_created_at"),
    )
