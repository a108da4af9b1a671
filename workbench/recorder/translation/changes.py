"""Changes made by a translation, as lines for people, counted by kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

CONVERSION, LOSS, REASONING, HANDLE, ID = "conversion", "loss", "reasoning", "handle", "id"
CORRECTION, MODEL, CALL, NOTE = "correction", "model", "text call", "note"
PASSED = "passed"

_MOST_LINES = 60
"""Lines of one exchange that are filed: an agent's history loses the same things over and over."""


class TranslationChange(NamedTuple):
    """One change. ``kind`` is one of the constants above, ``text`` describes it without the kind."""

    kind: str
    text: str

    @property
    def line(self) -> str:
        """The change as a line for people."""
        return f"{self.kind}: {self.text}"


def changes_note(changes: Iterable[TranslationChange]) -> str:
    """Note of an exchange with its changes, without repetitions; losses last, and cut."""
    distinct = sorted(dict.fromkeys(changes), key=lambda change: change.kind == LOSS)
    lines = [change.line for change in distinct[:_MOST_LINES]]
    omitted = len(distinct) - len(lines)
    return "; ".join([*lines, *([f"and {omitted} more"] if omitted else [])])
