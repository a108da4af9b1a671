from __future__ import annotations

import pytest

from workbench.adapters._elsewhere import name_url, name_value


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"object": "response", "output": []}, "openai-responses"),
        ({"type": "response.created", "response": {}}, "openai-responses"),
        ({"model": "m", "input": []}, "openai-responses"),
        ({"model": "m", "input": "text to embed"}, None),
        ({"candidates": []}, "gemini"),
        ({"model": "m", "message": {}, "done": False}, "ollama"),
        ({"event_type": "interaction.created"}, "gemini-interactions"),
        ({"messageStart": {"role": "assistant"}}, "bedrock-converse"),
        ({"type": "tool-plan-delta"}, "cohere-v2"),
        ({"type": [], "event_type": 5}, None),
        ([], None),
    ],
)
def test_values_name_their_protocol(value: object, name: str | None) -> None:
    assert name_value(value) == name


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.openai.com/v1/responses/resp_1?stream=true", "openai-responses"),
        ("https://x/v1beta/models/m:streamGenerateContent?alt=sse", "gemini"),
        ("https://x/model/a%3A0/converse-stream", "bedrock-converse"),
        ("https://x/model/a/invoke", "bedrock-invoke"),
        ("http://localhost:11434/api/chat", "ollama"),
        ("https://x/v1/models", None),
    ],
)
def test_urls_name_their_protocol(url: str, name: str | None) -> None:
    assert name_url(url) == name
