"""Updates that the client sends for its session: which of them the server confirmed, and what of them it lost."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.protocols import SocketFact
from workbench.protocols.common.settings import LostSetting
from workbench.protocols.openai_realtime.session_members import (
    LATER,
    Value,
    ignored_settings,
    input_format,
    keeps_tools,
    lost_settings,
    tool_names,
    updated_session,
)
from workbench.wire import Exchange

_INTENT = "intent=transcription"
"""Parameter of an address that opens a session for transcripts (LocalAI pull request 6445)."""


class RealtimeUpdates:
    """The updates of one connection.

    Attributes:
        stated: what the client said of the session.
        stated_in: frame → what it said of the session.
    """

    def __init__(self) -> None:
        self.stated: Value = {}
        self.stated_in: dict[int, Value] = {}
        self._waiting: list[tuple[int, list[str]]] = []  # frame of each that is not confirmed, and the tools in it
        self._lost: list[tuple[int, LostSetting]] = []  # frame of an update, and what of it does not apply
        self._facts: list[SocketFact] = []

    def add(self, number: int, update: Value, *, has_audio: bool) -> None:
        """Note an update, and whether audio of the user was sent before it."""
        before, after = input_format(self.stated), input_format(update)
        if has_audio and (names := [name for name in after if before.get(name, after[name]) != after[name]]):
            was, then = (" ".join(str(stated[name]) for name in names) for stated in (before, after))
            text = f"message {number + 1} changes the format of the input from {was!r:.60} to {then!r:.60}, though"
            text += " audio was already sent: clients that forget the format of the session send noise from then on"
            self._facts.append(SocketFact("params.conflict", text, (number,), is_harmless=True))
        self.stated = updated_session(self.stated, update)
        self.stated_in[number] = update
        self._waiting.append((number, tool_names(update)))

    def confirm(self, session: Value) -> int | None:
        """Name the tools of the oldest update that the session, as the server has it, is without.

        Returns the frame of the update; None if there is none, or it has no tools.
        """
        if not self._waiting:
            return None
        number, wanted = self._waiting.pop(0)
        stated = [self.stated_in.get(each, {}) for each, _ in ((number, wanted), *self._waiting[:LATER])]
        self._lost += [(number, lost) for lost in lost_settings(stated, session)]
        held = {*tool_names(session), *(() if keeps_tools(wanted, stated[1:]) else wanted)}
        if names := [name for name in wanted if name not in held]:
            missing = f"{', '.join(map(repr, names)):.120}"
            text = f"the session does not contain {missing}, which message {number + 1} declares"
            self._facts.append(SocketFact("socket.tools-dropped", text, (number,)))
        return number if wanted else None

    def refuse(self) -> None:
        """The server refused the oldest update."""
        if self._waiting:
            self._waiting.pop(0)

    def facts(
        self, handshake: Exchange, last_event: int, last_received: int, session: Value, *, is_silent: bool
    ) -> Iterator[SocketFact]:
        """What was lost of updates, and those that no session.updated confirms.

        Args:
            last_event: frame of the server's last event about something else than the session; -1 for none.
            last_received: frame of the server's last event about anything; -1 for none.
            session: as the server has it; since the beta it has a type, without which updates are ignored or refused.
            is_silent: the client sent nothing.
        """
        yield from self._facts
        url = handshake.request.url if handshake.request else ""
        if (
            _INTENT in url
            and is_silent  # a client that goes on took the session as it is
            and session.get("object") == "realtime.session"
            and session.get("type") != "transcription"
        ):
            text = "the address asks for transcripts, but the server announces a session for speech (session.created):"
            text += " clients wait for transcription_session.created, or for a session of type transcription"
            yield SocketFact("stream.client-misses", text, (), is_of_client=False)
        yield from ignored_settings(self._lost, handshake)
        for number, names in self._waiting:
            text = f"no session.updated confirms message {number + 1}"
            if session.get("type") and "type" not in self.stated_in.get(number, session) and number < last_event:
                yield SocketFact(
                    "params.missing", f"{text}: it has no session.type, which each update needs", (number,)
                )
            if names and number < last_event:
                text += f", which declares {', '.join(names):.120}"
                yield SocketFact("socket.tools-dropped", text, (number,), is_harmless=True, is_of_end=True)
            elif number > last_received:
                text += ": the server sent nothing after it"
                yield SocketFact("socket.no-response", text, (number,), is_of_client=False, is_of_end=True)
