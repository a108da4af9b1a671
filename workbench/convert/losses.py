"""Report of what a conversion could not carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from workbench import regex
from workbench.ir import JsonValue
from workbench.provenance import escape

LEFT_OUT = "left out"
_DEFAULTS = (
    ("status", "completed"),
    ("detail", "auto"),
    ("type", "custom_tool_call_output"),
    ("type", "message"),
    ("name", "document"),
)
"""Key and value pairs that carry no information, so that dropping them is no loss.

A replayed item is completed (Responses), and an item with a role is a message; "auto" is the default detail of a
picture (its API reference), the type of a result follows from the call it answers, and "document" is the name given to
a document that must have one.
"""

_NUMBER = regex.compile(r"\d+")


class Loss(NamedTuple):
    """One thing that the target cannot express.

    Attributes:
        pointer: JSON pointer into the body it was read from.
        what: what is lost, for people.
        instead: what was done ("left out", "moved into a user message after the tool results" …).
    """

    pointer: str
    what: str
    instead: str


class LossReport:
    """Collects losses; each one once."""

    def __init__(self) -> None:
        self._losses: dict[Loss, None] = {}

    def lose(self, pointer: str, what: str, instead: str = LEFT_OUT) -> None:
        """Add a loss."""
        self._losses[Loss(pointer, what, instead)] = None

    def lose_keys(self, pointer: str, extra: Mapping[str, JsonValue]) -> None:
        """Add a loss for each key that the target cannot represent; null and empty values are no loss."""
        for at, value in keys(extra, pointer) if extra else ():
            name = at.rpartition("/")[2]
            self.lose(at, f"the key {name!r:.80}" + (f" ({value!r:.60})" if isinstance(value, str) else ""))

    def losses(self) -> tuple[Loss, ...]:
        """All losses in pointer order; list indices are ordered as numbers."""
        return tuple(sorted(self._losses, key=lambda loss: _order(loss.pointer)))


def keys(extra: Mapping[str, JsonValue], pointer: str) -> Iterator[tuple[str, JsonValue]]:
    """Yield (pointer, value) for each key with information; objects are descended into."""
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
