"""Changes of a conversation or of a buffer that the client requested, and the server has not confirmed."""

from __future__ import annotations

from workbench.protocols import SocketFact
from workbench.protocols.openai_realtime.session_members import Value

_CONFIRMED = {
    "conversation.item.truncated": "conversation.item.truncate",
    "conversation.item.deleted": "conversation.item.delete",
    "conversation.item.retrieved": "conversation.item.retrieve",
    "input_audio_buffer.committed": "input_audio_buffer.commit",
    "input_audio_buffer.cleared": "input_audio_buffer.clear",
    "output_audio_buffer.cleared": "output_audio_buffer.clear",
}
"""Event of the server → the message that it confirms: an error before it, which names nothing else, refuses that."""

CHANGES = frozenset(_CONFIRMED.values())
"""Types of messages with a separate response of the server."""

_LATER = ("response.created", "session.updated", "conversation.item.added", "conversation.item.created")
"""Events that answer other messages: what was sent before those was accepted."""

_VERB = 6
"""Letters of a verb that its other forms have, too: truncate and truncated."""


class PendingChanges:
    """The last message of each type that no event of the server has confirmed."""

    def __init__(self) -> None:
        self._frames: dict[str, int] = {}

    def add(self, kind: str, number: int) -> None:
        """Note a message of the client."""
        self._frames.pop(kind, None)
        self._frames[kind] = number

    def confirm(self, kind: str) -> None:
        """Note an event of the server."""
        self._frames.pop(_CONFIRMED.get(kind, ""), None)
        if kind in _LATER:
            self._frames.clear()

    def take(self, error: Value) -> tuple[int, str] | None:
        """Remove the change that an error speaks of, by its verb; else the newest one: frame and type."""
        text = str(error.get("message")).lower()
        kinds = [kind for kind in self._frames if kind.rpartition(".")[2][:_VERB] in text] or [*self._frames]
        return (self._frames.pop(kinds[-1]), kinds[-1]) if kinds else None

    def refuse(self, number: int, error: Value, named: tuple[int, Value] | None) -> SocketFact | None:
        """Say which change an error refuses, in a message that requests no response; None if it is about another.

        Args:
            number: message with the error.
            named: frame of the message that the error names by its id, and that message.
        """
        change = self.take(error)
        if named and named[1].get("type") in CHANGES:
            change = (named[0], str(named[1].get("type")))
        if change is None or (named and named[0] != change[0]) or error.get("type") == "server_error":
            return None
        if str(error.get("param") or "").startswith(("session", "response", "item.")):
            return None
        text = f"the server refused {change[1]} (message {change[0] + 1}): {str(error.get('message'))!r:.200}"
        return SocketFact("socket.refused-message", text, (change[0], number))
