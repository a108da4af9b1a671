"""The Responses protocol: ``POST …/responses``.

OpenAI, Azure, the backend of Codex, xAI, DeepSeek and Bedrock speak it; gateways too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench import regex
from workbench.fronts import late
from workbench.ir import Carrier, JsonValue, ModelRequest
from workbench.protocols import (
    AnswerCapabilities,
    Capabilities,
    MediaCapabilities,
    ReasoningCapabilities,
    RequestCapabilities,
    ToolCapabilities,
)
from workbench.protocols.common import leaves
from workbench.protocols.common.codec import Codec, CodecAdapter
from workbench.protocols.openai_responses.declaration import IMPORT_HINTS, SDK, SERVING, TRAITS
from workbench.protocols.shapes.items.item import CALLS, RESULTS
from workbench.protocols.shapes.items.request import (
    PLACES,
    PROTOCOL,
    READ,
    READ_OF_ANSWERS,
    brings_tools,
    read_item_params,
    read_request,
    request_nodes,
    response_nodes,
    settle_tools,
)
from workbench.protocols.shapes.items.write import UNKNOWN, write_request, write_response

if TYPE_CHECKING:
    from workbench.protocols import DialogueContext, SocketDialogue, SocketOpening
    from workbench.protocols.clients.buffers import Policy

(read_response,) = late("workbench.protocols.shapes.items.response", "read_response")
(ItemStreamDecoder,) = late("workbench.protocols.shapes.items.stream", "ItemStreamDecoder")
ItemWriter, encode_stream = late("workbench.protocols.shapes.items.write_stream", "ItemWriter", "encode_stream")
ResponsesTurns, claims_message = late("workbench.protocols.openai_responses.socket", "ResponsesTurns", "claims_message")

claims_live_message, LiveBackendTurns = late(
    "workbench.protocols.openai_responses.live_socket", "claims_message", "LiveBackendTurns"
)

_URL = regex.compile(r"^[^?#]*/responses(?:/(?!input_tokens)[^/?#]+(?:/cancel)?)?/?(?:[?#]|$)")
_HINTS = (
    "instructions",
    "previous_response_id",
    "max_output_tokens",
    "max_tool_calls",
    "reasoning",
    "text",
    "store",
    "include",
    "truncation",
    "conversation",
    "background",
    "parallel_tool_calls",
    "tools",
    "tool_choice",
    "stream",
    "temperature",
    "prompt_cache_key",
    *("reasoning_effort", "max_completion_tokens", "verbosity"),  # of Chat Completions, sent here by mistake
)
"""Keys of a request that requests of other kinds with an ``input`` have not."""

_FOREIGN = (
    "messages",
    "encoding_format",
    "dimensions",
    "input_type",
    "voice",
    "response_modalities",
    "generation_config",
    "previous_interaction_id",
    "agent",
    "contents",
)
"""Keys of embeddings, of speech and of other protocols whose requests have an ``input``."""

_ITEMS = frozenset({"message", "reasoning", "item_reference", "compaction", "additional_tools", *CALLS, *RESULTS})
_REALTIME = ("event_id", "response_id")
"""Keys of the events of realtime sessions, which have names like ours."""


def _dialogue(context: DialogueContext) -> SocketDialogue:
    """The server's side of a connection; only simulators load it."""
    from workbench.protocols.openai_responses.dialogue import ResponsesDialogue

    return ResponsesDialogue(context)


def _opening(body: bytes) -> SocketOpening:
    """The messages with which a client makes a request; only translations load it."""
    from workbench.protocols.openai_responses.dialogue import opening_of

    return opening_of(body)


class OpenAIResponses(CodecAdapter):
    """The adapter."""

    name = PROTOCOL
    capabilities = Capabilities(
        reasoning=ReasoningCapabilities(
            carriers=frozenset((Carrier.ENCRYPTED_ITEM.value,)),
            switches=frozenset(("off",)),
            effort_is_switch=True,
        ),
        media=MediaCapabilities(
            kinds=frozenset(("image", "file")),
            in_results=frozenset(("image", "file")),
            document_key=("filename",),
            sources=frozenset(("data", "url", "file_id")),
        ),
        tools=ToolCapabilities(
            parallel_switch=True,
            strict=True,
            custom=True,
            arguments="string",
            id_max_length=64,
            name_pattern="[a-zA-Z0-9_-]{1,64}",
        ),
        request=RequestCapabilities(
            mid_system=True,
            params=frozenset(PLACES.values()) | {"response_schema", "response_json"},
            one_text=frozenset(("system",)),
            schema_required={"name": "answer"},
        ),
        answer=AnswerCapabilities(
            interleaved=True,
            usage_needed=frozenset(("input", "output", "cache_read", "cache_write", "reasoning")),
            needs={**UNKNOWN, "id of each item": "msg_0"},
            error_fields=frozenset(("type", "param", "code")),
            stop_required=True,
            stop_is_end=True,
            stop_by_calls=True,
        ),
    )
    codec = Codec(
        url=_URL,
        path="/v1/responses",
        read_request=read_request,
        read_response=read_response,
        decoder=ItemStreamDecoder,
        request_nodes=request_nodes,
        response_nodes=response_nodes,
        params=lambda request: read_item_params(request.params),
        write_request=write_request,
        write_response=write_response,
        writer=ItemWriter,
        key="input",
        shapes=brings_tools,
        answer_fields=READ_OF_ANSWERS,
        encode_stream=encode_stream,
    )
    serving = SERVING
    sdk = SDK
    import_hints = IMPORT_HINTS
    traits = TRAITS
    splitter = ResponsesTurns
    envelopes = ((claims_live_message, LiveBackendTurns),)
    dialogue = staticmethod(_dialogue)
    opening = staticmethod(_opening)

    def claims_message(self, value: dict[str, JsonValue]) -> bool:
        """A ``response.create`` whose members are at the top: those of Realtime are in ``response``."""
        return bool(claims_message(value))

    def claims_request(self, value: JsonValue) -> float:
        """Recognise it by the items of ``input``, or of a text by other keys: embeddings have ``input``, too."""
        if not isinstance(value, dict) or any(key in value for key in _FOREIGN):
            return 0.0
        entries = value.get("input")
        hints = sum(key in value for key in _HINTS)
        if isinstance(entries, list) and entries:
            return 0.0 if not any(map(_is_item, entries)) else 0.95 if all(map(_is_item, entries)) else 0.8
        if isinstance(entries, str | list) or isinstance(value.get("prompt"), dict):
            return min(0.5 + 0.2 * hints, 0.9) if hints else 0.0
        return 0.0

    def claims_response(self, value: JsonValue) -> float:
        """An object with a list of items as its output."""
        output = value.get("output") if isinstance(value, dict) else None
        if not isinstance(output, list):
            return 0.0
        if value.get("object") == "response":
            return 0.98
        return 0.9 if output and all(map(_is_item, output)) else 0.2

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        """An event whose type begins with ``response.``; realtime events, which do too, name their response.

        Proxies send the whole response where the event should be: its name alone tells the protocol then.
        """
        kind = value.get("type") if isinstance(value, dict) else None
        if kind is None and event and event.startswith("response."):
            return 0.7 if self.claims_response(value) > 0.5 else 0.0
        if kind == "error":
            return 0.5 if "sequence_number" in value else 0.15
        if not isinstance(kind, str) or not kind.startswith("response."):
            return 0.0
        return 0.1 if any(key in value for key in _REALTIME) else 0.98 if event in (kind, None) else 0.9

    def encode_request(self, request: ModelRequest, original: bytes) -> bytes:
        """The original body with the values that differ replaced. Raises LocalProtocolError."""
        before = self.decode_request(original)
        encoded = leaves.encode(request_nodes(before), request_nodes(request), original)
        after = before if encoded == original else self.decode_request(encoded)
        leaves.agree(after, settle_tools(request, before, after), READ)
        return encoded

    def client_policies(self) -> tuple[type[Policy], ...]:
        """SDKs whose stream assembly is known."""
        from workbench.protocols.clients import items

        return items.POLICIES


def _is_item(value: JsonValue) -> bool:
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if kind in (None, "message"):
        return isinstance(value.get("role"), str) and "content" in value
    return isinstance(kind, str) and (kind in _ITEMS or kind.startswith("mcp_"))


adapter = OpenAIResponses()
