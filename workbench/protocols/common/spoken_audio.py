"""Speech of a model as it arrives: whether it comes fast enough to be played, and whether its transcript is whole."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.protocols.common.socket_facts import SocketFact

_STALL = 3.0
"""Seconds without sound, in the middle of a response, behind the end of what has come (cookbook issue 1255)."""

_LONG = 10.0
"""Seconds of speech from which the length of its transcript tells anything."""

_FEW = 1.5
"""Characters a second below which a transcript lacks words; the slowest speech has more in every script."""


class SpokenAudio:
    """The audio of the response in progress, as a player would play it."""

    def __init__(self) -> None:
        self._until: float | None = None  # time until which what has come lasts
        self._seconds = 0.0
        self._letters = 0
        self._facts: list[SocketFact] = []

    def add(self, number: int, at: float | None, seconds: float) -> None:
        """Take a piece of audio, with the time of its message, if that is known."""
        if at is not None:
            if self._until is not None and at - self._until >= _STALL:
                text = (
                    f"the server sent no sound for {at - self._until:.0f} s in the middle of a response (before message"
                )
                text += f" {number + 1}): the user hears a pause"
                self._facts.append(SocketFact("socket.no-response", text, (number,), False, True))
            self._until = max(at, self._until or at) + seconds
        self._seconds += seconds

    def add_words(self, words: str) -> None:
        """Take a piece of the transcript."""
        self._letters += len(words.strip())

    def end(self, number: int, *, is_transcribed: bool) -> None:
        """Take the end of the response, or a call of it, behind which a pause is none of the server's.

        Args:
            is_transcribed: the server writes what the model says.
        """
        if is_transcribed and self._seconds >= _LONG and self._letters < self._seconds * _FEW:
            text = f"the response (message {number + 1}) has {self._seconds:.0f} s of audio, but its transcript only"
            text += f" {self._letters} characters: it ended early, or the audio contains no speech"
            self._facts.append(SocketFact("stream.truncated", text, (number,), False, True))
        self._until, self._seconds, self._letters = None, 0.0, 0

    def facts(self) -> Iterator[SocketFact]:
        """What has been found."""
        yield from self._facts
