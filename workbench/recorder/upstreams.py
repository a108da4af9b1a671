"""Upstreams as users type them: names of known providers, and URLs with or without a name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from workbench import contracts
from workbench.errors import UsageError
from workbench.recorder.client_settings import parse_upstreams
from workbench.send import PORTS

_OFFERED = ("anthropic", "openai", "deepseek", "gemini", "mistral", "kimi", "groq", "openrouter", "xai")
"""Providers that are offered, by the names of their contracts: their clients put ``/v1/…`` behind the first URL."""

_SERVERS = ("ollama", "llama.cpp", "vllm", "lm-studio")
"""Servers of this machine that are offered, at their default ports."""


@cache
def known_upstreams() -> Mapping[str, str]:
    """Provider or local server → its URL, as its contract states it."""
    providers = {name: contracts.read(name).endpoints[0].url for name in _OFFERED}
    return MappingProxyType({**providers, **{name: f"http://127.0.0.1:{PORTS[name]}" for name in _SERVERS}})


def parse(text: str) -> dict[str, str]:
    """Upstreams by name, from words: a known name, ``NAME=URL``, ``NAME=KNOWN``, or a URL.

    Raises:
        UsageError: a word is none of these, or two words have the same name.
    """
    words = [_command_word(word) for word in text.split()]
    if not words:
        raise UsageError("no upstream", hint="type a provider's name, or a URL")
    return parse_upstreams(words)


def _command_word(word: str) -> str:
    """A typed word in the form of the command line: a URL or ``NAME=URL``."""
    name, _, base = word.partition("=")
    if base in known_upstreams():
        return f"{name}={known_upstreams()[base]}"
    if word in known_upstreams():
        return f"{word}={known_upstreams()[word]}"
    if "://" not in word:
        raise UsageError(f"unknown provider {word}", hint="type its URL: https://HOST, or NAME=https://HOST")
    name = next((name for name, url in known_upstreams().items() if url == word.rstrip("/")), "")
    return f"{name}={word}" if name else word
