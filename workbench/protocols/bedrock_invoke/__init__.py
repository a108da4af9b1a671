"""Bedrock's InvokeModel and InvokeModelWithResponseStream with the bodies of Anthropic's models.

``POST /model/{id}/invoke``: the URL names the model and whether a stream is asked for; the body is that of Anthropic's
Messages without both and with ``anthropic_version``. A stream is AWS event stream messages named ``chunk``, whose
payload wraps each event in base64. Facts: AWS Bedrock API Reference, "InvokeModelWithResponseStream", and User Guide,
"Anthropic Claude Messages API"; recorded by charmbracelet/fantasy and posit-dev/chatlas.

Bedrock's InvokeModel passes a body on as it is. Facts: Amazon Bedrock User Guide, "Inference request parameters and
response fields for foundation models"; Amazon Nova User Guide, "Using the Invoke API".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from workbench import regex
from workbench.errors import ProtocolMismatch
from workbench.fronts import late
from workbench.ir import Carrier, JsonValue, ModelRequest, ModelResponse
from workbench.lazy_dataclass import replace
from workbench.protocols import (
    AnswerCapabilities,
    Capabilities,
    MediaCapabilities,
    Param,
    ReasoningCapabilities,
    RequestCapabilities,
    ToolCapabilities,
    UrlFacts,
)
from workbench.protocols.bedrock_invoke import completion_text
from workbench.protocols.bedrock_invoke.declaration import PROTOCOL, SERVING, TRAITS
from workbench.protocols.common.codec import Codec, CodecAdapter, answer_in
from workbench.protocols.common.error_body import EXCEPTIONS, as_in_body
from workbench.protocols.common.reading import segment
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.shapes.blocks import request as _blocks_params
from workbench.protocols.shapes.blocks.request import read_request, request_nodes, response_nodes
from workbench.wire import loads

ChunkDecoder, ChunkWriter = late("workbench.protocols.bedrock_invoke.chunks", "ChunkDecoder", "ChunkWriter")
(read_response,) = late("workbench.protocols.shapes.blocks.response", "read_response")
write_request, write_response = late("workbench.protocols.shapes.blocks.write", "write_request", "write_response")


INVOKE, CONVERSE, CHAT = "bedrock-invoke", "bedrock-converse", "openai-chat"
_CONVERSE_KEYS = ("schemaVersion", "inferenceConfig", "toolConfig")
_CONVERSE_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop")


def protocol_of(request: JsonValue, answer: JsonValue) -> str:
    """The protocol of a body at such a URL.

    Args:
        request: its parsed body; None where there is none.
        answer: the parsed answer, or the first event of its stream.
    """
    if isinstance(request, dict):
        return _of_request(request)
    if not isinstance(answer, dict):
        return INVOKE
    if isinstance(answer.get("output"), dict) or any(key in answer for key in _CONVERSE_EVENTS):
        return CONVERSE
    return CHAT if isinstance(answer.get("choices"), list) else INVOKE


def _of_request(request: Mapping[str, JsonValue]) -> str:
    messages = request.get("messages")
    if not isinstance(messages, list) or "anthropic_version" in request:
        return INVOKE
    if any(key in request for key in _CONVERSE_KEYS):
        return CONVERSE
    contents = [m.get("content") for m in messages if isinstance(m, dict)]
    blocks = [b for content in contents if isinstance(content, list) for b in content if isinstance(b, dict)]
    if blocks and not any("type" in block for block in blocks):
        return CONVERSE
    return INVOKE if any(b.get("type") in _BLOCKS for b in blocks) or _declares_tools(request) else CHAT


def _declares_tools(request: Mapping[str, JsonValue]) -> bool:
    """A tool is declared as Anthropic's API declares it."""
    tools = request.get("tools")
    return isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools)


_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking")
"""Types of content blocks that only Anthropic's API has: ``anthropic_version`` is missing there."""

VERSION = "bedrock-2023-05-31"

_URL = regex.compile(r"/model/([^/?#]+)/invoke(-with-response-stream)?/?(?:[?#]|$)")
_EVENTS = ("message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop")
_NOT_IN_BODY = ("model", "stream")


def _read_request(value: JsonValue, known: KnownMessages | None = None) -> ModelRequest:
    return replace(read_request(value, known), protocol=PROTOCOL)


def _read_response(body: bytes, status: int) -> ModelResponse:
    if b'"content"' not in body and completion_text.is_text(body):
        return completion_text.read_response(loads(body), PROTOCOL)
    found: ModelResponse = read_response(body, status)
    return replace(found, protocol=PROTOCOL)


def _params(request: ModelRequest) -> Iterator[Param]:
    return (p for p in _blocks_params.params(request) if p.pointer != "/anthropic_version")


def _write_request(request: ModelRequest) -> JsonValue:
    body = write_request(request)
    return {"anthropic_version": VERSION, **{k: v for k, v in body.items() if k not in _NOT_IN_BODY}}


def _write_response(response: ModelResponse) -> JsonValue:
    return {"message": response.error.message} if response.error else write_response(response)


class BedrockInvoke(CodecAdapter):
    """The adapter."""

    name = PROTOCOL
    shares_urls = True
    capabilities = Capabilities(
        reasoning=ReasoningCapabilities(
            carriers=frozenset((Carrier.THINKING.value, Carrier.REDACTED_THINKING.value)),
            switches=frozenset(("on", "off", "adaptive")),
            budget_required=True,
            least_budget=1024,
        ),
        media=MediaCapabilities(
            kinds=frozenset(("image", "document")),
            in_results=frozenset(("image", "document")),
            sources=frozenset(("data",)),
            document_key=("title",),
            document_length=500,
        ),
        tools=ToolCapabilities(
            error_flag=True,
            parallel_switch=True,
            arguments="object",
            id_pattern="[a-zA-Z0-9_-]+",
            name_pattern="[a-zA-Z0-9_-]{1,128}",
            parallel_in_choice=True,
        ),
        request=RequestCapabilities(
            cache_markers=True,
            params=frozenset(("max_tokens", "temperature", "top_p", "top_k", "stop", "thinking_budget", "user")),
            required={"max_tokens": 4096},
        ),
        answer=AnswerCapabilities(
            interleaved=True,
            usage_needed=frozenset(("input", "output")),
            error_fields=frozenset(),
            stream_errors=EXCEPTIONS,
        ),
    )
    codec = Codec(
        url=_URL,
        read_request=_read_request,
        read_response=_read_response,
        decoder=ChunkDecoder,
        request_nodes=request_nodes,
        response_nodes=response_nodes,
        fields=("parallel", "thinking", "previous_id"),
        params=_params,
        write_request=_write_request,
        write_response=_write_response,
        writer=ChunkWriter,
    )
    serving = SERVING
    traits = TRAITS

    def read_url(self, url: str) -> UrlFacts:
        """The model, and whether a stream is requested."""
        found = _URL.search(url)
        return UrlFacts(unquote(found[1]), found[2] is not None) if found else UrlFacts()

    def protocol_of(self, request: JsonValue, answer: JsonValue) -> str:
        """Bodies of other makers' models come at the same URL, each in a protocol of its own."""
        return protocol_of(request, answer)

    def claims_request(self, value: JsonValue) -> float:
        """By ``anthropic_version``, which has the service's name in it."""
        if not isinstance(value, dict):
            return 0.0
        if str(value.get("anthropic_version", "")).startswith("bedrock-"):
            return 0.99
        return 0.6 if completion_text.is_request(value) and "max_tokens_to_sample" in value else 0.0

    def claims_response(self, value: JsonValue) -> float:
        """A whole answer is one of Anthropic's, with an id that tells who gave it; or a text."""
        if not isinstance(value, dict):
            return 0.0
        if isinstance(value.get("content"), list) and str(value.get("id", "")).startswith("msg_bdrk_"):
            return 0.97
        return 0.5 if isinstance(value.get("completion"), str) and "stop_reason" in value else 0.0

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        """An event that came in a ``chunk``."""
        if event != "chunk" or not isinstance(value, dict):
            return 0.0
        return 0.99 if value.get("type") in _EVENTS or completion_text.is_answer(value) else 0.0

    def decode_request(self, body: bytes, known: KnownMessages | None = None) -> ModelRequest:
        """Decode a content-decoded request body. Raises WireError, ProtocolMismatch."""
        if b'"messages"' not in body:
            value = loads(body)
            if completion_text.is_request(value):
                return completion_text.read_request(value, PROTOCOL)
            if isinstance(value, dict) and "anthropic_version" not in value:
                names = ", ".join(f"{key:.40}" for key in list(value)[:4])
                raise ProtocolMismatch(f"a body for a model of an unknown vendor ({names}): not decoded")
        return super().decode_request(body, known)

    def encode_request(self, request: ModelRequest, original: bytes) -> bytes:
        """The original body with the values that differ replaced. Raises LocalProtocolError."""
        before = self.decode_request(original)
        after = replace(request, model=before.model, stream=before.stream)  # the URL says these
        return super().encode_request(after, original)

    def encode_response(self, response: ModelResponse, original: bytes) -> bytes:
        """The same for a response body or a stream. Raises LocalProtocolError."""
        return super().encode_response(as_in_body(answer_in(self, original), response), original)

    def path(self, request: ModelRequest) -> str:
        """Path of the request, with the model and whether a stream is requested."""
        action = "invoke-with-response-stream" if request.stream else "invoke"
        return f"/model/{segment(request.model)}/{action}"


adapter = BedrockInvoke()
