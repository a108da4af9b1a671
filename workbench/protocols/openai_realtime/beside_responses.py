"""What goes wrong beside a response, or with a response that is complete: transcripts, tools of MCP servers, speech."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.ir import JsonValue
from workbench.protocols import SocketFact
from workbench.protocols.openai_realtime import audio
from workbench.protocols.openai_realtime.error_codes import error_of
from workbench.protocols.openai_realtime.session_members import (
    Value,
    is_only_written,
    member_object,
    modalities,
)

_FAILURES = {
    "conversation.item.input_audio_transcription.failed": (
        "stream.error-event",
        "the server could not transcribe what the user said",
    ),
    "mcp_list_tools.failed": ("socket.tools-dropped", "the server got no tools from an MCP server"),
    "response.mcp_call.failed": ("stream.error-event", "a tool of an MCP server failed"),
}
"""Event of a failure that ends no response → the rule that it breaks, and words."""


def failures(number: int, kind: str, value: Value) -> Iterator[SocketFact]:
    """What an event says to have failed, and why; nothing for any other event."""
    if kind not in _FAILURES:
        return
    rule, words = _FAILURES[kind]
    why = error_of(value).get("message")
    text = f"{words} (message {number + 1}){f': {why!r:.160}' if why else ''}"
    yield SocketFact(rule, text, (number,), is_of_client=False, is_harmless=True)


def is_interrupted(response: Value) -> bool:
    """Speech of the user ended a response."""
    return member_object(response, "status_details").get("reason") == "turn_detected"


def unheard(number: int, session: Value, settings: Value, response: Value) -> Iterator[SocketFact]:
    """A response of text where speech was requested: the user hears nothing.

    A session that allows text, too, as those of the beta did, permits such a response: then it is only worth knowing
    (openai-realtime-api-beta issue 58, livekit agents issue 1143).

    Args:
        settings: what its request states.
    """
    stated = modalities(session, {**settings, **response})
    if "audio" not in stated or not is_only_written(response):
        return
    is_alone = "text" not in stated
    text = "audio was requested" if is_alone else "audio and text are allowed"
    text += f", but the response (message {number + 1}) has only text: the user hears nothing"
    yield SocketFact("params.ignored", text, (number,), is_of_client=False, is_harmless=is_alone)


_TOKEN = 50
"""Milliseconds of the model's audio for one token (developers.openai.com, "Managing costs", 2026-11)."""

_LEAST_LOST = 200
"""Milliseconds of audio that lacks; a token is rounded up."""


_OTHER_FORMAT = 2.5
"""Times as much audio as its tokens stand for, from which it has another format (PCM for G.711: six times)."""

_LEAST_TOKENS = 10
"""Tokens from which such a share tells anything."""


def lost_audio(number: int, session: Value, response: Value, size: int) -> Iterator[SocketFact]:
    """A complete response with less audio than its tokens stand for, or far more (Patter issue 154).

    Less of it was seen at community.openai.com 1094267.

    Args:
        size: bytes of the audio that came; of none nothing is said, since other transports carry it elsewhere.
    """
    counts = member_object(member_object(response, "usage"), "output_token_details")
    tokens, seconds = counts.get("audio_tokens"), audio.seconds_of(session, size)
    if response.get("status") != "completed" or not isinstance(tokens, int) or not size or seconds is None:
        return
    length = 1000 * seconds
    if length > _OTHER_FORMAT * tokens * _TOKEN and tokens >= _LEAST_TOKENS:
        text = (
            f"the response (message {number + 1}) counts {tokens:,} tokens of audio, about {tokens * _TOKEN:,} ms, but"
        )
        text += f" what came would last {length:,.0f} ms: its format is not the one that the session states"
        yield SocketFact("params.ignored", text, (number,), is_of_client=False, is_harmless=True)
    lost = tokens * _TOKEN - length
    if lost >= _LEAST_LOST and lost > length / 4:
        text = (
            f"the response (message {number + 1}) counts {tokens:,} tokens of audio, about {tokens * _TOKEN:,} ms, but"
        )
        text += f" only {length:,.0f} ms of audio came: the rest of it was lost"
        yield SocketFact("stream.truncated", text, (number,), is_of_client=False, is_harmless=True)


def cut_speech(number: int, response: Value) -> Iterator[SocketFact]:
    """A response that ends where its tokens do: the user hears half a sentence (aoai-realtime-audio-sdk issue 26)."""
    if response.get("status") == "incomplete" and "max_output_tokens" in _reasons(response):
        text = (
            f"the response (message {number + 1}) is incomplete: it reached max_output_tokens, and ends in the middle"
        )
        yield SocketFact("stream.truncated", text, (number,), is_of_client=False, is_harmless=True)


def _reasons(response: Value) -> tuple[JsonValue, ...]:
    details = member_object(response, "status_details")
    return (details.get("reason"), details.get("type"))
