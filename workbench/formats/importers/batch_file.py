"""Importer for batches of OpenAI and Anthropic: requests, and results; joined by ``custom_id`` if one file has both.

Facts: platform.openai.com/docs/guides/batch; docs.claude.com, Message Batches; batch inference of Amazon Bedrock and
of Vertex, whose records have both sides. Gateways and other providers use the same forms.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.formats.importers import _log_stores
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._log_stores import StoredSides, StoreRow, scalar_text
from workbench.formats.importers._values import mapping, number_of
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.wire import Exchange, Fidelity
from workbench.wire.session import MemorySession

NAME = "batch-file"
TITLE = "batch file"
MESSAGES = "/v1/messages"


def sniff(head: bytes) -> float:
    """Objects with a ``custom_id`` and one side of an exchange, or records with both."""
    return _log_stores.claims(head, "batch_file")


def read(data: bytes, name: str) -> MemorySession:
    """One exchange for each ``custom_id``. Raises UnreadableInput if there is none."""
    return _log_stores.read_store(data, name, TITLE, exchanges)


def exchanges(rows: Iterable[StoreRow], damage: ImportDamage) -> list[Exchange]:
    """The exchanges of lines; a request and a result with the same ``custom_id`` are one."""
    by_id: dict[str, Exchange] = {}
    for row in rows:
        for exchange in _log_stores.build(row, damage, _exchange):
            key = scalar_text(row.value.get("custom_id") or row.value.get("recordId")) or row.where
            other = by_id.get(key)
            if other is None:
                by_id[key] = exchange
            elif (other.request is None) != (exchange.request is None):
                by_id[key] = _join(other, exchange)
            else:
                by_id[f"{key} {row.where}"] = exchange
    return list(by_id.values())


def _join(one: Exchange, other: Exchange) -> Exchange:
    request, result = (one, other) if one.request else (other, one)
    note = result.note.removesuffix("only the result").rstrip("; ")
    return replace(request, response=result.response, note=note, meta={**request.meta, **result.meta})


def _exchange(row: dict[str, JsonValue]) -> Exchange:
    params, result = mapping(row.get("params")), mapping(row.get("result"))
    if "modelInput" in row or "processed_time" in row:
        return _exchange_with(row, _both_sides(row), "")
    if params:
        return _exchange_with(row, StoredSides(params, url=MESSAGES), "only the request")
    if result:
        return _exchange_with(row, _claude_result(result), _end(scalar_text(result.get("type"))))
    if isinstance(row.get("body"), dict):
        return _exchange_with(row, StoredSides(row["body"], url=scalar_text(row.get("url"))), "only the request")
    response, error = mapping(row.get("response")), row.get("error")
    if response:
        status = number_of(response.get("status_code")) or 200
        return _exchange_with(row, StoredSides(answer=response.get("body"), status=status), "only the result")
    failure = (
        error
        if isinstance(error, dict | str) and error
        else {"message": "the batch file has neither the request nor the result"}
    )
    return _exchange_with(row, StoredSides(failure=failure, status=0), _end(scalar_text(mapping(error).get("code"))))


def _both_sides(row: dict[str, JsonValue]) -> StoredSides:
    """A record of Bedrock (``modelInput``, ``modelOutput``) or of Vertex, with both sides or an error."""
    request, answer = row.get("modelInput", row.get("request")), row.get("modelOutput", row.get("response"))
    error = row.get("error") or row.get("status")
    if answer or not error:
        return StoredSides(request, answer or None)
    about = mapping(error)
    message = (
        scalar_text(about.get("errorMessage"))
        or scalar_text(about.get("message"))
        or scalar_text(error)
        or "the record failed"
    )
    return StoredSides(request, status=number_of(about.get("errorCode")) or 0, failure={"message": message})


def _claude_result(result: dict[str, JsonValue]) -> StoredSides:
    if isinstance(result.get("message"), dict):
        return StoredSides(answer=result["message"])
    if isinstance(result.get("error"), dict):
        error = mapping(result["error"])
        body = error if error.get("type") == "error" else {"type": "error", "error": error}
        return StoredSides(answer=body, status=400)
    return StoredSides(failure={"message": f"the request: {scalar_text(result.get('type')) or 'no result'}"}, status=0)


def _end(word: str) -> str:
    return "only the result" if word in ("", "succeeded", "errored") else f"{word}; only the result"


def _exchange_with(row: dict[str, JsonValue], sides: StoredSides, note: str) -> Exchange:
    return _log_stores.exchange_of(
        sides, Fidelity.RESERIALISED, key=scalar_text(row.get("custom_id") or row.get("recordId")), note=note
    )
