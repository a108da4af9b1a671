"""Which protocol a provider's models are asked in, as far as a transcript's names tell, and its place for reasoning."""

from __future__ import annotations

from workbench.ir import Carrier, Reasoning

_NAMES = (
    ("anthropic", "anthropic-messages"),
    ("vertex_ai_anthropic", "anthropic-messages"),
    ("google-vertex-anthropic", "anthropic-messages"),
    ("bedrock", "bedrock-converse"),
    ("amazon", "bedrock-converse"),
    ("google", "gemini"),
    ("gemini", "gemini"),
    ("gcp", "gemini"),
    ("vertex", "gemini"),
    ("cohere", "cohere-v2"),
    ("ollama", "ollama"),
)
_MODELS = (("claude", "anthropic-messages"), ("gemini", "gemini"))
_CARRIERS = {
    "anthropic-messages": Carrier.THINKING,
    "bedrock-converse": Carrier.REASONING_BLOCK,
    "gemini": Carrier.THOUGHT_SIGNATURE,
    "gemini-interactions": Carrier.THOUGHT_SIGNATURE,
    "openai-responses": Carrier.ENCRYPTED_ITEM,
    "cohere-v2": Carrier.THINKING_CHUNK,
    "ollama": Carrier.MESSAGE_THINKING,
}


def protocol_of(provider: str, model: str = "") -> str:
    """The protocol of a provider's name ("anthropic", "aws.bedrock", …); Chat Completions for any other.

    Args:
        model: tells where no provider is named.
    """
    said = provider.lower()
    found = next((protocol for name, protocol in _NAMES if name in said), None)
    if found is None and not provider:
        found = next((protocol for name, protocol in _MODELS if name in model.lower()), None)
    return found or "openai-chat"


def reasoning(protocol: str, said: str, signature: str = "", *, is_redacted: bool = False) -> Reasoning:
    """Reasoning in the place that the protocol has for it."""
    carrier = _CARRIERS.get(protocol, Carrier.REASONING_CONTENT)
    if is_redacted and carrier is Carrier.THINKING:
        return Reasoning(Carrier.REDACTED_THINKING, None, data=said)
    if carrier is Carrier.ENCRYPTED_ITEM:
        return Reasoning(carrier, None if is_redacted else said, data=(said if is_redacted else signature) or None)
    return Reasoning(carrier, said, signature or None)
