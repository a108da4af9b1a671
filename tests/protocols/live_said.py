"""Messages of Live connections, as client and server send them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

from workbench.protocols import with_turns
from workbench.wire.exchange import Exchange, ExchangeKind, Frame, HttpRequest, HttpResponse

Json = dict[str, Any]
Said = tuple[str, Json]
URL = "wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"

SETUP: Json = {
    "model": "models/gemini-2.5-flash-native-audio-preview",
    "generationConfig": {"responseModalities": ["AUDIO"], "temperature": 0.5},
    "systemInstruction": {"parts": [{"text": "Be brief."}], "role": "user"},
    "tools": [
        {
            "functionDeclarations": [
                {
                    "name": "list_dir",
                    "description": "Lists a directory.",
                    "parameters": {"type": "OBJECT", "properties": {"path": {"type": "STRING"}}},
                }
            ]
        }
    ],
    "sessionResumption": {},
}
BEGIN: list[Said] = [("sent", {"setup": SETUP}), ("received", {"setupComplete": {}})]


def sent(**message: Any) -> Said:
    return "sent", message


def received(**message: Any) -> Said:
    return "received", message


def ask(text: str = "what is in src?", *, done: bool = True) -> Said:
    """As the SDK writes it: one key in snake_case, those inside in camelCase."""
    return sent(client_content={"turns": [{"parts": [{"text": text}], "role": "user"}], "turnComplete": done})


def call(*names: str) -> Said:
    calls = [{"name": "list_dir", "args": {"path": "src"}, "id": name} for name in names]
    return received(toolCall={"functionCalls": calls})


def result(*names: str) -> Said:
    made = [{"id": name, "name": "list_dir", "response": {"output": "a b"}} for name in names]
    return sent(tool_response={"functionResponses": made})


def spoken(text: str, samples: int = 2400) -> list[Said]:
    data = base64.b64encode(b"\0\1" * samples).decode()
    sound = {"parts": [{"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": data}}]}
    words = [received(serverContent={"outputTranscription": {"text": word}}) for word in (text[:5], text[5:])]
    return [words[0], received(serverContent={"modelTurn": sound}), words[1]]


def written(text: str) -> list[Said]:
    turns = [{"parts": [{"text": piece}]} for piece in (text[:4], text[4:])]
    return [received(serverContent={"modelTurn": turn}) for turn in turns]


COUNTS = {"promptTokenCount": 1267, "responseTokenCount": 103, "totalTokenCount": 1370}
DONE = received(serverContent={"turnComplete": True}, usageMetadata=COUNTS)
GENERATED = received(serverContent={"generationComplete": True})
INTERRUPTED = received(serverContent={"interrupted": True})


def loop() -> list[Said]:
    """A question, a call, its result, a spoken answer."""
    return [*BEGIN, ask(), call("fc-1"), result("fc-1"), *spoken("Two files: a and b."), GENERATED, DONE]


def connection(said: Iterable[Said], opcode: str = "binary") -> Exchange:
    """A connection with these messages; the server's are binary, as it sends them."""
    frames = tuple(
        Frame(who, "text" if who == "sent" else opcode, json.dumps(what, separators=(",", ":")).encode(), n / 10)
        for n, (who, what) in enumerate(said)
    )
    websocket = ExchangeKind.WEBSOCKET
    return Exchange("7", HttpRequest("GET", URL), HttpResponse(101), kind=websocket, frames=frames, started_at=1.79e9)


def turns(said: Iterable[Said]) -> list[Exchange]:
    return list(with_turns([connection(said)]))[1:]
