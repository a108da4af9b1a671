"""Responses that repeat the one before them, though nobody text anything in between."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.protocols.common.socket_facts import SocketFact

_SENTENCE = 4
"""Words from which a text is one that is not text twice by chance."""


class Repeats:
    """The last response of one connection, and how often it was repeated (google-gemini cookbook issue 952)."""

    def __init__(self) -> None:
        self._last = ""
        self._row: list[int] = []
        self._facts: list[SocketFact] = []

    def add_input(self) -> None:
        """Note that the user, a tool or the client said something that may be answered so again."""
        self._last, self._row = "", []

    def add(self, number: int, words: str) -> None:
        """Take a complete response, which ends in a message."""
        sentence = " ".join(words.split())
        if not sentence:
            return
        if sentence == self._last and len(sentence.split()) >= _SENTENCE:
            if len(self._row) == 1:
                text = f"the response in message {number + 1} repeats the one in message {self._row[0] + 1},"
                text += f" {sentence[:80]!r}, without any input in between"
                frames = (self._row[0], number)
                self._facts.append(SocketFact("retry.loop", text, frames, is_of_client=False, is_harmless=True))
            self._row.append(number)
        else:
            self._last, self._row = sentence, [number]

    def facts(self) -> Iterator[SocketFact]:
        """The repeats so far."""
        yield from self._facts
