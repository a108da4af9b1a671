"""Requests that ask no model: refused in the client's protocol if the upstream has no such endpoint."""

from __future__ import annotations

import re
from http import HTTPStatus

from workbench import protocols
from workbench.convert import convert_response
from workbench.ir import ApiError, JsonValue, ModelResponse
from workbench.wire.exchange import Headers
from workbench.wire.jsontext import dumps, loads

_COUNTS = re.compile(r"(?:/count_tokens|:countTokens|/input_tokens)/?\Z")
_TYPES = {400: "invalid_request_error", 404: "not_found_error", 501: "api_error", 502: "api_error"}


def family(path: str, headers: Headers) -> str:
    """Protocol of the client that requests a path which asks no model."""
    bare = path.partition("?")[0]
    if headers.get("anthropic-version") or bare.endswith("/count_tokens"):
        return "anthropic-messages"
    if headers.get("x-goog-api-key") or headers.get("x-goog-api-client") or "/v1beta/" in bare or ":" in bare:
        return "gemini"
    if bare.startswith("/api/"):
        return "ollama"
    return "openai-responses" if "/responses" in bare else "openai-chat"


def is_health_check(method: str, path: str) -> bool:
    """A request that only checks whether a server runs."""
    return method in ("GET", "HEAD") and path.partition("?")[0] in ("", "/", "/health", "/healthz", "/ping")


def refusal(path: str, client: str, spoken: str) -> tuple[int, bytes]:
    """(status, body) of the response to a request that an upstream of another protocol cannot serve."""
    bare = path.partition("?")[0][:200]
    what = "does not count tokens" if _COUNTS.search(bare) else f"has nothing at {bare}"
    status = HTTPStatus.NOT_IMPLEMENTED if _COUNTS.search(bare) else HTTPStatus.NOT_FOUND
    return status, error_body(client, status, f"workbench: the upstream speaks {spoken}, and {what} for {client}")


def error_body(client: str, status: int, message: str, details: ApiError | None = None) -> bytes:
    """An error body of a client's protocol."""
    error = details or ApiError(message, type=_TYPES.get(status, "api_error" if status >= 500 else _TYPES[400]))
    made = ModelResponse("openai-chat" if client != "openai-chat" else "anthropic-messages", error=error)
    adapter = protocols.get(client)
    body = convert_response(made, adapter).body
    return _with_code(body, client, status)


def _with_code(body: bytes, client: str, status: int) -> bytes:
    """Add the status to the body for Gemini's clients, which read it there."""
    if client != "gemini":
        return body
    value: JsonValue = loads(body)
    if isinstance(value, dict) and isinstance(value.get("error"), dict):
        value["error"].setdefault("code", status)
        return dumps(value)
    return body
