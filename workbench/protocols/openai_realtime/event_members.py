"""Events of a response as clients with types read them: members that they require, and names that they know.

Facts: ``types/realtime`` of the official ``openai`` SDK 3.57, by which ``openai-agents`` (Python) validates every event
(``agents/realtime/openai_realtime.py``; it reports an error in place of an event that does not fit), and the types of
``pipecat`` (``services/openai_realtime_beta/events.py``), which ends its reader at such an event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir import MILD, JsonValue
from workbench.protocols import SocketFact
from workbench.protocols.openai_realtime import audio

_ITEM = ("response_id", "output_index", "item")
_PLACE = ("response_id", "item_id", "output_index")
_PART = (*_PLACE, "content_index")
_TEXTS = {"response.output_text": "text", "response.output_audio_transcript": "transcript"}

_REQUIRED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("response.output_item.added", "response.output_item.done"), _ITEM),
    **dict.fromkeys(("response.content_part.added", "response.content_part.done"), (*_PART, "part")),
    **{f"{stem}.delta": (*_PART, "delta") for stem in _TEXTS},
    **{f"{stem}.done": (*_PART, whole) for stem, whole in _TEXTS.items()},
    "response.function_call_arguments.delta": (*_PLACE, "call_id", "delta"),
    "response.function_call_arguments.done": (*_PLACE, "call_id", "name", "arguments"),
}
"""Event → members that the official types require."""

_OF_RESPONSE = ("id", "object", "status", "status_details", "output")
"""Members that ``pipecat`` requires of the response in its first and its last event (stdapi.ai issue 152)."""

_BETA = {
    "response.text": "response.output_text",
    "response.audio": "response.output_audio",
    "response.audio_transcript": "response.output_audio_transcript",
}
"""Name of the beta → name since then, both without the ending."""


_MARKS = ("session.", "conversation.item.", "input_audio_buffer.", "transcription_session.")
_REALTIME = ("event_id", "response_id")


def claims_message(value: Mapping[str, JsonValue]) -> bool:
    """True for a message of a session, of its conversation, or ``response.create`` without input."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "response.create":
        return "model" not in value and "input" not in value
    return kind.startswith(_MARKS) or (kind.startswith("response.") and all(key in value for key in _REALTIME))


_SECOND = 2
_ONE_MESSAGE = (
    "the response has a second message: clients that play one message of a response (livekit agents before May 2026)"
    " drop it"
)
"""gpt-realtime-2 writes a message before its answer (livekit agents issues 5684 and 5768)."""


class EventFaults:
    """What the events of one response lack."""

    def __init__(self) -> None:
        self._parts = AnnouncedParts()
        self._messages = 0

    def of_audio(self, value: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
        """The rules that an event with audio breaks, with words."""
        if text := self._parts.late_audio(value):
            yield f"stream.block-order{MILD}", text

    def of(self, value: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
        """The rules that an event breaks, with words."""
        if text := missing_members(value):
            yield "stream.client-raises", text
        if text := self._parts.fault(value):
            yield f"stream.block-order{MILD}", text
        item = value.get("item") if value.get("type") == "response.output_item.added" else None
        self._messages += isinstance(item, dict) and item.get("type") == "message"
        if self._messages == _SECOND and isinstance(item, dict) and item.get("type") == "message":
            yield "stream.client-misses", _ONE_MESSAGE


def missing_members(value: Mapping[str, JsonValue]) -> str:
    """Say what an event lacks, and which client stops at it; empty if nothing."""
    kind, response = str(value.get("type")), value.get("response")
    if kind in ("response.created", "response.done") and isinstance(response, dict):
        names = [f"response.{name}" for name in _OF_RESPONSE if name not in response]
        client = "pipecat, whose types require this field, stops reading"
    else:
        names = [name for name in _REQUIRED.get(kind, ()) if name not in value]
        client = "openai-agents (Python), which validates events by the official types, reports an error"
    return f"{kind} has no {', '.join(names)}: {client}" if names else ""


_PIECES = (
    *("response.output_text.delta", "response.output_audio_transcript.delta"),
    *("response.text.delta", "response.audio_transcript.delta"),
)


class AnnouncedParts:
    """The parts that began on one response: clients that make parts at their beginning have no place for others."""

    def __init__(self) -> None:
        self._parts: set[tuple[str, str]] = set()  # item and part
        self._silent: set[tuple[str, str]] = set()  # those whose audio is done

    def fault(self, value: Mapping[str, JsonValue]) -> str:
        """Say that an event has text of a part that no event began; empty for any other event."""
        part, kind = (str(value.get("item_id")), str(value.get("content_index"))), value.get("type")
        if kind in audio.ENDS:
            self._silent.add(part)
        is_missing = kind in _PIECES and part not in self._parts
        if is_missing or kind == "response.content_part.added":
            self._parts.add(part)
        return f"{kind} belongs to a content part that no response.content_part.added started" if is_missing else ""

    def late_audio(self, value: Mapping[str, JsonValue]) -> str:
        """Say that a piece of audio comes behind the end of its part, once for each part; empty if it does not."""
        part = (str(value.get("item_id")), str(value.get("content_index"))) if self._silent else ("", "")
        if part not in self._silent:
            return ""
        self._silent.remove(part)
        return (
            f"{value.get('type')} comes after the audio of its part was done: clients that stop there play no end of it"
        )


class ContentNames:
    """Names of the events with text and audio on one connection: each with the first message that has it."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}

    def add(self, number: int, kind: str) -> None:
        """Read the name of an event."""
        stem = kind.rpartition(".")[0]
        if stem in _BETA or stem in _BETA.values():
            self._first.setdefault(stem, number)

    def facts(self) -> Iterator[SocketFact]:
        """Names of the beta among those that came after it, if their successors are absent."""
        has_new = any(stem in self._first for stem in _BETA.values())
        for stem, number in self._first.items():
            if has_new and stem in _BETA and _BETA[stem] not in self._first:
                text = f"message {number + 1} has the beta name {stem}.* instead of {_BETA[stem]}.*, but other messages"
                text += " have current names: clients that know only current names miss the content"
                yield SocketFact("stream.client-misses", text, (number,), is_of_client=False, is_of_end=True)
