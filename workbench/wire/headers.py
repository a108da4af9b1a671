"""Meaning of the HTTP headers of model APIs: request ids, versions and betas, accounts, times, retries, clients.

The table has names seen in recordings or used by the official SDKs; other names have no meaning here. Rate limits come
in families of names: see ``workbench.wire.ratelimits``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from workbench import regex
from workbench.wire.exchange import Headers


class Topic(StrEnum):
    """Subject of a header."""

    ID = "ids"
    VERSION = "version and betas"
    LIMIT = "rate limits"
    RETRY = "retries"
    TIME = "time"
    ACCOUNT = "account"
    CLIENT = "client"


class HeaderMeaning(NamedTuple):
    """Meaning of one header.

    Attributes:
        words: a few words.
        source: of this fact.
    """

    topic: Topic
    words: str
    source: str


_ANTHROPIC: Final = "anthropic SDK 2.11.0"
_OPENAI: Final = "openai SDK 3.52"
_SEEN: Final = "seen in recorded traffic"

_KNOWN: Final[dict[str, HeaderMeaning]] = {
    "request-id": HeaderMeaning(Topic.ID, "request id of Anthropic", f"{_ANTHROPIC}, _exceptions"),
    "x-request-id": HeaderMeaning(Topic.ID, "request id", f"{_OPENAI}, _exceptions"),
    "x-client-request-id": HeaderMeaning(Topic.ID, "id chosen by the client", "OpenAI docs, debugging requests"),
    "apim-request-id": HeaderMeaning(Topic.ID, "request id of Azure API Management", "Azure OpenAI docs"),
    "x-ms-request-id": HeaderMeaning(Topic.ID, "request id of Azure", "Azure REST docs"),
    "x-ms-client-request-id": HeaderMeaning(Topic.ID, "id chosen by the client, at Azure", "Azure REST docs"),
    "x-amzn-requestid": HeaderMeaning(Topic.ID, "request id of AWS", _SEEN),
    "amz-sdk-invocation-id": HeaderMeaning(Topic.ID, "the same id for all attempts of one call", _SEEN),
    "mistral-correlation-id": HeaderMeaning(Topic.ID, "request id of Mistral", _SEEN),
    "traceparent": HeaderMeaning(Topic.ID, "trace id", "W3C Trace Context"),
    "cf-ray": HeaderMeaning(Topic.ID, "request id of Cloudflare", _SEEN),
    "idempotency-key": HeaderMeaning(Topic.ID, "the same key for all attempts", f"{_ANTHROPIC}, _base_client"),
    "anthropic-version": HeaderMeaning(Topic.VERSION, "API version", f"{_ANTHROPIC}, _client"),
    "anthropic-beta": HeaderMeaning(Topic.VERSION, "requested beta features", f"{_ANTHROPIC}, resources/beta"),
    "openai-version": HeaderMeaning(Topic.VERSION, "API version", _SEEN),
    "openai-beta": HeaderMeaning(Topic.VERSION, "requested beta features", f"{_OPENAI}, resources/beta"),
    "anthropic-organization-id": HeaderMeaning(Topic.ACCOUNT, "billed organisation", _SEEN),
    "openai-organization": HeaderMeaning(Topic.ACCOUNT, "billed organisation", f"{_OPENAI}, _client"),
    "openai-project": HeaderMeaning(Topic.ACCOUNT, "billed project", f"{_OPENAI}, _client"),
    "x-goog-user-project": HeaderMeaning(Topic.ACCOUNT, "billed project", "Google Cloud docs"),
    "retry-after": HeaderMeaning(Topic.RETRY, "wait before the next attempt: seconds, or a date", "RFC 9110, 10.2.3"),
    "retry-after-ms": HeaderMeaning(
        Topic.RETRY, "wait before the next attempt, milliseconds; SDKs prefer it", f"{_OPENAI}, _base_client"
    ),
    "x-should-retry": HeaderMeaning(
        Topic.RETRY, "whether to retry, regardless of the status", f"{_ANTHROPIC}, _base_client"
    ),
    "x-stainless-retry-count": HeaderMeaning(
        Topic.RETRY, "earlier attempts of this request", f"{_ANTHROPIC}, _base_client"
    ),
    "amz-sdk-request": HeaderMeaning(Topic.RETRY, "number of this attempt, and the maximum", _SEEN),
    "date": HeaderMeaning(Topic.TIME, "time at the server", "RFC 9110, 6.6.1"),
    "openai-processing-ms": HeaderMeaning(Topic.TIME, "processing time of the server, milliseconds", _SEEN),
    "x-envoy-upstream-service-time": HeaderMeaning(Topic.TIME, "milliseconds until the first byte", _SEEN),
    "server-timing": HeaderMeaning(Topic.TIME, "duration of stages, milliseconds", "W3C Server Timing"),
    "x-stainless-timeout": HeaderMeaning(
        Topic.CLIENT, "total timeout of the client, seconds", f"{_ANTHROPIC}, _base_client"
    ),
    "x-stainless-read-timeout": HeaderMeaning(
        Topic.CLIENT, "read timeout of the client, seconds", f"{_OPENAI}, _base_client"
    ),
    "x-stainless-lang": HeaderMeaning(Topic.CLIENT, "language of the SDK", f"{_OPENAI}, _base_client"),
    "x-stainless-package-version": HeaderMeaning(Topic.CLIENT, "version of the SDK", f"{_OPENAI}, _base_client"),
    "x-stainless-runtime": HeaderMeaning(Topic.CLIENT, "runtime of the SDK", f"{_OPENAI}, _base_client"),
    "x-stainless-runtime-version": HeaderMeaning(Topic.CLIENT, "version of the runtime", f"{_OPENAI}, _base_client"),
    "x-stainless-os": HeaderMeaning(Topic.CLIENT, "operating system of the client", f"{_OPENAI}, _base_client"),
    "x-stainless-arch": HeaderMeaning(Topic.CLIENT, "processor architecture of the client", f"{_OPENAI}, _base_client"),
    "x-stainless-async": HeaderMeaning(Topic.CLIENT, "asynchronous client, and its library", f"{_OPENAI}, _client"),
    "x-stainless-helper": HeaderMeaning(Topic.CLIENT, "helpers of the SDK in use", f"{_ANTHROPIC}, _base_client"),
    "x-stainless-helper-method": HeaderMeaning(Topic.CLIENT, "method of the SDK in use", f"{_ANTHROPIC}, resources"),
    "x-stainless-stream-helper": HeaderMeaning(Topic.CLIENT, "streaming helper of the SDK in use", _SEEN),
    "user-agent": HeaderMeaning(Topic.CLIENT, "calling program", "RFC 9110, 10.1.5"),
    "x-app": HeaderMeaning(Topic.CLIENT, "calling program", _SEEN),
    "x-title": HeaderMeaning(Topic.CLIENT, "calling program, at OpenRouter", "OpenRouter docs, app attribution"),
    "http-referer": HeaderMeaning(Topic.CLIENT, "site of the calling program, at OpenRouter", "OpenRouter docs"),
    "x-goog-api-client": HeaderMeaning(Topic.CLIENT, "SDK and its version, at Google", "Google Cloud docs"),
    "x-amz-user-agent": HeaderMeaning(Topic.CLIENT, "SDK and its version, at AWS", _SEEN),
    "anthropic-dangerous-direct-browser-access": HeaderMeaning(
        Topic.CLIENT, "the key is used in a browser", "Anthropic TypeScript SDK, README"
    ),
}  # fmt: skip

_STAINLESS: Final = HeaderMeaning(Topic.CLIENT, "a fact about the client's SDK", "SDKs made by Stainless")
_LIMIT: Final = regex.compile(r"(^|-)ratelimit(bysize)?(-|$)|^anthropic-priority-")
_LIMIT_MEANING: Final = HeaderMeaning(Topic.LIMIT, "a rate limit", "docs of the providers, rate limits")

BETA_HEADERS: Final = ("anthropic-beta", "openai-beta")
"""Headers with a comma-separated list of beta features."""

BETA_MEMBERS: Final = ("/betas", "/anthropic_beta")
"""Pointers of such lists in a body (Vertex and Bedrock have them there)."""


def meaning(name: str) -> HeaderMeaning | None:
    """Meaning of a header; None if unknown."""
    wanted = name.lower()
    if found := _KNOWN.get(wanted):
        return found
    if _LIMIT.search(wanted):
        return _LIMIT_MEANING
    return _STAINLESS if wanted.startswith("x-stainless-") else None


def betas(headers: Headers) -> tuple[tuple[str, str], ...]:
    """(header name as sent, one beta feature), in order; repeated headers are one list."""
    return tuple(
        (name, flag.strip())
        for name, value in headers
        if name.lower() in BETA_HEADERS
        for flag in value.split(",")
        if flag.strip()
    )
