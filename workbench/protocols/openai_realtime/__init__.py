"""The Realtime API: ``wss://…/realtime``, of OpenAI, Azure and xAI.

Nothing of it goes over HTTP: a request is a turn of a WebSocket, put together from its session and its conversation
(``socket``), and its response is the list of its events.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from workbench import regex
from workbench.fronts import late
from workbench.ir import JsonValue
from workbench.protocols import (
    AnswerCapabilities,
    Capabilities,
    MediaCapabilities,
    RequestCapabilities,
    ToolCapabilities,
    UrlFacts,
)
from workbench.protocols.common.codec import Codec, CodecAdapter
from workbench.protocols.openai_realtime.declaration import PROTOCOL, SERVING, TRAITS
from workbench.protocols.shapes.items.request import READ_OF_ANSWERS, request_nodes

(encode_items_stream,) = late("workbench.protocols.shapes.items.write_stream", "encode_items_stream")
params_of, read_request, read_response, response_nodes = late(
    "workbench.protocols.openai_realtime.reading", "params_of", "read_request", "read_response", "response_nodes"
)
(RealtimeTurns,) = late("workbench.protocols.openai_realtime.socket", "RealtimeTurns")
(claims_message,) = late("workbench.protocols.openai_realtime.event_members", "claims_message")
(RealtimeStreamDecoder,) = late("workbench.protocols.openai_realtime.stream", "RealtimeStreamDecoder")
RealtimeWriter, write_request, write_response = late(
    "workbench.protocols.openai_realtime.write", "RealtimeWriter", "write_request", "write_response"
)


if TYPE_CHECKING:
    from workbench.protocols import DialogueContext, SocketDialogue, SocketOpening

_URL = regex.compile(r"^[^?#]*/realtime/?(?:[?#]|$)")
_SESSION = ("output_modalities", "modalities", "turn_detection", "input_audio_format", "output_audio_format")
"""Keys of a session that no request of another protocol has."""


def _dialogue(context: DialogueContext) -> SocketDialogue:
    """The server's side of a connection; only simulators load it."""
    from workbench.protocols.openai_realtime.dialogue import RealtimeDialogue

    return RealtimeDialogue(context)


def _opening(body: bytes) -> SocketOpening:
    """The messages with which a client makes a request; only translations load it."""
    from workbench.protocols.openai_realtime.dialogue import opening_of

    return opening_of(body)


class OpenAIRealtime(CodecAdapter):
    """The adapter."""

    name = PROTOCOL
    capabilities = Capabilities(
        media=MediaCapabilities(kinds=frozenset(("image",)), sources=frozenset(("data",))),
        tools=ToolCapabilities(
            parallel_switch=True, arguments="string", id_max_length=64, name_pattern="[a-zA-Z0-9_-]{1,64}"
        ),
        request=RequestCapabilities(
            mid_system=True,
            params=frozenset(("max_tokens",)),
            one_text=frozenset(("system", "tool")),
        ),
        answer=AnswerCapabilities(
            interleaved=True,
            fields=frozenset(("id",)),
            usage_fields=frozenset(("cache_read",)),
            usage_needed=frozenset(("input", "output", "cache_read")),
            needs={"id": "", "id of each item": "msg_0"},
            error_fields=frozenset(("type", "param", "code")),
            stop_required=True,
            stop_is_end=True,
            stop_by_calls=True,
        ),
    )
    codec = Codec(
        url=_URL,
        path="/v1/realtime",
        read_request=read_request,
        read_response=read_response,
        decoder=RealtimeStreamDecoder,
        request_nodes=request_nodes,
        response_nodes=response_nodes,
        params=params_of,
        write_request=write_request,
        write_response=write_response,
        writer=RealtimeWriter,
        key="input",
        answer_fields=READ_OF_ANSWERS,
        encode_stream=partial(encode_items_stream, RealtimeStreamDecoder, response_nodes),
    )
    serving = SERVING
    traits = TRAITS
    splitter = RealtimeTurns
    dialogue = staticmethod(_dialogue)
    opening = staticmethod(_opening)
    is_socket_only = True

    def read_url(self, url: str) -> UrlFacts:
        """The model."""
        if not _URL.search(url):
            return UrlFacts()
        query = parse_qs(url.partition("?")[2].partition("#")[0])
        model = query.get("model") or query.get("deployment")
        return UrlFacts(model[0] if model else None)

    def claims_message(self, value: dict[str, JsonValue]) -> bool:
        """Sessions, items of their conversation, and events that name both themselves and their response."""
        return bool(claims_message(value))

    def claims_request(self, value: JsonValue) -> float:
        """A session with its items: ``input`` beside keys that only sessions have."""
        if not isinstance(value, dict) or not isinstance(value.get("input"), list):
            return 0.0
        return 0.97 if value.get("type") == "realtime" or any(key in value for key in _SESSION) else 0.0

    def claims_response(self, value: JsonValue) -> float:
        """The object of a response."""
        return 0.98 if isinstance(value, dict) and value.get("object") == "realtime.response" else 0.0

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        """An event of a response that names itself, as those of Responses do not."""
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or "event_id" not in value:
            return 0.0
        if kind == "error":
            return 0.6
        return 0.98 if kind.startswith(("response.", "conversation.item.")) else 0.3


adapter = OpenAIRealtime()
