"""The server's side of a Live connection: its setup, the calls that it waits for, and how it closes.

Facts: ``LiveClientMessage`` and ``LiveServerMessage`` in ``types.py`` of the ``google-genai`` SDK 3.4, and a recorded
tool round. Errors are no messages: the server closes the connection with a code and a reason. A model that called
tools says nothing before it has every result; results for calls that it did not make are ignored. Spoken input is
accepted and not listened to; a text in ``realtimeInput`` requests a response, as with the models of 2026.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.ir import JsonValue
from workbench.protocols.common.socket_dialogue import (
    DialogueContext,
    Reaction,
    SocketOpening,
    SocketRefusal,
    Value,
)
from workbench.protocols.gemini_live.socket import CLIENT
from workbench.protocols.shapes.contents.nodes import member
from workbench.wire import loads

_FIRST = "setup must be the first message and only the first"
_INVALID = 1007
_CODES = {400: _INVALID, 401: 1008, 403: 1008, 404: 1008}
"""HTTP status → code of the close frame; 1011 for all others (js-genai issue 1236, deprecated-generative-ai-js 487)."""

_NO_STRUCT = (
    "Invalid value at 'tool_response.function_responses[{n}].response' (type.googleapis.com/google.protobuf.Struct)"
)


class LiveDialogue:
    """One connection."""

    opcode = "binary"
    subprotocols: tuple[str, ...] = ()

    def __init__(self, context: DialogueContext) -> None:
        self._context = context
        self._setup: Value | None = None
        self._open_calls: list[JsonValue] = []
        self._is_speaking = False
        self._has_called = False

    def greet(self) -> Reaction:
        """Nothing: the client sends the first message."""
        return Reaction()

    def take(self, value: Value) -> Reaction:
        """Take a message: the setup first, and only once."""
        kinds = [key for key in value if key in CLIENT]
        unknown = next((key for key in value if key not in CLIENT), None)
        if unknown is not None or len(kinds) != 1:
            where = f'Unknown name "{unknown}": Cannot find field.' if unknown else "No message type is set."
            return Reaction(close=(_INVALID, f"Invalid JSON payload received. {where}"))
        if ("setup" in kinds) is (self._setup is not None):
            return Reaction(close=(_INVALID, _FIRST))
        if "setup" in kinds:
            return self._take_setup(value["setup"])
        results, content = member(value, "toolResponse"), member(value, "clientContent")
        if isinstance(results, dict):
            return self._take_results(member(results, "functionResponses"))
        if isinstance(content, dict):
            return self._interrupt(requests=member(content, "turnComplete") is not False)
        given = member(value, "realtimeInput")
        return self._interrupt(requests=isinstance(given, dict) and isinstance(given.get("text"), str))

    def take_unreadable(self) -> Reaction:
        """What is not JSON closes the connection."""
        return Reaction(close=(_INVALID, "Invalid JSON payload received. Parsing failed."))

    def _take_setup(self, setup: JsonValue) -> Reaction:
        if not isinstance(setup, dict) or not isinstance(setup.get("model"), str):
            return Reaction(close=(_INVALID, "Request contains an invalid argument."), note="the setup names no model")
        body = {**setup, "model": str(setup["model"]).removeprefix("models/"), "contents": []}
        return Reaction(draft=body, accept=lambda: self._accept(setup))

    def _accept(self, setup: Value) -> tuple[Value, ...]:
        self._setup = setup
        return ({"setupComplete": {}}, *self._resumption(is_possible=True))

    def _resumption(self, *, is_possible: bool) -> tuple[Value, ...]:
        """A new handle, if the setup asks for them; while calls are open, there is none that could be resumed from."""
        if member(self._setup, "sessionResumption") is None:
            return ()
        handle: Value = {"newHandle": self._context.make_id("{32}")} if is_possible else {}
        return ({"sessionResumptionUpdate": {**handle, "resumable": is_possible}},)

    def _take_results(self, results: JsonValue) -> Reaction:
        given = [result for result in results if isinstance(result, dict)] if isinstance(results, list) else []
        for number, result in enumerate(given):
            if not isinstance(member(result, "response"), dict):
                return Reaction(close=(_INVALID, _NO_STRUCT.format(n=number)))
        names = [member(result, "id") for result in given]
        foreign = [str(name) for name in names if name not in self._open_calls]
        self._open_calls = [name for name in self._open_calls if name not in names]
        if foreign:
            note = f"no call on this connection waits for the result of {', '.join(map(repr, foreign))}: ignored"
            return Reaction(note=note[:200], lane=None if self._open_calls or len(foreign) == len(names) else "")
        return Reaction(lane=None if self._open_calls else "")

    def _interrupt(self, *, requests: bool) -> Reaction:
        """What the client says ends what the model says, and calls without a result are cancelled."""
        if not requests:
            return Reaction()
        cancelled, self._open_calls = self._open_calls, []
        messages: tuple[Value, ...] = ({"toolCallCancellation": {"ids": [*cancelled]}},) if cancelled else ()
        return Reaction(messages, lane="", stops=self._is_speaking)

    def refuse(self, refused: SocketRefusal, value: Value) -> Reaction:
        """The connection is closed, with the message as the reason."""
        return Reaction(close=(_CODES.get(refused.status, 1011), refused.message))

    def say(self, value: Value, lane: str) -> Iterator[Value]:
        """A message; spoken where the setup wants audio. Behind calls the turn is not complete: the model waits."""
        calls, content = member(member(value, "toolCall"), "functionCalls"), value.get("serverContent")
        self._is_speaking = True
        if isinstance(calls, list):
            self._has_called = True
            self._open_calls += [member(call, "id") for call in calls]
        if isinstance(content, dict):
            is_waiting, is_last = self._has_called, member(content, "turnComplete") is True
            if is_last:
                self._is_speaking = self._has_called = False
            if (is_last and is_waiting) or member(member(content, "modelTurn"), "parts") == []:
                return
            value = {**value, "serverContent": self._as_speech(content)}
        yield value
        if isinstance(calls, list):
            yield from self._resumption(is_possible=False)
        elif isinstance(content, dict) and member(content, "turnComplete") is True:
            yield from self._resumption(is_possible=True)

    def _as_speech(self, content: Value) -> Value:
        """Texts as the transcript of what is spoken, where only audio is wanted."""
        modalities = member(member(self._setup, "generationConfig"), "responseModalities")
        parts = member(member(content, "modelTurn"), "parts")
        wants_audio = isinstance(modalities, list) and "AUDIO" in modalities
        if not wants_audio or not isinstance(parts, list) or not parts:
            return content
        text = "".join(str(part["text"]) for part in parts if isinstance(part, dict) and not part.get("thought"))
        return {"outputTranscription": {"text": text}}

    def request_body(self, body: Value, lane: str) -> Value:
        """The request as it is: it was put together from all that the connection holds."""
        return body

    def stop(self, lane: str) -> Iterable[Value]:
        """The model was interrupted."""
        self._is_speaking = self._has_called = False
        return ({"serverContent": {"interrupted": True}}, {"serverContent": {"turnComplete": True}})


def opening_of(body: bytes) -> SocketOpening:
    """The setup, then the contents; without a modality, audio with its transcript: new models have no other."""
    value = loads(body)
    members: Value = value if isinstance(value, dict) else {}
    setup = {key: each for key, each in members.items() if key not in ("contents", "stream")}
    model = setup.get("model")
    if isinstance(model, str) and "/" not in model:
        setup["model"] = f"models/{model}"
    config = member(setup, "generationConfig")
    setup["generationConfig"] = {"responseModalities": ["AUDIO"], **(config if isinstance(config, dict) else {})}
    if member(setup["generationConfig"], "responseModalities") == ["AUDIO"]:
        setup.setdefault("outputAudioTranscription", {})
    content = {"turns": members.get("contents"), "turnComplete": True}
    return SocketOpening((({"setup": setup},), ({"clientContent": content},)), "setupComplete")
