"""Keys of bodies, of which one is in each that a protocol claims: without them its adapter need not be imported.

An adapter without an entry, such as one of a plug-in, is always asked. That no adapter claims a body without its keys
is tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from workbench import plugins
from workbench.ir import JsonValue
from workbench.protocols import Adapter, get, protocols

_PACKAGE: Final = "workbench.protocols"

_OF_REQUESTS: Final[Mapping[str, frozenset[str]]] = {
    "anthropic-messages": frozenset(("messages",)),
    "bedrock-converse": frozenset(("messages",)),
    "bedrock-invoke": frozenset(("anthropic_version", "max_tokens_to_sample")),
    "cohere-v2": frozenset(("messages",)),
    "gemini": frozenset(("contents", "request")),
    "gemini-interactions": frozenset(("continuation_token", "input", "previous_interaction_id")),
    "gemini-live": frozenset(("contents",)),
    "ollama": frozenset(("messages", "prompt")),
    "openai-chat": frozenset(("messages",)),
    "openai-realtime": frozenset(("input",)),
    "openai-responses": frozenset(("input", "prompt")),
}
_OF_ANSWERS: Final[Mapping[str, frozenset[str]]] = {
    "anthropic-messages": frozenset(("content",)),
    "bedrock-converse": frozenset(("output",)),
    "bedrock-invoke": frozenset(("completion", "content")),
    "cohere-v2": frozenset(("message",)),
    "gemini": frozenset(
        ("candidates", "promptFeedback", "prompt_feedback", "response", "usageMetadata", "usage_metadata")
    ),
    "gemini-interactions": frozenset(("object", "outputs", "steps")),
    "gemini-live": frozenset(
        ("serverContent", "server_content", "toolCall", "toolCallCancellation", "tool_call", "tool_call_cancellation")
    ),
    "ollama": frozenset(("done",)),
    "openai-chat": frozenset(("choices",)),
    "openai-realtime": frozenset(("object",)),
    "openai-responses": frozenset(("output",)),
}


def that_may_claim(request: JsonValue, response: JsonValue) -> Iterator[Adapter]:
    """The adapters that may claim one of two parsed bodies; None for one that is absent."""
    asked, answered = (value if isinstance(value, dict) else {} for value in (request, response))
    foreign = plugins.third_party(_PACKAGE)
    for name in protocols():
        is_known = name in _OF_REQUESTS and name.replace("-", "_") not in foreign
        if not (is_known and _OF_REQUESTS[name].isdisjoint(asked) and _OF_ANSWERS[name].isdisjoint(answered)):
            yield get(name)
