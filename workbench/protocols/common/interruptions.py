"""Responses in a row that speech of the user ended at once: often it is the model's own voice that the server hears."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.protocols.common.socket_facts import SocketFact

_ROW = 3
"""Responses in a row from which the fact is stated: a person seldom interrupts so often."""

_SOON = 3.0
"""Seconds from the beginning of a response to its interruption (AVA-AI-Voice-Agent-for-Asterisk issue 467: 1 to 2)."""


class Interruptions:
    """The newest responses of one connection that were interrupted soon, until one is not."""

    def __init__(self) -> None:
        self._row: list[int] = []
        self._facts: list[SocketFact] = []

    def add(self, number: int, seconds: float, *, is_interrupted: bool) -> None:
        """Take the end of a response.

        Args:
            number: message that ends it.
            seconds: time since it began.
            is_interrupted: speech of the user ended it.
        """
        self._row = [*self._row, number] if is_interrupted and seconds <= _SOON else []
        if len(self._row) == _ROW:
            text = f"{_ROW} responses in a row were interrupted within {_SOON:.0f} s (last: message {number + 1}): the"
            text += " server may hear the model's own voice (echo) or noise, or its turn detection is too sensitive"
            self._facts.append(SocketFact("retry.loop", text, tuple(self._row), is_harmless=True))
            self._row = []

    def facts(self) -> Iterator[SocketFact]:
        """The rows so far."""
        yield from self._facts
