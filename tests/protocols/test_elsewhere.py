"""Protocols that are named by their URL or shape although nothing decodes them."""

from __future__ import annotations

import pytest

from workbench import protocols
from workbench.protocols import protocol_of_messages
from workbench.protocols.common.undecoded_protocols import name_trees, name_url, name_value


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"type": [], "event_type": 5}, None),
        ({"model": "davinci-002", "prompt": "Once", "max_tokens": 5}, "openai-completions"),
        ({"object": "text_completion", "choices": []}, "openai-completions"),
        ({"model": "llama3", "prompt": "Once", "stream": False}, None),
        ({"model": "dall-e-3", "prompt": "a cat", "n": 1}, None),
        ({"object": "thread.message", "id": "msg_1"}, "openai-assistants"),
        ({"message": "hi", "chat_history": []}, "cohere-v1"),
        ({"generation_id": "g", "text": "hi"}, "cohere-v1"),
        ({"message": "hi", "model": "m"}, None),
        ({"object": "response", "output": []}, None),
        ([], None),
    ],
)
def test_values_name_their_protocol(value: object, name: str | None) -> None:
    assert name_value(value) == name


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.openai.com/v1/threads/t/runs", "openai-assistants"),
        ("https://api.anthropic.com/v1/complete", "anthropic-text"),
        ("https://api.openai.com/v1/organization/usage/completions?limit=1", None),
        ("https://x.openai.azure.com/openai/assistants?api-version=1", "openai-assistants"),
        ("https://x/v1/completions", "openai-completions"),
        ("https://api.cohere.com/v1/chat", "cohere-v1"),
        ("https://forum.example/threads/7", None),
        ("https://api.openai.com/v1/live/sessions", "openai-live"),
        ("https://x.openai.azure.com/openai/v1/live/sessions/s_1/attach", "openai-live"),
        ("https://x/v1/models", None),
        ("https://x/v1/embeddings", None),
    ],
)
def test_urls_name_their_protocol(url: str, name: str | None) -> None:
    assert name_url(url) == name


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([{"type": "session.created"}], "openai-realtime"),
        ([{"type": "response.create", "response": {}}], "openai-realtime"),
        ([{"type": "response.create", "model": "m", "input": []}], "openai-responses"),
        ([None, {"type": "conversation.item.create"}], "openai-realtime"),
        ([{"setup": {}}], "gemini-live"),
        ([{"type": "hello"}, [], "x"], None),
        ([], None),
    ],
)
def test_frames_name_their_protocol(values: list[object], name: str | None) -> None:
    assert protocol_of_messages(values) == name


@pytest.mark.parametrize(
    ("trees", "name"),
    [
        ({"request": {"messages": [{"role": "ROLE_USER"}]}}, "xai-grpc"),
        ({"request": {"messages": [{"role": "user"}]}}, None),
        ({"request": {"messages": []}}, None),
        ({"request": None}, None),
        (None, None),
    ],
)
def test_trees_name_their_protocol(trees: object, name: str | None) -> None:
    assert name_trees(trees) == name


def test_none_of_them_has_an_adapter() -> None:
    assert not set(protocols.elsewhere()) & set(protocols.protocols())
