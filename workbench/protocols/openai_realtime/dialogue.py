"""The server's side of a Realtime connection: its session, the items of its conversation, and its errors.

Facts: ``types/realtime/realtime_client_event.py`` and ``realtime_server_event.py`` of the official ``openai`` SDK 3.54,
and a recorded tool round. Texts of errors: the contract ``openai-realtime`` and its sources. Audio is accepted but not
decoded: committed audio becomes an item without a transcript.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qs

from workbench.ir import JsonValue
from workbench.protocols.common.socket_dialogue import (
    UNREADABLE,
    DialogueContext,
    Reaction,
    SocketOpening,
    SocketRefusal,
    Value,
    error_of,
    unknown_event,
)
from workbench.protocols.openai_realtime.session_members import updated_session
from workbench.protocols.openai_realtime.socket import BETA
from workbench.wire import loads

_EVENTS = (
    *("session.update", "input_audio_buffer.append", "input_audio_buffer.commit", "input_audio_buffer.clear"),
    *("conversation.item.create", "conversation.item.truncate", "conversation.item.delete"),
    *("conversation.item.retrieve", "response.create", "response.cancel"),
)
_CLOSES_BETA = (4000, "invalid_request_error.beta_api_shape_disabled")
_OF_ITEM = "conversation.item."
_LIVES = 30 * 60
_TYPES = ("message", "function_call", "function_call_output", "mcp_approval_response")


class RealtimeDialogue:
    """One connection: its session, and its items in order."""

    opcode = "text"
    subprotocols: tuple[str, ...] = ("realtime",)

    def __init__(self, context: DialogueContext) -> None:
        self._context = context
        self._items: list[Value] = []
        self._audio = 0
        self._active: Value | None = None
        self._streamed: list[Value] = []
        self._session = self._first_session()

    def _first_session(self) -> Value:
        query = parse_qs(self._context.target.partition("?")[2])
        detection: Value = {"type": "server_vad", "threshold": 0.5, "silence_duration_ms": 200, "create_response": True}
        pcm: Value = {"type": "audio/pcm", "rate": 24000}
        return {
            "type": "realtime",
            "object": "realtime.session",
            "id": self._context.make_id("sess_{21}"),
            "model": (query.get("model") or query.get("deployment") or ["gpt-realtime"])[0],
            "output_modalities": ["audio"],
            "instructions": "",
            "tools": [],
            "tool_choice": "auto",
            "max_output_tokens": "inf",
            "audio": {
                "input": {"format": pcm, "turn_detection": detection},
                "output": {"format": pcm, "voice": "marin"},
            },
        }

    def greet(self) -> Reaction:
        """The session; the beta of the API is refused."""
        given = ", ".join((self._context.header("openai-beta"), self._context.header("sec-websocket-protocol")))
        if any(word in given.replace(" ", "") for word in BETA):
            text = "The Realtime Beta API is no longer supported. Please use /v1/realtime for the GA API."
            refused = self._error(error_of(text, "beta_api_shape_disabled"), {})
            return refused._replace(close=_CLOSES_BETA, note="the handshake requests the beta API")
        return Reaction((self._event("session.created", session=self._session),))

    # -- the client

    def take(self, value: Value) -> Reaction:
        """Take an event."""
        kind = value.get("type")
        if kind not in _EVENTS:
            return self._error(unknown_event(kind, _EVENTS), value)
        if kind == "session.update":
            return self._update(value)
        if kind == "response.create":
            return self._create(value)
        if kind == "response.cancel":
            if self._active is None:
                text = "Cancellation failed: no active response found"
                return self._error(error_of(text, "response_cancel_not_active"), value)
            return Reaction(stops=True)
        return self._take_audio(str(kind), value) if "buffer" in str(kind) else self._take_item(str(kind), value)

    def take_unreadable(self) -> Reaction:
        """What is not JSON is an error, and the connection stays open."""
        return self._error(error_of(UNREADABLE, "invalid_json"), {})

    def _update(self, value: Value) -> Reaction:
        given = value.get("session")
        session = given if isinstance(given, dict) else {}
        if "type" not in session:
            text = "Missing required parameter: 'session.type'."
            return self._error(error_of(text, "missing_required_parameter", "session.type"), value)
        if session["type"] != "realtime":
            text = "Passing a transcription session update event to a realtime session is not allowed."
            return self._error(error_of(text, "invalid_parameter", "session.type"), value)
        whole = updated_session(self._session, session)
        return Reaction(draft=self._draft(whole, self._items), accept=lambda: self._accept_session(whole))

    def _accept_session(self, whole: Value) -> tuple[Value, ...]:
        self._session = whole
        return (self._event("session.updated", session=whole),)

    def _create(self, value: Value) -> Reaction:
        if self._active is not None:
            text = (
                f"Conversation already has an active response in progress: {self._active.get('id')}. "
                "Wait until the response is finished before creating a new one."
            )
            return self._error(error_of(text, "conversation_already_has_active_response"), value)
        given = value.get("response")
        response = given if isinstance(given, dict) else {}
        if "modalities" in response:
            text = "Unknown parameter: 'response.modalities'."
            return self._error(error_of(text, "unknown_parameter", "response.modalities"), value)
        self._active, self._streamed = {"id": "(not created yet)"}, []
        return Reaction(lane="")

    def _take_audio(self, kind: str, value: Value) -> Reaction:
        action = kind.rpartition(".")[2]
        if action == "append":
            size = _audio_bytes(value.get("audio"))
            if size < 0:
                text = "Invalid 'audio'. Expected base64-encoded audio bytes."
                return self._error(error_of(text, "invalid_value", "audio"), value)
            self._audio += size
            return Reaction()
        size, self._audio = self._audio, 0
        if action == "clear":
            return Reaction((self._event("input_audio_buffer.cleared"),))
        if not size:
            text = "Error committing input audio buffer: the buffer is empty."
            return self._error(error_of(text, "input_audio_buffer_commit_empty"), value)
        heard: Value = {"type": "message", "role": "user", "content": [{"type": "input_audio", "transcript": None}]}
        item = self._with_id(heard)
        before = self._last_id()
        self._items.append(item)
        named: Value = {"previous_item_id": before, "item_id": item["id"]}
        return Reaction((self._event("input_audio_buffer.committed", **named), *self._item_events(item, before)))

    def _take_item(self, kind: str, value: Value) -> Reaction:
        action = kind.removeprefix(_OF_ITEM)
        if action == "create":
            return self._create_item(value)
        found = next((item for item in self._items if item.get("id") == value.get("item_id")), None)
        if found is None:
            text = f"Item with item_id not found: '{value.get('item_id')}'"
            return self._error(error_of(text, f"item_{action}_invalid_item_id", "item_id"), value)
        if action == "retrieve":
            return Reaction((self._event("conversation.item.retrieved", item=found),))
        if action == "delete":
            self._items.remove(found)
            return Reaction((self._event("conversation.item.deleted", item_id=found["id"]),))
        if found.get("role") != "assistant":
            text = "Only model output audio messages can be truncated"
            return self._error(error_of(text, "invalid_value", "item_id"), value)
        members = {key: value.get(key) for key in ("item_id", "content_index", "audio_end_ms")}
        return Reaction((self._event("conversation.item.truncated", **members),))

    def _create_item(self, value: Value) -> Reaction:
        given = value.get("item")
        if not isinstance(given, dict):
            return self._error(
                error_of("Missing required parameter: 'item'.", "missing_required_parameter", "item"), value
            )
        if given.get("type") not in _TYPES:
            error = unknown_event(given.get("type"), _TYPES)
            return self._error({**error, "param": "item.type"}, value)
        if given["type"] == "function_call_output" and not isinstance(given.get("output"), str):
            text = "Invalid type for 'item.output': expected a string."
            return self._error(error_of(text, "invalid_type", "item.output"), value)
        names = [item["id"] for item in self._items]
        if given.get("id") in names:
            text = f"Error adding item: the item with id '{given['id']}' already exists."
            return self._error(error_of(text, "item_create_duplicate_item_id", "item.id"), value)
        after = value.get("previous_item_id")
        if after is not None and after != "root" and after not in names:
            text = f"Error adding item: the previous item with id '{after}' does not exist."
            return self._error(error_of(text, "invalid_previous_item_id", "previous_item_id"), value)
        at = 0 if after == "root" else len(names) if after is None else names.index(after) + 1
        item = self._with_id(given)
        items = [*self._items[:at], item, *self._items[at:]]
        before = names[at - 1] if at else None
        return Reaction(draft=self._draft(self._session, items), accept=lambda: self._accept_item(items, item, before))

    def _accept_item(self, items: list[Value], item: Value, before: JsonValue) -> tuple[Value, ...]:
        self._items = items
        return self._item_events(item, before)

    def _item_events(self, item: Value, before: JsonValue) -> tuple[Value, ...]:
        return tuple(self._event(f"{_OF_ITEM}{end}", previous_item_id=before, item=item) for end in ("added", "done"))

    def refuse(self, refused: SocketRefusal, value: Value) -> Reaction:
        """An error event; a response that was requested does not begin."""
        if value.get("type") == "response.create":
            self._active = None
        return self._error(refused.error, value)

    # -- the model

    def say(self, value: Value, lane: str) -> Iterable[Value]:
        """An event with an id of its own, and for items of the response what is said of them as items."""
        value = _as_speech(value) if self._session.get("output_modalities") == ["audio"] else value
        kind = str(value.get("type"))
        item, response = value.get("item"), value.get("response")
        if kind == "response.created" and isinstance(response, dict):
            self._active = response
        if kind == "response.output_item.added" and isinstance(item, dict):
            before = self._last_id()
            self._items.append(item)
            self._streamed.append(item)
            yield self._again(value)
            yield self._event("conversation.item.added", previous_item_id=before, item=item)
            return
        if kind == "response.output_item.done" and isinstance(item, dict):
            before = self._replace(item)
            yield self._event("conversation.item.done", previous_item_id=before, item=item)
        if kind in ("response.done", "error"):
            self._active = None
        yield self._again(value)

    def request_body(self, body: Value, lane: str) -> Value:
        """The request as it is: it was put together from all that the connection holds."""
        return body

    def stop(self, lane: str) -> Iterator[Value]:
        """The response ends as cancelled, and what it holds stays incomplete."""
        response, self._active = self._active or {}, None
        output: list[JsonValue] = []
        for item in self._streamed:
            ended = item if item.get("status") == "completed" else {**item, "status": "incomplete"}
            self._replace(ended)
            output.append(ended)
        details: Value = {"type": "cancelled", "reason": "client_cancelled"}
        whole: Value = {**response, "status": "cancelled", "status_details": details, "output": output}
        yield self._event("response.done", response=whole)

    def _replace(self, item: Value) -> JsonValue:
        """Put an item in the place of what it was; returns the id of the item in front of it."""
        for held in (self._items, self._streamed):
            held[:] = [item if each.get("id") == item.get("id") else each for each in held]
        names = [each.get("id") for each in self._items]
        at = names.index(item.get("id")) if item.get("id") in names else len(names)
        return names[at - 1] if at else None

    # -- events

    def _with_id(self, item: Value) -> Value:
        own = item.get("id") or self._context.make_id("item_{21}")
        return {"id": own, "object": "realtime.item", "status": "completed", **item}

    def _last_id(self) -> JsonValue:
        return self._items[-1].get("id") if self._items else None

    def _draft(self, session: Value, items: list[Value]) -> Value:
        """The request that a response would have now."""
        return {**{k: v for k, v in session.items() if k not in ("id", "object")}, "input": [*items]}

    def _event(self, kind: str, **members: JsonValue) -> Value:
        return {"type": kind, "event_id": self._context.make_id("event_{21}"), **members}

    def _again(self, value: Value) -> Value:
        return {**value, "event_id": self._context.make_id("event_{21}")}

    def _error(self, error: Value, value: Value) -> Reaction:
        return Reaction((self._event("error", error={**error, "event_id": value.get("event_id")}),))


def _as_speech(value: Value) -> Value:
    """An event of a text as that of what is spoken: its transcript. No sound is made."""
    kind = str(value.get("type"))
    if kind.startswith("response.output_text."):
        made = {"transcript" if key == "text" else key: inner for key, inner in value.items()}
        return {**made, "type": kind.replace("output_text", "output_audio_transcript")}
    return {key: _part_as_speech(inner) for key, inner in value.items()}


def _part_as_speech(value: JsonValue) -> JsonValue:
    """A value in which every text that the model wrote is a transcript."""
    if isinstance(value, list):
        return [_part_as_speech(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "output_text":
        return {"type": "output_audio", "transcript": value.get("text")}
    return {key: _part_as_speech(inner) for key, inner in value.items()}


def _audio_bytes(text: JsonValue) -> int:
    """Bytes of audio; -1 if it is not base64."""
    try:
        return len(base64.b64decode(text, validate=True)) if isinstance(text, str) else -1
    except (binascii.Error, ValueError):
        return -1


def opening_of(body: bytes) -> SocketOpening:
    """The session, then each item and the request for a response; text alone is asked for, unless the request says."""
    value = loads(body)
    members: Value = value if isinstance(value, dict) else {}
    session = {key: each for key, each in members.items() if key not in ("input", "stream", "model")}
    session = {"type": "realtime", "output_modalities": ["text"], **session}
    given = members.get("input")
    items = given if isinstance(given, list) else []
    asked: list[Value] = [{"type": "conversation.item.create", "item": item} for item in items]
    return SocketOpening(
        (({"type": "session.update", "session": session},), (*asked, {"type": "response.create"})), "session.updated"
    )
