"""Gemini Live: ``…GenerativeService.BidiGenerateContent`` over a WebSocket, of the Gemini API and of Vertex AI.

Nothing of it goes over HTTP: a request is a turn of a connection, put together from its setup and its contents
(``socket``), and its response is the list of the server's messages.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench import regex
from workbench.fronts import late
from workbench.ir import JsonValue, ModelRequest
from workbench.protocols import (
    AnswerCapabilities,
    Capabilities,
    RequestCapabilities,
)
from workbench.protocols.common.codec import Codec, CodecAdapter, edit_request
from workbench.protocols.gemini_live.declaration import PROTOCOL, SERVING, TRAITS
from workbench.protocols.shapes.contents.capabilities import MEDIA, REASONING, TOOLS
from workbench.protocols.shapes.contents.nodes import member
from workbench.protocols.shapes.contents.request import KEY, PLACES
from workbench.wire import loads

if TYPE_CHECKING:
    from workbench.protocols import DialogueContext, SocketDialogue, SocketOpening

(request_nodes,) = late("workbench.protocols.shapes.contents.edit", "request_nodes")
params_of, read_request, read_response = late(
    "workbench.protocols.gemini_live.reading", "params_of", "read_request", "read_response"
)
LiveTurns, claims_message = late("workbench.protocols.gemini_live.socket", "LiveTurns", "claims_message")
(LiveStreamDecoder,) = late("workbench.protocols.gemini_live.stream", "LiveStreamDecoder")
LiveWriter, write_request, write_response = late(
    "workbench.protocols.gemini_live.write", "LiveWriter", "write_request", "write_response"
)


_URL = regex.compile(r"\.(?:GenerativeService|LlmBidiService)[./]BidiGenerateContent(?:Constrained)?/?(?:[?#]|$)")
_OF_SETUP = ("sessionResumption", "contextWindowCompression", "outputAudioTranscription", "inputAudioTranscription")


def _dialogue(context: DialogueContext) -> SocketDialogue:
    """The server's side of a connection; only simulators load it."""
    from workbench.protocols.gemini_live.dialogue import LiveDialogue

    return LiveDialogue(context)


def _opening(body: bytes) -> SocketOpening:
    """The messages with which a client makes a request; only translations load it."""
    from workbench.protocols.gemini_live.dialogue import opening_of

    return opening_of(body)


class GeminiLive(CodecAdapter):
    """The adapter."""

    name = PROTOCOL
    capabilities = Capabilities(
        reasoning=REASONING,
        media=MEDIA,
        tools=TOOLS,
        request=RequestCapabilities(
            key_header="x-goog-api-key",
            params=frozenset(PLACES) - {"count"},
            schema_keys=frozenset(),
            one_text=frozenset(("answer",)),
        ),
        answer=AnswerCapabilities(
            stops=frozenset(("stop", "tool_calls")),
            stop_is_end=True,
            stop_by_calls=True,
            fields=frozenset(),
            usage_fields=frozenset(("cache_read", "reasoning")),
            error_fields=frozenset(("type", "code")),
        ),
    )
    codec = Codec(
        url=_URL,
        path="/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent",
        read_request=read_request,
        read_response=read_response,
        decoder=LiveStreamDecoder,
        params=params_of,
        write_request=write_request,
        write_response=write_response,
        writer=LiveWriter,
        key=KEY,
    )
    serving = SERVING
    traits = TRAITS
    splitter = LiveTurns
    dialogue = staticmethod(_dialogue)
    opening = staticmethod(_opening)
    is_socket_only = True

    def encode_request(self, request: ModelRequest, original: bytes) -> bytes:
        """The original body with the values that differ replaced. Raises LocalProtocolError."""
        nodes = partial(request_nodes, before=self.decode_request(original), body=loads(original))
        return edit_request(self, nodes, request, original, ("thinking", "parallel", "previous_id"))

    def claims_message(self, value: dict[str, JsonValue]) -> bool:
        """Messages are known by their one key."""
        return bool(claims_message(value))

    def claims_request(self, value: JsonValue) -> float:
        """Contents together with keys that only a setup has."""
        if not isinstance(value, dict) or not isinstance(value.get(KEY), list):
            return 0.0
        return 0.98 if any(member(value, key) is not None for key in _OF_SETUP) else 0.0

    def claims_response(self, value: JsonValue) -> float:
        """A message of the server."""
        known = ("serverContent", "toolCall", "toolCallCancellation")
        is_message = isinstance(value, dict) and any(isinstance(member(value, key), dict) for key in known)
        return 0.95 if is_message and "candidates" not in value else 0.0

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        """The same: every event is a message."""
        return self.claims_response(value) * (1.0 if event is None else 0.9)


adapter = GeminiLive()
