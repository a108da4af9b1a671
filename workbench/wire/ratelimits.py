"""Reads rate limits from the header families of providers.

``anthropic-ratelimit-tokens-remaining`` (Anthropic, API keys), ``anthropic-ratelimit-unified-5h-utilization``
(Anthropic, subscriptions: the used fraction), ``x-ratelimit-remaining-tokens`` (OpenAI, Groq and others),
``x-ratelimit-remaining`` (OpenRouter), ``ratelimit-remaining`` (IETF draft). All headers of one kind make one
``Limit``.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from workbench import regex
from workbench.lazy_dataclass import dataclass
from workbench.wire.exchange import Headers

_ANTHROPIC: Final = regex.compile(
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
        spent = number(self.utilization)
        if spent is None:
            limit, left = number(self.limit), number(self.remaining)
            spent = 1 - left / limit if limit and left is not None else None
        return None if spent is None else min(1.0, max(0.0, spent))


def read(headers: Headers) -> tuple[Limit, ...]:
    """Limits of a response, in the order of their first header."""
    found: dict[str, Limit] = {}
    for name, value in headers:
        told = _kind_and_field(name.lower())
        if told:
            kind, field = told
            limit = found.setdefault(kind, Limit(kind))
            setattr(limit, field, getattr(limit, field) or value.strip())
            limit.names = (*limit.names, name)
    return tuple(found.values())


def _kind_and_field(name: str) -> tuple[str, str] | None:
    """(kind, field) of a header name."""
    if found := _ANTHROPIC.fullmatch(name):
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
