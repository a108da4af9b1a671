"""How much audio a Realtime response has, in the format that its session states."""

from __future__ import annotations

import pytest

from workbench.protocols.openai_realtime.beside_responses import lost_audio

TWO_SECONDS = {"status": "completed", "usage": {"output_token_details": {"audio_tokens": 40}}}


@pytest.mark.parametrize(
    ("form", "size", "is_lost"),
    [
        ({"type": "audio/pcm", "rate": 24_000}, 96_000, False),
        ({"type": "audio/pcm", "rate": 24_000}, 64_000, True),
        ({"type": "audio/pcm", "rate": 16_000}, 64_000, False),
        ({"type": "audio/pcmu"}, 16_000, False),
        ({"type": "audio/pcmu"}, 8_000, True),
        ({"type": "audio/unknown"}, 8_000, False),
        ({"type": "audio/pcm", "rate": 24_000}, 0, False),
    ],
)
def test_audio_is_lost_where_less_came_than_was_counted(form: dict[str, object], size: int, is_lost: bool) -> None:
    session = {"audio": {"output": {"format": form}}}
    assert bool([*lost_audio(0, session, TWO_SECONDS, size)]) is is_lost
