"""What both sides of a Realtime connection say, apart from its turns: sound, calls, repeats, counts, mixed speech."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from workbench.lazy_dataclass import dataclass
from workbench.protocols import SocketFact
from workbench.protocols.common.voice_facts import VoiceFacts
from workbench.protocols.openai_realtime import audio
from workbench.protocols.openai_realtime.beside_responses import is_interrupted
from workbench.protocols.openai_realtime.session_members import (
    Value,
    interrupts_by_itself,
    member_object,
    spoken_text,
    waits_for_silence,
)

_ABOUT_SESSION = ("session.", "transcription_session.", "conversation.created", "error", "rate_limits.updated")
"""Beginnings of the events that say nothing of what the user does."""

_BOUNDS = ("input_audio_buffer.speech_stopped", "input_audio_buffer.committed", "input_audio_buffer.cleared")
_CHANGED = ("conversation.item.deleted", "conversation.item.truncated", "session.updated")
_OF_SESSION = ("session.created", "session.updated")
_TRANSCRIPTS = ("response.output_audio_transcript.delta", "response.audio_transcript.delta")
_MUTED = 3.0
"""Seconds without sound, in the middle of speech, in which a server waits for silence that it does not hear."""

_LATE = 1.0
"""Seconds after which a cancellation has arrived."""


@dataclass(slots=True)
class _RunningResponse:
    """A response in progress.

    Attributes:
        at: when it began.
        cancelled: message and time of its cancellation by the client; None for none.
        has_sound: a piece of its audio came.
        interrupted: message and time in which the user began to speak over it; None for none.
    """

    at: float | None
    cancelled: tuple[int, float | None] | None = None
    has_sound: bool = False
    interrupted: tuple[int, float | None] | None = None


class RealtimeTalk:
    """One connection."""

    def __init__(self) -> None:
        self._voice = VoiceFacts()
        self._open: dict[str, _RunningResponse] = {}
        self._sounding = ""  # response of the last piece of audio
        self._is_apart = False  # the next response has a context of its own
        self._speech: int | None = None  # message that says that the user began to speak
        self._last_sound = 0.0
        self._session: Value = {}  # as the server stated it last
        self._facts: list[SocketFact] = []

    def take_sent(self, number: int, at: float | None, value: Value, session: Value) -> None:
        """Take a message of the client, with its time, if that is known, and the session as it was before it."""
        kind = value.get("type")
        if kind == "input_audio_buffer.append" and at is not None:
            self._last_sound = at
            self._voice.sound.add(number, at, audio.decode_piece(value.get("audio")), audio.input_sound(session))
        elif kind == "conversation.item.create":
            item = member_object(value, "item")
            self._voice.repeats.add_input()
            if item.get("type") == "function_call_output":
                quiet = (at or 0.0) - self._last_sound if self._last_sound else 0.0
                self._voice.calls.answer([str(item.get("call_id"))], number, at or 0.0, quiet)
        elif kind in ("session.update", "response.create"):
            members = member_object(value, "session" if kind == "session.update" else "response")
            if any(name in members for name in ("instructions", "input", "prompt")):
                self._voice.repeats.add_input()
            self._is_apart |= "input" in members or members.get("conversation") == "none"
        elif kind == "response.cancel":
            for name, response in self._open.items():
                if value.get("response_id") in (None, name):
                    response.cancelled = response.cancelled or (number, at)

    def take_received(self, number: int, at: float | None, kind: str, value: Value) -> None:
        """Take an event of the server, with its time, if that is known."""
        if not kind.startswith(_ABOUT_SESSION):
            self._voice.sound.react()
        response = member_object(value, "response")
        name = str(response.get("id") or value.get("response_id") or "")
        if kind == "response.created":
            self._open[name] = _RunningResponse(at)
        elif kind in audio.PIECES and name in self._open:
            self._take_sound(number, name)
            self._voice.speech.add(number, at, self._seconds_of(value))
        elif kind in _TRANSCRIPTS:
            self._voice.speech.add_words(str(value.get("delta")))
        elif kind in _OF_SESSION:
            self._session = member_object(value, "session")
        elif kind == "response.done":
            self._end(number, at, response, self._open.pop(name, _RunningResponse(None)))
        elif kind == "input_audio_buffer.speech_started":
            self._speech = number
            for running in self._open.values():
                running.interrupted = running.interrupted or ((number, at) if running.has_sound else None)
        elif kind in _BOUNDS:
            self._speech = None
            self._voice.repeats.add_input()
        if kind in _CHANGED:
            self._voice.counts.reset()

    def _seconds_of(self, value: Value) -> float:
        """Seconds of a piece of audio."""
        return audio.seconds_of(self._session, audio.size_of(value.get("delta"))) or 0.0

    def _take_sound(self, number: int, name: str) -> None:
        """Note audio of a response after that of one which began later: players mix them (hybridclaw 1503)."""
        response, other = self._open[name], self._sounding
        if response.has_sound and other in self._open and other != name:
            text = (
                f"audio of the responses {other!r:.60} and {name!r:.60} comes by turns (message {number + 1}): clients"
            )
            text += " that play pieces as they come mix two responses"
            self._facts.append(SocketFact("socket.two-responses", text, (number,), False, True))
        response.has_sound = True
        self._sounding = name

    def _end(self, number: int, at: float | None, response: Value, running: _RunningResponse) -> None:
        """Take the end of a response."""
        is_apart = self._is_apart or response.get("conversation_id", "") is None
        seconds = inf if running.at is None or at is None else at - running.at
        self._voice.speech.end(number, is_transcribed=True)
        self._voice.interruptions.add(number, seconds, is_interrupted=is_interrupted(response))
        if response.get("status") == "completed":
            sent, since = running.cancelled or (number, at)
            if at is not None and since is not None and at - since >= _LATE:
                text = f"the response continues to its end (message {number + 1}), {at - since:.1f} s after message"
                text += f" {sent + 1} cancelled it"
                self._facts.append(SocketFact("params.ignored", text, (sent, number), False, True))
            sent, since = running.interrupted or (number, at)
            is_late = at is not None and since is not None and at - since >= _LATE
            if is_late and not is_apart and interrupts_by_itself(self._session):
                text = f"the user talks during the response (message {sent + 1}), and it continues to its end (message"
                text += f" {number + 1}), though the session has interrupt_response"
                self._facts.append(SocketFact("params.ignored", text, (sent, number), False, True))
            self._take_output(number, at or 0.0, response)
            if not is_apart:
                self._voice.repeats.add(number, spoken_text(response))
        if not is_apart:
            self._voice.counts.add(number, {"input": member_object(response, "usage").get("input_tokens")})
        self._is_apart = False

    def _take_output(self, number: int, at: float, response: Value) -> None:
        output = response.get("output")
        for item in output if isinstance(output, list) else ():
            if isinstance(item, dict) and item.get("type") == "function_call":
                self._voice.calls.add(str(item.get("call_id")), str(item.get("name")), number, at)

    def facts(self, at: float, session: Value) -> Iterator[SocketFact]:
        """What has been found.

        Args:
            at: time of the newest message.
        """
        yield from self._facts
        yield from self._voice.facts(at, is_heard_by_itself=waits_for_silence(session))
        if self._speech is not None and self._last_sound and at - self._last_sound >= _MUTED:
            text = f"the server hears speech (message {self._speech + 1}), and the client stopped sending sound: the"
            text += " server waits for silence after it, which has to be sent, too"
            yield SocketFact("socket.unused-result", text, (self._speech,), is_of_end=True)
