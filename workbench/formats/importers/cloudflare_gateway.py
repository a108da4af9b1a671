"""Importer for logs of Cloudflare AI Gateway, pushed to R2 or S3: JSON Lines, one request a line.

Facts: developers.cloudflare.com/ai-gateway/observability/logging/logpush. Bodies are encrypted with the customer's own
public key, or are texts once they are decrypted; with ``cf-aig-collect-log-payload: false`` they are missing.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.formats.importers import _log_stores
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._log_stores import StoredSides, StoreRow, scalar_text
from workbench.formats.importers._values import number_of
from workbench.ir import JsonValue
from workbench.wire import Exchange, Fidelity
from workbench.wire.session import MemorySession

NAME = "cloudflare-gateway"
TITLE = "Cloudflare AI Gateway log"
SEALED = "the {} is encrypted: decrypt the log with your private key first"
NO_BODY = "the store contains no body: the gateway does not collect payloads, or this list excludes them"

_HOSTS = {"openai": "api.openai.com", "anthropic": "api.anthropic.com", "groq": "api.groq.com/openai"}
_HOSTS |= {"deepseek": "api.deepseek.com", "mistral": "api.mistral.ai", "grok": "api.x.ai"}


_OF_API = {"Provider": "provider", "Model": "model", "Endpoint": "path", "StatusCode": "status_code", "RequestId": "id"}
_OF_API |= {"Datetime": "created_at"}


def sniff(head: bytes) -> float:
    """Objects with the fields of the data set."""
    return _log_stores.claims(head, "cloudflare_gateway")


def read(data: bytes, name: str) -> MemorySession:
    """One exchange for each line. Raises UnreadableInput if there is none."""
    return _log_stores.read_store(data, name, TITLE, exchanges)


def exchanges(rows: Iterable[StoreRow], damage: ImportDamage) -> list[Exchange]:
    """The exchanges of lines."""
    return [exchange for row in rows for exchange in _log_stores.build(row, damage, _exchange)]


def _exchange(row: dict[str, JsonValue]) -> Exchange:
    if "Provider" not in row:  # an answer of the API has other names; its list has no bodies
        row = {**row, **{name: row.get(member) for name, member in _OF_API.items()}}
    bodies = {
        side: row.get(f"{side.title()}Body") or row.get(f"{side}_head") or None for side in ("request", "response")
    }
    missing = [SEALED.format(side) for side, body in bodies.items() if _is_sealed(body)]
    cuts = {side: ("",) for side, body in bodies.items() if body and row.get(f"{side}_head_complete") is False}
    request, answer = (None if _is_sealed(body) or not body else body for body in bodies.values())
    if request is None and answer is None and not missing:
        missing = [NO_BODY]
    is_text = all(isinstance(body, str) for body in (request, answer) if body is not None)
    status = number_of(row.get("StatusCode")) or 0
    sides = StoredSides(request, answer, status, _url(row), missing=tuple(missing), cuts=cuts)
    return _log_stores.exchange_of(
        sides,
        Fidelity.EXACT if is_text else Fidelity.RESERIALISED,
        key=scalar_text(row.get("RequestId") or row.get("RayID")),
        started=row.get("Datetime") or row.get("Timestamp"),
    )


def _is_sealed(body: JsonValue) -> bool:
    return isinstance(body, dict) and body.get("type") == "encrypted" and "data" in body


def _url(row: dict[str, JsonValue]) -> str:
    """The URL of the call at its provider; a path if the host is not known."""
    path = "/" + scalar_text(row.get("Endpoint")).lstrip("/")
    host = _HOSTS.get(scalar_text(row.get("Provider")).lower())
    return f"https://{host}{path}" if host else path
