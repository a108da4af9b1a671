"""An error that came in place of an answer, in words: what it says, and what is known about its text."""

from __future__ import annotations

from workbench.contracts import find_matches
from workbench.ir import ApiError
from workbench.rules.wording import quote

MOST_DETAILS = 3


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
    matches = find_matches(error.message)
    own = [m for m in matches if m.provider.partition(":")[0] == provider]
    return next((f"; {m.provider} uses this text for {m.rule or quote(m.when)}" for m in own or matches), "")
