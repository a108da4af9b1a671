"""Requests that ask no model: refused in the client's protocol if the upstream has no such endpoint."""

from __future__ import annotations

import re
from http import HTTPStatus

from workbench import protocols, regex
from workbench.convert import convert_response
from workbench.ir import ApiError, JsonValue, ModelResponse
from workbench.wire import Headers, dumps, loads

_COUNTS = regex.compile(r"(?:/count_tokens|:countTokens|/input_tokens)/?\Z")
_TYPES = {400: "invalid_request_error", 404: "not_found_error", 501: "api_error", 502: "api_error"}


def family(path: str, headers: Headers) -> str:
    """Protocol of the client that requests a path which asks no model."""
    bare = path.partition("?")[0]
    for adapter in protocols.every():
        clues = adapter.serving.clues
        if any(headers.get(name) for name in clues.headers) or (clues.paths and re.search(clues.paths, bare)):
            return adapter.name
    return protocols.MOST_COMMON


def is_health_check(method: str, path: str) -> bool:
    """A request that only checks whether a server runs."""
    return method in ("GET", "HEAD") and path.partition("?")[0] in ("", "/", "/health", "/healthz", "/ping")


def refusal(path: str, client: str, upstream_protocol: str) -> tuple[int, bytes]:
    """(status, body) of the response to a request that an upstream of another protocol cannot serve."""
    bare = path.partition("?")[0][:200]
    what = "cannot count tokens" if _COUNTS.search(bare) else f"does not support {bare}"
    status = HTTPStatus.NOT_IMPLEMENTED if _COUNTS.search(bare) else HTTPStatus.NOT_FOUND
    return status, error_body(
        client, status, f"workbench: the upstream uses {upstream_protocol}, so the recorder {what} for {client} clients"
    )


def error_body(client: str, status: int, message: str, details: ApiError | None = None) -> bytes:
    """An error body of a client's protocol."""
    error = details or ApiError(message, type=_TYPES.get(status, "api_error" if status >= 500 else _TYPES[400]))
    other = next(name for name in protocols.protocols() if name != client)  # so that it is converted
    adapter = protocols.get(client)
    body = convert_response(ModelResponse(other, error=error), adapter).body
    return _with_status(body, adapter.serving.status_key, status)


def _with_status(body: bytes, key: str, status: int) -> bytes:
    """Add the status to the body, for clients that read it there."""
    if not key:
        return body
    value: JsonValue = loads(body)
    if isinstance(value, dict) and isinstance(value.get("error"), dict):
        value["error"].setdefault(key, status)
        return dumps(value)
    return body
