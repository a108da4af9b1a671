"""Importer for logs of the LiteLLM proxy in S3, GCS, Azure or a file: ``StandardLoggingPayload``, one a request.

Facts: docs.litellm.ai/docs/proxy/logging_spec and /docs/proxy/logging. The bodies are LiteLLM's own view of the call,
not those on the wire.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.formats.importers import _log_stores
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._litellm import CUT_MARK, calls_model, failure_of, in_protocol_of, is_redacted, url_of
from workbench.formats.importers._log_stores import StoredSides, StoreRow, scalar_text
from workbench.formats.importers._logged_messages import logged_response, request_in
from workbench.formats.importers._values import fields, parse_text
from workbench.ir import JsonValue
from workbench.wire import Exchange, Fidelity
from workbench.wire.session import MemorySession

NAME = "litellm-log"
TITLE = "LiteLLM log"
NOT_LOGGED = "messages are not stored: LiteLLM redacted them"


def sniff(head: bytes) -> float:
    """Objects with the names of the payload."""
    return _log_stores.claims(head, "litellm_log")


def read(data: bytes, name: str) -> MemorySession:
    """One exchange for each payload. Raises UnreadableInput if there is none."""
    return _log_stores.read_store(data, name, TITLE, exchanges)


def exchanges(rows: Iterable[StoreRow], damage: ImportDamage) -> list[Exchange]:
    """The exchanges of payloads."""
    return [
        exchange for row in rows if calls_model(row.value) for exchange in _log_stores.build(row, damage, _exchange)
    ]


def _exchange(row: dict[str, JsonValue]) -> Exchange:
    sides = sides_of(row, row.get("messages"), row.get("response"))
    metadata = _log_stores.object_or_empty(row.get("metadata"))
    return _log_stores.exchange_of(
        sides,
        Fidelity.REBUILT,
        key=scalar_text(row.get("id")),
        conversation=scalar_text(row.get("session_id")) or scalar_text(row.get("trace_id")),
        started=row.get("startTime"),
        ended=row.get("endTime"),
        client=scalar_text(metadata.get("user_agent") or row.get("user_agent")),
        note="the call as logged by LiteLLM",
    )


def sides_of(row: dict[str, JsonValue], messages: JsonValue, response: JsonValue) -> StoredSides:
    """Both sides as LiteLLM's envelope holds them."""
    known = {**fields(row), "model": scalar_text(row.get("model_group")) or row.get("model")}
    if is_redacted(messages):
        return StoredSides(missing=(NOT_LOGGED,))
    input_value, output_value = parse_text(messages), parse_text(response)
    if isinstance(input_value, str) and input_value:
        input_value = [{"role": "user", "content": input_value}]
    request = request_in(input_value, known) if input_value else None
    failure, status = failure_of(row)
    answer = (
        None if failure or is_redacted(output_value) else logged_response(output_value, known) or output_value or None
    )
    answer = in_protocol_of(url_of(row), answer)
    cuts = {
        "request": tuple(_log_stores.cut_places(request, CUT_MARK)),
        "response": tuple(_log_stores.cut_places(answer, CUT_MARK)),
    }
    missing = () if request else ("messages are not stored: LiteLLM did not log them",)
    return StoredSides(request, answer, status or 200, url_of(row), failure, missing, cuts)
