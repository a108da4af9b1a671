"""Bedrock's Converse and ConverseStream: ``POST /model/{id}/converse``, one protocol for the models of many makers.

The URL names the model and whether a stream is asked for. A stream is AWS event stream messages named by their type.
Facts: AWS Bedrock API Reference, "Converse" and "ConverseStream"; botocore's service model ``bedrock-runtime``.
"""

from __future__ import annotations

from urllib.parse import unquote

from workbench import regex
from workbench.fronts import late
from workbench.ir import Carrier, JsonValue, ModelRequest, ModelResponse
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
from workbench.protocols.bedrock_converse import request as _keyed_request
from workbench.protocols.bedrock_converse.declaration import IMPORT_HINTS, SERVING, TRAITS
from workbench.protocols.bedrock_converse.request import CHOICES, DOCUMENT, DOCUMENT_KEY, MEDIA_TYPES, PLACES, PROTOCOL
from workbench.protocols.common.codec import Codec, CodecAdapter, answer_in
from workbench.protocols.common.error_body import EXCEPTIONS, as_in_body
from workbench.protocols.common.reading import segment

KeyedWriter, read_response, response_nodes, write_response = late(
    "workbench.protocols.bedrock_converse.answer", "KeyedWriter", "read_response", "response_nodes", "write_response"
)
(KeyedStreamDecoder,) = late("workbench.protocols.bedrock_converse.stream", "KeyedStreamDecoder")


_URL = regex.compile(r"/model/([^/?#]+)/converse(-stream)?/?(?:[?#]|$)")
_MODEL = regex.compile(r"/model/([^/?#]+)/(?:converse|invoke)(-stream|-with-response-stream)?/?(?:[?#]|$)")
_REQUEST_KEYS = ("inferenceConfig", "toolConfig", "additionalModelRequestFields", "guardrailConfig")
_BLOCKS = frozenset(("toolUse", "toolResult", "reasoningContent", "cachePoint"))
_EVENTS = {
    "messageStart": "role",
    "contentBlockStart": "contentBlockIndex",
    "contentBlockDelta": "delta",
    "contentBlockStop": "contentBlockIndex",
    "messageStop": "stopReason",
    "metadata": "usage",
}
"""Name of an event → a key that it has."""


class BedrockConverse(CodecAdapter):
    """The adapter."""

    name = PROTOCOL
    capabilities = Capabilities(
        reasoning=ReasoningCapabilities(
            carriers=frozenset((Carrier.REASONING_BLOCK.value,)),
            switches=frozenset(("on", "off", "adaptive")),
            budget_required=True,
            least_budget=1024,
        ),
        media=MediaCapabilities(
            kinds=frozenset(("image", "document", "video", "audio")),
            in_results=frozenset(("image", "document", "video")),
            sources=frozenset(("data",)),
            types=MEDIA_TYPES,
            document_name=DOCUMENT,
            document_key=DOCUMENT_KEY,
            document_odd=r"[^a-zA-Z0-9\s()\[\]-]+|\s{2,}|[^\S ]",
            document_length=200,
        ),
        tools=ToolCapabilities(
            error_flag=True,
            choices=frozenset(CHOICES),
            strict=True,
            arguments="object",
            id_pattern="[a-zA-Z0-9_.:-]+",
            id_max_length=64,
            name_pattern="[a-zA-Z0-9_-]{1,64}",
            json_results=True,
        ),
        request=RequestCapabilities(
            cache_markers=True,
            cache_blocks=True,
            params=frozenset(PLACES),
        ),
        answer=AnswerCapabilities(
            interleaved=True,
            fields=frozenset(),
            usage_fields=frozenset(("cache_read", "cache_write")),
            usage_needed=frozenset(("input", "output")),
            error_fields=frozenset(),
            stream_errors=EXCEPTIONS,
            stop_is_end=True,
        ),
    )
    codec = Codec(
        url=_URL,
        read_request=_keyed_request.read_request,
        read_response=read_response,
        decoder=KeyedStreamDecoder,
        request_nodes=_keyed_request.request_nodes,
        response_nodes=response_nodes,
        fields=("parallel", "thinking", "previous_id", "tool_choice"),
        params=_keyed_request.params,
        write_request=_keyed_request.write_request,
        write_response=write_response,
        writer=KeyedWriter,
    )
    serving = SERVING
    import_hints = IMPORT_HINTS
    traits = TRAITS

    def read_url(self, url: str) -> UrlFacts:
        """The model, and whether a stream is requested."""
        found = _MODEL.search(url)
        return UrlFacts(unquote(found[1]), found[2] is not None) if found else UrlFacts()

    def claims_request(self, value: JsonValue) -> float:
        """Recognise the protocol by its own keys, then by blocks that are named by their key."""
        if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
            return 0.0
        if dict in [type(value.get(key)) for key in _REQUEST_KEYS]:
            return 0.98
        contents = [m.get("content") for m in value["messages"] if isinstance(m, dict)]
        blocks = [block for content in contents if isinstance(content, list) for block in content]
        keyed = [b for b in blocks if isinstance(b, dict) and "type" not in b]
        if not all(map(_BLOCKS.isdisjoint, keyed)):
            return 0.95
        if not keyed or len(keyed) < len(blocks) or "model" in value:
            return 0.0
        return 0.6 if "max_tokens" in value else 0.85  # Messages requires it, and its system prompt may be a list, too

    def claims_response(self, value: JsonValue) -> float:
        """A message in ``output``."""
        output = value.get("output") if isinstance(value, dict) else None
        if not isinstance(output, dict) or not isinstance(output.get("message"), dict):
            return 0.0
        return 0.98 if "stopReason" in value else 0.6

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        """An event that is named by its frame, or by its only key."""
        if not isinstance(value, dict):
            return 0.0
        if event in _EVENTS:
            return 0.98 if _EVENTS[event] in value else 0.3
        key = next(iter(value), None) if len(value) == 1 else None
        inner = value.get(key) if key in _EVENTS else None
        return 0.95 if isinstance(inner, dict) and _EVENTS[str(key)] in inner else 0.0

    def encode_request(self, request: ModelRequest, original: bytes) -> bytes:
        """The original body with the values that differ replaced. Raises LocalProtocolError."""
        after = replace(request, model=None, stream=False)  # the URL says these
        return super().encode_request(after, original)

    def encode_response(self, response: ModelResponse, original: bytes) -> bytes:
        """The same for a response body or a stream. Raises LocalProtocolError."""
        return super().encode_response(as_in_body(answer_in(self, original), response), original)

    def path(self, request: ModelRequest) -> str:
        """Path of the request, with the model and whether a stream is requested."""
        return f"/model/{segment(request.model)}/converse{'-stream' if request.stream else ''}"


adapter = BedrockConverse()
