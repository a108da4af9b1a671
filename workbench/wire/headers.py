"""What the HTTP headers of model APIs mean: ids to quote, versions and betas, accounts, times, retries, clients.

The table holds names that were seen in recordings or are written and read by the official SDKs; a name that is not in
it means nothing here. Rate limits come in families of names: see ``workbench.wire.ratelimits``.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

from workbench.wire.exchange import Headers


class Topic(StrEnum):
    """What a header is about."""

    ID = "ids"
    VERSION = "version and betas"
    LIMIT = "rate limits"
    RETRY = "retries"
    TIME = "time"
    ACCOUNT = "account"
    CLIENT = "client"


class Meaning(NamedTuple):
    """What one header says.

    Attributes:
        words: what it is, in a few words.
        source: who says so.
    """

    topic: Topic
    words: str
    source: str


_ANTHROPIC: Final = "anthropic SDK 2.11.0"
_OPENAI: Final = "openai SDK 3.52"
_SEEN: Final = "seen in recorded traffic"

_KNOWN: Final[dict[str, Meaning]] = {
    "request-id": Meaning(Topic.ID, "id of the request at Anthropic", f"{_ANTHROPIC}, _exceptions"),
    "x-request-id": Meaning(Topic.ID, "id of the request", f"{_OPENAI}, _exceptions"),
    "x-client-request-id": Meaning(Topic.ID, "id that the client chose", "OpenAI docs, debugging requests"),
    "apim-request-id": Meaning(Topic.ID, "id of the request at Azure API Management", "Azure OpenAI docs"),
    "x-ms-request-id": Meaning(Topic.ID, "id of the request at Azure", "Azure REST docs"),
    "x-ms-client-request-id": Meaning(Topic.ID, "id that the client chose, at Azure", "Azure REST docs"),
    "x-amzn-requestid": Meaning(Topic.ID, "id of the request at AWS", _SEEN),
    "amz-sdk-invocation-id": Meaning(Topic.ID, "one id for all tries of one call", _SEEN),
    "mistral-correlation-id": Meaning(Topic.ID, "id of the request at Mistral", _SEEN),
    "traceparent": Meaning(Topic.ID, "id of the trace", "W3C Trace Context"),
    "cf-ray": Meaning(Topic.ID, "id of the request at Cloudflare, in front of the API", _SEEN),
    "idempotency-key": Meaning(Topic.ID, "one key for all tries of one request", f"{_ANTHROPIC}, _base_client"),
    "anthropic-version": Meaning(Topic.VERSION, "version of the API", f"{_ANTHROPIC}, _client"),
    "anthropic-beta": Meaning(Topic.VERSION, "beta features asked for", f"{_ANTHROPIC}, resources/beta"),
    "openai-version": Meaning(Topic.VERSION, "version of the API", _SEEN),
    "openai-beta": Meaning(Topic.VERSION, "beta features asked for", f"{_OPENAI}, resources/beta"),
    "anthropic-organization-id": Meaning(Topic.ACCOUNT, "organisation that is billed", _SEEN),
    "openai-organization": Meaning(Topic.ACCOUNT, "organisation that is billed", f"{_OPENAI}, _client"),
    "openai-project": Meaning(Topic.ACCOUNT, "project that is billed", f"{_OPENAI}, _client"),
    "x-goog-user-project": Meaning(Topic.ACCOUNT, "project that is billed", "Google Cloud docs"),
    "retry-after": Meaning(Topic.RETRY, "wait before the next try: seconds, or a date", "RFC 9110, 10.2.3"),
    "retry-after-ms": Meaning(
        Topic.RETRY, "wait before the next try, milliseconds; SDKs read it first", f"{_OPENAI}, _base_client"
    ),
    "x-should-retry": Meaning(
        Topic.RETRY, "whether to try again, whatever the status says", f"{_ANTHROPIC}, _base_client"
    ),
    "x-stainless-retry-count": Meaning(
        Topic.RETRY, "tries of this request before this one", f"{_ANTHROPIC}, _base_client"
    ),
    "amz-sdk-request": Meaning(Topic.RETRY, "which try this is, and how many there may be", _SEEN),
    "date": Meaning(Topic.TIME, "clock of the server", "RFC 9110, 6.6.1"),
    "openai-processing-ms": Meaning(Topic.TIME, "milliseconds that the server worked", _SEEN),
    "x-envoy-upstream-service-time": Meaning(Topic.TIME, "milliseconds until the first byte, behind the proxy", _SEEN),
    "server-timing": Meaning(Topic.TIME, "time that stages took, milliseconds", "W3C Server Timing"),
    "x-stainless-timeout": Meaning(
        Topic.CLIENT, "seconds the client waits in all", f"{_ANTHROPIC}, _base_client"
    ),
    "x-stainless-read-timeout": Meaning(
        Topic.CLIENT, "seconds the client waits for more", f"{_OPENAI}, _base_client"
    ),
    "x-stainless-lang": Meaning(Topic.CLIENT, "language of the SDK", f"{_OPENAI}, _base_client"),
    "x-stainless-package-version": Meaning(Topic.CLIENT, "version of the SDK", f"{_OPENAI}, _base_client"),
    "x-stainless-runtime": Meaning(Topic.CLIENT, "what the SDK runs in", f"{_OPENAI}, _base_client"),
    "x-stainless-runtime-version": Meaning(Topic.CLIENT, "version of that", f"{_OPENAI}, _base_client"),
    "x-stainless-os": Meaning(Topic.CLIENT, "system of the client", f"{_OPENAI}, _base_client"),
    "x-stainless-arch": Meaning(Topic.CLIENT, "processor of the client", f"{_OPENAI}, _base_client"),
    "x-stainless-async": Meaning(Topic.CLIENT, "asynchronous client, and its library", f"{_OPENAI}, _client"),
    "x-stainless-helper": Meaning(Topic.CLIENT, "helpers of the SDK in use", f"{_ANTHROPIC}, _base_client"),
    "x-stainless-helper-method": Meaning(Topic.CLIENT, "method of the SDK in use", f"{_ANTHROPIC}, resources"),
    "x-stainless-stream-helper": Meaning(Topic.CLIENT, "streaming helper of the SDK in use", _SEEN),
    "user-agent": Meaning(Topic.CLIENT, "program that asks", "RFC 9110, 10.1.5"),
    "x-app": Meaning(Topic.CLIENT, "program that asks", _SEEN),
    "x-title": Meaning(Topic.CLIENT, "program that asks, at OpenRouter", "OpenRouter docs, app attribution"),
    "http-referer": Meaning(Topic.CLIENT, "site of the program that asks, at OpenRouter", "OpenRouter docs"),
    "x-goog-api-client": Meaning(Topic.CLIENT, "SDK and its version, at Google", "Google Cloud docs"),
    "x-amz-user-agent": Meaning(Topic.CLIENT, "SDK and its version, at AWS", _SEEN),
    "anthropic-dangerous-direct-browser-access": Meaning(
        Topic.CLIENT, "the key is used in a browser", "Anthropic TypeScript SDK, README"
    ),
}  # fmt: skip

_STAINLESS: Final = Meaning(Topic.CLIENT, "a fact about the client's SDK", "SDKs made by Stainless")
_LIMIT: Final = re.compile(r"(^|-)ratelimit(bysize)?(-|$)|^anthropic-priority-")
_LIMIT_MEANING: Final = Meaning(Topic.LIMIT, "a rate limit", "docs of the providers, rate limits")

BETA_HEADERS: Final = ("anthropic-beta", "openai-beta")
"""Headers whose value is a list of beta features, separated by commas."""

BETA_MEMBERS: Final = ("/betas", "/anthropic_beta")
"""Pointers of such lists in a body (Vertex and Bedrock carry them there)."""


def meaning(name: str) -> Meaning | None:
    """What a header means, None for what is not known."""
    wanted = name.lower()
    if found := _KNOWN.get(wanted):
        return found
    if _LIMIT.search(wanted):
        return _LIMIT_MEANING
    return _STAINLESS if wanted.startswith("x-stainless-") else None


def betas(headers: Headers) -> tuple[tuple[str, str], ...]:
    """(header name as sent, one beta feature), in order; a list that is repeated is one list."""
    return tuple(
        (name, flag.strip())
        for name, value in headers
        if name.lower() in BETA_HEADERS
        for flag in value.split(",")
        if flag.strip()
    )
