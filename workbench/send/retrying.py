"""Whether and when a request is sent again: for 429, 5xx (529 too) and connections that broke before any answer.

A 5xx whose error says that the request is at fault is no refusal for now: llama.cpp answers arguments that are not JSON
with a 500.
"""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import Final

from workbench.errors import WireError
from workbench.protocols import refusals
from workbench.wire.exchange import Headers
from workbench.wire.jsontext import loads

FIRST_SECONDS = 0.5
MOST_SECONDS = 8.0
"""Backoff doubles from the one to the other, as in the official SDKs."""

MOST_TOLD_SECONDS = 60.0
"""A server that asks for a longer wait than this is not asked again: people are told instead."""


_UNPARSED: Final = re.compile(
    r"failed to parse (?:tool call arguments|messages|tools|tool_choice|request)\b", re.IGNORECASE
)


def is_for_now(status: int, headers: Headers) -> bool:
    """The refusal may be over soon; a server can say that it will not be (``x-should-retry: false``)."""
    told = (headers.get("x-should-retry") or "").lower()
    return told != "false" and (status == 429 or status >= 500 or (told == "true" and status >= 400))


def blames_request(body: bytes) -> bool:
    """An error body says that the request is at fault, so that it would be refused again.

    By the type ``invalid_request_error``, or by naming a part of the request that could not be parsed. That a server
    could not parse what its model said (``Failed to parse input at pos 12``) may go well the next time.
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


def told_wait(headers: Headers, now: float) -> float | None:
    """Seconds that the server asks to wait: ``retry-after-ms``, ``Retry-After`` as seconds or as a date; None for none.

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
    """Seconds before the next attempt where nobody says how long.

    Args:
        attempt: of the one that failed, from 1.
        random: 0 … 1: up to a quarter less, so that many clients do not come back at once.
    """
    return min(MOST_SECONDS, FIRST_SECONDS * 2.0 ** min(attempt - 1, 16)) * (1 - 0.25 * random)
