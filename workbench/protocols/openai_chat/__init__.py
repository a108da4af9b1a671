"""Chat Completions: ``POST …/chat/completions``, official and in its dialects.

DeepSeek, Kimi, GLM, Qwen (DashScope), MiniMax, Mistral, OpenRouter, Groq, xAI, Azure, llama.cpp, vLLM, SGLang and
Ollama's ``/v1`` use it, each with additional fields; they are all read here, by shape and never by provider.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
from workbench.protocols.common.codec import Codec, CodecAdapter
from workbench.protocols.openai_chat.declaration import IMPORT_HINTS, SDK, SERVING, TRAITS
from workbench.protocols.shapes.chat import request as _chat_params
from workbench.protocols.shapes.chat.request import PROTOCOL, READ, read_request, request_nodes, response_nodes

if TYPE_CHECKING:
    from workbench.protocols.clients.buffers import Policy

(read_response,) = late("workbench.protocols.shapes.chat.response", "read_response")
(ChatStreamDecoder,) = late("workbench.protocols.shapes.chat.stream", "ChatStreamDecoder")
ChatWriter, write_request, write_response = late(
    "workbench.protocols.shapes.chat.write", "ChatWriter", "write_request", "write_response"
)

_URL = regex.compile(r"^[^?#]*/chat/completions/?(?:[?#]|$)")
_DEPLOYMENT = regex.compile(r"/(?:deployments/([^/?#]+)/chat/completions|model/([^/?#]+)/invoke)")
_HINTS = (
    "max_completion_tokens",
    "reasoning_effort",
    "response_format",
    "stream_options",
    "parallel_tool_calls",
    "functions",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "logprobs",
    "n",
    "seed",
    "enable_thinking",
    "chat_template_kwargs",
    "reasoning_split",
)
"""Keys of a request that this protocol has and its neighbours do not."""

_MODELS = regex.compile(
    r"gpt-|o[1-9]\b|deepseek|kimi|moonshot|glm-|qwen|qwq|mistral|magistral|devstral|codestral|llama|grok|minimax", re.I
)
_MESSAGE_KEYS = frozenset(
    ("tool_calls", "tool_call_id", "function_call", "reasoning_content", "reasoning_details", "refusal")
)
_FLAT_TOOLS = ("function", "custom", "namespace")
_ROLES = ("tool", "function", "developer")
_BLOCKS = ("image_url", "input_audio", "video_url", "refusal")
_FOREIGN_BLOCKS = ("tool_use", "tool_result", "redacted_thinking")
_FOREIGN_KEYS = frozenset(("system", "anthropic_version", "stop_sequences", "options", "keep_alive"))


class OpenAIChat(CodecAdapter):
    """The adapter."""

    name = PROTOCOL
    capabilities = Capabilities(
        reasoning=ReasoningCapabilities(
            carriers=frozenset(
                (
                    Carrier.REASONING_CONTENT.value,
                    Carrier.REASONING.value,
                    Carrier.REASONING_DETAILS.value,
                    Carrier.THINK_TEXT.value,
                )
            ),
            plain=Carrier.REASONING_CONTENT.value,
            switches=frozenset(("off",)),
            effort_is_switch=True,
        ),
        media=MediaCapabilities(
            kinds=frozenset(("image", "audio", "file")),
            document_key=("file", "filename"),
            sources=frozenset(("data", "url", "file_id")),
            sources_of={
                "image": frozenset(("data", "url")),
                "audio": frozenset(("data",)),
                "file": frozenset(("data", "file_id")),
            },
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
            params=_chat_params.NAMES,
            empty_text=True,
            one_text=frozenset(("answer",)),
            schema_required={"name": "answer"},
        ),
        answer=AnswerCapabilities(
            usage_needed=frozenset(("input", "output")),
            needs={"created": 0},
            error_fields=frozenset(("type", "param", "code")),
        ),
    )
    codec = Codec(
        url=_URL,
        path="/v1/chat/completions",
        read_request=read_request,
        read_response=read_response,
        decoder=ChatStreamDecoder,
        request_nodes=request_nodes,
        response_nodes=response_nodes,
        fields=READ,
        params=_chat_params.params,
        write_request=write_request,
        write_response=write_response,
        writer=ChatWriter,
    )
    serving = SERVING
    sdk = SDK
    import_hints = IMPORT_HINTS
    traits = TRAITS

    def claims_request(self, value: JsonValue) -> float:
        """Recognise the protocol by the shape of tools, then of messages, then by keys; a model name is only a hint."""
        messages = value.get("messages") if isinstance(value, dict) else None
        if not isinstance(messages, list):
            is_broken = isinstance(messages, str | dict) and isinstance(value.get("model"), str)
            return 0.4 if is_broken else 0.0
        tools = value.get("tools")
        kinds = ["function" in t for t in tools if not _is_bare(t)] if isinstance(tools, list) else []
        is_foreign = not _FOREIGN_KEYS.isdisjoint(value)
        if any(kinds) or any(map(_is_ours, messages)):
            return 0.5 if is_foreign else 0.95
        if is_foreign or any([block in _FOREIGN_BLOCKS for block in _block_types(messages)]):
            return 0.05
        if isinstance(tools, list) and any(map(_is_flat, tools)):
            return 0.5
        is_hinted = any(key in value for key in _HINTS)
        if kinds:  # tools in the form of another protocol
            return 0.7 if is_hinted else 0.05
        if is_hinted:
            return 0.8
        if messages and isinstance(messages[0], dict) and messages[0].get("role") == "system":
            return 0.6
        return 0.5 if _MODELS.search(str(value.get("model", ""))) else 0.25

    def claims_response(self, value: JsonValue) -> float:
        """An object with choices that hold messages."""
        choices = value.get("choices") if isinstance(value, dict) else None
        if not isinstance(choices, list):
            return 0.0
        if value.get("object") == "chat.completion":
            return 0.98
        return 0.9 if any(isinstance(c, dict) and "message" in c for c in choices) else 0.1

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        """A chunk: an object with choices that hold deltas."""
        choices = value.get("choices") if isinstance(value, dict) else None
        if not isinstance(choices, list):
            return 0.0
        if value.get("object") == "chat.completion.chunk":
            return 0.98
        return 0.9 if any(isinstance(c, dict) and "delta" in c for c in choices) else 0.3

    def encode_request(self, request: ModelRequest, original: bytes) -> bytes:
        """The original body with the values that differ replaced. Raises LocalProtocolError."""
        if request.model is not None and self.decode_request(original).model is None:
            request = replace(request, model=None)  # the URL of a deployment says it
        return super().encode_request(request, original)

    def read_url(self, url: str) -> UrlFacts:
        """Azure's deployments and Bedrock have the model in the path."""
        found = _DEPLOYMENT.search(url)
        return UrlFacts(model=unquote(found[1] or found[2])) if found else UrlFacts()

    def client_policies(self) -> tuple[type[Policy], ...]:
        """SDKs whose stream assembly is known."""
        from workbench.protocols.clients import chat_by_index, chat_by_merging, chat_tracked

        merging, table = chat_by_merging.POLICIES, chat_by_index.POLICIES
        return (merging[0], table[0], chat_tracked.VercelCompatible, *merging[1:], *table[1:])


def _is_bare(tool: JsonValue) -> bool:
    """True for a tool without name or function, such as a server tool; it does not indicate a protocol."""
    return not isinstance(tool, dict) or not ("function" in tool or "name" in tool)


def _is_flat(tool: JsonValue) -> bool:
    """True for a client's tool of the Responses API, whose name is not in an object: it was copied to this protocol."""
    return isinstance(tool, dict) and tool.get("type") in _FLAT_TOOLS and "name" in tool and "input_schema" not in tool


def _is_ours(message: JsonValue) -> bool:
    """The message holds what only this protocol has."""
    if not isinstance(message, dict):
        return False
    if message.get("role") in _ROLES or not _MESSAGE_KEYS.isdisjoint(message):
        return True
    return any([block in _BLOCKS for block in _block_types([message])])


def _block_types(messages: list[JsonValue]) -> Iterator[JsonValue]:
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            yield block.get("type") if isinstance(block, dict) else None


adapter = OpenAIChat()
