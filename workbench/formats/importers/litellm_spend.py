"""Importer for rows of LiteLLM's table ``LiteLLM_SpendLogs``, exported as JSON, JSON Lines, CSV or Parquet.

Facts: LiteLLM's ``schema.prisma`` and ``spend_tracking_utils.py``: texts longer than a limit lose their middle, and a
mark is put there; in several versions ``messages`` is an empty object, and the client's request is in another column.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.formats.importers import _log_stores
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._litellm import CUT_MARK, calls_model
from workbench.formats.importers._log_stores import StoreRow, object_or_empty, scalar_text
from workbench.formats.importers.litellm_log import sides_of
from workbench.ir import JsonValue
from workbench.wire import Exchange, Fidelity
from workbench.wire.session import MemorySession

NAME = "litellm-spend"
TITLE = "LiteLLM spend log"


def sniff(head: bytes) -> float:
    """Objects with the columns of the table."""
    return _log_stores.claims(head, "litellm_spend")


def read(data: bytes, name: str) -> MemorySession:
    """One exchange for each row. Raises UnreadableInput if there is none."""
    return _log_stores.read_store(data, name, TITLE, exchanges)


def exchanges(rows: Iterable[StoreRow], damage: ImportDamage) -> list[Exchange]:
    """The exchanges of rows."""
    return [
        exchange for row in rows if calls_model(row.value) for exchange in _log_stores.build(row, damage, _exchange)
    ]


def _exchange(row: dict[str, JsonValue]) -> Exchange:
    sent = object_or_empty(row.get("proxy_server_request"))
    sent = object_or_empty(sent.get("body")) or sent
    sides = sides_of(row, row.get("messages") or None, row.get("response") or None)
    if any(name in sent for name in ("messages", "input", "contents", "prompt")):
        cuts = {**sides.cuts, "request": tuple(_log_stores.cut_places(sent, CUT_MARK))}
        sides = sides._replace(request=sent, missing=(), cuts=cuts)
    return _log_stores.exchange_of(
        sides,
        Fidelity.REBUILT,
        key=scalar_text(row.get("request_id")),
        conversation=scalar_text(row.get("session_id")),
        started=row.get("startTime"),
        ended=row.get("endTime"),
        note="the call as stored in LiteLLM's database",
    )
