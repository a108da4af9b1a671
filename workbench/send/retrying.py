"""Retry policy: for 429, 5xx (529 too) and connections that broke before a response.

A 5xx whose error blames the request is not retried: llama.cpp answers arguments that are not JSON with a 500.
"""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import Final

from workbench import regex
from workbench.errors import WireError
from workbench.protocols import refusals
from workbench.wire import Headers, loads

FIRST_SECONDS = 0.5
MOST_SECONDS = 8.0
"""Backoff doubles from the first to the second value, as in the official SDKs."""

MOST_REQUESTED_SECONDS = 60.0
"""If a server requests a longer wait, the request is not retried and the user is told."""


_UNPARSED: Final = regex.compile(
    r"failed to parse (?:tool call arguments|messages|tools|tool_choice|request)\b", re.IGNORECASE
)


def is_retryable(status: int, headers: Headers) -> bool:
    """The refusal may be temporary; a server can deny that (``x-should-retry: false``)."""
    told = (headers.get("x-should-retry") or "").lower()
    return told != "false" and (status == 429 or status >= 500 or (told == "true" and status >= 400))


def blames_request(body: bytes) -> bool:
    """The error body blames the request, so that a retry would fail too.

    Either its type is ``invalid_request_error``, or it names a part of the request that could not be parsed. If a
    server could not parse its model's output (``Failed to parse input at pos 12``), a retry may succeed.
    """
    try:
        told = loads(body)
    except WireError:
        return False
    error = told.get("error") if isinstance(told, dict) else None
    kind, said = (error.get("type"), error.get("message")) if isinstance(error, dict) else (None, error)
    if kind == "invalid_request_error" or (isinstance(said, str) and _UNPARSED.match(said)):
        return True
    refusal = refusals.of_exchange(500, Headers(), body)
    return refusal is not None and refusal.by == "text" and refusal.kind.is_shown


def requested_wait(headers: Headers, now: float) -> float | None:
    """Seconds to wait from ``retry-after-ms`` or ``Retry-After`` (seconds or date); None if absent.

    Args:
        now: seconds since the epoch.
    """
    wait = refusals.told_wait(headers)
    if wait is not None:
        return wait
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after") or "").timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def backoff(attempt: int, random: float) -> float:
    """Seconds before the next attempt if the server requests no wait.

    Args:
        attempt: number of the failed attempt, from 1.
        random: 0 … 1: shortens the wait by up to a quarter, so that clients do not retry all at once.
    """
    return min(MOST_SECONDS, FIRST_SECONDS * 2.0 ** min(attempt - 1, 16)) * (1 - 0.25 * random)
