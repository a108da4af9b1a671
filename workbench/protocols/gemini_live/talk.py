"""What both sides of a Live connection say, apart from its turns: sound, calls, repeats, counts, interruptions.

The server counts the tokens of the whole context for each turn (``usageMetadata``), also by modality.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Iterable, Iterator

from workbench import regex
from workbench.ir import JsonValue
from workbench.protocols import SocketFact
from workbench.protocols.common.sent_sound import SoundFormat
from workbench.protocols.common.voice_facts import VoiceFacts
from workbench.protocols.shapes.contents.nodes import member

Value = dict[str, JsonValue]

_PCM = regex.compile(r"^audio/(?:pcm|l16)\b(?:.*?\brate=(\d{1,6}))?")
_RATE = 16_000
"""Samples a second of the user's sound where its type states none (google-genai SDK 3.6, types.py)."""


_MODELS_RATE = 24_000
"""Samples a second of the model's sound where its type states none."""

_LEAST_OF_PICTURE = 16
"""Tokens of the smallest picture; 258 at the usual resolution (ai.google.dev, tokens), 3 for one that was not read
(aiope issue 127)."""

_HASTE = 2.0
"""Seconds within which a server may still transcribe the last sound (gemini-cli issue 25495)."""

_LONG = 45.0
"""Seconds of speech without a pause: an utterance of a conversation is over long before."""

_ABOUT_SPEECH = ("serverContent", "toolCall", "toolCallCancellation", "voiceActivity", "voiceActivityDetectionSignal")
"""Messages with which the server reacts to what it hears, or speaks."""


def decode_base64(text: JsonValue) -> bytes:
    """A piece of sound or of a picture; empty for what is no base64."""
    try:
        return base64.b64decode(text) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        return b""


def is_ended_by_client(setup: Value) -> bool:
    """The client has to say when the user stops speaking."""
    detection = member(member(setup, "realtimeInputConfig"), "automaticActivityDetection")
    return member(detection, "disabled") is True


class LiveTalk:
    """One connection."""

    def __init__(self) -> None:
        self._voice = VoiceFacts()
        self._hearing: tuple[int, float, float] | None = None  # message and time of the user's first words, of the last
        self._is_spoken = self._is_written = False  # what the model says in this turn
        self._pictures = 0
        self._ended_at: tuple[int, float] | None = None  # message and time of the end of the input, until an answer
        self._last_sound = 0.0
        self._facts: list[SocketFact] = []

    def take_input(self) -> None:
        """Note content of the client, or results."""
        self._voice.repeats.add_input()

    def take_input_end(self, number: int, at: float) -> None:
        """Note that the user has stopped speaking, as the client says."""
        self._ended_at = (number, at)

    def take_leave(self, number: int, at: float) -> None:
        """Note that the client closes the connection: it should wait for what the server makes of the last sound."""
        if self._ended_at and at - self._ended_at[1] < _HASTE:
            text = (
                f"the client closed the connection {at - self._ended_at[1]:.1f} s after the end of the input (message"
            )
            text += f" {self._ended_at[0] + 1}), before the server had said anything about it"
            self._facts.append(SocketFact("answer.abandoned", text, (self._ended_at[0], number), is_harmless=True))

    def take_sound(self, number: int, at: float | None, blob: Value, setup: Value) -> int:
        """Take a piece of sound or of a picture, with its time if that is known; returns its bytes."""
        data, kind = decode_base64(blob.get("data")), str(member(blob, "mimeType") or "")
        found = _PCM.search(kind)
        self._pictures += kind.startswith("image/")
        if at is not None and kind.startswith("audio/"):
            self._last_sound = at
            form = SoundFormat(2, int(found[1] or 0) or _RATE) if found else None
            self._voice.sound.add(number, at, data, form)
        if member(setup, "inputAudioTranscription") is None:
            self._voice.repeats.add_input()  # whether the user spoke is not known
        return len(data)

    def take_received(self, number: int, at: float, value: Value, setup: Value) -> None:
        """Take a message of the server, with its time."""
        content, usage = member(value, "serverContent"), member(value, "usageMetadata")
        if any(member(value, key) is not None for key in _ABOUT_SPEECH):
            self._voice.sound.react()
            self._ended_at = None
        if member(content, "inputTranscription") is not None:
            self._voice.repeats.add_input()
            self._hearing = (*(self._hearing or (number, at))[:2], at)
        if member(content, "modelTurn") is not None or member(value, "toolCall") is not None:
            self._hearing = None
        self._note_kind(number, at, content)
        self._voice.speech.add_words(str(member(member(content, "outputTranscription"), "text") or ""))
        if member(value, "toolCall") is not None or member(content, "interrupted") is True:
            self._voice.speech.end(number, is_transcribed=False)
        if member(content, "turnComplete") is True:
            self._end(number, content, usage, setup)

    def _note_kind(self, number: int, at: float, content: JsonValue) -> None:
        """Note whether the model speaks or writes, and how long what it says lasts."""
        parts = member(member(content, "modelTurn"), "parts")
        for part in parts if isinstance(parts, list) else ():
            blob = member(part, "inlineData")
            self._is_spoken |= blob is not None
            if rate := _PCM.search(str(member(blob, "mimeType") or "")):
                size = len(decode_base64(member(blob, "data")))
                self._voice.speech.add(number, at, size / (2 * (int(rate[1] or 0) or _MODELS_RATE)))
            self._is_written |= isinstance(member(part, "text"), str) and member(part, "thought") is not True
        if any(member(content, key) is not None for key in ("outputTranscription", "interrupted")):
            self._is_spoken = True

    def _end(self, number: int, content: JsonValue, usage: JsonValue, setup: Value) -> None:
        """Take the end of a turn: what the server counts, and whether it was written where speech was requested."""
        modalities = member(member(setup, "generationConfig"), "responseModalities")
        if self._is_written and not self._is_spoken and modalities == ["AUDIO"]:
            text = f"audio was requested, but the turn (message {number + 1}) has only text: the user hears nothing"
            self._facts.append(SocketFact("params.ignored", text, (number,), is_of_client=False, is_harmless=True))
        self._is_spoken = self._is_written = False
        self._voice.speech.end(number, is_transcribed=member(setup, "outputAudioTranscription") is not None)
        seen = dict(_context(usage)).get("image") if isinstance(usage, dict) else None
        if self._pictures and isinstance(seen, int) and 0 < seen < _LEAST_OF_PICTURE:
            text = (
                f"the client sent {self._pictures:,} pictures, but the turn (message {number + 1}) counts {seen} tokens"
            )
            text += " of pictures: the model sees none of them"
            self._facts.append(SocketFact("usage.contradiction", text, (number,), is_of_client=False, is_harmless=True))
        if isinstance(usage, dict) and member(setup, "contextWindowCompression") is None:
            self._voice.counts.add(number, dict(_context(usage)))

    def add_call(self, call: JsonValue, number: int, at: float) -> None:
        """Note a call of the model."""
        self._voice.calls.add(str(member(call, "id")), str(member(call, "name")), number, at)

    def answer_calls(self, names: Iterable[str | None], number: int, at: float) -> None:
        """Note calls that have a result, in a message."""
        self._voice.calls.answer(map(str, names), number, at, at - self._last_sound if self._last_sound else 0.0)

    def close_calls(self, names: Iterable[str | None]) -> None:
        """Note calls that were cancelled."""
        self._voice.calls.close(map(str, names))

    def end_turn(self, number: int, seconds: float, words: str, *, is_interrupted: bool) -> None:
        """Take the end of a turn, the seconds since it began, and what was said in it."""
        self._voice.interruptions.add(number, seconds, is_interrupted=is_interrupted)
        if not is_interrupted:
            self._voice.repeats.add(number, words)

    def facts(self, at: float, setup: Value, named: Collection[str | None]) -> Iterator[SocketFact]:
        """What has been found.

        Args:
            at: time of the newest message.
            named: calls without a result that are named already.
        """
        yield from self._facts
        yield from self._voice.facts(at, named, is_heard_by_itself=not is_ended_by_client(setup))
        number, begin, end = self._hearing or (-1, 0.0, 0.0)
        if end - begin > _LONG:
            text = f"the server hears words from message {number + 1} on, and after {end - begin:.0f} s no end of the"
            text += " speech: the sound has no silence"
            yield SocketFact("socket.no-response", text, (number,), is_of_client=False, is_of_end=True)


def _context(usage: Value) -> Iterator[tuple[str, JsonValue]]:
    """Kind → tokens of the context of a turn."""
    details = member(usage, "promptTokensDetails")
    for row in details if isinstance(details, list) else ():
        yield str(member(row, "modality")).lower(), member(row, "tokenCount")
    yield "input", member(usage, "promptTokenCount")
