"""Gemini's ``generateContent`` and ``streamGenerateContent``: Gemini API, Vertex AI, Code Assist.

The model and whether the answer is streamed are in the URL.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote

from workbench import regex
from workbench.fronts import late
from workbench.ir import JsonValue, Message, ModelRequest, ModelResponse
from workbench.lazy_dataclass import replace
from workbench.protocols import (
    AnswerCapabilities,
    Capabilities,
    RequestCapabilities,
    UrlFacts,
)
from workbench.protocols.common.codec import Codec, CodecAdapter, answer_in, edit_answer, edit_request
from workbench.protocols.common.reading import segment
from workbench.protocols.gemini.declaration import IMPORT_HINTS, SDK, SERVING, TRAITS
from workbench.protocols.shapes.contents.capabilities import MEDIA, REASONING, TOOLS
from workbench.protocols.shapes.contents.nodes import key_of, member, snake
from workbench.protocols.shapes.contents.request import (
    ENVELOPE,
    KEY,
    PLACES,
    PROTOCOL,
    params_of,
    read_request,
    unwrap,
)
from workbench.protocols.shapes.contents.response import ENVELOPE as ANSWER_ENVELOPE
from workbench.protocols.shapes.contents.response import KEYS, read_response, reason_of
from workbench.wire import loads

if TYPE_CHECKING:
    from workbench.protocols.clients.buffers import Policy

(request_nodes,) = late("workbench.protocols.shapes.contents.edit", "request_nodes")
(ContentsStreamDecoder,) = late("workbench.protocols.shapes.contents.stream", "ContentsStreamDecoder")
ContentsWriter, request_body, response_body = late(
    "workbench.protocols.shapes.contents.write", "ContentsWriter", "request_body", "response_body"
)

_METHOD = r":(stream)?[gG]enerateContent/?(?:[?#]|$)"
_URL = regex.compile(_METHOD)
_MODEL = regex.compile(r"/(?:models|tunedModels|endpoints)/([^/?#]+?)" + _METHOD)
_OF_A_CACHE = frozenset(("ttl", "expireTime"))
"""Keys that only a cachedContents resource has."""
_OUR_KEYS = ("generationConfig", "systemInstruction", "safetySettings", "toolConfig", "cachedContent")


class Gemini(CodecAdapter):
    """The adapter."""

    name = PROTOCOL
    capabilities = Capabilities(
        reasoning=REASONING,
        media=MEDIA,
        tools=replace(TOOLS, ids_optional=True),
        request=RequestCapabilities(
            key_header="x-goog-api-key",
            params=frozenset(PLACES),
            schema_keys=frozenset(),
        ),
        answer=AnswerCapabilities(
            interleaved=True,
            stops=frozenset(("stop", "tool_calls", "length", "filter", "other")),
            stop_is_end=True,
            stop_by_calls=True,
            usage_fields=frozenset(("cache_read", "reasoning")),
            error_fields=frozenset(("type", "code")),
        ),
    )
    codec = Codec(
        url=_URL,
        read_request=read_request,
        read_response=read_response,
        decoder=ContentsStreamDecoder,
        params=params_of,
        write_request=request_body,
        write_response=response_body,
        writer=ContentsWriter,
        key=KEY,
    )
    serving = SERVING
    sdk = SDK
    import_hints = IMPORT_HINTS
    traits = TRAITS

    def read_url(self, url: str) -> UrlFacts:
        """The model, but for Code Assist's path, and the method."""
        method, model = _URL.search(url), _MODEL.search(url)
        if method is None:
            return UrlFacts()
        return UrlFacts(unquote(model.group(1)) if model else None, method.group(1) is not None)

    def claims_request(self, value: JsonValue) -> float:
        """An object with ``contents`` made of parts, bare or in an envelope."""
        inner, at = unwrap(value, ENVELOPE, (KEY,))
        if not isinstance(inner, dict) or not isinstance(inner.get(KEY), list | dict):
            return 0.0
        if "model" in inner and not _OF_A_CACHE.isdisjoint(inner):
            return 0.0
        contents = inner[KEY] if isinstance(inner[KEY], list) else [inner[KEY]]
        if any(isinstance(content, dict) and "parts" in content for content in contents):
            return 0.97
        known = any(key in inner or snake(key) in inner for key in _OUR_KEYS)
        if known or at:
            return 0.8
        are_turns = not any(isinstance(content, dict) and "role" not in content for content in contents)
        return 0.3 if isinstance(inner[KEY], list) and are_turns else 0.0  # other documents have contents, too

    def claims_response(self, value: JsonValue) -> float:
        """Candidates with a content or a reason; or feedback on a prompt that was blocked."""
        inner, _ = unwrap(value, ANSWER_ENVELOPE, KEYS)
        if not isinstance(inner, dict):
            return 0.0
        candidates = inner.get("candidates")
        if isinstance(candidates, list):
            known = any(isinstance(c, dict) and ("content" in c or member(c, "finishReason")) for c in candidates)
            return 0.97 if known else 0.6
        if isinstance(member(inner, "promptFeedback"), dict):
            return 0.95
        return 0.9 if isinstance(inner.get("usageMetadata"), dict) else 0.0

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        """The same: every event is an answer. None of them has a name."""
        return self.claims_response(value) * (1.0 if event is None else 0.9)

    def encode_request(self, request: ModelRequest, original: bytes) -> bytes:
        """The original body with the values that differ replaced. Raises LocalProtocolError.

        What only the URL says, the model and the stream, is no part of the body.
        """
        body, before = loads(original), self.decode_request(original)
        nodes = partial(request_nodes, before=before, body=body)
        return edit_request(self, nodes, request, original, ("thinking", "parallel", "previous_id"))

    def encode_response(self, response: ModelResponse, original: bytes) -> bytes:
        """The same for a response body or a stream. Raises LocalProtocolError."""
        before = answer_in(self, original)
        body = {} if before.is_stream or before.error else loads(original)
        return edit_answer(partial(answer_in, self), partial(_response_nodes, body=body), response, original)

    def path(self, request: ModelRequest) -> str:
        """The path of the Gemini API, version included; a stream as server-sent events."""
        kind, _, name = (request.model or "").rpartition("/")
        is_ours = kind in ("models", "tunedModels")  # names of other services have slashes, too
        model = f"{kind}/{segment(name)}" if is_ours else f"models/{segment(request.model)}"
        method = "streamGenerateContent?alt=sse" if request.stream else "generateContent"
        return f"/v1beta/{model}:{method}"

    def client_policies(self) -> tuple[type[Policy], ...]:
        """SDKs whose stream assembly is known."""
        from workbench.protocols.clients.typed_clients import GoogleGenAI

        return (GoogleGenAI,)


def _response_nodes(response: ModelResponse, body: JsonValue) -> tuple[Message, ...]:
    inner, at = unwrap(body, ANSWER_ENVELOPE, KEYS)
    inner_body = inner if isinstance(inner, dict) else {}
    own = {"responseId": response.id, "modelVersion": response.model}
    keys: dict[str, JsonValue] = {key_of(inner_body, key): value for key, value in own.items() if value is not None}
    if response.usage:
        keys[key_of(inner_body, "usageMetadata")] = response.usage.raw
    place = f"{at}{reason_of(inner_body)[1]}" or "/candidates/0/finishReason"
    node, _, key = place.rpartition("/")
    reason = {} if response.finish_reason is None else {key: response.finish_reason}
    return (
        Message("", (), response.params),
        Message("", (), keys, at),
        Message("", (), reason, node),
        *response.messages,
    )


adapter = Gemini()
