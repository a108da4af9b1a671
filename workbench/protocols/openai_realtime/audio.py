"""Audio of a Realtime response: the events that carry it, its size and how long it lasts.

The names changed when the API left beta (2026-05-07); both are read.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from workbench.ir import JsonValue
from workbench.protocols.common.sent_sound import SoundFormat

PIECES = ("response.output_audio.delta", "response.audio.delta")
"""Types of the events with a piece of audio, as base64."""

ENDS = ("response.output_audio.done", "response.audio.done")
"""Types of the events after which a part has no more audio."""

_BYTES_OF_A_SAMPLE = {"audio/pcm": 2, "pcm16": 2, "audio/pcmu": 1, "audio/pcma": 1, "g711_ulaw": 1, "g711_alaw": 1}
_RATES = {"audio/pcm": 24_000, "pcm16": 24_000}
_TELEPHONE = 8_000
_MOST_RATE = 192_000
"""Samples a second that a format may state."""


_FLIPS = {"audio/pcmu": 0xFF, "g711_ulaw": 0xFF, "audio/pcma": 0x55, "g711_alaw": 0x55}


def decode_piece(piece: JsonValue) -> bytes:
    """A piece of audio; empty for what is no base64."""
    try:
        return base64.b64decode(piece) if isinstance(piece, str) else b""
    except (binascii.Error, ValueError):
        return b""


def size_of(piece: JsonValue) -> int:
    """Bytes of a piece of audio; 0 for what is no base64."""
    return len(decode_piece(piece))


def seconds_of(value: Mapping[str, JsonValue], size: int) -> float | None:
    """Seconds that audio of a size lasts, in the format that a session or response states; None for an unknown one."""
    form = _sound(value, "output")
    return round(size / form.pace, 3) if form else None


def input_sound(session: Mapping[str, JsonValue]) -> SoundFormat | None:
    """The format of the user's audio in a session; None for an unknown one, or an empty session."""
    return _sound(session, "input") if session else None


def _sound(value: Mapping[str, JsonValue], side: str) -> SoundFormat | None:
    """The format that a session or a response states for one side."""
    audio = value.get("audio")
    stated = audio.get(side) if isinstance(audio, dict) else None
    form = stated.get("format") if isinstance(stated, dict) else None
    form = value.get(f"{side}_audio_format", "pcm16") if form is None else form
    kind = form.get("type") if isinstance(form, dict) else form
    rate = form.get("rate") if isinstance(form, dict) else None
    width = _BYTES_OF_A_SAMPLE.get(kind) if isinstance(kind, str) else None
    if width is None:
        return None
    rate = rate if type(rate) is int and 0 < rate <= _MOST_RATE else _RATES.get(str(kind), _TELEPHONE)
    return SoundFormat(width, rate, _FLIPS.get(str(kind), 0))
