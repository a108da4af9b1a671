"""Audio of a Realtime response: the events that carry it, its size and how long it lasts.

The names changed when the API left beta (2026-05-07); both are read.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from workbench.ir import JsonValue

PIECES = ("response.output_audio.delta", "response.audio.delta")
"""Types of the events with a piece of audio, as base64."""

ENDS = ("response.output_audio.done", "response.audio.done")
"""Types of the events after which a part has no more audio."""

_BYTES_OF_A_SAMPLE = {"audio/pcm": 2, "pcm16": 2, "audio/pcmu": 1, "audio/pcma": 1, "g711_ulaw": 1, "g711_alaw": 1}
_RATES = {"audio/pcm": 24_000, "pcm16": 24_000}
_TELEPHONE = 8_000


def size_of(piece: JsonValue) -> int:
    """Bytes of a piece of audio; 0 for what is no base64."""
    try:
        return len(base64.b64decode(piece)) if isinstance(piece, str) else 0
    except (binascii.Error, ValueError):
        return 0


def seconds_of(value: Mapping[str, JsonValue], size: int) -> float | None:
    """Seconds that audio of a size lasts, in the format that a session or response states; None for an unknown one."""
    audio = value.get("audio")
    output = audio.get("output") if isinstance(audio, dict) else None
    form = output.get("format") if isinstance(output, dict) else value.get("output_audio_format", "pcm16")
    kind = form.get("type") if isinstance(form, dict) else form
    rate = form.get("rate") if isinstance(form, dict) else None
    width = _BYTES_OF_A_SAMPLE.get(kind) if isinstance(kind, str) else None
    if width is None:
        return None
    rate = rate if type(rate) is int and rate > 0 else _RATES.get(str(kind), _TELEPHONE)
    return round(size / (width * rate), 3)
