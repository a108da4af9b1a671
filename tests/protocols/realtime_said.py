"""Messages of Realtime connections, as client and server send them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from workbench.protocols import with_turns
from workbench.wire.exchange import Exchange, ExchangeKind, Frame, Headers, HttpRequest, HttpResponse

Json = dict[str, Any]
Said = tuple[str, Json]
_NUMBERS = count(1)

AUDIO = {"output": {"format": {"type": "audio/pcm", "rate": 24000}, "voice": "marin"}}
TOOL = {
    "type": "function",
    "name": "list_dir",
    "description": "Lists a directory.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
SESSION: Json = {
    "type": "realtime",
    "model": "gpt-realtime",
    "instructions": "Be brief.",
    "output_modalities": ["text"],
    "tools": [TOOL],
    "tool_choice": "auto",
    "max_output_tokens": "inf",
    "audio": {"input": {"turn_detection": {"type": "server_vad", "create_response": True}}, **AUDIO},
}
USAGE = {
    "total_tokens": 85,
    "input_tokens": 63,
    "output_tokens": 22,
    "input_token_details": {"text_tokens": 63, "audio_tokens": 0, "cached_tokens": 0},
    "output_token_details": {"text_tokens": 22, "audio_tokens": 0},
}
USER: Json = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "what is in src?"}]}
RESULT: Json = {"type": "function_call_output", "call_id": "call_1", "output": "a b"}
CALL: Json = {
    "id": "item_c1",
    "type": "function_call",
    "status": "completed",
    "name": "list_dir",
    "call_id": "call_1",
    "arguments": '{"path": "src"}',
}
TEXT: Json = {
    "id": "item_m1",
    "type": "message",
    "status": "completed",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Two files: a and b."}],
}


ACTIVE = "conversation_already_has_active_response"


def sent(kind: str, **members: Any) -> Said:
    return "sent", {"type": kind, **members}


def received(kind: str, **members: Any) -> Said:
    return "received", {"type": kind, "event_id": f"event_{next(_NUMBERS)}", **members}


def response(name: str, status: str = "in_progress", *output: Json, reason: str = "") -> Json:
    """The object of a response."""
    details = {"type": status, "reason": reason} if reason else None
    return {
        "object": "realtime.response",
        "id": name,
        "status": status,
        "status_details": details,
        "output": [*output],
        "audio": AUDIO,
        "usage": USAGE if status == "completed" else None,
    }


def created(name: str) -> Said:
    return received("response.created", response=response(name))


def done(name: str, *output: Json, status: str = "completed", reason: str = "") -> Said:
    return received("response.done", response=response(name, status, *output, reason=reason))


def session() -> list[Said]:
    """A session that the client configures."""
    own = {**SESSION, "id": "sess_1", "object": "realtime.session", "expires_at": 1785217655}
    begun = received("session.created", session={**own, "tools": [], "instructions": ""})
    return [begun, sent("session.update", session=SESSION), received("session.updated", session=own)]


def put(item: Json, name: str, after: str | None = None) -> list[Said]:
    """An item of the client, and what the server says of it."""
    own = {"id": name, "status": "completed", **item}
    return [
        sent("conversation.item.create", item=item),
        received("conversation.item.added", previous_item_id=after, item=own),
        received("conversation.item.done", previous_item_id=after, item=own),
    ]


def call(of: str, item: Json = CALL, index: int = 0, pieces: Sequence[str] = ('{"pa', 'th": "src"}')) -> list[Said]:
    """The events of a call."""
    begun = {**item, "status": "in_progress", "arguments": ""}
    at = {"response_id": of, "item_id": item["id"], "output_index": index, "call_id": item["call_id"]}
    stem = "response.function_call_arguments"
    return [
        received("response.output_item.added", response_id=of, output_index=index, item=begun),
        received("conversation.item.added", previous_item_id=None, item=begun),
        *(received(f"{stem}.delta", **at, delta=piece, obfuscation="aBc") for piece in pieces),
        received(f"{stem}.done", **at, name=item["name"], arguments=item["arguments"]),
        received("conversation.item.done", previous_item_id=None, item=item),
        received("response.output_item.done", response_id=of, output_index=index, item=item),
    ]


def text(of: str, item: Json = TEXT, index: int = 0, stem: str = "response.output_text") -> list[Said]:
    """The events of a text, under the names of today or (``response.text``) those of the beta."""
    whole = item["content"][0]["text"]
    at = {"response_id": of, "item_id": item["id"], "output_index": index, "content_index": 0}
    begun = {**item, "status": "in_progress", "content": []}
    return [
        received("response.output_item.added", response_id=of, output_index=index, item=begun),
        received("conversation.item.added", previous_item_id=None, item=begun),
        received("response.content_part.added", **at, part={"type": "text", "text": ""}),
        *(received(f"{stem}.delta", **at, delta=piece) for piece in (whole[:9], whole[9:])),
        received(f"{stem}.done", **at, text=whole),
        received("response.content_part.done", **at, part={"type": "text", "text": whole}),
        received("conversation.item.done", previous_item_id=None, item=item),
        received("response.output_item.done", response_id=of, output_index=index, item=item),
    ]


def loop() -> list[Said]:
    """A question, a call, its result, an answer."""
    return [
        *session(),
        *put(USER, "item_u1"),
        sent("response.create"),
        created("resp_1"),
        *call("resp_1"),
        done("resp_1", CALL),
        received("rate_limits.updated", rate_limits=[]),
        *put(RESULT, "item_r1", "item_c1"),
        sent("response.create"),
        created("resp_2"),
        *text("resp_2"),
        done("resp_2", TEXT),
    ]


def audio(samples: int) -> str:
    return base64.b64encode(b"\0\1" * samples).decode()


SPOKEN: Json = {
    "id": "item_s1",
    "type": "message",
    "status": "incomplete",
    "role": "assistant",
    "content": [{"type": "output_audio", "transcript": "There are two"}],
}


def spoken() -> list[Said]:
    """A question that was spoken, and an answer that the user interrupts."""
    at = {"response_id": "resp_3", "item_id": "item_s1", "output_index": 0, "content_index": 0}
    heard = {"id": "item_a1", "type": "message", "status": "completed", "role": "user"}
    begun = {**SPOKEN, "status": "in_progress", "content": []}
    stem = "response.output_audio"
    return [
        received("session.created", session={**SESSION, "id": "sess_1", "output_modalities": ["audio"]}),
        sent("input_audio_buffer.append", audio=audio(2400)),
        received("input_audio_buffer.speech_started", audio_start_ms=0, item_id="item_a1"),
        received("input_audio_buffer.speech_stopped", audio_end_ms=900, item_id="item_a1"),
        received("input_audio_buffer.committed", previous_item_id=None, item_id="item_a1"),
        received("conversation.item.added", item={**heard, "content": [{"type": "input_audio", "transcript": None}]}),
        received(
            "conversation.item.input_audio_transcription.completed",
            item_id="item_a1",
            content_index=0,
            transcript="What is in src?",
        ),
        created("resp_3"),
        received("response.output_item.added", response_id="resp_3", output_index=0, item=begun),
        received("conversation.item.added", item=begun),
        received("response.content_part.added", **at, part={"type": "audio", "transcript": ""}),
        received(f"{stem}_transcript.delta", **at, delta="There are"),
        received(f"{stem}.delta", **at, delta=audio(2400)),
        received(f"{stem}_transcript.delta", **at, delta=" two"),
        received(f"{stem}.delta", **at, delta=audio(1200)),
        received("input_audio_buffer.speech_started", audio_start_ms=2000, item_id="item_a2"),
        received(f"{stem}.done", **at),
        received(f"{stem}_transcript.done", **at, transcript="There are two"),
        received("response.content_part.done", **at, part={"type": "audio", "transcript": "There are two"}),
        received("response.output_item.done", response_id="resp_3", output_index=0, item=SPOKEN),
        done("resp_3", SPOKEN, status="cancelled", reason="turn_detected"),
    ]


def refusal(code: str, message: str, **members: Any) -> Said:
    error = {"type": "invalid_request_error", "code": code, "message": message, "param": None, "event_id": None}
    return received("error", error={**error, **members})


def connection(said: Iterable[tuple[str, Mapping[str, Any]]], url: str = "") -> Exchange:
    """A connection with these messages."""
    frames = tuple(
        Frame(who, "text", json.dumps(what, separators=(",", ":")).encode(), n / 10)
        for n, (who, what) in enumerate(said)
    )
    address = url or "wss://api.openai.com/v1/realtime?model=gpt-realtime"
    shaken = HttpRequest("GET", address, Headers((("Authorization", "Bearer x"),)))
    websocket = ExchangeKind.WEBSOCKET
    return Exchange("7", shaken, HttpResponse(101), kind=websocket, frames=frames, started_at=1_790_000_000.0)


def turns(said: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Exchange]:
    return list(with_turns([connection(said)]))[1:]
