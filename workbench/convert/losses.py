"""What is lost, written down while a conversation is cut to fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from workbench.ir import JsonValue
from workbench.leaves import escape

LEFT_OUT = "left out"
_DEFAULTS = (
    ("status", "completed"),
    ("detail", "auto"),
    ("type", "custom_tool_call_output"),
    ("type", "message"),
    ("name", "document"),
)
"""What says no more than that it is there.

An item that is replayed is completed (Responses), and one that has a role is a message; "auto" is the detail of a
picture that says none (its API reference), the type of a result is that of the call it answers, and a document that has
to have a name is called one.
"""

_NUMBER = re.compile(r"\d+")


class Loss(NamedTuple):
    """One thing that the target cannot say.

    Attributes:
        pointer: where it stands in the body it was read from.
        what: what cannot be said, for people.
        instead: what was done ("left out", "moved into a user message behind the result" …).
    """

    pointer: str
    what: str
    instead: str


class Ledger:
    """Takes losses."""

    def __init__(self) -> None:
        self._losses: dict[Loss, None] = {}

    def lose(self, pointer: str, what: str, instead: str = LEFT_OUT) -> None:
        """Write down a loss."""
        self._losses[Loss(pointer, what, instead)] = None

    def lose_keys(self, pointer: str, extra: Mapping[str, JsonValue]) -> None:
        """Write down keys that have no place; what is null or empty says nothing."""
        for at, value in keys(extra, pointer) if extra else ():
            name = at.rpartition("/")[2]
            self.lose(at, f"the key {name!r:.80}" + (f" ({value!r:.60})" if isinstance(value, str) else ""))

    def losses(self) -> tuple[Loss, ...]:
        """All, by pointer; places in a list by their number."""
        return tuple(sorted(self._losses, key=lambda loss: _order(loss.pointer)))


def keys(extra: Mapping[str, JsonValue], pointer: str) -> Iterator[tuple[str, JsonValue]]:
    """(pointer, value) of every key that says something, objects opened."""
    for key, value in extra.items():
        at = f"{pointer}/{escape(key)}"
        if isinstance(value, Mapping):
            yield from keys(value, at)
        elif value is not None and value != [] and value != "" and (key, value) not in _DEFAULTS:
            yield at, value


def _order(pointer: str) -> list[tuple[int, str]]:
    return [
        (int(step), "") if _NUMBER.fullmatch(step) and len(step) < 19 else (-1, step) for step in pointer.split("/")
    ]
