"""Cohere's second API: ``POST /v2/chat``.

Cohere, its private deployments, vLLM (``/cohere/v2/chat``) and gateways use it.
"""

from __future__ import annotations

from collections.abc import Mapping

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
from workbench.protocols.cohere_v2.declaration import IMPORT_HINTS, SDK, SERVING, TRAITS
from workbench.protocols.cohere_v2.request import CHOICES, PLACES, PROTOCOL, find_params, read_request, request_nodes
from workbench.protocols.cohere_v2.response import STOPS, read_response, response_nodes
from workbench.protocols.common.codec import Codec, CodecAdapter

(EventStreamDecoder,) = late("workbench.protocols.cohere_v2.stream", "EventStreamDecoder")
EventWriter, write_request, write_response = late(
    "workbench.protocols.cohere_v2.write", "EventWriter", "write_request", "write_response"
)


_URL = regex.compile(r"^[^?#]*/v2/chat/?(?:[?#]|$)")
_OUR_KEYS = frozenset(("strict_tools", "citation_options", "safety_mode", "documents", "p", "k", "raw_prompting"))
_OUR_MODELS = regex.compile(r"command-|c4ai-|tiny-aya")
_CHAT_KEYS = frozenset(("max_completion_tokens", "parallel_tool_calls", "top_p", "stop", "n", "stream_options", "user"))
_EVENTS: Mapping[str, str | None] = {
    "message-start": "delta",
    "message-end": "delta",
    "content-start": "delta",
    "content-delta": "delta",
    "content-end": "index",
    "tool-plan-delta": "delta",
    "tool-call-start": "delta",
    "tool-call-delta": "delta",
    "tool-call-end": "index",
    "citation-start": "delta",
    "citation-end": "index",
}
"""Type of an event → a key that it has."""

_READ = ("model", "tools", "tool_choice", "parallel", "stream", "thinking", "previous_id", "system")


class CohereV2(CodecAdapter):
    """The adapter."""

    name = PROTOCOL
    capabilities = Capabilities(
        reasoning=ReasoningCapabilities(
            carriers=frozenset((Carrier.TOOL_PLAN.value, Carrier.THINKING_CHUNK.value)),
            plain=Carrier.THINKING_CHUNK.value,
            switches=frozenset(("on", "off")),
            budget_switches=True,
        ),
        media=MediaCapabilities(
            kinds=frozenset(("image",)),
            sources=frozenset(("data", "url")),
        ),
        tools=ToolCapabilities(
            choices=frozenset(CHOICES.values()),
            arguments="string",
        ),
        request=RequestCapabilities(
            mid_system=True,
            params=frozenset((*PLACES.values(), "response_schema", "response_json")),
            schema_keys=frozenset(),
        ),
        answer=AnswerCapabilities(
            stops=frozenset(("stop", "tool_calls", "length")),
            error_fields=frozenset(),
            fields=frozenset(("id",)),
            usage_fields=frozenset(("cache_read",)),
            stop_is_end=True,
        ),
    )
    codec = Codec(
        url=_URL,
        path="/v2/chat",
        read_request=read_request,
        read_response=read_response,
        decoder=EventStreamDecoder,
        request_nodes=request_nodes,
        response_nodes=response_nodes,
        fields=_READ,
        params=find_params,
        write_request=write_request,
        write_response=write_response,
        writer=EventWriter,
    )
    serving = SERVING
    traits = TRAITS
    sdk = SDK
    import_hints = IMPORT_HINTS

    def claims_request(self, value: JsonValue) -> float:
        """Recognise the protocol by its own values and keys; a model name counts if nothing contradicts it."""
        if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
            return 0.0
        choice = value.get("tool_choice")
        if isinstance(choice, str) and choice in CHOICES:
            return 0.97
        if any([isinstance(message, dict) and "tool_plan" in message for message in value["messages"]]):
            return 0.97
        if choice is not None or not _CHAT_KEYS.isdisjoint(value):
            return 0.1
        if not _OUR_KEYS.isdisjoint(value):
            return 0.97
        return 0.96 if _OUR_MODELS.match(str(value.get("model", ""))) else 0.2

    def claims_response(self, value: JsonValue) -> float:
        """True for a message next to a finish reason in capitals or next to billed units."""
        message = value.get("message") if isinstance(value, dict) else None
        if not isinstance(message, dict) or "done" in value or "choices" in value:
            return 0.0
        reason, usage = value.get("finish_reason"), value.get("usage")
        if isinstance(reason, str) and (reason in STOPS or reason in ("ERROR", "TIMEOUT")):
            return 0.97
        return 0.8 if isinstance(usage, dict) and ("billed_units" in usage or "tokens" in usage) else 0.0

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        """An event of a known type with the key it has to have; its name adds to that."""
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in _EVENTS or _EVENTS[kind] not in value:
            return 0.0
        return 0.98 if event == kind else 0.95


adapter = CohereV2()
