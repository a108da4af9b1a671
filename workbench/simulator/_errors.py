"""Answers that refuse: in the shape of the provider's error bodies, with the headers it sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.contracts import SIMULATED, Contract, Enforced, Fact, Finding, Refusal, Severity, refusal
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.wire.jsontext import loads

_OPENAI: JsonValue = {"error": {"message": "{message}", "type": "{type}", "param": "{param}", "code": "{code}"}}
_ANTHROPIC: JsonValue = {"type": "error", "error": {"type": "{type}", "message": "{message}"}}

SHAPES: Mapping[str, JsonValue] = {
    "anthropic-messages": {**_ANTHROPIC, "request_id": "{request_id}"},
    "bedrock-converse": {"message": "{message}"},
    "bedrock-invoke": {"message": "{message}"},
    "cohere-v2": {"id": "{request_id}", "message": "{message}"},
    "gemini": {"error": {"code": "{status}", "message": "{message}", "status": "{type}"}},
    "gemini-interactions": {"error": {"message": "{message}", "code": "invalid_request"}},
    "ollama": {"error": "{message}"},
    "openai-chat": _OPENAI,
    "openai-responses": _OPENAI,
}
"""Protocol → its error body, for contracts that say none (term ``errors.body``)."""

USUAL_TYPES: Mapping[str, Mapping[int, str]] = {
    "anthropic-messages": {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        405: "invalid_request_error",
        413: "request_too_large",
        429: "rate_limit_error",
        500: "api_error",
        504: "timeout_error",
        529: "overloaded_error",
    },
    "gemini": {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        405: "INVALID_ARGUMENT",
        429: "RESOURCE_EXHAUSTED",
        500: "INTERNAL",
        503: "UNAVAILABLE",
        504: "DEADLINE_EXCEEDED",
    },
    "openai-chat": {429: "requests", 500: "server_error", 503: "server_error"},
    "openai-responses": {429: "requests", 500: "server_error", 503: "server_error"},
}
"""Protocol → status → type of the error (providers' documentation of errors, October 2026)."""

_FALLBACK_TYPES = {429: "rate_limit_error", 500: "server_error", 503: "service_unavailable", 529: "overloaded_error"}

TEXTS: Mapping[int, str] = {
    429: "Rate limit reached for requests",
    500: "Internal server error",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    529: "Overloaded",
}
"""What injected refusals say."""

HEADERS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "anthropic-messages": (
        ("request-id", "{request_id}"),
        ("anthropic-organization-id", "00000000-0000-4000-8000-000000000000"),
    ),
    "bedrock-converse": (("x-amzn-requestid", "{request_id}"),),
    "bedrock-invoke": (("x-amzn-requestid", "{request_id}"),),
    "openai-chat": (("x-request-id", "{request_id}"), ("openai-version", "2020-10-01")),
    "openai-responses": (("x-request-id", "{request_id}"), ("openai-version", "2020-10-01")),
}
"""Protocol → headers of every answer; names as recordings have them."""


def type_of(protocol: str, status: int) -> str:
    """The type of an error with this status, "" for the usual one of a refused request."""
    return USUAL_TYPES.get(protocol, {}).get(status, _FALLBACK_TYPES.get(status, ""))


def refused(finding: Finding, contract: Contract, protocol: str, request_id: str) -> Refusal | None:
    """What the provider answers to a request with this fault; None where nothing refuses it."""
    named = replace(finding, values={**finding.values, **_named(request_id)})
    return refusal(named, _shaped(contract, protocol))


def error(
    contract: Contract, protocol: str, status: int, message: str, *, param: str = "", code: str = "", request_id: str
) -> Refusal:
    """A refusal that no rule predicts: an unknown path, a body that is no JSON, an injected fault."""
    shown = message.replace("{", "(").replace("}", ")")  # no template: braces of a client's text name no variable
    check = Enforced("", status, shown, "", "", param=param, code=code, type=type_of(protocol, status))
    finding = Finding("", Severity.ERROR, 0, "request", "", message, check=check, values=_named(request_id))
    made = refusal(finding, _shaped(contract, protocol))
    assert made is not None
    return replace(made, body=_retyped(made.body, type_of("gemini", status)))


def _retyped(body: JsonValue, kind: str) -> JsonValue:
    """The body of Google's usual refusal with the word for another status."""
    if isinstance(body, dict):
        return {key: _retyped(value, kind) for key, value in body.items()}
    if isinstance(body, list):
        return [_retyped(value, kind) for value in body]
    return kind if body == "INVALID_ARGUMENT" and kind else body


def _named(request_id: str) -> Mapping[str, str]:
    """The variables that stand for a request: its id, and what follows its prefix."""
    return {"request_id": request_id, "request": request_id.partition("_")[2]}


def headers(protocol: str, request_id: str, contract: str) -> tuple[tuple[str, str], ...]:
    """The headers of an answer, but for its type and length; one of them says whose simulator it is."""
    own = tuple((name, value.replace("{request_id}", request_id)) for name, value in HEADERS.get(protocol, ()))
    return (*own, ("server", f"{SIMULATED}{contract}"))


def _shaped(contract: Contract, protocol: str) -> Contract:
    """The contract with the error body of its protocol, where it says none of its own."""
    if contract.term("errors.body") is not None or protocol not in SHAPES:
        return contract
    return replace(contract, terms={**contract.terms, "errors.body": Fact(SHAPES[protocol], "", "")})


def without_model(protocol: str) -> str:
    """The words for a request that names no model."""
    return _WITHOUT_MODEL.get(protocol, "model is required")


def unreadable(text: bytes, protocol: str) -> str:
    """Why a body is no request of the protocol."""
    try:
        value = loads(text)
    except WireError as error:
        return _NOT_JSON.get(protocol, _UNPARSED).replace("{why}", error.what)
    if isinstance(value, dict):
        missing = _LISTS.get(protocol, "messages")
        return _MISSING.get(protocol, "Missing required parameter: '{name}'.").replace("{name}", missing)
    return "The request body is not a JSON object"


_WITHOUT_MODEL: Mapping[str, str] = {
    "anthropic-messages": "model: Field required",
    "openai-chat": "you must provide a model parameter",
    "openai-responses": "Missing required parameter: 'model'.",
    "ollama": "model is required",
}
_UNPARSED = "We could not parse the JSON body of your request. ({why})"
_NOT_JSON: Mapping[str, str] = {
    "anthropic-messages": "The request body is not valid JSON: {why}",
    "gemini": "Invalid JSON payload received. {why}",
    "ollama": "{why}",
}
_LISTS: Mapping[str, str] = {"gemini": "contents", "gemini-interactions": "input", "openai-responses": "input"}
_MISSING: Mapping[str, str] = {
    "anthropic-messages": "{name}: Field required",
    "gemini": "* GenerateContentRequest.{name}: {name} is not specified",
}
