"""The Anthropic Messages protocol: ``POST /v1/messages``.

Anthropic, and also DeepSeek, MiniMax, Moonshot, Z.AI, llama.cpp and gateways.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

from workbench import regex
from workbench.fronts import late
from workbench.ir import Carrier, JsonValue, ModelRequest
from workbench.lazy_dataclass import replace
from workbench.protocols import (
    AnswerCapabilities,
    Capabilities,
    MediaCapabilities,
    ReasoningCapabilities,
    RequestCapabilities,
    ToolCapabilities,
    UrlFacts,
)
from workbench.protocols.anthropic_messages.declaration import IMPORT_HINTS, SDK, SERVING, TRAITS
from workbench.protocols.common.codec import Codec, CodecAdapter
from workbench.protocols.shapes.blocks import request as _blocks_params
from workbench.protocols.shapes.blocks.request import PROTOCOL, read_request, request_nodes, response_nodes

if TYPE_CHECKING:
    from workbench.protocols.clients.buffers import Policy

(read_response,) = late("workbench.protocols.shapes.blocks.response", "read_response")
(BlockStreamDecoder,) = late("workbench.protocols.shapes.blocks.stream", "BlockStreamDecoder")
BlockWriter, write_request, write_response = late(
    "workbench.protocols.shapes.blocks.write", "BlockWriter", "write_request", "write_response"
)

_URL = regex.compile(
    r"(?:/v\d+|/anthropic)/messages/?(?:[?#]|$)|/publishers/anthropic/models/[^/:]+:(?:stream)?[rR]awPredict(?:[?#]|$)"
)
_VERTEX = regex.compile(r"/publishers/anthropic/models/([^/:]+):(stream|)[rR]awPredict(?:[?#]|$)")
_EVENTS: Mapping[str, str | None] = {
    "message_start": "message",
    "content_block_start": "content_block",
    "content_block_delta": "delta",
    "content_block_stop": "index",
    "message_delta": "delta",
    "message_stop": None,
    "ping": None,
    "error": "error",
}
"""Type of an event → a key that it has."""

_OUR_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use")
_OUR_KEYS = ("system", "stop_sequences", "thread", "context_management", "output_config", "mcp_servers")
_CHAT_KEYS = frozenset(
    (
        "max_completion_tokens",
        "response_format",
        "stream_options",
        "reasoning_effort",
        "parallel_tool_calls",
        "frequency_penalty",
        "presence_penalty",
        "functions",
        "logprobs",
        "stop",
        "n",
    )
)
_CHAT_ROLES = ("tool", "function", "developer")


class AnthropicMessages(CodecAdapter):
    """The adapter."""

    name = PROTOCOL
    capabilities = Capabilities(
        reasoning=ReasoningCapabilities(
            carriers=frozenset((Carrier.THINKING.value, Carrier.REDACTED_THINKING.value)),
            switches=frozenset(("on", "off", "adaptive")),
            proved=frozenset((Carrier.THINKING.value, Carrier.REDACTED_THINKING.value)),
            budget_required=True,
            least_budget=1024,
        ),
        media=MediaCapabilities(
            kinds=frozenset(("image", "document")),
            in_results=frozenset(("image", "document")),
            sources=frozenset(("data", "url", "file_id")),
            document_key=("title",),
            document_length=500,
        ),
        tools=ToolCapabilities(
            error_flag=True,
            parallel_switch=True,
            strict=True,
            arguments="object",
            id_pattern="[a-zA-Z0-9_-]+",
            name_pattern="[a-zA-Z0-9_-]{1,128}",
            parallel_in_choice=True,
        ),
        request=RequestCapabilities(
            key_header="x-api-key",
            headers={"anthropic-version": "2023-06-01"},
            mid_system=True,
            cache_markers=True,
            params=frozenset(_blocks_params.WIRE_NAMES),
            required={"max_tokens": 4096},
            schema_keys=frozenset(),
        ),
        answer=AnswerCapabilities(
            interleaved=True,
            stops=frozenset(("stop", "tool_calls", "length", "filter", "pause")),
            usage_required=True,
            usage_needed=frozenset(("input", "output")),
            error_fields=frozenset(("type", "request_id")),
        ),
    )
    codec = Codec(
        url=_URL,
        path="/v1/messages",
        read_request=read_request,
        read_response=read_response,
        decoder=BlockStreamDecoder,
        request_nodes=request_nodes,
        response_nodes=response_nodes,
        params=_blocks_params.params,
        write_request=write_request,
        write_response=write_response,
        writer=BlockWriter,
    )
    serving = SERVING
    sdk = SDK
    import_hints = IMPORT_HINTS
    traits = TRAITS

    def claims_request(self, value: JsonValue) -> float:
        """Recognise the protocol by the shape of tools, then of blocks, then by keys; a model name is only a hint."""
        if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
            is_broken = isinstance(value, dict) and isinstance(value.get("messages"), str | dict)
            return 0.5 if is_broken and str(value.get("model", "")).startswith("claude") else 0.0
        tools = [t for t in _list(value.get("tools")) if isinstance(t, dict)]
        is_chat = not _CHAT_KEYS.isdisjoint(value)
        if any(["input_schema" in tool for tool in tools]) or "anthropic_version" in value:
            is_doubtful = is_chat or ("max_tokens" not in value and any(map(_is_chat, value["messages"])))
            has_own = any(key in value for key in _OUR_KEYS) or any(map(_is_ours, _blocks(value["messages"])))
            return 0.5 if is_doubtful and not has_own else 0.97
        is_chat = is_chat or any(["function" in tool for tool in tools])
        if any(map(_is_ours, _blocks(value["messages"]))):
            return 0.5 if is_chat else 0.9
        if is_chat or any(map(_is_chat, value["messages"])):
            return 0.05
        if any(key in value for key in _OUR_KEYS):
            return 0.8
        hinted = str(value.get("model", "")).startswith("claude")
        return (0.4 if hinted else 0.1) + (0.2 if "max_tokens" in value else 0.0)

    def claims_response(self, value: JsonValue) -> float:
        """A message with blocks."""
        if not isinstance(value, dict) or not isinstance(value.get("content"), list):
            return 0.0
        return 0.95 if value.get("type") == "message" else 0.5 if "stop_reason" in value else 0.0

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        """An event of a known type with the keys it has to have; its name adds to that, or says it alone."""
        kind = value.get("type") if isinstance(value, dict) else None
        if kind is None and event is not None and isinstance(value, dict):
            return 0.7 if (_EVENTS.get(event) or "") in value else 0.0
        if not isinstance(kind, str) or kind not in _EVENTS:
            return 0.0
        key = _EVENTS[kind]
        if key is None or kind == "error":
            return 0.6 if event == kind else 0.2
        return 0.0 if key not in value else 0.98 if event == kind else 0.9

    def encode_request(self, request: ModelRequest, original: bytes) -> bytes:
        """The original body with the values that differ replaced. Raises LocalProtocolError."""
        before = self.decode_request(original)
        if str(before.params.get("anthropic_version", "")).startswith("vertex-"):  # whose URL says both
            request = replace(request, model=before.model, stream=before.stream)
        return super().encode_request(request, original)

    def read_url(self, url: str) -> UrlFacts:
        """Vertex AI has the model and the stream in the path."""
        found = _VERTEX.search(url)
        return UrlFacts(unquote(found[1]), found[2] == "stream") if found else UrlFacts()

    def client_policies(self) -> tuple[type[Policy], ...]:
        """SDKs whose stream assembly is known."""
        from workbench.protocols.clients import blocks

        return blocks.POLICIES


def _blocks(messages: list[JsonValue]) -> list[dict[str, JsonValue]]:
    contents = [m.get("content") for m in messages if isinstance(m, dict)]
    lists = [content for content in contents if isinstance(content, list)]
    return [block for content in lists for block in content if isinstance(block, dict)]


def _is_ours(block: dict[str, JsonValue]) -> bool:
    return block.get("type") in _OUR_BLOCKS or (block.get("type") == "image" and "source" in block)


def _is_chat(message: JsonValue) -> bool:
    return isinstance(message, dict) and ("tool_calls" in message or message.get("role") in _CHAT_ROLES)


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


adapter = AnthropicMessages()
