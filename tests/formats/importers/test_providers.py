from __future__ import annotations

import pytest

from workbench.formats.importers._transcript import protocol_of, reasoning
from workbench.ir import Carrier


@pytest.mark.parametrize(
    ("provider", "model", "protocol"),
    [
        ("anthropic", "", "anthropic-messages"),
        ("Anthropic", "gpt-5", "anthropic-messages"),
        ("aws.bedrock", "anthropic.claude", "bedrock-converse"),
        ("gcp.vertex_ai", "", "gemini"),
        ("google", "", "gemini"),
        ("openai", "claude", "openai-chat"),
        ("deepseek", "", "openai-chat"),
        ("", "claude-sonnet-4-6", "anthropic-messages"),
        ("", "gemini-2.5-pro", "gemini"),
        ("", "", "openai-chat"),
    ],
)
def test_protocols_of_providers(provider: str, model: str, protocol: str) -> None:
    assert protocol_of(provider, model) == protocol


@pytest.mark.parametrize(
    ("protocol", "is_redacted", "expected"),
    [
        ("anthropic-messages", False, (Carrier.THINKING, "said", "sig", None)),
        ("anthropic-messages", True, (Carrier.REDACTED_THINKING, None, None, "said")),
        ("openai-responses", False, (Carrier.ENCRYPTED_ITEM, "said", None, "sig")),
        ("openai-responses", True, (Carrier.ENCRYPTED_ITEM, None, None, "said")),
        ("openai-chat", False, (Carrier.REASONING_CONTENT, "said", "sig", None)),
        ("gemini", False, (Carrier.THOUGHT_SIGNATURE, "said", "sig", None)),
    ],
)
def test_reasoning_stands_where_the_protocol_has_it(
    protocol: str, is_redacted: bool, expected: tuple[Carrier, str | None, str | None, str | None]
) -> None:
    part = reasoning(protocol, "said", "sig", is_redacted=is_redacted)
    assert (part.carrier, part.text, part.signature, part.data) == expected
