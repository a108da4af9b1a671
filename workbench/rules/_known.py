"""Contract names, and how to recognise the providers that have no contract yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

KNOWN_NAMES: tuple[str, ...] = (
    *("anthropic", "openai", "gemini", "gemini-openai", "deepseek", "minimax", "glm", "qwen", "qwen3-coder", "hermes"),
    *("kimi", "mistral", "groq", "xai", "openrouter", "ollama", "vllm", "sglang", "llama.cpp", "lm-studio", "bedrock"),
    "generic",
)
"""Every contract name of the command line. One without a file of its own is checked as ``generic``."""


class Traits(NamedTuple):
    """What a provider is known by: globs of its hosts, and of its model names wherever they are served."""

    hosts: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


TRAITS: Mapping[str, Traits] = {
}
"""Only for names without a contract: a contract's own file says it for the others."""
