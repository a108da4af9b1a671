"""Speech of the user that the server hears and commits, and its transcripts."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.protocols import SocketFact
from workbench.protocols.openai_realtime.session_members import Value, is_for_transcripts

_PREFIX = "conversation.item.input_audio_transcription."
_ENDS = (f"{_PREFIX}completed", f"{_PREFIX}failed")


_BOUNDS = ("input_audio_buffer.speech_stopped", "input_audio_buffer.committed", "input_audio_buffer.cleared")
_HASTE = 2.0
"""Seconds within which a transcript may still come."""

_LONG = 45.0
"""Seconds of speech without a pause: an utterance of a conversation is over long before."""


class CommittedAudio:
    """Items of audio that have no transcript yet, and speech that has begun.

    Attributes:
        is_left: the client closed the connection, and so waits for none.
    """

    def __init__(self) -> None:
        self.is_left = False
        self._committed_at = 0.0  # time of the last commit
        self._frames: dict[str, int] = {}  # item → frame that committed it
        self._speech: tuple[int, float] | None = None  # frame and time in which the user began to speak

    def read(self, number: int, kind: str, value: Value, seconds: float) -> None:
        """Note an event of the server, at a time, that begins, ends or commits speech, or ends its transcript."""
        if kind == "input_audio_buffer.speech_started":
            self._speech = (number, seconds)
        elif kind in _BOUNDS:
            self._speech = None
        if kind == "input_audio_buffer.committed":
            self._frames[str(value.get("item_id"))] = number
            self._committed_at = seconds
        elif kind in _ENDS:
            self._frames.pop(str(value.get("item_id")), None)

    def facts(self, session: Value, seconds: float) -> Iterator[SocketFact]:
        """Speech without an end, and audio without a transcript at the end of a session that only transcribes.

        Args:
            seconds: time of the newest message.
        """
        if self._speech and seconds - self._speech[1] > _LONG and not is_for_transcripts(session):
            number, start = self._speech
            text = (
                f"the server hears speech from message {number + 1} on, and after {seconds - start:.0f} s no end of it:"
            )
            text += " the audio has no silence, or its format is not that of the session"
            yield SocketFact("socket.no-response", text, (number,), is_of_client=False, is_of_end=True)
        if not self._frames or not is_for_transcripts(session):
            return
        item, number = next(reversed(self._frames.items()))
        if self.is_left and seconds - self._committed_at < _HASTE:
            text = f"the client closed the connection {seconds - self._committed_at:.1f} s after the server committed"
            text += f" audio as {item!r:.80} (message {number + 1}), before its transcript came"
            yield SocketFact("answer.abandoned", text, (number,), is_harmless=True, is_of_end=True)
        elif not self.is_left:
            text = (
                f"the server committed audio as {item!r:.80} (message {number + 1}), but sent no transcript before the"
            )
            text += " connection ended"
            yield SocketFact("socket.no-response", text, (number,), is_of_client=False, is_of_end=True)
