"""Audio of the user that the server has committed, and its transcripts."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.protocols import SocketFact
from workbench.protocols.openai_realtime.session_members import Value, is_for_transcripts

_PREFIX = "conversation.item.input_audio_transcription."
_ENDS = (f"{_PREFIX}completed", f"{_PREFIX}failed")


class CommittedAudio:
    """Items of audio that have no transcript yet.

    Attributes:
        is_left: the client closed the connection, and so waits for none.
    """

    def __init__(self) -> None:
        self.is_left = False
        self._frames: dict[str, int] = {}  # item → frame that committed it

    def read(self, number: int, kind: str, value: Value) -> None:
        """Note an event of the server that commits audio, or ends its transcript."""
        if kind == "input_audio_buffer.committed":
            self._frames[str(value.get("item_id"))] = number
        elif kind in _ENDS:
            self._frames.pop(str(value.get("item_id")), None)

    def facts(self, session: Value) -> Iterator[SocketFact]:
        """Audio without a transcript at the end of a session that only transcribes."""
        if self._frames and is_for_transcripts(session) and not self.is_left:
            item, number = next(reversed(self._frames.items()))
            text = (
                f"the server committed audio as {item!r:.80} (message {number + 1}), but sent no transcript before the"
            )
            text += " connection ended"
            yield SocketFact("socket.no-response", text, (number,), is_of_client=False, is_of_end=True)
