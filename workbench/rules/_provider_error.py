"""An error that came in place of an answer, in words: of what kind it is, and what is known about its text."""

from __future__ import annotations

from collections.abc import Container

from workbench.ir import ApiError
from workbench.rules._errortext import explain
from workbench.rules._words import quote

MOST_DETAILS = 3

_KINDS: tuple[tuple[str, Container[int], tuple[str, ...]], ...] = (
    ("a rate limit is reached", (429,), ("rate_limit", "too_many_requests", "quota", "resource_exhausted")),
    ("the key is not accepted for this", (401, 403), ("authentication", "permission")),
    ("the server is overloaded", (503, 529), ("overloaded",)),
    ("the server failed", range(500, 600), ("server_error", "internal", "api_error")),
    ("the request is refused", range(400, 500), ("invalid_request", "bad_request", "invalid_argument")),
)
"""What happened, the statuses that say so, and the words of an error's type or code that do."""


def kind(error: ApiError, status: int = 0) -> str:
    """What happened, by the HTTP status and by the type and code of the error; "" where neither tells."""
    if status < 400 and error.code and error.code.isdecimal() and len(error.code) == 3:
        status = int(error.code)  # relays answer 200 and write the upstream's status into the error
    words = f"{error.type} {error.code}".lower()
    found = (said for said, statuses, marks in _KINDS if status in statuses or any(mark in words for mark in marks))
    return next(found, "")


def evidence(error: ApiError) -> str:
    """The error as it came: its code, or else its type, its message, and the texts beside it."""
    name = error.code if error.code and not error.code.isdecimal() else error.type
    said = quote(error.message.strip()) if error.message.strip() else "no message"
    beside = (f"{quote(key, 60)}: {quote(text)}" for key, text in list(error.details.items())[:MOST_DETAILS])
    return "; ".join((f"{quote(name, 60)}: {said}" if name else said, *beside))


def known_as(error: ApiError, provider: str) -> str:
    """The rule that the error's text is known for, to be appended to a sentence; "" where it is not known.

    Args:
        provider: name of the contract, whose texts come first.
    """
    matches = explain(error.message)
    own = [m for m in matches if m.provider.partition(":")[0] == provider]
    return next((f"; {m.provider} says this for {m.rule or quote(m.when)}" for m in own or matches), "")
