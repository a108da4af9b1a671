"""Cohere's second API: ``POST /v2/chat``.

Beside Cohere it is spoken by its private deployments, by vLLM (``/cohere/v2/chat``) and by gateways.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from workbench import regex
from workbench.ir import Carrier, JsonValue, Message, ModelRequest, ModelResponse, ToolChoice, ToolDef
from workbench.protocols import (
    AdapterDefaults,
    AnswerCapabilities,
    Capabilities,
    MediaCapabilities,
    Param,
    ReasoningCapabilities,
    RequestCapabilities,
    ToolCapabilities,
    UrlFacts,
)
from workbench.protocols.cohere_v2 import write as _events_write
from workbench.protocols.cohere_v2.declaration import IMPORT_HINTS, SDK, SERVING, TRAITS
from workbench.protocols.cohere_v2.request import CHOICES, PLACES, PROTOCOL, find_params, read_request
from workbench.protocols.cohere_v2.response import STOPS, read_response
from workbench.protocols.cohere_v2.stream import EventStreamDecoder
from workbench.protocols.common.edits import answer_in, edit_answer, edit_request
from workbench.protocols.common.reading import decode_request, none
from workbench.protocols.common.writing import write_stream
from workbench.protocols.families.chat.tools import tool_json
from workbench.protocols.known_messages import KnownMessages

_URL = regex.compile(r"[^?#]*/v2/chat/?(?:[?#]|$)")
_OUR_KEYS = ("strict_tools", "citation_options", "safety_mode", "documents", "p", "k", "raw_prompting")
_OUR_MODELS = regex.compile(r"command-|c4ai-|tiny-aya")
_CHAT_KEYS = ("max_completion_tokens", "parallel_tool_calls", "top_p", "stop", "n", "stream_options", "user")
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


class CohereV2(AdapterDefaults):
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
    serving = SERVING
    traits = TRAITS
    sdk = SDK
    import_hints = IMPORT_HINTS

    def claims_url(self, url: str) -> bool:
        """``/v2/chat`` behind any prefix."""
        return bool(_URL.match(url))

    def read_url(self, url: str) -> UrlFacts:
        """Read nothing from the URL: the body contains everything."""
        return UrlFacts()

    def claims_request(self, value: JsonValue) -> float:
        """By the values and keys that only this protocol has; a model's name counts where nothing speaks against it."""
        if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
            return 0.0
        choice = value.get("tool_choice")
        if isinstance(choice, str) and choice in CHOICES:
            return 0.97
        if any(isinstance(message, dict) and "tool_plan" in message for message in value["messages"]):
            return 0.97
        if choice is not None or any(key in value for key in _CHAT_KEYS):
            return 0.1
        if any(key in value for key in _OUR_KEYS):
            return 0.97
        return 0.96 if _OUR_MODELS.match(str(value.get("model", ""))) else 0.2

    def claims_response(self, value: JsonValue) -> float:
        """A message beside a finish reason in capitals, or beside what is billed."""
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

    def decode_request(self, body: bytes, known: KnownMessages | None = None) -> ModelRequest:
        """Decode a content-decoded request body. Raises WireError, ProtocolMismatch."""
        return decode_request(body, read_request, known, shapes=none)

    def decode_response(self, body: bytes, *, status: int = 200) -> ModelResponse:
        """Decode a whole response body, error bodies included. Raises WireError, ProtocolMismatch."""
        return read_response(body, status)

    def stream_decoder(self) -> EventStreamDecoder:
        """A fresh decoder for one stream."""
        return EventStreamDecoder()

    def encode_request(self, request: ModelRequest, original: bytes) -> bytes:
        """The original body with the values that differ replaced. Raises LocalProtocolError."""
        return edit_request(self, _request_nodes, request, original, _READ)

    def encode_response(self, response: ModelResponse, original: bytes) -> bytes:
        """The same for a response body or a stream. Raises LocalProtocolError."""
        return edit_answer(partial(answer_in, self), _response_nodes, response, original)

    def params(self, request: ModelRequest) -> tuple[Param, ...]:
        """Every parameter that has no field of ``ModelRequest``."""
        return tuple(find_params(request))

    def path(self, request: ModelRequest) -> str:
        """One path for every model."""
        return "/v2/chat"

    def write_request(self, request: ModelRequest) -> JsonValue:
        """A new body for a request in normal form."""
        return _events_write.write_request(request)

    def write_response(self, response: ModelResponse) -> JsonValue:
        """A new body for an answer in normal form; answers do not name their model here."""
        return _events_write.write_response(response)

    def write_stream(self, response: ModelResponse) -> bytes:
        """The same as events."""
        return write_stream(self.stream_writer(), response)

    def stream_writer(self) -> _events_write.EventWriter:
        """A fresh writer for one stream."""
        return _events_write.EventWriter()


def _request_nodes(request: ModelRequest) -> tuple[Message, ...]:
    """A request as nodes that can be compared: its keys and its tools in the form of messages without parts."""
    own = {"model": request.model, "tool_choice": _choice(request.tool_choice)}
    keys = {k: v for k, v in own.items() if v is not None} | dict(request.params)
    is_strict = request.params.get("strict_tools") is True
    tools = (Message("", (), extra=_tool(tool, is_strict=is_strict), pointer=tool.pointer) for tool in request.tools)
    return (Message("", (), extra=keys), *tools, *request.messages)


def _choice(choice: ToolChoice | None) -> JsonValue:
    if choice is None or choice.mode == "other":
        return choice and choice.value
    return next((sent for sent, mode in CHOICES.items() if mode == choice.mode), choice.mode)


def _tool(tool: ToolDef, *, is_strict: bool) -> Mapping[str, JsonValue]:
    """A tool in wire form, where the request says for all of them that they are strict."""
    return tool_json(replace(tool, strict=None) if is_strict else tool)


def _response_nodes(response: ModelResponse) -> tuple[Message, ...]:
    own = {"id": response.id, "finish_reason": response.finish_reason}
    keys = {k: v for k, v in own.items() if v is not None} | dict(response.params)
    if response.usage:
        keys["usage"] = response.usage.raw
    return (Message("", (), extra=keys), *response.messages)


adapter = CohereV2()
