"""Meaning of the HTTP headers of model APIs: request ids, versions and betas, accounts, times, retries, clients.

The table has names seen in recordings or used by the official SDKs; other names have no meaning here. Rate limits come
in families of names.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Final

from workbench import regex
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple
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
    "request-id": HeaderMeaning(Topic.ID, "Anthropic request id", f"{_ANTHROPIC}, _exceptions"),
    "x-request-id": HeaderMeaning(Topic.ID, "request id", f"{_OPENAI}, _exceptions"),
    "x-client-request-id": HeaderMeaning(Topic.ID, "id chosen by the client", "OpenAI docs, debugging requests"),
    "apim-request-id": HeaderMeaning(Topic.ID, "Azure API Management request id", "Azure OpenAI docs"),
    "x-ms-request-id": HeaderMeaning(Topic.ID, "Azure request id", "Azure REST docs"),
    "x-ms-client-request-id": HeaderMeaning(Topic.ID, "id chosen by the client (Azure)", "Azure REST docs"),
    "x-amzn-requestid": HeaderMeaning(Topic.ID, "AWS request id", _SEEN),
    "amz-sdk-invocation-id": HeaderMeaning(Topic.ID, "id that is the same for all attempts of one call", _SEEN),
    "mistral-correlation-id": HeaderMeaning(Topic.ID, "Mistral request id", _SEEN),
    "traceparent": HeaderMeaning(Topic.ID, "trace id", "W3C Trace Context"),
    "cf-ray": HeaderMeaning(Topic.ID, "Cloudflare request id", _SEEN),
    "idempotency-key": HeaderMeaning(Topic.ID, "key that is the same for all attempts", f"{_ANTHROPIC}, _base_client"),
    "anthropic-version": HeaderMeaning(Topic.VERSION, "API version", f"{_ANTHROPIC}, _client"),
    "anthropic-beta": HeaderMeaning(Topic.VERSION, "requested beta features", f"{_ANTHROPIC}, resources/beta"),
    "openai-version": HeaderMeaning(Topic.VERSION, "API version", _SEEN),
    "openai-beta": HeaderMeaning(Topic.VERSION, "requested beta features", f"{_OPENAI}, resources/beta"),
    "anthropic-organization-id": HeaderMeaning(Topic.ACCOUNT, "billed organisation", _SEEN),
    "openai-organization": HeaderMeaning(Topic.ACCOUNT, "billed organisation", f"{_OPENAI}, _client"),
    "openai-project": HeaderMeaning(Topic.ACCOUNT, "billed project", f"{_OPENAI}, _client"),
    "x-goog-user-project": HeaderMeaning(Topic.ACCOUNT, "billed project", "Google Cloud docs"),
    "retry-after": HeaderMeaning(Topic.RETRY, "wait before the next attempt: seconds or a date", "RFC 9110, 10.2.3"),
    "retry-after-ms": HeaderMeaning(
        Topic.RETRY,
        "wait time before the next attempt, in milliseconds; SDKs use this header first",
        f"{_OPENAI}, _base_client",
    ),
    "x-should-retry": HeaderMeaning(
        Topic.RETRY, "whether to retry, regardless of the status", f"{_ANTHROPIC}, _base_client"
    ),
    "x-stainless-retry-count": HeaderMeaning(
        Topic.RETRY, "number of earlier attempts of this request", f"{_ANTHROPIC}, _base_client"
    ),
    "amz-sdk-request": HeaderMeaning(Topic.RETRY, "number of this attempt, and the maximum", _SEEN),
    "date": HeaderMeaning(Topic.TIME, "server time", "RFC 9110, 6.6.1"),
    "openai-processing-ms": HeaderMeaning(Topic.TIME, "server processing time, milliseconds", _SEEN),
    "x-envoy-upstream-service-time": HeaderMeaning(Topic.TIME, "milliseconds until the first byte", _SEEN),
    "server-timing": HeaderMeaning(Topic.TIME, "duration of stages, milliseconds", "W3C Server Timing"),
    "x-stainless-timeout": HeaderMeaning(
        Topic.CLIENT, "client's total timeout, seconds", f"{_ANTHROPIC}, _base_client"
    ),
    "x-stainless-read-timeout": HeaderMeaning(
        Topic.CLIENT, "client's read timeout, seconds", f"{_OPENAI}, _base_client"
    ),
    "x-stainless-lang": HeaderMeaning(Topic.CLIENT, "SDK language", f"{_OPENAI}, _base_client"),
    "x-stainless-package-version": HeaderMeaning(Topic.CLIENT, "SDK version", f"{_OPENAI}, _base_client"),
    "x-stainless-runtime": HeaderMeaning(Topic.CLIENT, "SDK runtime", f"{_OPENAI}, _base_client"),
    "x-stainless-runtime-version": HeaderMeaning(Topic.CLIENT, "runtime version", f"{_OPENAI}, _base_client"),
    "x-stainless-os": HeaderMeaning(Topic.CLIENT, "client operating system", f"{_OPENAI}, _base_client"),
    "x-stainless-arch": HeaderMeaning(Topic.CLIENT, "client processor architecture", f"{_OPENAI}, _base_client"),
    "x-stainless-async": HeaderMeaning(Topic.CLIENT, "asynchronous client, and its library", f"{_OPENAI}, _client"),
    "x-stainless-helper": HeaderMeaning(Topic.CLIENT, "SDK helpers in use", f"{_ANTHROPIC}, _base_client"),
    "x-stainless-helper-method": HeaderMeaning(Topic.CLIENT, "SDK method in use", f"{_ANTHROPIC}, resources"),
    "x-stainless-stream-helper": HeaderMeaning(Topic.CLIENT, "SDK streaming helper in use", _SEEN),
    "user-agent": HeaderMeaning(Topic.CLIENT, "calling program", "RFC 9110, 10.1.5"),
    "x-app": HeaderMeaning(Topic.CLIENT, "calling program", _SEEN),
    "x-title": HeaderMeaning(Topic.CLIENT, "calling program (OpenRouter)", "OpenRouter docs, app attribution"),
    "http-referer": HeaderMeaning(Topic.CLIENT, "site of the calling program (OpenRouter)", "OpenRouter docs"),
    "x-goog-api-client": HeaderMeaning(Topic.CLIENT, "SDK and its version (Google)", "Google Cloud docs"),
    "x-amz-user-agent": HeaderMeaning(Topic.CLIENT, "SDK and its version (AWS)", _SEEN),
    "anthropic-dangerous-direct-browser-access": HeaderMeaning(
        Topic.CLIENT, "the API key is used in a browser", "Anthropic TypeScript SDK, README"
    ),
}  # fmt: skip

_STAINLESS: Final = HeaderMeaning(Topic.CLIENT, "information about the client's SDK", "SDKs made by Stainless")
_LIMIT: Final = regex.compile(r"(^|-)ratelimit(bysize)?(-|$)|^anthropic-priority-")
_LIMIT_MEANING: Final = HeaderMeaning(Topic.LIMIT, "a rate limit", "provider docs, rate limits")

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


_ANTHROPIC_LIMIT: Final = regex.compile(
    r"anthropic-(?:ratelimit-|(priority)-)(?:(.+)-)?(limit|remaining|reset|utilization|status)"
)
_COMMON: Final = regex.compile(r"(?:x-)?ratelimit(bysize)?-(limit|remaining|reset)(?:-(.+))?")
_SPAN: Final = regex.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_NUMBER: Final = regex.compile(r"\d{1,15}(?:\.\d{1,9})?", re.ASCII)
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_EPOCH: Final = 1_000_000_000
"""A larger number is a time since 1970, not a wait: 1,000,000,000 seconds are 31 years."""
_EPOCH_MS: Final = 1_000_000_000_000


@dataclass(slots=True)
class Limit:
    """One rate limit; texts as sent, empty if absent.

    Attributes:
        kind: counted unit: ``requests``, ``input-tokens``, ``unified-5h`` …
        utilization: used fraction, as text.
        names: the headers it was read from, as sent.
    """

    kind: str
    limit: str = ""
    remaining: str = ""
    reset: str = ""
    utilization: str = ""
    status: str = ""
    names: tuple[str, ...] = ()

    @property
    def used(self) -> float | None:
        """Used fraction from 0 to 1; None if unknown."""
        share = number(self.utilization)
        if share is None:
            limit, remaining = number(self.limit), number(self.remaining)
            share = 1 - remaining / limit if limit and remaining is not None else None
        return None if share is None else min(1.0, max(0.0, share))


def read(headers: Headers) -> tuple[Limit, ...]:
    """Limits of a response, in the order of their first header."""
    found: dict[str, Limit] = {}
    for name, value in headers:
        kind_and_field = _kind_and_field(name.lower())
        if kind_and_field:
            kind, field = kind_and_field
            limit = found.setdefault(kind, Limit(kind))
            setattr(limit, field, getattr(limit, field) or value.strip())
            limit.names = (*limit.names, name)
    return tuple(found.values())


def _kind_and_field(name: str) -> tuple[str, str] | None:
    """(kind, field) of a header name."""
    if found := _ANTHROPIC_LIMIT.fullmatch(name):
        kind = "-".join(part for part in found.group(1, 2) if part)
        return kind or "requests", found[3]
    if found := _COMMON.fullmatch(name):
        kind = "-".join(part for part in ("size" if found[1] else "", found[3] or "") if part)
        return kind or "requests", found[2]
    return None


def number(text: str) -> float | None:
    """A plain number; None for other texts."""
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def wait(value: str, now: float | None) -> float | None:
    """Seconds until a reset or retry; None if unknown.

    Args:
        value: seconds, a duration (``6m0s``, ``12ms``), seconds or milliseconds since 1970, an RFC 3339 or HTTP date.
        now: time of the response in seconds since 1970, for dates.
    """
    text = value.strip()
    plain = number(text)
    if plain is not None and plain < _EPOCH:
        return plain
    if _SPAN.match(text) and not _SPAN.sub("", text):
        return sum(float(amount) * _SECONDS[unit] for amount, unit in _SPAN.findall(text))
    if plain is not None:
        at: float | None = plain / 1000 if plain >= _EPOCH_MS else plain
    else:
        at = moment(text)
    return max(0.0, at - now) if at is not None and now is not None else None


def moment(text: str) -> float | None:
    """Seconds since 1970 of an RFC 3339 or HTTP date; None for other texts."""
    if len(text) > 64:
        return None
    try:
        found = datetime.fromisoformat(text) if text[:4].isdigit() else parsedate_to_datetime(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
