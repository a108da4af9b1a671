"""Where traffic goes, as people say it: names of known providers, and URLs with a name or without."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from workbench.errors import UsageError
from workbench.recorder.client_settings import parse_upstreams

KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "anthropic": "https://api.anthropic.com",
        "openai": "https://api.openai.com",
        "deepseek": "https://api.deepseek.com",
        "gemini": "https://generativelanguage.googleapis.com",
        "mistral": "https://api.mistral.ai",
        "kimi": "https://api.moonshot.ai",
        "groq": "https://api.groq.com/openai",
        "openrouter": "https://openrouter.ai/api",
        "xai": "https://api.x.ai",
        "ollama": "http://127.0.0.1:11434",
        "llama.cpp": "http://127.0.0.1:8080",
        "vllm": "http://127.0.0.1:8000",
        "lm-studio": "http://127.0.0.1:1234",
    }
)
"""Provider → the URL in front of which its clients put ``/v1/…`` (public documentation of each; local servers at their
default port)."""


def parse(text: str) -> dict[str, str]:
    """Upstreams by name, from words: a known name, ``NAME=URL``, ``NAME=KNOWN``, or a URL.

    Raises:
        UsageError: a word is none of these, or two have one name.
    """
    words = [_spelled(word) for word in text.split()]
    if not words:
        raise UsageError("no upstream", hint="type a provider's name, or a URL")
    return parse_upstreams(words)


def _spelled(word: str) -> str:
    """A word as the command line takes it."""
    name, _, base = word.partition("=")
    if base in KNOWN:
        return f"{name}={KNOWN[base]}"
    if word in KNOWN:
        return f"{word}={KNOWN[word]}"
    if "://" not in word:
        raise UsageError(
            f"{word} is no provider known by name", hint="type its URL: https://HOST, or NAME=https://HOST"
        )
    known = next((name for name, url in KNOWN.items() if url == word.rstrip("/")), "")
    return f"{known}={word}" if known else word
