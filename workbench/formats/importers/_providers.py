"""Protocol of a provider's models, as far as the names in a transcript tell, and its place for reasoning."""

from __future__ import annotations

from collections.abc import Iterable

from workbench import protocols
from workbench.ir import Carrier, Reasoning


def protocol_of(provider: str, model: str = "") -> str:
    """The protocol of a provider's name ("anthropic", "aws.bedrock", …); Chat Completions for any other.

    Args:
        model: read if no provider is named.
    """
    found = next((a.name for a in protocols.every() if _names(a.import_hints.providers, provider)), None)
    if found is None and not provider:
        found = next((a.name for a in protocols.every() if _names(a.import_hints.models, model)), None)
    return found or protocols.MOST_COMMON


def protocol_of_api(api: str) -> str:
    """The protocol that clients call by this name in their transcripts; Chat Completions for any other."""
    return next((a.name for a in protocols.every() if api in a.import_hints.apis), protocols.MOST_COMMON)


def _names(words: Iterable[str], name: str) -> bool:
    return any(word in name.lower() for word in words)


def reasoning(protocol: str, said: str, signature: str = "", *, is_redacted: bool = False) -> Reasoning:
    """Reasoning in the place that the protocol has for it."""
    carrier = protocols.get(protocol).import_hints.carrier
    if is_redacted and carrier is Carrier.THINKING:
        return Reasoning(Carrier.REDACTED_THINKING, None, data=said)
    if carrier is Carrier.ENCRYPTED_ITEM:
        return Reasoning(carrier, None if is_redacted else said, data=(said if is_redacted else signature) or None)
    return Reasoning(carrier, said, signature or None)
