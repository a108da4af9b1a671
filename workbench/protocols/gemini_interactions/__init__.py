"""Gemini's Interactions API: ``POST /v1beta/interactions``, on the Gemini API and Vertex AI.

The server stores the interaction unless the request disables that; ``previous_interaction_id`` continues from it.
"""

from __future__ import annotations

from workbench import regex
from workbench.fronts import late
from workbench.ir import Carrier, JsonValue
from workbench.protocols import (
    AnswerCapabilities,
    Capabilities,
    MediaCapabilities,
    ReasoningCapabilities,
    RequestCapabilities,
    ToolCapabilities,
)
from workbench.protocols.common.codec import Codec, CodecAdapter
from workbench.protocols.common.reading import string_or_none
from workbench.protocols.gemini_interactions.declaration import IMPORT_HINTS, SDK, SERVING, TRAITS
from workbench.protocols.gemini_interactions.request import (
    KEY,
    PLACES,
    PREVIOUS,
    PROTOCOL,
    READ,
    READ_OF_ANSWERS,
    params_of,
    read_request,
    request_nodes,
    response_nodes,
)
from workbench.protocols.gemini_interactions.response import LISTS, STATUSES, read_response
from workbench.protocols.gemini_interactions.step import is_content, is_step

(StepStreamDecoder,) = late("workbench.protocols.gemini_interactions.stream", "StepStreamDecoder")
StepWriter, encode_stream, write_request, write_response = late(
    "workbench.protocols.gemini_interactions.write", "StepWriter", "encode_stream", "write_request", "write_response"
)


_URL = regex.compile(
    r"^[^?#]*/v\d[a-z0-9]*/(?:projects/[^/?#]+/locations/[^/?#]+/)?interactions(?:/[^/?#]+(?:/cancel)?)?/?(?:[?#]|$)"
)
_ASKED = regex.compile(r"(?:models/)?gemini-|deep-research-|agents/")
_HINTS = (
    PREVIOUS,
    "generation_config",
    "system_instruction",
    "continuation_token",
    "response_modalities",
    "response_mime_type",
    "agent",
    "agent_config",
)
"""Keys that no other request with an ``input`` has."""

_FOREIGN = ("messages", "contents", "instructions", "previous_response_id", "reasoning", "include", "max_output_tokens")
_MEDIA = frozenset(("image", "document", "audio", "video"))


class GeminiInteractions(CodecAdapter):
    """The adapter."""

    name = PROTOCOL
    capabilities = Capabilities(
        reasoning=ReasoningCapabilities(
            carriers=frozenset((Carrier.THOUGHT_SIGNATURE.value,)),
            plain=Carrier.THOUGHT_SIGNATURE.value,
            switches=frozenset(("on",)),
        ),
        media=MediaCapabilities(
            kinds=_MEDIA,
            in_results=_MEDIA,
            sources=frozenset(("data", "url")),
        ),
        tools=ToolCapabilities(
            error_flag=True,
            arguments="object",
            name_pattern=r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}",
            result_names=True,
            json_results=True,
        ),
        request=RequestCapabilities(
            key_header="x-goog-api-key",
            params=frozenset((*PLACES, "response_schema", "response_json")),
            one_text=frozenset(("system",)),
            schema_keys=frozenset(),
        ),
        answer=AnswerCapabilities(
            interleaved=True,
            stops=frozenset(("stop", "tool_calls", "length", "pause")),
            stop_required=True,
            stop_is_end=True,
            usage_fields=frozenset(("cache_read", "reasoning")),
            error_fields=frozenset(("code",)),
        ),
    )
    codec = Codec(
        url=_URL,
        path="/v1beta/interactions",
        read_request=read_request,
        read_response=read_response,
        decoder=StepStreamDecoder,
        request_nodes=request_nodes,
        response_nodes=response_nodes,
        fields=READ,
        params=params_of,
        write_request=write_request,
        write_response=write_response,
        writer=StepWriter,
        key=KEY,
        answer_fields=READ_OF_ANSWERS,
        encode_stream=encode_stream,
    )
    serving = SERVING
    sdk = SDK
    import_hints = IMPORT_HINTS
    traits = TRAITS

    def claims_request(self, value: JsonValue) -> float:
        """Recognise it by the steps of ``input`` or its own keys; a model name counts if nothing contradicts it."""
        if not isinstance(value, dict) or "messages" in value or "contents" in value:
            return 0.0
        if not any(key in value for key in (KEY, PREVIOUS, "continuation_token")):
            return 0.0
        entries = value.get(KEY)
        if isinstance(entries, list) and any(map(is_step, entries)) and not any(key in value for key in _FOREIGN):
            kinds = {string_or_none(step.get("type")) for step in entries if isinstance(step, dict)}
            return 0.98 if kinds & {"user_input", "model_output", "thought", "function_result"} else 0.6
        if any(key in value for key in _HINTS):
            return 0.97
        asks = value.get("model")
        if any(key in value for key in _FOREIGN) or not isinstance(asks, str) or not _ASKED.match(asks):
            return 0.0
        return 0.96 if isinstance(entries, str) or _is_content(entries) else 0.0

    def claims_response(self, value: JsonValue) -> float:
        """An object with a status and a list of steps."""
        if not isinstance(value, dict):
            return 0.0
        if value.get("object") == "interaction":
            return 0.98
        steps = next((value[key] for key in LISTS if isinstance(value.get(key), list)), None)
        if steps is None or string_or_none(value.get("status")) not in STATUSES:
            return 0.0
        return 0.97 if steps and all(is_step(step) or is_content(step) for step in steps) else 0.6

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        """An event whose own key names its type."""
        kind = value.get("event_type") if isinstance(value, dict) else None
        if kind is None:
            return 0.0
        from workbench.protocols.gemini_interactions.stream import BEGINS, ENDS, STATUS, STEPS

        if not isinstance(kind, str) or kind not in {STATUS, *BEGINS, *ENDS, *STEPS}:
            return 0.5 if kind == "error" else 0.0
        return 0.98 if event in (kind, None) else 0.9


def _is_content(value: JsonValue) -> bool:
    """Content alone: no other protocol has it as its input."""
    parts = value if isinstance(value, list) else [value]
    return bool(parts) and all(map(is_content, parts))


adapter = GeminiInteractions()
