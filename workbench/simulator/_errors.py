"""Answers that refuse: in the shape of the provider's error bodies, with the headers it sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from workbench import protocols as adapters
from workbench.contracts import SIMULATED, Contract, EnforcedCheck, Fact, Finding, Refusal, Severity, refusal_of
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.protocols import ErrorStyle
from workbench.wire import loads

_REFUSED = 400
"""Status of a refused request."""

_FALLBACK_TYPES = {429: "rate_limit_error", 500: "server_error", 503: "service_unavailable", 529: "overloaded_error"}

TEXTS: Mapping[int, str] = {
    429: "Rate limit reached for requests",
    500: "Internal server error",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    529: "Overloaded",
}
"""Texts of injected refusals."""


def type_of(protocol: str, status: int) -> str:
    """The type of an error with this status, "" for the usual one of a refused request."""
    return _style(protocol).types.get(status, _FALLBACK_TYPES.get(status, ""))


def _style(protocol: str) -> ErrorStyle:
    return adapters.get(protocol).serving.errors


def refuse(finding: Finding, contract: Contract, protocol: str, request_id: str) -> Refusal | None:
    """The provider's response to a request with this fault; None if nothing refuses it."""
    named = replace(finding, values={**finding.values, **_request_values(request_id)})
    return refusal_of(named, _with_error_body(contract, protocol))


def error(
    contract: Contract, protocol: str, status: int, message: str, *, param: str = "", code: str = "", request_id: str
) -> Refusal:
    """A refusal that no rule predicts: an unknown path, a body that is no JSON, an injected fault."""
    shown = message.replace("{", "(").replace("}", ")")  # no template: braces of a client's text name no variable
    check = EnforcedCheck("", status, shown, "", "", param=param, code=code, type=type_of(protocol, status))
    finding = Finding("", Severity.ERROR, 0, "request", "", message, check=check, values=_request_values(request_id))
    made = refusal_of(finding, _with_error_body(contract, protocol))
    assert made is not None
    return replace(made, body=_with_error_type(made.body, status))


def _with_error_type(body: JsonValue, status: int) -> JsonValue:
    """The body with an API's word for the status in place of its word for a refused request.

    Contracts of other protocols copy the words of Google's error model into their bodies.
    """
    if isinstance(body, dict):
        return {key: _with_error_type(value, status) for key, value in body.items()}
    if isinstance(body, list):
        return [_with_error_type(value, status) for value in body]
    return _words().get(body, {}).get(status, body) if isinstance(body, str) else body


@cache
def _words() -> Mapping[str, Mapping[int, str]]:
    """Word for a refused request → the words for every status, of the protocols whose error types are such words."""
    styles = (adapter.serving.errors for adapter in adapters.every())
    return {style.types[_REFUSED]: style.types for style in styles if style.are_words}


def _request_values(request_id: str) -> Mapping[str, str]:
    """The variables that stand for a request: its id, and what follows its prefix."""
    return {"request_id": request_id, "request": request_id.partition("_")[2]}


def headers(protocol: str, request_id: str, contract: str) -> tuple[tuple[str, str], ...]:
    """The headers of an answer, but for its type and length; one of them says whose simulator it is."""
    own = tuple((name, value.replace("{request_id}", request_id)) for name, value in _style(protocol).headers)
    return (*own, ("server", f"{SIMULATED}{contract}"))


def _with_error_body(contract: Contract, protocol: str) -> Contract:
    """The contract with the error body of its protocol, where it says none of its own."""
    body = _style(protocol).body
    if contract.term("errors.body") is not None or body is None:
        return contract
    return replace(contract, terms={**contract.terms, "errors.body": Fact(body, "", "")})


def not_found(protocol: str, method: str, path: str) -> str:
    """The message for an unknown path."""
    return _style(protocol).not_found.replace("{method}", method[:40]).replace("{path}", path[:200])


def without_model(protocol: str) -> str:
    """The message for a request that names no model."""
    return _style(protocol).without_model


def unreadable(text: bytes, protocol: str) -> str:
    """The message for a body that is not a request of the protocol."""
    try:
        value = loads(text)
    except WireError as error:
        return _style(protocol).not_json.replace("{why}", error.what)
    if isinstance(value, dict):
        return _style(protocol).missing.replace("{name}", adapters.get(protocol).serving.list_key)
    return "The request body is not a JSON object"
