from __future__ import annotations

import pytest

from workbench.errors import UsageError
from workbench.recorder.client_settings import known_upstreams, parse


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("anthropic", {"anthropic": known_upstreams()["anthropic"]}),
        (" anthropic  openai ", {"anthropic": known_upstreams()["anthropic"], "openai": known_upstreams()["openai"]}),
        ("https://api.anthropic.com/", {"anthropic": "https://api.anthropic.com/"}),
        ("https://h/v1", {"default": "https://h/v1"}),
        ("mine=https://h?a=b", {"mine": "https://h?a=b"}),
        ("mine=openai", {"mine": known_upstreams()["openai"]}),
        ("https://h/?a=b", {"default": "https://h/?a=b"}),
    ],
)
def test_upstreams_are_understood(text: str, found: dict[str, str]) -> None:
    assert parse(text) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no upstream"),
        ("nobody", "unknown provider nobody"),
        ("openai openai", "two"),
        ("https://a https://b", "two"),
    ],
)
def test_or_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse(text)
