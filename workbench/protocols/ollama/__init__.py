"""Ollama's own API: ``POST /api/chat``, and ``/api/generate`` as far as it is read.

Ollama, its cloud and proxies in front of it use it. Its streams are lines of JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from workbench import regex
from workbench.fronts import late
from workbench.ir import Carrier, JsonValue, ModelResponse
from workbench.protocols import (
    AnswerCapabilities,
    Capabilities,
    MediaCapabilities,
    ReasoningCapabilities,
    RequestCapabilities,
    ToolCapabilities,
)
from workbench.protocols.common.codec import Codec, CodecAdapter, answer_in, edit_answer
from workbench.protocols.ollama import write as _native_write
from workbench.protocols.ollama.declaration import IMPORT_HINTS, SDK, SERVING, TRAITS
from workbench.protocols.ollama.request import PLACES, PROTOCOL, find_params, read_request, request_nodes
from workbench.protocols.ollama.response import read_response, response_nodes
from workbench.wire import Framing

if TYPE_CHECKING:
    from workbench.protocols.clients.buffers import Policy

(NativeStreamDecoder,) = late("workbench.protocols.ollama.stream", "NativeStreamDecoder")

_URL = regex.compile(r"^[^?#]*/api/(?:chat|generate)/?(?:[?#]|$)")
_OUR_KEYS = frozenset(("options", "keep_alive", "think"))
_OURS = frozenset(("images", "tool_name", "thinking"))
"""Keys of messages that only this protocol has."""
_TOP_KEYS = ("temperature", "top_p", "seed", "stop", "user", "metadata", "stream_options")
"""Keys of Chat Completions for which this protocol has others, below ``options``."""

_HOSTED = regex.compile(r"(?:gpt-\d|chatgpt-|o\d)[^:]*")
"""Models that nobody but their maker serves: none of them has a tag."""

_CHAT_KEYS = frozenset(
    ("tool_choice", "parallel_tool_calls", "max_tokens", "max_completion_tokens", "response_format", "n")
)
_READ = ("model", "tools", "tool_choice", "parallel", "stream", "thinking", "previous_id")


class Ollama(CodecAdapter):
    """The adapter."""

    name = PROTOCOL
    capabilities = Capabilities(
        reasoning=ReasoningCapabilities(
            carriers=frozenset((Carrier.MESSAGE_THINKING.value, Carrier.THINK_TEXT.value)),
            plain=Carrier.MESSAGE_THINKING.value,
            switches=frozenset(("on", "off")),
            effort_is_switch=True,
        ),
        media=MediaCapabilities(
            kinds=frozenset(("image",)),
            in_results=frozenset(("image",)),
            sources=frozenset(("data",)),
        ),
        tools=ToolCapabilities(
            choices=frozenset(),
            arguments="object",
            call_ids=False,
            result_names=True,
            results_text_first=True,
        ),
        request=RequestCapabilities(
            mid_system=True,
            params=frozenset((*PLACES.values(), "effort", "response_schema", "response_json")),
            one_text=frozenset(("system", "user", "assistant", "tool", "answer")),
            schema_keys=frozenset(),
        ),
        answer=AnswerCapabilities(
            stops=frozenset(("stop", "tool_calls", "length")),
            needs=_native_write.UNKNOWN,
            error_fields=frozenset(),
            fields=frozenset(("model",)),
            usage_fields=frozenset(),
            stop_is_end=True,
            stop_by_calls=True,
        ),
    )
    codec = Codec(
        url=_URL,
        path="/api/chat",
        read_request=read_request,
        read_response=read_response,
        decoder=NativeStreamDecoder,
        request_nodes=request_nodes,
        response_nodes=response_nodes,
        fields=_READ,
        params=find_params,
        write_request=_native_write.write_request,
        write_response=_native_write.write_response,
        writer=_native_write.LineWriter,
    )
    serving = SERVING
    sdk = SDK
    import_hints = IMPORT_HINTS
    traits = TRAITS

    def claims_request(self, value: JsonValue) -> float:
        """Recognise the protocol by its own keys, images and thinking next to the content, arguments as objects."""
        if not isinstance(value, dict):
            return 0.0
        ours = not _OUR_KEYS.isdisjoint(value)
        if "messages" not in value:
            return 0.8 if isinstance(value.get("prompt"), str) and (ours or "system" in value) else 0.0
        if not isinstance(value["messages"], list):
            return 0.0
        if not _CHAT_KEYS.isdisjoint(value):
            return 0.03
        messages = [message for message in value["messages"] if isinstance(message, dict)]
        if ours or not all(map(_OURS.isdisjoint, messages)):
            return 0.97
        calls = [message["tool_calls"] for message in messages if isinstance(message.get("tool_calls"), list)]
        if any(map(_has_object, chain.from_iterable(calls))):
            return 0.5 if _is_broken_chat(value) else 0.97
        return 0.9 if value.get("format") == "json" or isinstance(value.get("format"), dict) else 0.2

    def claims_response(self, value: JsonValue) -> float:
        """An object that says whether it is done."""
        if not isinstance(value, dict) or type(value.get("done")) is not bool:
            return 0.0
        if isinstance(value.get("message"), dict) or isinstance(value.get("response"), str):
            return 0.97 if "model" in value else 0.8
        return 0.0

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        """A line is an object like a whole answer."""
        return self.claims_response(value)

    def encode_response(self, response: ModelResponse, original: bytes) -> bytes:
        """The same for a response body or a stream. Raises LocalProtocolError."""
        framing = Framing.NDJSON if response.is_stream else None  # one line alone looks like a whole answer
        return edit_answer(partial(answer_in, self, framing=framing), response_nodes, response, original)

    def client_policies(self) -> tuple[type[Policy], ...]:
        """SDKs whose stream assembly is known."""
        from workbench.protocols.clients.typed_clients import OllamaPython

        return (OllamaPython,)


def _is_broken_chat(value: Mapping[str, JsonValue]) -> bool:
    """Arguments are objects, and all else is of Chat Completions: results name ids, or the model or a key is its own.

    Newer versions of Ollama have ids too: there a model with a tag (``llama3.2:3b``) tells.
    """
    model, messages = str(value.get("model", "")), value["messages"]
    if _HOSTED.fullmatch(model) or any(key in value for key in _TOP_KEYS):
        return True
    has_ids = isinstance(messages, list) and any(isinstance(m, dict) and "tool_call_id" in m for m in messages)
    return has_ids and ":" not in model


def _has_object(call: JsonValue) -> bool:
    """A call without type, whose arguments are an object."""
    function = call.get("function") if isinstance(call, dict) and "type" not in call else None
    return isinstance(function, dict) and isinstance(function.get("arguments"), dict)


adapter = Ollama()
